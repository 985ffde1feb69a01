#include "engine/io/readers/fleet_file.h"

#include <string_view>
#include <utility>

#include "engine/base/column.h"
#include "engine/base/memory_refused.h"
#include "engine/base/units.h"
#include "engine/io/containers/input_buffer.h"
#include "engine/io/limits.h"

namespace gpustrata::io {

namespace {

constexpr std::string_view kSpaceOrZero(" \t\r\n\0", 5);  // a file may be padded

class FleetFileReader final : public Reader {
 public:
  explicit FleetFileReader(model::Recording& recording) : recording_(recording), text_(recording.budget) {}

  [[nodiscard]] std::span<std::byte> writable() override { return buffer_.writable(); }

  [[nodiscard]] Status commit(size_t bytes) override {
    if (text_.size() + bytes > kMostFleetBytes)
      return fail(ErrorCode::limit_exceeded, static_cast<int64_t>(text_.size()),
                  "a reduced fleet of more than {} is not read; reduce fewer ranks at a time",
                  size_text(static_cast<int64_t>(kMostFleetBytes)));
    const std::span<const std::byte> chunk = buffer_.first(bytes);
    if (text_.append({reinterpret_cast<const uint8_t*>(chunk.data()), chunk.size()})) return {};
    return file_refused(recording_.budget);
  }

  [[nodiscard]] Status finish() override {
    const auto size = static_cast<int64_t>(text_.size());
    const std::string_view whole(reinterpret_cast<const char*>(text_.data()), text_.size());
    const size_t last = whole.find_last_not_of(kSpaceOrZero);
    if (last == std::string_view::npos || whole[last] != '}')
      return fail(ErrorCode::truncated, size,
                  "the file of the fleet ends in the middle of it; write it again with gpustrata fleet -o");
    text_.truncate(last + 1);
    model::Part& part = recording_.parts.emplace_back();
    part.kind = model::PartKind::fleet;
    part.has_clock = false;
    part.fleet = static_cast<int32_t>(recording_.fleets.size());
    recording_.fleets.push_back(std::move(text_));
    recording_.input_bytes = size;
    return {};
  }

  [[nodiscard]] std::string format() const override { return "json"; }

 private:
  model::Recording& recording_;
  InputBuffer buffer_;
  Column<uint8_t> text_;
};

}  // namespace

std::unique_ptr<Reader> fleet_file_reader(model::Recording& recording) {
  return std::make_unique<FleetFileReader>(recording);
}

}  // namespace gpustrata::io
