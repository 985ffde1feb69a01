#include "engine/analysis/filters/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "engine/analysis/device/block_sources.h"
#include "engine/analysis/stacks/frame_filter.h"
#include "engine/base/ascii.h"
#include "engine/base/memory_refused.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

using model::Owner;
using trace::Action;

namespace {

// A text to look for, in small letters.
class Needle {
 public:
  explicit Needle(std::string_view text) : text_(ascii::lower(text)) {}
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool is_in(std::string_view hay) const {
    if (text_.size() > hay.size()) return false;
    const auto same = [](char a, char b) { return ascii::lower(a) == b; };
    return std::search(hay.begin(), hay.end(), text_.begin(), text_.end(), same) != hay.end();
  }

 private:
  std::string text_;
};

// Names that contain the text. Those of blocks are b'<hex>_<version>, with `letter` s those of segments;
// people also type 0x<hex> and b<hex>.
class NameMatcher {
 public:
  NameMatcher(const std::string& text, char letter) : letter_(letter), anywhere_(text) {
    possible_ = text.find_first_not_of(std::string("0123456789abcdef_'x") + letter) == std::string::npos;
    const std::string_view given = text;
    std::string_view rest = given.starts_with(letter) ? given.substr(1) : given;
    if (rest.size() < given.size() && rest.starts_with('\'')) rest.remove_prefix(1);
    if (rest.starts_with("0x")) rest.remove_prefix(2);
    if (rest.size() < given.size()) start_ = rest;
  }

  [[nodiscard]] bool matches(uint64_t address, uint32_t version) const {
    if (!possible_) return false;
    const std::string_view name = write_name(address, version);
    return name.find(anywhere_) != std::string_view::npos ||
           (!start_.empty() && name.substr(2).starts_with(start_));
  }

 private:
  // As block_name, without a memory allocation.
  [[nodiscard]] std::string_view write_name(uint64_t address, uint32_t version) const {
    char* at = buffer_.data() + buffer_.size();
    do {
      *--at = static_cast<char>('0' + version % 10);
      version /= 10;
    } while (version > 0);
    *--at = '_';
    do {
      *--at = "0123456789abcdef"[address % 16];
      address /= 16;
    } while (address > 0);
    *--at = '\'';
    *--at = letter_;
    return {at, static_cast<size_t>(buffer_.data() + buffer_.size() - at)};
  }

  char letter_;
  std::string anywhere_;
  std::string start_;  // the name's hexadecimal digits must begin with this; empty = no such form
  bool possible_ = false;
  mutable std::array<char, 32> buffer_{};
};

// What a predicate says of the strings of the pool; it is asked when first needed, and once per string.
template <typename Predicate>
class PerString {
 public:
  PerString(const model::Recording& recording, Predicate predicate)
      : strings_(recording.strings), predicate_(predicate), known_(recording.budget) {}
  [[nodiscard]] bool prepare() { return known_.resize(strings_.size(), kNotAsked); }
  [[nodiscard]] bool operator()(StringId id) {
    if (id.is_none()) return predicate_(std::string_view{});
    uint8_t& answer = known_[id.index()];
    if (answer == kNotAsked) answer = predicate_(strings_.view(id)) ? 1 : 0;
    return answer == 1;
  }

 private:
  static constexpr uint8_t kNotAsked = 2;
  const StringPool& strings_;
  Predicate predicate_;
  Column<uint8_t> known_;
};

// Is the text in file:line:name, but neither in the file nor in the name alone? Only their ends matter then.
[[nodiscard]] bool spans_parts(const model::Recording& recording, const trace::Frame& frame,
                               const Needle& needle, std::string& window) {
  const size_t reach = needle.text().size() - 1;
  const std::string_view file = recording.strings.view(frame.filename);
  const std::string_view name = recording.strings.view(frame.name);
  window = file.substr(file.size() - std::min(reach, file.size()));
  fmt::format_to(std::back_inserter(window), ":{}:{}", std::max(frame.line, 0), name.substr(0, reach));
  return needle.is_in(window);
}

// The callers of a node have lower numbers, so one pass is enough.
void match_callees(const model::Recording& recording, const Column<uint8_t>& frames, Column<uint8_t>& nodes) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    const trace::StackTable::Node& node = recording.stacks.node(static_cast<int32_t>(i));
    const bool in_caller = node.caller >= 0 && nodes[node.caller] != 0;
    nodes[i] = in_caller || frames[node.frame.index()] != 0 ? 1 : 0;
  }
}

// Which stacks hold the op? Ops are frames without a file.
[[nodiscard]] bool match_op(const model::Recording& recording, std::string_view op, Column<uint8_t>& nodes) {
  Column<uint8_t> frames(recording.budget);
  if (!frames.resize(recording.frames.size(), 0) || !nodes.resize(recording.stacks.node_count(), 0))
    return false;
  for (size_t i = 0; i < frames.size(); ++i) {
    const trace::Frame& frame = recording.frames[FrameId{i}];
    frames[i] = recording.strings.view(frame.name) == op && recording.strings.view(frame.filename).empty();
  }
  match_callees(recording, frames, nodes);
  return true;
}

// Which stacks hold a matching frame that is shown?
template <typename InString>
[[nodiscard]] bool match_nodes(const model::Recording& recording, const Needle& needle, InString& in_string,
                               Column<uint8_t>& nodes) {
  Column<uint8_t> frames(recording.budget);
  PerString hidden_function(recording, is_hidden_function);
  PerString hidden_file(recording, is_hidden_file);
  if (!frames.resize(recording.frames.size(), 0) || !nodes.resize(recording.stacks.node_count(), 0) ||
      !hidden_function.prepare() || !hidden_file.prepare()) {
    return false;
  }
  std::string window;
  for (size_t i = 0; i < frames.size(); ++i) {
    const FrameId id{i};
    const trace::Frame& frame = recording.frames[id];
    if (hidden_function(frame.name) || hidden_file(frame.filename)) continue;
    bool found =
        in_string(frame.name) || in_string(frame.filename) || spans_parts(recording, frame, needle, window);
    if (!found && frame.fx >= 0) {
      for (const std::string& line : fx_lines(recording, id)) found = found || needle.is_in(line);
    }
    frames[i] = found ? 1 : 0;
  }
  match_callees(recording, frames, nodes);
  return true;
}

// The part of a search that blocks and segments have in common: names and stacks.
class TextSearch {
 public:
  TextSearch(const model::Recording& recording, SearchIn where, std::string_view text, char letter)
      : in_names(where == SearchIn::anything || where == SearchIn::address),
        in_frames(where == SearchIn::anything || where == SearchIn::frame),
        in_metadata(where == SearchIn::anything || where == SearchIn::metadata),
        is_op_(where == SearchIn::op),
        recording_(recording),
        text_(text),
        needle_(text),
        names_(needle_.text(), letter),
        in_string_(recording, IsIn{&needle_}) {}
  TextSearch(const TextSearch&) = delete;
  TextSearch& operator=(const TextSearch&) = delete;

  [[nodiscard]] bool prepare() {
    if (is_op_) return match_op(recording_, text_, nodes_);
    if ((in_frames || in_metadata) && !in_string_.prepare()) return false;
    return !in_frames || match_nodes(recording_, needle_, in_string_, nodes_);
  }
  [[nodiscard]] bool name_matches(uint64_t address, uint32_t version) const {
    return in_names && names_.matches(address, version);
  }
  [[nodiscard]] bool stack_matches(StackId stack) const {
    return in_stacks() && !stack.is_none() && recording_.stacks.leaf(stack) >= 0 &&
           nodes_[recording_.stacks.leaf(stack)] != 0;
  }
  [[nodiscard]] bool in_stacks() const { return in_frames || is_op_; }
  [[nodiscard]] bool is_in(StringId id) { return in_string_(id); }
  [[nodiscard]] bool extras_match(Owner owner, int32_t row) {
    const model::RowRange range = recording_.extras_of(owner, row);
    for (int32_t i = range.first; i < range.end(); ++i) {
      const StringId key = recording_.extras.key[i];
      const StringId value = recording_.extras.value[i];
      if (recording_.strings.view(key) == kForwardFrames ? in_frames && is_in(value)
                                                         : in_metadata && (is_in(key) || is_in(value)))
        return true;
    }
    return false;
  }

  const bool in_names, in_frames, in_metadata;

 private:
  const bool is_op_;
  struct IsIn {
    const Needle* needle;
    bool operator()(std::string_view hay) const { return needle->is_in(hay); }
  };
  const model::Recording& recording_;
  std::string_view text_;
  Needle needle_;
  NameMatcher names_;
  PerString<IsIn> in_string_;
  Column<uint8_t> nodes_{recording_.budget};
};

[[nodiscard]] tl::unexpected<Error> out_of_memory(const model::Recording& recording,
                                                  const replay::Bands& bands) {
  return not_enough_memory(recording.budget, fmt::format("to search {} blocks", bands.count()));
}

[[nodiscard]] bool add_match(Matches& matches, const replay::Bands& bands, int32_t rank) {
  matches.matched[static_cast<size_t>(rank)] = 1;
  // Sizes that were never in use together may pass 2^63.
  const int64_t size = bands.size[rank];
  add_saturated(matches.bytes, size);
  return matches.ranks.push_back(rank);
}

}  // namespace

Result<Matches> search(const model::Recording& recording, const model::Part& part,
                       const replay::BlockLives& lives, SearchIn where, std::string_view text) {
  Matches matches(recording.budget);
  if (!matches.matched.resize(static_cast<size_t>(lives.count()), 0)) return out_of_memory(recording, lives);
  if (text.empty()) return matches;

  const model::EventTable& events = recording.events;
  const auto row_of = [&](int32_t event) { return static_cast<size_t>(lives.events.first + event); };
  TextSearch words(recording, where, text, 'b');
  const bool beyond_names = words.in_stacks() || words.in_metadata;
  Column<AddressAndRow> final_blocks(recording.budget);
  if (!words.prepare() ||
      (beyond_names && !collect_final_blocks(recording, part, lives.device, final_blocks))) {
    return out_of_memory(recording, lives);
  }
  Column<AddressAndRow> annotations(recording.budget);  // that match: address, event
  if (words.in_metadata) {
    for (int32_t event = 0; event < lives.events.count; ++event) {
      const size_t row = row_of(event);
      if (events.action[row] != Action::annotate || !words.is_in(events.metadata[row])) continue;
      if (!annotations.push_back({events.address[row], event})) return out_of_memory(recording, lives);
    }
    std::sort(annotations.data(), annotations.data() + annotations.size());
  }

  const bool has_extras = recording.extras.size_rows() > 0;
  for (int32_t rank = 0; rank < lives.count(); ++rank) {
    const uint64_t address = lives.address(recording, rank);
    const int32_t born = lives.born[rank];
    const int32_t freed = lives.freed[rank];
    bool found = words.name_matches(address, lives.version[rank]);
    if (!found && beyond_names) {
      // As the details look them up.
      const BlockSource source = source_of(recording, lives, final_blocks, rank);
      found = words.stack_matches(source.stack.stack);
      if (!found && words.in_metadata) {
        const BlockTexts texts = block_texts(recording, lives, rank, source.final_block, source.free_event);
        for (const StringId id : {texts.context, texts.metadata, texts.free_context, texts.free_metadata}) {
          found = found || (!id.is_none() && words.is_in(id));
        }
        const auto* note =
            std::upper_bound(annotations.begin(), annotations.end(), AddressAndRow{address, born});
        found = found || (note != annotations.end() && note->address == address && note->row < freed);
      }
      if (!found && has_extras) {
        const int32_t event = born >= 0 ? born : source.free_event;
        found = (event >= 0 && words.extras_match(Owner::event, lives.events.first + event)) ||
                (source.final_block >= 0 && words.extras_match(Owner::block, source.final_block));
      }
    }
    if (found && !add_match(matches, lives, rank)) return out_of_memory(recording, lives);
  }
  return matches;
}

Result<Matches> search_segments(const model::Recording& recording, const replay::SegmentBands& segments,
                                std::span<const StackId> stacks, SearchIn where, std::string_view text) {
  Matches matches(recording.budget);
  if (!matches.matched.resize(static_cast<size_t>(segments.count()), 0))
    return out_of_memory(recording, segments);
  if (text.empty()) return matches;
  TextSearch words(recording, where, text, 's');
  if (!words.prepare()) return out_of_memory(recording, segments);
  for (int32_t rank = 0; rank < segments.count(); ++rank) {
    const bool found = words.name_matches(segments.address[rank], segments.version[rank]) ||
                       words.stack_matches(stacks[static_cast<size_t>(rank)]);
    if (found && !add_match(matches, segments, rank)) return out_of_memory(recording, segments);
  }
  return matches;
}

Result<Column<uint8_t>> search_events(const model::Recording& recording, const replay::StateHistory& history,
                                      SearchIn where, std::string_view text) {
  Column<uint8_t> found(recording.budget);
  TextSearch words(recording, where, text, 'b');
  const NameMatcher segments(ascii::lower(text), 's');
  if (!found.resize(static_cast<size_t>(history.event_count()), 0) || !words.prepare())
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to search {} events",
                history.event_count());
  const model::EventTable& events = recording.events;
  const bool has_extras = recording.extras.size_rows() > 0;
  for (size_t event = 0; event < found.size(); ++event) {
    const auto row = static_cast<size_t>(history.rows.events.first) + event;
    const Action action = events.action[row];
    const int32_t target = history.row_of_event[event];
    if (trace::is_of_segment(action)) {
      const uint32_t version = target < 0 ? 0 : history.range_version[target];
      found[event] = words.in_names && segments.matches(events.address[row], version) ? 1 : 0;
    } else if (trace::is_of_block(action)) {
      const uint32_t version = target < 0 ? 0 : history.block_version[target];
      found[event] = words.name_matches(events.address[row], version) ? 1 : 0;
    }
    if (found[event] != 0) continue;
    const auto says = [&](StringId id) {
      const StringId told = if_it_says_something(recording, id);
      return !told.is_none() && words.is_in(told);
    };
    const bool here = words.stack_matches(events.stack[row]) ||
                      (words.in_metadata && (says(events.context[row]) || says(events.metadata[row]))) ||
                      (has_extras && words.extras_match(Owner::event, static_cast<int32_t>(row)));
    found[event] = here ? 1 : 0;
  }
  return found;
}

}  // namespace gpustrata::analysis
