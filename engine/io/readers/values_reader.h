// What readers of values have in common: bytes go through an Input, of a pickle or of JSON text, to the schema of the file.
#pragma once

#include <string>
#include <string_view>

#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

template <typename Input, typename Schema>
class ValuesReader : public Reader {
 public:
  // `what`: what the file should be, for messages.
  ValuesReader(model::Recording& recording, std::string_view what)
      : recording_(recording), schema_(recording), input_(recording, schema_, what) {}

  [[nodiscard]] std::span<std::byte> writable() override { return input_.writable(); }
  [[nodiscard]] Status commit(size_t bytes) override { return input_.commit(bytes); }
  [[nodiscard]] bool done() const override { return input_.done(); }
  void expect_bytes(int64_t total) override { input_.expect_bytes(total); }
  [[nodiscard]] std::string format() const override { return Input::kFormat; }

 protected:
  model::Recording& recording_;
  Schema schema_;
  Input input_;
};

}  // namespace gpustrata::io
