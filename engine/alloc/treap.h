// A search tree whose nodes live in the caller's arrays: nothing is allocated by inserting.
//
// Binary tree by key, heap by a hash of the node's number; so the shape does not depend on the order of
// insertion and the depth is logarithmic. Insert, erase and search are O(log n) expected.
#pragma once

#include <cstdint>

namespace gpustrata::alloc {

inline constexpr int32_t kNoNode = -1;

struct TreapLinks {
  int32_t left = kNoNode;
  int32_t right = kNoNode;
};

namespace treap {

[[nodiscard]] inline uint32_t priority(int32_t node) {
  const uint32_t mixed = (static_cast<uint32_t>(node) + 1) * 0x9E3779B1U;  // Knuth's multiplicative hash
  return mixed ^ (mixed >> 15);
}

// links(node) -> TreapLinks&; less(a, b): is node a before node b?
template <typename Links, typename Less>
void insert(int32_t& root, int32_t node, Links&& links, Less&& less) {
  const uint32_t own = priority(node);
  int32_t* at = &root;
  while (*at != kNoNode && priority(*at) >= own) at = less(node, *at) ? &links(*at).left : &links(*at).right;
  // What hangs here is divided: smaller nodes to the left of the new one, larger to the right.
  int32_t rest = *at;
  *at = node;
  int32_t* smaller = &links(node).left;
  int32_t* larger = &links(node).right;
  while (rest != kNoNode) {
    if (less(rest, node)) {
      *smaller = rest;
      smaller = &links(rest).right;
      rest = *smaller;
    } else {
      *larger = rest;
      larger = &links(rest).left;
      rest = *larger;
    }
  }
  *smaller = *larger = kNoNode;
}

// The node must be in the tree.
template <typename Links, typename Less>
void erase(int32_t& root, int32_t node, Links&& links, Less&& less) {
  int32_t* at = &root;
  while (*at != node) at = less(node, *at) ? &links(*at).left : &links(*at).right;
  int32_t left = links(node).left;
  int32_t right = links(node).right;
  while (left != kNoNode && right != kNoNode) {
    if (priority(left) >= priority(right)) {
      *at = left;
      at = &links(left).right;
      left = *at;
    } else {
      *at = right;
      at = &links(right).left;
      right = *at;
    }
  }
  *at = left != kNoNode ? left : right;
}

// First node for which before(node) is false; before() is true for a beginning of the order.
template <typename Links, typename Before>
[[nodiscard]] int32_t lower_bound(int32_t root, Links&& links, Before&& before) {
  int32_t found = kNoNode;
  while (root != kNoNode) {
    if (before(root)) {
      root = links(root).right;
    } else {
      found = root;
      root = links(root).left;
    }
  }
  return found;
}

// Last node for which before(node) is true.
template <typename Links, typename Before>
[[nodiscard]] int32_t last_before(int32_t root, Links&& links, Before&& before) {
  int32_t found = kNoNode;
  while (root != kNoNode) {
    if (before(root)) {
      found = root;
      root = links(root).right;
    } else {
      root = links(root).left;
    }
  }
  return found;
}

}  // namespace treap
}  // namespace gpustrata::alloc
