// Two implementations: a random run is written down as a list of lives, from which a twin tells by trying all of them whose an
// address is; the recording has only the events and the final state, also without its beginning.
#include "engine/analysis/details/address_owner.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/property/random.h"
#include "tests/unit/analysis/opened_story.h"

namespace gpustrata::analysis {
namespace {

using model::BlockState;
using trace::Action;

constexpr int64_t kSegmentBytes = 2 << 20;
constexpr int32_t kNever = INT32_MAX;

struct Life {
  uint64_t address;
  int64_t size, requested;
  int32_t alloc;  // event
  int32_t request = kNever, complete = kNever;
  std::string by;
  std::string freed_by = {};
  [[nodiscard]] bool has(uint64_t byte) const {
    return byte >= address && byte <= address + static_cast<uint64_t>(size) - 1;
  }
  [[nodiscard]] bool lives_after(int32_t event) const { return alloc <= event && event < complete; }
};
struct Slab {
  uint64_t address;
  int32_t begin;
  int32_t end = kNever;
  int64_t graph;
  [[nodiscard]] bool has(uint64_t byte) const {
    return byte >= address && byte <= address + kSegmentBytes - 1;
  }
  [[nodiscard]] bool lives_after(int32_t event) const { return begin <= event && event < end; }
};

// One thing that was written down, to be told again from any event on.
struct Noted {
  Action action;
  uint64_t address;
  int64_t size;
  std::string stack;
  int64_t graph;
};

class RandomRun {
 public:
  explicit RandomRun(uint64_t seed) : random_(seed) {
    for (int i = 0; i < 300; ++i) step();
    // One pair that says whose the stacks of frees are, whatever is cut.
    add_segment();
    alloc(slabs_.size() - 1);
    request(lives_.size() - 1);
    complete(lives_.size() - 1);
  }

  void tell(Story& story, int32_t cut) const {
    for (size_t i = static_cast<size_t>(cut); i < events_.size(); ++i) {
      const Noted& one = events_[i];
      story.event(one.action, one.address, one.size);
      if (!one.stack.empty()) story.frames({one.stack});
      story.pool(one.graph, 0);
    }
    for (const Slab& slab : slabs_) {
      if (slab.end != kNever) continue;
      story.segment(slab.address, kSegmentBytes);
      story.segment_pool(slab.graph, 0);
      uint64_t at = slab.address;
      for (const Life* life : in(slab)) {
        if (life->address > at)
          story.block(at, static_cast<int64_t>(life->address - at), 0, BlockState::inactive);
        story.block(life->address, life->size, life->requested,
                    life->request == kNever ? BlockState::active_allocated : BlockState::active_pending_free);
        story.block_frames({life->by});
        at = life->address + static_cast<uint64_t>(life->size);
      }
      const uint64_t end = slab.address + kSegmentBytes;
      if (at < end) story.block(at, static_cast<int64_t>(end - at), 0, BlockState::inactive);
    }
  }

  [[nodiscard]] int32_t event_count() const { return static_cast<int32_t>(events_.size()); }
  [[nodiscard]] const std::vector<Life>& lives() const { return lives_; }
  [[nodiscard]] const std::vector<Slab>& slabs() const { return slabs_; }
  // An address worth asking for: an edge of something, inside of it, or anywhere.
  [[nodiscard]] uint64_t some_address() {
    if (random_.one_in(8)) return static_cast<uint64_t>(random_.whole(0, 0x40000000));
    if (random_.one_in(4)) {
      const Slab& slab = slabs_[static_cast<size_t>(random_.below(static_cast<int32_t>(slabs_.size())))];
      return random_.one_in(2) ? slab.address - 1 : slab.address + kSegmentBytes;
    }
    const Life& life = lives_[static_cast<size_t>(random_.below(static_cast<int32_t>(lives_.size())))];
    return life.address + static_cast<uint64_t>(random_.whole(-1, life.size));
  }
  [[nodiscard]] int32_t some_event(int32_t least) {
    return static_cast<int32_t>(random_.whole(least, event_count() - 1));
  }

 private:
  [[nodiscard]] int32_t now() const { return static_cast<int32_t>(events_.size()); }
  // Of those alive, in address order.
  [[nodiscard]] std::vector<const Life*> in(const Slab& slab) const {
    std::vector<const Life*> found;
    for (const Life& life : lives_) {
      if (life.complete == kNever && slab.has(life.address)) found.push_back(&life);
    }
    std::sort(found.begin(), found.end(),
              [](const Life* a, const Life* b) { return a->address < b->address; });
    return found;
  }
  void step() {
    const auto pick = [&](auto&& fits) -> std::optional<size_t> {
      std::vector<size_t> found;
      for (size_t i = 0; i < lives_.size(); ++i) {
        if (fits(lives_[i])) found.push_back(i);
      }
      if (found.empty()) return std::nullopt;
      return found[static_cast<size_t>(random_.below(static_cast<int32_t>(found.size())))];
    };
    switch (random_.below(8)) {
      case 0:
        return add_segment();
      case 1:
        return end_segment();
      case 2:
      case 3:
      case 4:
        if (!slabs_.empty()) alloc(static_cast<size_t>(random_.below(static_cast<int32_t>(slabs_.size()))));
        return;
      case 5:
      case 6: {
        const auto chosen = pick([](const Life& life) { return life.request == kNever; });
        if (!chosen) return;
        request(*chosen);
        if (!random_.one_in(3)) complete(*chosen);
        return;
      }
      default:
        if (const auto chosen =
                pick([](const Life& life) { return life.request != kNever && life.complete == kNever; }))
          complete(*chosen);
    }
  }
  void add_segment() {
    // Few places, some beside each other, so that they come again.
    uint64_t free = 0x10000000 + static_cast<uint64_t>(random_.below(3)) * 4 * kSegmentBytes +
                    static_cast<uint64_t>(random_.below(2)) * kSegmentBytes;
    while (std::any_of(slabs_.begin(), slabs_.end(),
                       [&](const Slab& one) { return one.address == free && one.end == kNever; }))
      free += kSegmentBytes;
    const int64_t graph = random_.below(3);
    slabs_.push_back({.address = free, .begin = now(), .graph = graph});
    events_.push_back({Action::segment_alloc, free, kSegmentBytes, "", graph});
  }
  void end_segment() {
    for (Slab& slab : slabs_) {
      if (slab.end != kNever || !in(slab).empty() || random_.one_in(2)) continue;
      slab.end = now();
      events_.push_back({Action::segment_free, slab.address, kSegmentBytes, "", slab.graph});
      return;
    }
  }
  void alloc(size_t slab_at) {
    const Slab slab = slabs_[slab_at];
    if (slab.end != kNever) return;
    const int64_t size = 512 * random_.whole(1, 64);
    uint64_t at = slab.address;
    for (const Life* life : in(slab)) {  // the first gap that is large enough
      if (life->address - at >= static_cast<uint64_t>(size)) break;
      at = life->address + static_cast<uint64_t>(life->size);
    }
    if (slab.address + kSegmentBytes - at < static_cast<uint64_t>(size)) return;
    const int64_t requested = size - random_.below(511);
    const std::string by = fmt::format("make{}", random_.below(5));
    lives_.push_back({.address = at, .size = size, .requested = requested, .alloc = now(), .by = by});
    events_.push_back({Action::alloc, at, requested, by, slab.graph});
  }
  void request(size_t life) {
    Life& one = lives_[life];
    one.request = now();
    one.freed_by = fmt::format("drop{}", random_.below(5));
    events_.push_back({Action::free_requested, one.address, one.requested, one.freed_by, graph_of(one)});
  }
  void complete(size_t life) {
    Life& one = lives_[life];
    one.complete = now();
    const std::string stack = one.request == now() - 1 ? one.freed_by : "somebody";
    events_.push_back({Action::free_completed, one.address, one.requested, stack, graph_of(one)});
  }
  [[nodiscard]] int64_t graph_of(const Life& life) const {
    for (const Slab& slab : slabs_) {
      if (slab.end == kNever && slab.has(life.address)) return slab.graph;
    }
    return 0;
  }

  Random random_;
  std::vector<Life> lives_;
  std::vector<Slab> slabs_;
  std::vector<Noted> events_;
};

[[nodiscard]] std::string text_of(const AddressLife& life, const model::Recording& recording,
                                  bool is_holder) {
  const auto who = [&](StackId stack) { return std::string(who_of(recording, stack).name); };
  return fmt::format("{:x}+{}/{} byte {} alloc {} request {} complete {} pending {} by {} freed by {}\n",
                     life.block.address, life.block.size, life.block.requested_size, life.offset,
                     life.block.events.alloc, life.block.events.free_requested,
                     life.block.events.free_completed,
                     is_holder && life.block.state == BlockState::active_pending_free, who(life.allocated_by),
                     who(life.freed_by));
}
[[nodiscard]] std::string text_of(const std::optional<AddressNeighbour>& one) {
  return one ? fmt::format("{}{:x} at {}", one->is_segment ? "s" : "b", one->address, one->distance) : "none";
}
[[nodiscard]] std::string text_of(const AddressOwner& owner, const model::Recording& recording) {
  std::string text = owner.holder ? "held by " + text_of(*owner.holder, recording, true) : "nobody's\n";
  if (owner.segment)
    text += fmt::format("in {:x}, pool {}\n", owner.segment->segment.address,
                        recording.pools[owner.segment->pool.index()].graph_id);
  if (owner.free) text += fmt::format("free {:x}+{}\n", owner.free->address, owner.free->size);
  for (const AddressLife& life : owner.before) text += "before " + text_of(life, recording, false);
  for (const AddressLife& life : owner.after) text += "after " + text_of(life, recording, false);
  text += fmt::format("and {} before, {} after\n", owner.before_left_out, owner.after_left_out);
  if (!owner.holder) text += fmt::format("below {}, above {}\n", text_of(owner.below), text_of(owner.above));
  if (owner.segment_before) text += fmt::format("segment until {}\n", owner.segment_before->end);
  if (owner.segment_after) text += fmt::format("segment from {}\n", owner.segment_after->begin);
  return text;
}

// What the lists say after an event of the whole run; events are told as of the recording that begins with `cut`.
class Twin {
 public:
  Twin(const RandomRun& run, int32_t cut, uint64_t address, int32_t event)
      : run_(run), cut_(cut), address_(address), event_(event) {}

  [[nodiscard]] std::string text() {
    const Life* holder = nullptr;
    std::vector<const Life*> before, after;
    for (const Life& life : run_.lives()) {
      if (!life.has(address_) || life.complete < cut_) continue;
      if (life.lives_after(event_)) {
        holder = &life;
      } else {
        (life.alloc > event_ ? after : before).push_back(&life);
      }
    }
    std::sort(before.begin(), before.end(), [](auto* a, auto* b) { return a->complete > b->complete; });
    std::sort(after.begin(), after.end(), [](auto* a, auto* b) { return a->alloc < b->alloc; });
    const Slab* slab = nullptr;
    const Slab *last = nullptr, *next = nullptr;
    for (const Slab& one : run_.slabs()) {
      if (!one.has(address_) || one.end < cut_) continue;
      if (one.lives_after(event_)) slab = &one;
      if (one.end <= event_ && (last == nullptr || one.end > last->end)) last = &one;
      if (one.begin > event_ && (next == nullptr || one.begin < next->begin)) next = &one;
    }
    std::string text = holder != nullptr ? "held by " + of(*holder, true) : "nobody's\n";
    if (slab != nullptr) text += fmt::format("in {:x}, pool {}\n", slab->address, slab->graph);
    if (slab != nullptr && holder == nullptr) text += free_text(*slab);
    for (size_t i = 0; i < before.size() && i < 5; ++i) text += "before " + of(*before[i], false);
    for (size_t i = 0; i < after.size() && i < 5; ++i) text += "after " + of(*after[i], false);
    text += fmt::format("and {} before, {} after\n", before.size() - std::min<size_t>(before.size(), 5),
                        after.size() - std::min<size_t>(after.size(), 5));
    if (holder == nullptr) text += nearest_text(slab);
    if (slab == nullptr && last != nullptr) text += fmt::format("segment until {}\n", last->end - cut_);
    if (slab == nullptr && next != nullptr) text += fmt::format("segment from {}\n", next->begin - cut_);
    return text;
  }

 private:
  // As an event of the recording; -1 = it is not there.
  [[nodiscard]] int32_t told(int32_t event) const {
    return event == kNever || event < cut_ ? -1 : event - cut_;
  }
  [[nodiscard]] std::string of(const Life& life, bool is_holder) const {
    // Of a block from before the recording who made it is known from the final state alone.
    const bool known = life.alloc >= cut_ || life.complete == kNever;
    const bool freed = life.request != kNever && life.request >= cut_;
    return fmt::format("{:x}+{}/{} byte {} alloc {} request {} complete {} pending {} by {} freed by {}\n",
                       life.address, life.size, life.requested, address_ - life.address, told(life.alloc),
                       told(life.request), told(life.complete), is_holder && life.request <= event_,
                       known ? life.by : "", freed ? life.freed_by : "");
  }
  [[nodiscard]] bool is_used(uint64_t byte) const {
    return std::any_of(run_.lives().begin(), run_.lives().end(),
                       [&](const Life& life) { return life.lives_after(event_) && life.has(byte); });
  }
  // Blocks begin and end at multiples of 512.
  [[nodiscard]] std::string free_text(const Slab& slab) const {
    uint64_t from = address_ / 512 * 512, until = from + 512;
    while (from > slab.address && !is_used(from - 512)) from -= 512;
    while (until < slab.address + kSegmentBytes && !is_used(until)) until += 512;
    return fmt::format("free {:x}+{}\n", from, until - from);
  }
  [[nodiscard]] std::string nearest_text(const Slab* slab) const {
    std::string below = "none", above = "none";
    uint64_t to_below = UINT64_MAX, to_above = UINT64_MAX;
    const auto consider = [&](char kind, uint64_t first, uint64_t last) {
      if (last < address_ && address_ - last < to_below) {
        to_below = address_ - last;
        below = fmt::format("{}{:x} at {}", kind, first, to_below);
      }
      if (first > address_ && first - address_ < to_above) {
        to_above = first - address_;
        above = fmt::format("{}{:x} at {}", kind, first, to_above);
      }
    };
    if (slab != nullptr) {
      for (const Life& life : run_.lives()) {
        if (life.lives_after(event_) && slab->has(life.address))
          consider('b', life.address, life.address + static_cast<uint64_t>(life.size) - 1);
      }
    } else {
      for (const Slab& one : run_.slabs()) {
        if (one.lives_after(event_)) consider('s', one.address, one.address + kSegmentBytes - 1);
      }
    }
    return fmt::format("below {}, above {}\n", below, above);
  }

  const RandomRun& run_;
  int32_t cut_;
  uint64_t address_;
  int32_t event_;
};

class AddressOwnerProperty : public testing::TestWithParam<uint64_t> {};

TEST_P(AddressOwnerProperty, IsWhomATwinNames) {
  RandomRun run(GetParam());
  for (const int32_t cut : {0, run.event_count() / 3}) {
    Story story;
    run.tell(story, cut);
    const OpenedStory opened(story);
    EXPECT_FALSE(opened.history->diagnostics.any());
    for (int i = 0; i < 150; ++i) {
      const uint64_t address = run.some_address();
      const int32_t event = run.some_event(cut - 1);
      const AddressOwner found = find_owner(opened.context(), opened.after(event - cut), address);
      ASSERT_EQ(text_of(found, opened.recording), Twin(run, cut, address, event).text())
          << fmt::format("{:x} after event {} from {}", address, event, cut);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Random, AddressOwnerProperty, testing::Range<uint64_t>(0, 20));

}  // namespace
}  // namespace gpustrata::analysis
