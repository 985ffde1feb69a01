#include "engine/analysis/filters/filter_tree.h"

#include "engine/base/memory_refused.h"

namespace gpustrata::analysis {

namespace {

[[nodiscard]] Result<Mask> mask_of_node(const FilterTree& tree, int32_t index, const MaskOfTerm& of_term) {
  const FilterNode& node = tree.nodes[static_cast<size_t>(index)];
  if (node.kind == FilterNode::Kind::term) return of_term(node);
  auto joined = mask_of_node(tree, node.children[0], of_term);
  for (size_t i = 1; joined && i < node.children.size(); ++i) {
    const auto mask = mask_of_node(tree, node.children[i], of_term);
    if (!mask) return tl::unexpected(mask.error());
    const bool all = node.kind == FilterNode::Kind::all_of;
    for (size_t row = 0; row < joined->size(); ++row)
      (*joined)[row] = all ? (*joined)[row] & (*mask)[row] : (*joined)[row] | (*mask)[row];
  }
  if (joined && node.kind == FilterNode::Kind::none_of) {
    for (uint8_t& holds : joined->span()) holds ^= 1;
  }
  return joined;
}

}  // namespace

Result<Mask> mask_of(const FilterTree& tree, const MaskOfTerm& of_term) {
  return mask_of_node(tree, tree.root, of_term);
}

Result<Mask> empty_mask(Budget& budget, int32_t rows) {
  Mask mask(budget);
  if (mask.resize(static_cast<size_t>(rows), 0)) return mask;
  return not_enough_memory(budget, fmt::format("to filter {} rows", rows));
}

}  // namespace gpustrata::analysis
