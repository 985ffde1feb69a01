// Web pages with snapshots inside, as base64.
//
// Written by torch.cuda._memory_viz (trace_plot, segment_plot, profile_plot): a script holds
// `local_files = [{"name": "snapshot.pickle", "base64": "gASV..."}]`, older versions a bare text; and by
// `gpustrata html`, which packs with gzip. No script is run and no page is parsed: every run of at least
// kMinBase64 base64 letters whose bytes begin like a file that is read here is one; its name is the last
// `"name": "..."` before it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/io/containers/input_buffer.h"
#include "engine/io/containers/members.h"
#include "engine/io/reader.h"

namespace gpustrata::io {

class HtmlReader final : public Reader {
 public:
  HtmlReader(OpenedFile& file, std::string place, int depth);

  [[nodiscard]] std::span<std::byte> writable() override { return buffer_.writable(); }
  [[nodiscard]] Status commit(size_t bytes) override;
  [[nodiscard]] Status finish() override;
  [[nodiscard]] std::string format() const override { return members_.format("html"); }

 private:
  [[nodiscard]] size_t take_letters(std::string_view text);
  void take_other(char c);
  void decode(std::string_view letters);
  void hand_on();
  void end_run();

  InputBuffer buffer_;
  Members members_;
  std::string run_;       // letters of the current run until it is long enough to decide
  bool deciding_ = true;  // the run is not yet known to be a file
  bool dropped_ = false;  // the run is something else
  bool padded_ = false;   // `=` was seen: the run is over
  uint32_t bits_ = 0;     // letters that do not make whole bytes yet
  int bit_count_ = 0;
  std::vector<std::byte> decoded_;
  std::string recent_;  // the last bytes that were not in a run, for the name
  int64_t received_ = 0;
  int64_t run_offset_ = 0;
  int32_t found_ = 0;
  bool is_timeline_picture_ = false;  // one was there that export_memory_timeline made
};

}  // namespace gpustrata::io
