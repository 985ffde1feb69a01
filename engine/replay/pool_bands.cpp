// Three passes: whose pool each block and segment is, then event by event how much each pool holds, then the
// order of the bands.

#include "engine/replay/pool_bands.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/replay/address_table.h"
#include "engine/replay/segment_index.h"

namespace gpustrata::replay {

namespace {

using trace::Action;

// Wide enough for the sum of any number of sizes, whatever a hostile file says.
using Sum = __int128;

int64_t bounded_bytes(Sum bytes) { return static_cast<int64_t>(std::clamp<Sum>(bytes, 0, kMaxLevel)); }

constexpr size_t kMostEnvelopes = size_t{1} << 16;
constexpr int64_t kMaxBands = (int64_t{1} << 30) - 2;  // a pixel has 30 bits for one (timeline.h)

// Room in an envelope that no block uses, for a while.
struct Piece {
  int32_t envelope;
  int32_t from, to;
  int64_t size;
};

class PoolFinder {
 public:
  PoolFinder(const model::Recording& recording, const model::Part& part, const BlockLives& blocks,
             std::span<const PoolId> pool_of_block, std::span<const StreamId> stream_of_block)
      : recording_(recording),
        part_(part),
        blocks_(blocks),
        pool_of_block_(pool_of_block),
        stream_of_block_(stream_of_block),
        budget_(recording.budget) {
    count_ = blocks.events.count;
  }

  Result<PoolBands> run() {
    bool done = find_envelopes() && replay();
    if (done && overflow_) {
      forget_envelopes();
      done = replay();
    }
    found_.diagnostics.add_all(blocks_.diagnostics);
    if (!done || !copy_reserved() || !order_bands()) {
      return fail(ErrorCode::limit_exceeded, -1,
                  "The private pools of device {} do not fit into memory: at least {} bytes in all would be "
                  "needed, the limit is {}.",
                  blocks_.device, std::max(budget_.needed(), budget_.used()), budget_.limit());
    }
    return std::move(found_);
  }

 private:
  static constexpr int32_t kDefaultPool = -1;

  // A pool after the current event.
  struct Pool {
    Sum initial_reserved = 0;
    int64_t active = 0, reserved = 0, capacity = 0;
    int64_t rest = 0;  // of the piece that is open, 0 = none
    int32_t rest_from = -1;
    bool is_known = false;  // blocks or memory of it were there
  };

  [[nodiscard]] model::RowRange events() const { return blocks_.events; }
  [[nodiscard]] size_t row_of(int32_t event) const { return static_cast<size_t>(events().first + event); }
  [[nodiscard]] Action action(int32_t event) const { return recording_.events.action[row_of(event)]; }

  // kDefaultPool for default and unknown pools. False if there is no memory.
  [[nodiscard]] bool envelope_of(PoolId pool, StreamId stream, int32_t& envelope) {
    envelope = kDefaultPool;
    if (pool.is_none() || recording_.pools[pool.index()] == model::Pool{}) return true;
    if (stream.is_none()) stream = StreamId{size_t{0}};
    const uint64_t key = static_cast<uint64_t>(pool.index()) << 32 | stream.index();
    AddressTable::Entry* entry = keys_.find_or_add(key);
    if (entry == nullptr) return false;
    if (entry->open == AddressTable::kNotOpen) {
      if (found_.envelopes.size() == kMostEnvelopes) return true;
      entry->open = static_cast<int32_t>(found_.envelopes.size());
      if (!pools_.push_back({})) return false;
      found_.envelopes.push_back(
          {.pool = pool, .stream = stream, .capacity = StepSeries(budget_), .reserved = StepSeries(budget_)});
    }
    envelope = entry->open;
    return true;
  }

  [[nodiscard]] static int sign_of(Action action) {
    if (action == Action::segment_alloc || action == Action::segment_map) return 1;
    return action == Action::segment_free || action == Action::segment_unmap ? -1 : 0;
  }
  [[nodiscard]] int64_t reserved_change(int32_t event) const {
    return sign_of(action(event)) * std::max(recording_.events.size[row_of(event)], int64_t{0});
  }
  [[nodiscard]] bool envelope_of_segment_event(int32_t event, int32_t& envelope) {
    envelope = kDefaultPool;
    if (!has_private_ || sign_of(action(event)) == 0) return true;
    const size_t row = row_of(event);
    PoolId pool = recording_.events.pool[row];
    if (pool.is_none()) {
      const int32_t segment = segments_.row_around(recording_.events.address[row]);
      if (segment >= 0) pool = recording_.segments.pool[segment];
    }
    return envelope_of(pool, recording_.events.stream[row], envelope);
  }

  [[nodiscard]] bool find_envelopes() {
    has_private_ = recording_.pools.size() > 1;
    const auto count = static_cast<size_t>(blocks_.count());
    if (!segments_.build(recording_, part_, blocks_.device) || !envelope_of_.resize(count, kDefaultPool))
      return false;
    for (size_t rank = 0; rank < count; ++rank) {
      if (!envelope_of(pool_of_block_[rank], stream_of_block_[rank], envelope_of_[rank])) return false;
    }
    const model::SegmentTable& segments = recording_.segments;
    for (int32_t row = part_.segments.first; row < part_.segments.end(); ++row) {
      if (segments.device[row] != blocks_.device) continue;
      int32_t envelope;
      if (!envelope_of(segments.pool[row], segments.stream[row], envelope)) return false;
      if (envelope >= 0) pools_[envelope].initial_reserved += std::max(segments.total_size[row], int64_t{0});
    }
    for (int32_t event = 0; event < count_; ++event) {
      int32_t envelope;
      if (!envelope_of_segment_event(event, envelope)) return false;
      if (envelope >= 0) pools_[envelope].initial_reserved -= reserved_change(event);
    }
    return true;
  }

  // Every block is one of the default pool then.
  void forget_envelopes() {
    std::fill(envelope_of_.data(), envelope_of_.data() + envelope_of_.size(), kDefaultPool);
    has_private_ = false;
    overflow_ = false;
    found_.envelopes.clear();
    pools_.clear();
    pieces_.clear();
    found_.pending.event.clear();
    found_.pending.value.clear();
    found_.diagnostics.add(model::Diag::level_overflow);
  }

  [[nodiscard]] bool replay() {
    Bands& bands = found_;
    bands.device = blocks_.device;
    bands.clock = blocks_.clock;
    bands.events = events();
    const auto count = static_cast<size_t>(count_);
    if (!bands.level.resize(count, 0) || !ended_.resize(count, -1)) return false;
    for (int32_t rank = 0; rank < blocks_.count(); ++rank) {
      const int32_t freed = blocks_.freed[rank];
      if (freed < count_) ended_[freed] = rank;
    }
    start();
    Sum level = default_active_ + all_capacity_;
    bands.initial_level = bands.peak_level = static_cast<int64_t>(level);
    bands.peak_event = -1;
    int32_t next = blocks_.from_start;
    size_t next_pending = 0;
    int64_t pending = blocks_.pending.initial;
    for (int32_t event = 0; event < count_ && !overflow_; ++event) {
      std::array<int32_t, 3> touched{kDefaultPool, kDefaultPool, kDefaultPool};
      if (const int32_t rank = ended_[event]; rank >= 0) touched[0] = add_active(rank, -1);
      if (next < blocks_.count() && blocks_.born[next] == event) touched[1] = add_active(next++, 1);
      if (!change_reserved(event, touched[2])) return false;
      for (const int32_t envelope : touched) {
        if (envelope >= 0 && !settle(envelope, event)) return false;
      }
      level = default_active_ + all_capacity_;
      overflow_ = overflow_ || level > kMaxLevel;
      bands.level[event] = static_cast<int64_t>(level);
      if (level > bands.peak_level) {
        bands.peak_level = static_cast<int64_t>(level);
        bands.peak_event = event;
      }
      if (next_pending < blocks_.pending.event.size() && blocks_.pending.event[next_pending] == event)
        pending = blocks_.pending.value[next_pending++];
      if (!set_step(bands.pending, event, pending + all_rest_)) return false;
    }
    bands.final_level = bands.level_after(count_ - 1);
    for (size_t envelope = 0; envelope < pools_.size(); ++envelope) {
      if (!close_piece(static_cast<int32_t>(envelope), count_)) return false;
    }
    return true;
  }

  // The state before the first event.
  void start() {
    default_active_ = all_capacity_ = 0;
    all_rest_ = 0;
    for (int32_t rank = 0; rank < blocks_.from_start; ++rank) (void)add_active(rank, 1);
    for (size_t i = 0; i < pools_.size(); ++i) {
      Pool& pool = pools_[i];
      pool.reserved = bounded_bytes(pool.initial_reserved);
      pool.capacity = std::max(pool.active, pool.reserved);
      pool.is_known = pool.is_known || pool.capacity > 0;
      pool.rest = pool.capacity - pool.active;
      all_capacity_ += pool.capacity;
      all_rest_ += pool.rest;
      PoolEnvelope& envelope = found_.envelopes[i];
      envelope.reserved.initial = pool.reserved;
      envelope.capacity.initial = pool.capacity;
      envelope.peak_active = pool.active;
    }
    overflow_ = default_active_ + all_capacity_ > kMaxLevel;
    found_.pending.initial = overflow_ ? 0 : blocks_.pending.initial + static_cast<int64_t>(all_rest_);
  }

  // The envelope that it changed.
  int32_t add_active(int32_t rank, int sign) {
    const int32_t envelope = envelope_of_[rank];
    const int64_t change = sign * blocks_.size[rank];
    if (envelope == kDefaultPool) {
      default_active_ += change;
      return envelope;
    }
    Pool& pool = pools_[envelope];
    pool.active += change;
    if (sign > 0) ++found_.envelopes[static_cast<size_t>(envelope)].blocks;
    if (sign > 0 && blocks_.born[rank] < 0) pool.is_known = true;
    return envelope;
  }

  [[nodiscard]] bool change_reserved(int32_t event, int32_t& envelope) {
    if (!envelope_of_segment_event(event, envelope)) return false;
    if (envelope == kDefaultPool) return true;
    Pool& pool = pools_[envelope];
    pool.reserved = bounded_bytes(Sum{pool.reserved} + reserved_change(event));
    return set_step(found_.envelopes[static_cast<size_t>(envelope)].reserved, event, pool.reserved);
  }

  // After a change: the envelope is high enough, and the piece on top of its blocks is what they leave free.
  [[nodiscard]] bool settle(int32_t index, int32_t event) {
    Pool& pool = pools_[index];
    PoolEnvelope& envelope = found_.envelopes[static_cast<size_t>(index)];
    if (!pool.is_known) {
      pool.is_known = true;
      envelope.born = event;
    }
    envelope.peak_active = std::max(envelope.peak_active, pool.active);
    const int64_t wanted = std::max(pool.active, pool.reserved);
    if (wanted > pool.capacity) {
      all_capacity_ += wanted - pool.capacity;
      pool.capacity = wanted;
      if (!set_step(envelope.capacity, event, wanted)) return false;
    }
    const int64_t rest = pool.capacity - pool.active;
    if (rest == pool.rest) return true;
    if (!close_piece(index, event)) return false;
    all_rest_ += rest - pool.rest;
    pool.rest = rest;
    pool.rest_from = event;
    return true;
  }

  [[nodiscard]] bool close_piece(int32_t index, int32_t event) {
    const Pool& pool = pools_[index];
    // Of what two changes of one event made nothing was ever seen.
    if (pool.rest == 0 || pool.rest_from == event) return true;
    return pieces_.push_back({index, pool.rest_from, event, pool.rest});
  }

  [[nodiscard]] static bool set_step(StepSeries& series, int32_t event, Sum value) {
    const auto after = static_cast<int64_t>(value);
    if (!series.event.empty() && series.event.back() == event) {
      series.value.back() = after;
      return true;
    }
    const int64_t before = series.value.empty() ? series.initial : series.value.back();
    return after == before || (series.event.push_back(event) && series.value.push_back(after));
  }

  [[nodiscard]] bool copy_reserved() {
    StepSeries& reserved = found_.reserved;
    reserved.initial = blocks_.reserved.initial;
    return reserved.event.append(blocks_.reserved.event.span()) &&
           reserved.value.append(blocks_.reserved.value.span());
  }

  [[nodiscard]] bool order_bands() {
    const auto blocks = static_cast<size_t>(blocks_.count());
    const size_t count = blocks + pieces_.size();
    Bands& bands = found_;
    if (static_cast<int64_t>(count) > kMaxBands || !bands.size.resize(count, 0) ||
        !bands.born.resize(count, 0) || !bands.freed.resize(count, 0) ||
        !found_.rank_of_band.resize(count, 0) || !found_.band_of_rank.resize(blocks, 0)) {
      return false;
    }
    place_envelopes();
    std::vector<int32_t> next_rest;
    std::vector<int32_t> next_block;
    for (const PoolEnvelope& envelope : found_.envelopes) {
      next_block.push_back(envelope.first_band);
      next_rest.push_back(envelope.first_rest);
    }
    for (size_t rank = 0; rank < blocks; ++rank) {
      const int32_t envelope = envelope_of_[rank];
      if (envelope >= 0) found_.band_of_rank[rank] = next_block[static_cast<size_t>(envelope)]++;
      const auto band = static_cast<size_t>(found_.band_of_rank[rank]);
      found_.rank_of_band[band] = static_cast<int32_t>(rank);
      bands.size[band] = blocks_.size[rank];
      bands.born[band] = blocks_.born[rank];
      bands.freed[band] = blocks_.freed[rank];
    }
    for (const Piece& piece : pieces_) {
      const auto band = static_cast<size_t>(next_rest[static_cast<size_t>(piece.envelope)]++);
      found_.rank_of_band[band] = static_cast<int32_t>(blocks) + piece.envelope;
      bands.size[band] = piece.size;
      bands.born[band] = piece.from;
      bands.freed[band] = piece.to;
    }
    return true;
  }

  // Where each envelope lies, and the bands of default blocks.
  void place_envelopes() {
    std::vector<int32_t> pieces(found_.envelopes.size(), 0);
    std::vector<int32_t> by_birth;
    for (const Piece& piece : pieces_) ++pieces[static_cast<size_t>(piece.envelope)];
    for (size_t i = 0; i < pieces.size(); ++i) by_birth.push_back(static_cast<int32_t>(i));
    std::stable_sort(by_birth.begin(), by_birth.end(), [this](int32_t a, int32_t b) {
      return found_.envelopes[static_cast<size_t>(a)].born < found_.envelopes[static_cast<size_t>(b)].born;
    });
    int32_t band = 0;
    auto envelope = by_birth.begin();
    const auto place_until = [&](int32_t event) {
      for (; envelope != by_birth.end(); ++envelope) {
        const auto i = static_cast<size_t>(*envelope);
        PoolEnvelope& next = found_.envelopes[i];
        if (next.born > event) return;
        next.first_band = band;
        next.first_rest = band + next.blocks;
        next.end_band = band = next.first_rest + pieces[i];
      }
    };
    for (int32_t rank = 0; rank < blocks_.count(); ++rank) {
      if (envelope_of_[rank] >= 0) continue;
      place_until(blocks_.born[rank]);
      found_.band_of_rank[rank] = band++;
    }
    place_until(count_);
  }

  const model::Recording& recording_;
  const model::Part& part_;
  const BlockLives& blocks_;
  std::span<const PoolId> pool_of_block_;
  std::span<const StreamId> stream_of_block_;
  Budget& budget_;
  PoolBands found_{recording_.budget};
  AddressTable keys_{recording_.budget};  // pool and stream -> envelope
  SegmentIndex segments_{recording_.budget};
  Column<int32_t> envelope_of_{recording_.budget};  // per rank
  Column<Pool> pools_{recording_.budget};           // per envelope
  Column<int32_t> ended_{recording_.budget};        // per event: the rank that ended
  Column<Piece> pieces_{recording_.budget};
  int32_t count_ = 0;
  bool has_private_ = false;
  bool overflow_ = false;
  Sum default_active_ = 0;
  Sum all_capacity_ = 0;
  Sum all_rest_ = 0;
};

}  // namespace

int64_t rest_at(const Bands& bands, const PoolEnvelope& envelope, int32_t event) {
  const int32_t* first = bands.born.begin() + envelope.first_rest;
  const int32_t* end = bands.born.begin() + envelope.end_band;
  const int32_t* after = std::upper_bound(first, end, event);
  if (after == first) return 0;
  const auto piece = static_cast<size_t>(after - bands.born.begin() - 1);
  return event < bands.freed[piece] ? bands.size[piece] : 0;
}

Result<PoolBands> pool_bands(const model::Recording& recording, const model::Part& part,
                             const BlockLives& blocks, std::span<const PoolId> pool_of_block,
                             std::span<const StreamId> stream_of_block) {
  return PoolFinder(recording, part, blocks, pool_of_block, stream_of_block).run();
}

}  // namespace gpustrata::replay
