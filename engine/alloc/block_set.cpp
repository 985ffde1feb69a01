#include "engine/alloc/block_set.h"

#include <algorithm>
#include <cassert>

namespace gpustrata::alloc {

namespace {

[[nodiscard]] bool stream_less(int64_t a, int64_t b) {
  return static_cast<uint64_t>(a) < static_cast<uint64_t>(b);
}

}  // namespace

BlockSet::Bins* BlockSet::find_bins(int64_t stream) const {
  if (!streams_.empty() && streams_.front().stream == stream) return streams_.front().bins.get();
  const auto at =
      std::lower_bound(streams_.begin(), streams_.end(), stream,
                       [](const StreamBins& row, int64_t wanted) { return stream_less(row.stream, wanted); });
  return at != streams_.end() && at->stream == stream ? at->bins.get() : nullptr;
}

BlockSet::Bins& BlockSet::bins_for(int64_t stream) {
  if (Bins* found = find_bins(stream)) return *found;
  const auto at =
      std::lower_bound(streams_.begin(), streams_.end(), stream,
                       [](const StreamBins& row, int64_t wanted) { return stream_less(row.stream, wanted); });
  return *streams_.insert(at, {stream, std::make_unique<Bins>()})->bins;
}

size_t BlockSet::used_from(const Bins& bins, size_t bin) {
  if (bin >= kBins) return kBins;
  const size_t word = bin / 64;
  if (const uint64_t here = bins.used[word] & (~uint64_t{0} << (bin % 64)); here != 0)
    return word * 64 + static_cast<size_t>(std::countr_zero(here));
  const uint64_t above = bins.words_used & (~uint64_t{1} << word);
  if (above == 0) return kBins;
  const auto next = static_cast<size_t>(std::countr_zero(above));
  return next * 64 + static_cast<size_t>(std::countr_zero(bins.used[next]));
}

size_t BlockSet::used_down_from(const Bins& bins, size_t bin) {
  const size_t word = bin / 64;
  if (const uint64_t here = bins.used[word] & (~uint64_t{0} >> (63 - bin % 64)); here != 0)
    return word * 64 + 63 - static_cast<size_t>(std::countl_zero(here));
  const uint64_t below = bins.words_used & ((uint64_t{1} << word) - 1);
  if (below == 0) return kBins;
  const auto next = static_cast<size_t>(63 - std::countl_zero(below));
  return next * 64 + 63 - static_cast<size_t>(std::countl_zero(bins.used[next]));
}

void BlockSet::insert(BlockId id) {
  const Block& block = state_->block(id);
  state_->set_birth(id, searches);
  Bins& bins = bins_for(state_->segment_of(id).stream);
  const size_t bin = bin_of(block.size);
  std::unique_ptr<Roots>& roots = bins.roots[bin / 64];
  if (!roots) {
    roots = std::make_unique<Roots>();
    roots->fill(kNoNode);
  }
  treap::insert((*roots)[bin % 64], id.value,
                [this](int32_t n) -> TreapLinks& { return state_->links(BlockId(n)); },
                [this](int32_t a, int32_t b) { return less(a, b); });
  bins.used[bin / 64] |= uint64_t{1} << (bin % 64);
  bins.words_used |= uint64_t{1} << (bin / 64);
  ++size_;
  bytes_ += block.size;
}

void BlockSet::erase_absorbed(BlockId id, int64_t stream) {
  Bins& bins = *find_bins(stream);
  const size_t bin = bin_of(state_->block(id).size);
  int32_t& root = (*bins.roots[bin / 64])[bin % 64];
  treap::erase(
      root, id.value, [this](int32_t n) -> TreapLinks& { return state_->links(BlockId(n)); },
      [this](int32_t a, int32_t b) { return less(a, b); });
  if (root == kNoNode) {
    bins.used[bin / 64] &= ~(uint64_t{1} << (bin % 64));
    if (bins.used[bin / 64] == 0) bins.words_used &= ~(uint64_t{1} << (bin / 64));
  }
  --size_;
  bytes_ -= state_->block(id).size;
}

BlockId BlockSet::first_of_at_least(int64_t stream, int64_t size) const {
  const Bins* bins = find_bins(stream);
  if (bins == nullptr) return {};
  const auto links = [this](int32_t n) -> const TreapLinks& { return row(n).links; };
  const size_t own = bin_of(size);
  const int32_t found =
      treap::lower_bound(bins->root(own), links, [&](int32_t n) { return row(n).size < size; });
  if (found != kNoNode) return BlockId(found);
  const size_t bin = used_from(*bins, own + 1);
  if (bin == kBins) return {};
  return BlockId(treap::lower_bound(bins->root(bin), links, [](int32_t) { return false; }));
}

BlockId BlockSet::last_below(int64_t stream, int64_t size) const {
  const Bins* bins = find_bins(stream);
  if (bins == nullptr) return {};
  const auto links = [this](int32_t n) -> const TreapLinks& { return row(n).links; };
  const size_t own = bin_of(size);
  const int32_t found =
      treap::last_before(bins->root(own), links, [&](int32_t n) { return row(n).size < size; });
  if (found != kNoNode) return BlockId(found);
  const size_t bin = own == 0 ? kBins : used_down_from(*bins, own - 1);
  if (bin == kBins) return {};
  return BlockId(treap::last_before(bins->root(bin), links, [](int32_t) { return true; }));
}

BlockId BlockSet::after(BlockId id) const {
  const Bins& bins = *find_bins(state_->segment_of(id).stream);
  const auto links = [this](int32_t n) -> const TreapLinks& { return row(n).links; };
  const size_t own = bin_of(state_->block(id).size);
  const int32_t found = treap::lower_bound(bins.root(own), links,
                                           [&](int32_t n) { return n == id.value || less(n, id.value); });
  if (found != kNoNode) return BlockId(found);
  const size_t bin = used_from(bins, own + 1);
  if (bin == kBins) return {};
  return BlockId(treap::lower_bound(bins.root(bin), links, [](int32_t) { return false; }));
}

BlockId BlockSet::before(BlockId id) const {
  const Bins& bins = *find_bins(state_->segment_of(id).stream);
  const auto links = [this](int32_t n) -> const TreapLinks& { return row(n).links; };
  const size_t own = bin_of(state_->block(id).size);
  const int32_t found =
      treap::last_before(bins.root(own), links, [&](int32_t n) { return less(n, id.value); });
  if (found != kNoNode) return BlockId(found);
  const size_t bin = own == 0 ? kBins : used_down_from(bins, own - 1);
  if (bin == kBins) return {};
  return BlockId(treap::last_before(bins.root(bin), links, [](int32_t) { return true; }));
}

void BlockSet::insert_unmapped(BlockId id) {
  const auto at = std::lower_bound(unmapped_.begin(), unmapped_.end(), id, [this](BlockId a, BlockId b) {
    const int64_t x = state_->segment_of(a).stream, y = state_->segment_of(b).stream;
    return x != y ? stream_less(x, y) : state_->block(a).address < state_->block(b).address;
  });
  unmapped_.insert(at, id);
}

void BlockSet::erase_unmapped(BlockId id) {
  const auto at = std::find(unmapped_.begin(), unmapped_.end(), id);
  assert(at != unmapped_.end());
  unmapped_.erase(at);
}

}  // namespace gpustrata::alloc
