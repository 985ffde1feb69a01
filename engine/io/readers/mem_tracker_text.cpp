#include "engine/io/readers/mem_tracker_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/saturating.h"
#include "engine/base/units.h"
#include "engine/io/containers/input_buffer.h"
#include "engine/io/readers/memory_timeline.h"
#include "engine/io/values/numbers.h"

namespace gpustrata::io {

using model::Diag;

namespace {

constexpr size_t kMostCategories = 64;  // the originals have 7 and 11
constexpr size_t kMostDevices = 256;
constexpr size_t kLongestLine = 4096;
constexpr std::string_view kBlank = " \t\r";

[[nodiscard]] std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// "4.25 MiB" in bytes. None: it is no size.
// Of a unit larger than a byte, the number has one or two digits behind the point: it was rounded.
[[nodiscard]] bool is_rounded(std::string_view text) { return !text.ends_with(" B"); }

[[nodiscard]] std::optional<double> size_of(std::string_view text) {
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto number = values::real_of_text(text.substr(0, space));
  if (!number) return std::nullopt;
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"B", 1.0}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
  for (const auto& [unit, bytes] : kUnits) {
    if (trimmed(text.substr(space)) == unit) return values::double_of(*number) * bytes;
  }
  return std::nullopt;
}

// PyTorch 2.5 under Python 3.11 and later prints the members of its enumerations by name, all others by what they stand for.
constexpr std::pair<std::string_view, std::string_view> kMembers[] = {
    {"_MemRefType.PARAM", "Parameter"},
    {"_MemRefType.BUFFER", "Buffer"},
    {"_MemRefType.GRAD", "Gradient"},
    {"_MemRefType.ACT", "Activation"},
    {"_MemRefType.TEMP", "Temp"},
    {"_MemRefType.OPT", "Optstate"},
    {"_MemRefType.OTH", "Other"},
    {"_FSDPRefType.SHARDED_PARAM", "Sharded Param"},
    {"_FSDPRefType.UNSHARDED_PARAM", "Unsharded Param"},
    {"_FSDPRefType.BUFFER", "Buffer"},
    {"_FSDPRefType.SHARDED_GRAD", "Sharded Grad"},
    {"_FSDPRefType.UNSHARDED_GRAD", "Unsharded Grad"},
    {"_FSDPRefType.ACT", "Activation"},
    {"_FSDPRefType.TEMP", "Temp"},
    {"_FSDPRefType.ALL_GATHER", "All Gather"},
    {"_FSDPRefType.REDUCE_SCATTER", "Reduce Scatter"},
    {"_FSDPRefType.OPT", "OptState"},
    {"_FSDPRefType.INP", "Inputs"},
    {"_ModState.PRE_FW", "Pre-Forward"},
    {"_ModState.POST_FW", "Post-Forward"},
    {"_ModState.PEAK_FW", "Peak-Forward"},
    {"_ModState.PRE_BW", "Pre-Backward"},
    {"_ModState.PRE_FW_AC", "Pre-Forward-AC"},
    {"_ModState.POST_FW_AC", "Post-Forward-AC"},
    {"_ModState.POST_BW", "Post-Backward"},
    {"_ModState.PEAK_BW", "Peak-Backward"},
    {"_FSDPModState.BEF_PRE_FW", "Before Pre-Forward"},
    {"_FSDPModState.AFT_PRE_FW", "After Pre-Forward"},
    {"_FSDPModState.BEF_POST_FW", "Before Post-Forward"},
    {"_FSDPModState.AFT_POST_FW", "After Post-Forward"},
    {"_FSDPModState.BEF_PRE_BW", "Before Pre-Backward"},
    {"_FSDPModState.AFT_PRE_BW", "After Pre-Backward"},
    {"_FSDPModState.BEF_POST_BW", "Before Post-Backward"},
    {"_FSDPModState.AFT_POST_BW", "After Post-Backward"},
    {"_FSDPModState.PRE_FW_AC", "Pre-Forward AC"},
    {"_FSDPModState.POST_FW_AC", "Post-Forward AC"},
    {"_FSDPModState.PEAK_FW", "Peak Forward"},
    {"_FSDPModState.PEAK_BW", "Peak Backward"}};

// The text that a member stands for, with what follows it ("# 1"); other texts as they are.
[[nodiscard]] std::string shown(std::string_view text) {
  const size_t end = std::min(text.find(' '), text.size());
  for (const auto& [member, stands_for] : kMembers) {
    if (text.substr(0, end) == member) return std::string(stands_for) + std::string(text.substr(end));
  }
  return std::string(text);
}

// "=====  ====": where columns begin; empty if it is something else.
[[nodiscard]] std::vector<size_t> columns_of(std::string_view line) {
  if (line.find_first_not_of("= \r") != std::string_view::npos || line.find("==") == std::string_view::npos)
    return {};
  std::vector<size_t> begins;
  for (size_t at = line.find('='); at != std::string_view::npos && begins.size() <= kMostCategories;) {
    begins.push_back(at);
    const size_t end = line.find(' ', at);
    at = end == std::string_view::npos ? end : line.find('=', end);
  }
  return begins;
}

}  // namespace

bool begins_mem_tracker_text(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.starts_with("Device: ") || line.starts_with("Module: "))
    return text.find('\n') != std::string_view::npos;
  if (columns_of(line).size() < 3) return false;
  const std::string_view header = text.substr(std::min(text.find('\n') + 1, text.size()));
  return header.starts_with("Device ") || header.starts_with("State & Call ");
}

struct MemTrackerTextReader::State {
  explicit State(model::Recording& to) : recording(to), blocks(to.budget), cells(to.budget) {}

  struct Block {
    uint32_t device = 0;  // of `devices`
    StringId note;
    uint32_t first = 0, count = 0;  // of `cells`
  };
  struct Cell {
    uint32_t category = 0;
    int64_t bytes = 0;
  };

  // -1: there are too many.
  [[nodiscard]] static int place_of(std::vector<std::string>& names, std::string_view name, size_t most) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<int>(found - names.begin());
    if (names.size() >= most) return -1;
    names.emplace_back(name);
    return static_cast<int>(names.size() - 1);
  }
  [[nodiscard]] bool begin_block(std::string_view device) {
    const int place = place_of(devices, device, kMostDevices);
    if (place < 0) {
      recording.diagnostics.add(Diag::too_many_devices, offset);
      is_block = false;
      return true;
    }
    const std::string text = fmt::format("{}{}{}{}{}", module, module.empty() || state.empty() ? "" : ": ",
                                         state, call.empty() ? "" : " ", call);
    const StringId note = text.empty() ? StringId{} : recording.strings.intern(text);
    is_block = true;
    return (text.empty() || !note.is_none()) && blocks.size() < model::kMaxRows &&
           blocks.push_back({static_cast<uint32_t>(place), note, static_cast<uint32_t>(cells.size()), 0});
  }
  [[nodiscard]] bool add_cell(std::string_view category, double size, std::string_view text) {
    if (!is_block) return true;
    rounded = rounded || (size != 0 && is_rounded(text));
    const int place = place_of(categories, category, kMostCategories);
    constexpr double kTooMuch = 9.2e18;
    if (!std::isfinite(size)) {
      recording.diagnostics.add(Diag::not_finite, offset);
      return true;
    }
    if (place < 0 || size >= kTooMuch || size < 0) {
      recording.diagnostics.add(size < 0 ? Diag::negative_size : Diag::integer_out_of_range, offset);
      return true;
    }
    ++blocks.back().count;
    return cells.push_back({static_cast<uint32_t>(place), static_cast<int64_t>(std::nearbyint(size))});
  }

  [[nodiscard]] bool take_line(std::string_view raw) {
    if (std::vector<size_t> begins = columns_of(raw); !begins.empty()) {
      table = table == Table::none ? Table::header : table == Table::rule ? Table::rows : Table::none;
      table_begins = std::move(begins);
      return true;
    }
    const std::string_view line = trimmed(raw);
    if (line.empty()) return true;
    if (table != Table::none) return take_row(raw);
    const size_t colon = line.find(':');
    const std::string_view name = line.substr(0, std::min(colon, line.size()));
    const std::string_view value =
        colon == std::string_view::npos ? std::string_view{} : trimmed(line.substr(colon + 1));
    if (name == "Device") return begin_block(value);
    if (name == "Module") {
      module = value;
      state.clear();
      call.clear();
      return true;
    }
    if (const auto size = size_of(value)) return add_cell(shown(trimmed(name)), *size, value);
    if (line.starts_with('#')) {
      call = trimmed(name);
    } else if (value.empty()) {
      state = shown(trimmed(name));
      call.clear();
    }
    return true;
  }
  [[nodiscard]] bool take_row(std::string_view raw) {
    std::vector<std::string_view> fields;
    for (size_t i = 0; i < table_begins.size(); ++i) {
      const size_t begin = std::min(table_begins[i], raw.size());
      const size_t end = i + 1 < table_begins.size() ? std::min(table_begins[i + 1], raw.size()) : raw.size();
      fields.push_back(trimmed(raw.substr(begin, end - begin)));
    }
    if (table != Table::rows) {
      header.clear();
      for (const std::string_view field : fields) header.push_back(shown(field));
      table = Table::rule;
      return true;
    }
    for (size_t i = 0; i < std::min(fields.size(), header.size()); ++i) {
      if (header[i] == "State & Call" && !fields[i].empty()) state = shown(fields[i]);
    }
    call.clear();
    for (size_t i = 0; i < std::min(fields.size(), header.size()); ++i) {
      if (header[i] == "Device" && !begin_block(fields[i])) return false;
    }
    for (size_t i = 0; i < std::min(fields.size(), header.size()); ++i) {
      if (const auto size = size_of(fields[i]); size && !add_cell(header[i], *size, fields[i])) return false;
    }
    is_block = false;
    return true;
  }

  void read(std::string_view text) {
    for (const char c : text) {
      if (refused) return;
      if (c != '\n') {
        if (held.size() < kLongestLine) held += c;
        continue;
      }
      refused = !take_line(held);
      offset += static_cast<int64_t>(held.size()) + 1;
      held.clear();
    }
  }

  // A part for each device. False: memory was refused.
  [[nodiscard]] bool publish() {
    std::stable_sort(blocks.data(), blocks.data() + blocks.size(),
                     [](const Block& a, const Block& b) { return a.device < b.device; });
    size_t begin = 0;
    for (size_t device = 0; device < devices.size(); ++device) {
      size_t end = begin;
      while (end < blocks.size() && blocks[end].device == device) ++end;
      const std::span<const Block> own(blocks.data() + begin, end - begin);
      begin = end;
      model::Part part;
      part.kind = model::PartKind::series;
      part.has_clock = false;
      part.rounded = rounded;
      part.series_are = model::SeriesAre::categories;
      part.name = devices[device];
      part.series.first = static_cast<int32_t>(recording.series.size_rows());
      const bool whole = publish_device(own);
      part.series.count = static_cast<int32_t>(recording.series.size_rows()) - part.series.first;
      recording.parts.push_back(std::move(part));
      if (!whole) return false;
    }
    return true;
  }
  [[nodiscard]] bool publish_device(std::span<const Block> own) {
    const auto total =
        static_cast<uint32_t>(std::find(categories.begin(), categories.end(), "Total") - categories.begin());
    const auto add_series = [&](std::string_view name, uint32_t category) {
      model::PointTable& points = recording.points;
      const auto first = static_cast<int32_t>(points.size_rows());
      for (const Block& block : own) {
        int64_t sum = 0, value = 0;
        bool is_there = false;
        for (uint32_t i = block.first; i < block.first + block.count; ++i) {
          if (cells[i].category != total) add_saturated(sum, cells[i].bytes);
          if (cells[i].category != category) continue;
          value = cells[i].bytes;
          is_there = true;
        }
        if (category == total && !is_there) value = sum;
        const int64_t step = static_cast<int64_t>(points.size_rows()) - first;
        if (!points.append({step, value, {}, category == total ? block.note : StringId{}})) return false;
      }
      const StringId text = recording.strings.intern(name);
      const auto count = static_cast<int32_t>(points.size_rows()) - first;
      return !text.is_none() && recording.series.append({text, model::kUnknownDevice, {first, count}});
    };
    if (!add_series(kTimelineTotal, total)) return false;
    for (uint32_t category = 0; category < categories.size(); ++category) {
      if (category != total && !add_series(categories[category], category)) return false;
    }
    return true;
  }

  model::Recording& recording;
  InputBuffer buffer;
  std::string held, module, state, call;
  std::vector<std::string> devices, categories;
  std::vector<size_t> table_begins;
  std::vector<std::string> header;
  enum class Table : uint8_t { none, header, rule, rows };  // what comes next in one
  Table table = Table::none;
  bool is_block = false, refused = false;
  bool rounded = false;  // a size at least
  int64_t offset = 0;    // of the line
  int64_t received = 0;
  Column<Block> blocks;
  Column<Cell> cells;
};

MemTrackerTextReader::MemTrackerTextReader(model::Recording& recording, LeftOpen)
    : state_(std::make_unique<State>(recording)) {}

MemTrackerTextReader::~MemTrackerTextReader() = default;

void MemTrackerTextReader::expect_bytes(int64_t /*total*/) {}
bool MemTrackerTextReader::done() const { return state_->refused; }
std::span<std::byte> MemTrackerTextReader::writable() { return state_->buffer.writable(); }

Status MemTrackerTextReader::commit(size_t bytes) {
  const std::span<const std::byte> chunk = state_->buffer.first(bytes);
  state_->read({reinterpret_cast<const char*>(chunk.data()), chunk.size()});
  state_->received += static_cast<int64_t>(bytes);
  return {};
}

Status MemTrackerTextReader::finish() {
  State& s = *state_;
  s.read("\n");
  if (s.blocks.empty() && !s.refused)
    return fail(ErrorCode::unsupported, 0, "This text begins as MemTracker prints it, but names no device.");
  if (!s.publish() || s.refused) {
    s.recording.diagnostics.add(Diag::budget_exhausted, -1,
                                "a budget of " + size_text(s.recording.budget.limit()));
  }
  if (s.rounded) s.recording.diagnostics.add(Diag::sizes_rounded);
  s.recording.input_bytes = s.received;
  return {};
}

}  // namespace gpustrata::io
