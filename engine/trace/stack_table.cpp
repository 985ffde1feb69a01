#include "engine/trace/stack_table.h"

#include <limits>

#include "engine/base/hash.h"

namespace gpustrata::trace {

namespace {

constexpr size_t kFirstTable = 1024;
constexpr size_t kMaxRows = static_cast<size_t>(std::numeric_limits<int32_t>::max());

[[nodiscard]] uint64_t pack(int32_t high, int32_t low) {
  return uint64_t{static_cast<uint32_t>(high)} << 32 | static_cast<uint32_t>(low);
}

// Slot of the row that `is_row` accepts, or of the free place for a new one.
template <typename IsRow>
[[nodiscard]] size_t find_slot(const Column<int32_t>& table, uint64_t hash, IsRow is_row) {
  const size_t mask = table.size() - 1;
  size_t slot = static_cast<size_t>(hash) & mask;
  while (table[slot] >= 0 && !is_row(table[slot])) slot = (slot + 1) & mask;
  return slot;
}

// Room for one row more at half load. `hash_of(row)` places the existing rows in the larger table.
template <typename HashOf>
[[nodiscard]] bool make_room(Column<int32_t>& table, Budget& budget, size_t rows, HashOf hash_of) {
  if (rows >= kMaxRows) return false;
  if (rows * 2 < table.size()) return true;
  Column<int32_t> grown(budget);
  size_t slots = kFirstTable;
  while (slots <= rows * 2) slots *= 2;  // a copy has rows without a table
  if (!grown.resize(slots, -1)) return false;
  for (size_t row = 0; row < rows; ++row) {
    const size_t slot = find_slot(grown, hash_of(row), [](int32_t) { return false; });
    grown[slot] = static_cast<int32_t>(row);
  }
  table = std::move(grown);
  return true;
}

[[nodiscard]] uint64_t hash_frame(const Frame& frame, const FxNode* fx) {
  uint64_t hash = mix_hash(pack(frame.name.value, frame.filename.value)) ^ static_cast<uint32_t>(frame.line);
  if (fx != nullptr) {
    hash = mix_hash(hash) ^ pack(fx->op.value, fx->name.value);
    hash = mix_hash(hash) ^ pack(fx->target.value, fx->original_trace.value);
  }
  return mix_hash(hash);
}

[[nodiscard]] uint64_t hash_node(StackTable::Node node) {
  return mix_hash(pack(node.frame.value, node.caller));
}

[[nodiscard]] uint32_t hash_list(std::span<const FrameId> frames) {
  return static_cast<uint32_t>(hash_bytes(frames.data(), frames.size_bytes()));
}

}  // namespace

FrameId FrameTable::intern(Frame frame) { return intern(frame, nullptr); }

FrameId FrameTable::intern(Frame frame, const FxNode& fx) { return intern(frame, &fx); }

FrameId FrameTable::intern(Frame frame, const FxNode* fx) {
  const auto hash_of = [this](size_t row) {
    const Frame& known = frames_[row];
    return hash_frame(known, known.fx < 0 ? nullptr : &fx_of(known));
  };
  if (!make_room(table_, *budget_, frames_.size(), hash_of)) return {};
  const size_t slot = find_slot(table_, hash_frame(frame, fx), [&](int32_t row) {
    const Frame& known = frames_[row];
    return known.name == frame.name && known.filename == frame.filename && known.line == frame.line &&
           (fx == nullptr ? known.fx < 0 : known.fx >= 0 && fx_of(known) == *fx);
  });
  if (table_[slot] >= 0) return FrameId{table_[slot]};
  frame.fx = -1;
  if (fx != nullptr) {
    frame.fx = static_cast<int32_t>(fx_.size());
    if (!fx_.push_back(*fx)) return {};
  }
  if (!frames_.push_back(frame)) return {};
  table_[slot] = static_cast<int32_t>(frames_.size() - 1);
  return FrameId{table_[slot]};
}

bool FrameTable::copy_from(const FrameTable& other) {
  return frames_.append(other.frames_.span()) && fx_.append(other.fx_.span()) &&
         table_.append(other.table_.span());
}

bool StackTable::copy_from(const StackTable& other) {
  // The table of nodes is large and needed only for new ones: intern_node makes it then.
  return nodes_.append(other.nodes_.span()) && stacks_.append(other.stacks_.span()) &&
         stack_table_.append(other.stack_table_.span());
}

StackTable::StackTable(Budget& budget)
    : budget_(&budget), nodes_(budget), stacks_(budget), node_table_(budget), stack_table_(budget) {}

StackId StackTable::intern(std::span<const FrameId> frames) {
  const auto hash_of = [this](size_t row) { return mix_hash(stacks_[row].hash); };
  if (!make_room(stack_table_, *budget_, stacks_.size(), hash_of)) return {};
  const uint32_t hash = hash_list(frames);
  const size_t slot = find_slot(stack_table_, mix_hash(hash), [&](int32_t row) {
    return stacks_[row].hash == hash && equals(StackId{row}, frames);
  });
  if (stack_table_[slot] >= 0) return StackId{stack_table_[slot]};

  int32_t leaf = -1;
  for (size_t i = frames.size(); i-- > 0;) {
    leaf = intern_node({frames[i], leaf});
    if (leaf < 0) return {};
  }
  if (!stacks_.push_back({leaf, hash})) return {};
  stack_table_[slot] = static_cast<int32_t>(stacks_.size() - 1);
  return StackId{stack_table_[slot]};
}

bool StackTable::equals(StackId stack, std::span<const FrameId> frames) const {
  int32_t at = leaf(stack);
  for (const FrameId frame : frames) {
    if (at < 0 || node(at).frame != frame) return false;
    at = node(at).caller;
  }
  return at < 0;
}

int32_t StackTable::intern_node(Node wanted) {
  const auto hash_of = [this](size_t row) { return hash_node(nodes_[row]); };
  if (!make_room(node_table_, *budget_, nodes_.size(), hash_of)) return -1;
  const size_t slot = find_slot(node_table_, hash_node(wanted), [&](int32_t row) {
    const Node& known = node(row);
    return known.frame == wanted.frame && known.caller == wanted.caller;
  });
  if (node_table_[slot] >= 0) return node_table_[slot];
  if (!nodes_.push_back(wanted)) return -1;
  node_table_[slot] = static_cast<int32_t>(nodes_.size() - 1);
  return node_table_[slot];
}

std::vector<FrameId> StackTable::frames_of(StackId stack) const {
  std::vector<FrameId> frames;
  if (stack.is_none()) return frames;
  for (int32_t at = leaf(stack); at >= 0; at = node(at).caller) frames.push_back(node(at).frame);
  return frames;
}

}  // namespace gpustrata::trace
