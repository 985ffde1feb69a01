#include "engine/analysis/search.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/analysis/block_sources.h"
#include "engine/analysis/frame_filter.h"

namespace memstrata::analysis {

using trace::Action;

namespace {

// Blocks without a stack of their own are searched by their free's; keeps the search linear.
constexpr int32_t kFurthestRequest = 64;

[[nodiscard]] char folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// A text to look for, in small letters.
class Needle {
 public:
  explicit Needle(std::string_view text) : text_(text) {
    std::transform(text_.begin(), text_.end(), text_.begin(), folded);
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool is_in(std::string_view hay) const {
    if (text_.size() > hay.size()) return false;
    const auto same = [](char a, char b) { return folded(a) == b; };
    return std::search(hay.begin(), hay.end(), text_.begin(), text_.end(), same) != hay.end();
  }

 private:
  std::string text_;
};

// Block names that contain the text. Names are b'<hex>_<version>; people also type 0x<hex> and b<hex>.
class NameMatcher {
 public:
  explicit NameMatcher(const std::string& text) : anywhere_(text) {
    possible_ = text.find_first_not_of("0123456789abcdef_b'x") == std::string::npos;
    for (const std::string_view prefix : {"b'0x", "b0x", "0x", "b'", "b"}) {
      if (text.size() > prefix.size() && std::string_view(text).starts_with(prefix)) {
        start_ = text.substr(prefix.size());
        break;
      }
    }
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
    *--at = 'b';
    return {at, static_cast<size_t>(buffer_.data() + buffer_.size() - at)};
  }

  std::string anywhere_;
  std::string start_;  // the name's hexadecimal digits must begin with this; empty = no such form
  bool possible_ = false;
  mutable std::array<char, 32> buffer_{};
};

// Strings of the pool are looked at when first asked for, and once.
class StringMatches {
 public:
  StringMatches(const model::Recording& recording, const Needle& needle)
      : recording_(recording), needle_(needle), known_(recording.budget) {}
  [[nodiscard]] bool prepare() { return known_.resize(recording_.strings.size(), kNotLookedAt); }
  [[nodiscard]] bool operator()(StringId id) {
    if (id.is_none()) return false;
    uint8_t& answer = known_[id.index()];
    if (answer == kNotLookedAt) answer = needle_.is_in(recording_.strings.view(id)) ? 1 : 0;
    return answer == 1;
  }

 private:
  static constexpr uint8_t kNotLookedAt = 2;
  const model::Recording& recording_;
  const Needle& needle_;
  Column<uint8_t> known_;
};

// Which stacks hold a matching frame that is shown? Callers have lower node numbers, so one pass is enough.
[[nodiscard]] bool match_nodes(const model::Recording& recording, const Needle& needle,
                               Column<uint8_t>& nodes) {
  Column<uint8_t> frames(recording.budget);
  if (!frames.resize(recording.frames.size(), 0) || !nodes.resize(recording.stacks.node_count(), 0))
    return false;
  for (size_t i = 0; i < frames.size(); ++i) {
    const FrameId id{i};
    const trace::Frame& frame = recording.frames[id];
    if (is_hidden(recording.strings.view(frame.name), recording.strings.view(frame.filename))) continue;
    bool found = needle.is_in(frame_text(recording, id));
    if (!found && frame.fx >= 0) {
      for (const std::string& line : fx_lines(recording, id)) found = found || needle.is_in(line);
    }
    frames[i] = found ? 1 : 0;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const trace::StackTable::Node& node = recording.stacks.node(static_cast<int32_t>(i));
    const bool in_caller = node.caller >= 0 && nodes[static_cast<size_t>(node.caller)] != 0;
    nodes[i] = in_caller || frames[node.frame.index()] != 0 ? 1 : 0;
  }
  return true;
}

struct AddressAndRow {
  uint64_t address;
  int32_t row;

  auto operator<=>(const AddressAndRow&) const = default;
};

// Active blocks of the device's final state, by address.
[[nodiscard]] bool collect_final_blocks(const model::Recording& recording, const replay::Lifetimes& lifetimes,
                                        Column<AddressAndRow>& found) {
  for (const model::Snapshot& snapshot : recording.snapshots) {
    if (snapshot.events_of(lifetimes.device) != lifetimes.events) continue;
    for (int32_t segment = snapshot.segments.first; segment < snapshot.segments.end(); ++segment) {
      if (recording.segments.device[static_cast<size_t>(segment)] != lifetimes.device) continue;
      const model::RowRange rows = recording.segments.blocks[static_cast<size_t>(segment)];
      for (int32_t row = rows.first; row < rows.end(); ++row) {
        const auto i = static_cast<size_t>(row);
        const model::BlockState state = recording.blocks.state[i];
        if (state != model::BlockState::active_allocated && state != model::BlockState::active_pending_free)
          continue;
        if (!found.push_back({recording.blocks.address[i], row})) return false;
      }
    }
    break;
  }
  std::sort(found.data(), found.data() + found.size());
  return true;
}

[[nodiscard]] int32_t row_at(const Column<AddressAndRow>& blocks, uint64_t address) {
  const auto* found = std::lower_bound(blocks.begin(), blocks.end(), AddressAndRow{address, -1});
  return found != blocks.end() && found->address == address ? found->row : -1;
}

}  // namespace

Result<Matches> search(const model::Recording& recording, const replay::Lifetimes& lifetimes, SearchIn where,
                       std::string_view text) {
  const auto out_of_memory = [&] {
    return fail(ErrorCode::limit_exceeded, -1,
                "not enough memory to search {} blocks: {} bytes would be needed", lifetimes.block_count(),
                recording.budget.needed());
  };
  Matches matches(recording.budget);
  const auto count = static_cast<size_t>(lifetimes.block_count());
  if (!matches.meant.resize(count, 0)) return out_of_memory();
  if (text.empty()) return matches;

  const model::EventTable& events = recording.events;
  const auto row_of = [&](int32_t event) { return static_cast<size_t>(lifetimes.events.first + event); };
  const bool anything = where == SearchIn::anything;
  const Needle needle(text);
  const NameMatcher names(needle.text());
  StringMatches strings(recording, needle);
  Column<uint8_t> nodes(recording.budget);
  Column<AddressAndRow> final_blocks(recording.budget);
  if (anything || where == SearchIn::frame) {
    if (!match_nodes(recording, needle, nodes) || !collect_final_blocks(recording, lifetimes, final_blocks)) {
      return out_of_memory();
    }
  }
  Column<AddressAndRow> annotations(recording.budget);  // that match: address, event
  if (anything || where == SearchIn::metadata) {
    if (!strings.prepare()) return out_of_memory();
    for (int32_t event = 0; event < lifetimes.events.count; ++event) {
      const size_t row = row_of(event);
      if (events.action[row] == Action::annotate && strings(events.metadata[row])) {
        if (!annotations.push_back({events.address[row], event})) return out_of_memory();
      }
    }
    std::sort(annotations.data(), annotations.data() + annotations.size());
  }

  const auto stack_matches = [&](StackId stack) {
    return !stack.is_none() && recording.stacks.leaf(stack) >= 0 &&
           nodes[static_cast<size_t>(recording.stacks.leaf(stack))] != 0;
  };
  for (int32_t rank = 0; rank < lifetimes.block_count(); ++rank) {
    const auto r = static_cast<size_t>(rank);
    const uint64_t address = lifetimes.address(recording, rank);
    const int32_t born = lifetimes.born[r];
    const int32_t freed = lifetimes.freed[r];
    const bool live_at_end = freed >= lifetimes.events.count;
    bool found = false;
    if (anything || where == SearchIn::address) found = names.matches(address, lifetimes.version[r]);
    if (!found && (anything || where == SearchIn::frame)) {
      const StackId at_alloc = born >= 0 ? events.stack[row_of(born)] : StackId{};
      if (!at_alloc.is_none() && recording.stacks.leaf(at_alloc) >= 0) {
        found = stack_matches(at_alloc);
      } else {
        int32_t block = rank < lifetimes.from_start ? lifetimes.source[r] : -1;
        if (block < 0 && live_at_end) block = row_at(final_blocks, address);
        int32_t free_event = -1;
        if (!live_at_end) {
          free_event = find_free_request(recording, lifetimes, rank, kFurthestRequest);
          if (free_event < 0 && events.action[row_of(freed)] != Action::alloc) free_event = freed;
        }
        found = stack_matches(choose_stack(recording, lifetimes, rank, block, free_event).stack);
      }
    }
    if (!found && (anything || where == SearchIn::metadata)) {
      if (born >= 0) {
        found = strings(events.context[row_of(born)]) || strings(events.metadata[row_of(born)]);
      } else if (lifetimes.source[r] >= 0) {
        found = strings(recording.blocks.metadata[static_cast<size_t>(lifetimes.source[r])]);
      }
      const auto* note =
          std::upper_bound(annotations.begin(), annotations.end(), AddressAndRow{address, born});
      found = found || (note != annotations.end() && note->address == address && note->row < freed);
    }
    if (!found) continue;
    if (!matches.ranks.push_back(rank)) return out_of_memory();
    matches.meant[r] = 1;
    matches.bytes += lifetimes.size[r];
  }
  return matches;
}

}  // namespace memstrata::analysis
