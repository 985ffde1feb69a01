#include "tests/property/allocator_twin.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "tests/unit/numbers.h"

namespace gpustrata::twin {

namespace {

std::string text(int64_t n) { return std::to_string(n); }

}  // namespace

void Allocator::Number::set(int64_t value) {
  (value > current ? allocated : freed) += std::abs(value - current);
  current = value;
  peak = std::max(peak, value);
}

// Everything is counted anew after every event.
void Allocator::count() {
  std::map<std::string, int64_t> now;
  for (const char* name : {"allocation", "allocated_bytes", "active", "active_bytes", "requested_bytes",
                           "segment", "reserved_bytes", "inactive_split", "inactive_split_bytes"}) {
    for (const char* kind : {".all", ".small_pool", ".large_pool"}) now[std::string(name) + kind] = 0;
  }
  const std::string of_pools = "reserved_bytes_by_private_pools.";
  for (const auto& [name, number] : numbers_) {
    if (name.starts_with(of_pools)) now[name] = 0;
  }
  for (const auto& [id, segment] : segments_) {
    const std::string kind = segment.small ? ".small_pool" : ".large_pool";
    const auto add = [&](const std::string& name, int64_t n) {
      now[name + ".all"] += n;
      now[name + kind] += n;
    };
    if (!segment.expandable) add("segment", 1);
    for (const TwinBlock& block : segment.blocks) {
      if (block.mapped) add("reserved_bytes", block.size);
      if (block.mapped && segment.pool != PoolName{})
        add(of_pools + text(segment.pool.first) + "_" + text(segment.pool.second), block.size);
      if (block.state == 'A') add("allocation", 1), add("allocated_bytes", block.size);
      if (block.state != '-') {
        add("active", 1);
        add("active_bytes", block.size);
        add("requested_bytes", block.requested);
      } else if (!segment.expandable && segment.blocks.size() > 1) {
        add("inactive_split", 1);
        add("inactive_split_bytes", block.size);
      }
    }
  }
  for (const auto& [name, value] : now) numbers_[name].set(value);
  numbers_["oversize_allocations"].set(oversize_allocations_);
  numbers_["oversize_segments"].set(oversize_segments_);
}

std::map<std::string, int64_t> Allocator::stats() const {
  std::map<std::string, int64_t> flat = counters_;
  for (const char* name : {"num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc",
                           "num_device_free", "num_oom_rejections"})
    flat.emplace(name, 0);
  for (const auto& [name, number] : numbers_) {
    flat[name + ".current"] = number.current;
    flat[name + ".peak"] = number.peak;
    flat[name + ".allocated"] = number.allocated;
    flat[name + ".freed"] = number.freed;
  }
  return flat;
}

void Allocator::tell(const std::string& action, int segment, int64_t offset, int64_t size) {
  const int64_t stream = segments_.at(segment).stream;
  trace_.push_back(action + " S" + text(segment) + "+" + text(offset) + " " + text(size) +
                   (stream == 0 ? "" : " @" + text(stream)));
}

std::vector<std::string> Allocator::layout() const {
  std::vector<std::string> lines;
  for (const int id : by_address()) {
    const TwinSegment& segment = segments_.at(id);
    bool open = false;
    for (const TwinBlock& block : segment.blocks) {
      if (block.mapped && !open) {
        lines.push_back("S" + text(id) + "+" + text(block.offset) + (segment.small ? " S" : " L") +
                        (segment.expandable ? "x" : ""));
        if (segment.pool != PoolName{})
          lines.back() += "p" + text(segment.pool.first) + "." + text(segment.pool.second);
        lines.back() += "@" + text(segment.stream) + ":";
      }
      open = block.mapped;
      if (open) lines.back() += std::string(" ") + block.state + text(block.size);
    }
  }
  return lines;
}

int64_t Allocator::round(int64_t size) const {
  if (size < 512) return 512;
  if (!has(Fault::round_without_divisions) && settings_.divisions > 1 && size > 512 * settings_.divisions) {
    int64_t power = 512;
    while (power * 2 <= size) power *= 2;
    if (power == size) return size;
    const int64_t step = power / settings_.divisions;
    return (size + step - 1) / step * step;
  }
  return (size + 511) / 512 * 512;
}

size_t Allocator::index_of(Place place) const {
  const auto& blocks = segments_.at(place.segment).blocks;
  size_t i = 0;
  while (blocks[i].offset != place.offset) ++i;
  return i;
}

TwinBlock& Allocator::at(Place place) { return segments_.at(place.segment).blocks[index_of(place)]; }

Allocator::Pool* Allocator::find_pool(PoolName name) {
  for (Pool& pool : pools_) {
    if (pool.name == name) return &pool;
  }
  return nullptr;
}

int Allocator::users(PoolName name) const {
  for (const Pool& pool : pools_) {
    if (pool.name == name && name != PoolName{}) return pool.users;
  }
  return -1;
}

std::vector<Place> Allocator::idle(PoolName pool, bool small, std::optional<int64_t> stream) {
  // Stream, size, what the version goes by, address, place.
  std::vector<std::tuple<int64_t, int64_t, int64_t, uint64_t, int, int64_t>> found;
  for (const auto& [id, segment] : segments_) {
    if (segment.pool != pool || segment.small != small || (stream && segment.stream != *stream)) continue;
    for (const TwinBlock& block : segment.blocks) {
      if (block.state != '-' || !block.mapped) continue;
      int64_t number = order_ == Order::block_number ? block.number : order_ == Order::segment_age ? id : 0;
      if (has(Fault::order_of_addresses)) number = 0;
      if (has(Fault::order_younger_segments_first) && order_ == Order::segment_age) number = -number;
      found.emplace_back(segment.stream, block.size, number,
                         segment.address + static_cast<uint64_t>(block.offset), id, block.offset);
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<Place> places;
  for (const auto& [s, size, number, address, id, offset] : found) places.push_back({id, offset});
  return places;
}

std::vector<int> Allocator::by_address() const {
  std::vector<int> ids;
  for (const auto& [id, segment] : segments_) ids.push_back(id);
  std::sort(ids.begin(), ids.end(),
            [&](int a, int b) { return segments_.at(a).address < segments_.at(b).address; });
  return ids;
}

// --- malloc ------------------------------------------------------------------------------------------------

std::optional<Place> Allocator::malloc(int64_t size, int64_t stream) {
  if (routes_.empty()) process_events();
  Request request{};
  request.requested = size;
  request.size = round(size);
  request.stream = stream;
  request.small = request.size <= kMiB;
  request.segment_bytes = request.small ? 2 * kMiB
                          : request.size < 10 * kMiB
                              ? settings_.large_segment
                              : (request.size + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
  request.expandable = settings_.expandable;
  for (const auto& [pool, only] : routes_) {
    if (has(Fault::route_first_wins) && request.pool != PoolName{}) break;
    if (!only || *only == stream) request.pool = pool;
  }
  if (auto found = search(request)) return hand_out(*found, request);
  if (limit_ >= 0 && settings_.gc_threshold > 0) collect_garbage();
  if (auto found = obtain(request)) return hand_out(*found, request);
  const auto other_pools = [&]() -> std::optional<Place> {
    if (request.pool != PoolName{} || has(Fault::oom_pools_closed)) return std::nullopt;
    for (const Pool& pool : pools_) {
      if (!pool.use_on_oom) continue;
      Request other = request;
      other.pool = pool.name;
      other.expandable = has(Fault::oom_pools_of_pages) && request.expandable;
      if (auto found = search(other)) return hand_out(*found, other);
    }
    return std::nullopt;
  };
  if (!has(Fault::oom_pools_last)) {
    if (auto handed = other_pools()) return handed;
  }
  if (release_oversize(request)) {
    if (auto found = obtain(request)) return hand_out(*found, request);
  }
  if (has(Fault::oom_pools_last)) {
    if (auto handed = other_pools()) return handed;
  }
  if (routes_.empty() || has(Fault::flush_while_routed)) {
    flush({});
    ++counters_["num_alloc_retries"];
    if (auto found = obtain(request)) return hand_out(*found, request);
  }
  ++counters_["num_ooms"];
  trace_.push_back("oom free=" + text(free_) + " " + text(request.size) +
                   (stream == 0 ? "" : " @" + text(stream)));
  return std::nullopt;
}

std::optional<Place> Allocator::search(const Request& request) {
  if ((limit_ >= 0 || has(Fault::garbage_without_limit_counts)) && settings_.gc_threshold > 0)
    ++find_pool(request.pool)->searches[request.small];
  std::vector<Place> places = idle(request.pool, request.small, request.stream);
  std::erase_if(places, [&](Place place) { return at(place).size < request.size; });
  if (places.empty()) return std::nullopt;
  const auto expandable = [&](Place place) { return segments_.at(place.segment).expandable; };
  const auto effective = [&](Place place) {
    const auto& blocks = segments_.at(place.segment).blocks;
    const size_t i = index_of(place);
    const bool grows = i + 1 < blocks.size() && !blocks[i + 1].mapped;
    return blocks[i].size + (grows && !has(Fault::search_ignores_growth) ? blocks[i + 1].size : 0);
  };
  size_t i = 0;
  if (expandable(places[0]) && request.expandable) {
    const int64_t slack = has(Fault::search_takes_equal_growth) ? 1 : 0;
    while (expandable(places[i]) && i + 1 < places.size() &&
           effective(places[i + 1]) < effective(places[i]) + slack)
      ++i;
  } else if (expandable(places[0]) && !has(Fault::search_takes_pages)) {
    while (i < places.size() && expandable(places[i])) ++i;
    if (i == places.size()) return std::nullopt;
  }
  const int64_t size = at(places[i]).size;
  const int64_t most =
      request.size + settings_.max_non_split + (has(Fault::search_oversize_inclusive) ? 1 : 0);
  if (!has(Fault::search_takes_oversize) && request.size < settings_.max_split && size >= settings_.max_split)
    return std::nullopt;
  if (!has(Fault::search_wastes_oversize) && request.size >= settings_.max_split && size >= most)
    return std::nullopt;
  return places[i];
}

std::optional<Place> Allocator::obtain(const Request& request) {
  const int64_t added = has(Fault::limit_of_the_request) ? request.size : request.segment_bytes;
  if (limit_ >= 0 && held_ + added + (has(Fault::limit_is_exclusive) ? 1 : 0) > limit_) return std::nullopt;
  if (request.expandable) return map_pages(request);
  if (request.segment_bytes > free_) return std::nullopt;
  free_ -= request.segment_bytes;
  held_ += request.segment_bytes;
  TwinSegment segment;
  segment.address = addresses_(created_);
  segment.size = request.segment_bytes;
  segment.stream = request.stream;
  segment.pool = request.pool;
  segment.small = request.small;
  segment.blocks.push_back({.size = segment.size, .number = ++made_, .uses = {}, .capture_uses = {}});
  segments_[created_] = segment;
  if (segment.size >= settings_.max_split) ++oversize_segments_;
  ++counters_["num_device_alloc"];
  tell("segment_alloc", created_, 0, segment.size);
  count();
  return Place{created_++, 0};
}

std::optional<Place> Allocator::map_pages(const Request& request) {
  // The lowest run of idle blocks, beginning at an unmapped one or just before it, that is long enough.
  std::optional<Place> start;
  for (const int id : by_address()) {
    const TwinSegment& segment = segments_.at(id);
    if (!segment.expandable || segment.pool != request.pool || segment.small != request.small ||
        segment.stream != request.stream || (start && !has(Fault::pages_highest_run)))
      continue;
    for (size_t i = 0; i < segment.blocks.size() && (!start || has(Fault::pages_highest_run)); ++i) {
      if (segment.blocks[i].mapped) continue;
      const bool at_gap = has(Fault::pages_ignore_the_block_before);
      const size_t first = !at_gap && i > 0 && segment.blocks[i - 1].state == '-' ? i - 1 : i;
      int64_t bytes = 0;
      for (size_t k = first; k < segment.blocks.size() && segment.blocks[k].state == '-'; ++k)
        bytes += segment.blocks[k].size;
      if (bytes >= request.size) start = Place{id, segment.blocks[first].offset};
    }
  }
  if (!start) {
    TwinSegment segment;
    segment.page = request.small ? 2 * kMiB : settings_.large_segment;
    segment.size = (total_ + total_ / 8 + segment.page - 1) / segment.page * segment.page;
    if (segment.size < request.size) return std::nullopt;
    segment.stream = request.stream;
    segment.pool = request.pool;
    segment.small = request.small;
    segment.expandable = true;
    segment.address = addresses_(created_);
    segment.blocks.push_back(
        {.size = segment.size, .mapped = false, .number = ++made_, .uses = {}, .capture_uses = {}});
    segments_[created_] = segment;
    start = Place{created_++, 0};
  }
  while (true) {
    const auto& blocks = segments_.at(start->segment).blocks;
    size_t i = 0;  // the idle run may have merged downwards
    while (blocks[i].offset + blocks[i].size <= start->offset) ++i;
    start->offset = blocks[i].offset;
    const int64_t have = blocks[i].mapped ? blocks[i].size : 0;
    if (have >= request.size) return start;
    const TwinBlock& gap = blocks[i].mapped ? blocks[i + 1] : blocks[i];
    if (!map_one(start->segment, gap.offset, std::min(request.size - have, gap.size))) return std::nullopt;
  }
}

bool Allocator::map_one(int id, int64_t offset, int64_t bytes) {
  TwinSegment& segment = segments_.at(id);
  bytes = (bytes + segment.page - 1) / segment.page * segment.page;
  if (bytes > free_) return false;
  free_ -= bytes;
  held_ += bytes;
  const size_t i = index_of({id, offset});
  if (bytes < segment.blocks[i].size) {
    TwinBlock rest = segment.blocks[i];
    rest.offset += bytes;
    rest.size -= bytes;
    rest.number = ++made_;
    segment.blocks.insert(segment.blocks.begin() + static_cast<ptrdiff_t>(i) + 1, rest);
  }
  segment.blocks[i].size = bytes;
  segment.blocks[i].mapped = true;
  ++counters_["num_device_alloc"];
  tell("segment_map", id, offset, bytes);
  join(id, offset);
  for (TwinBlock& block : segment.blocks) {
    if (block.offset <= offset && offset < block.offset + block.size) put_back({id, block.offset});
  }
  count();
  return true;
}

Place Allocator::hand_out(Place place, const Request& request) {
  TwinSegment& segment = segments_.at(place.segment);
  const size_t i = index_of(place);
  const int64_t rest = segment.blocks[i].size - request.size;
  bool split = rest >= 512 + (has(Fault::split_keeps_512) ? 1 : 0);
  if (!request.small && (!request.expandable || has(Fault::split_pages_as_large)))
    split = (request.size < settings_.max_split || has(Fault::split_oversize)) &&
            rest > kMiB - (has(Fault::split_at_one_mib) ? 1 : 0);
  if (find_pool(request.pool)->no_split && !has(Fault::split_ignores_no_split)) split = false;
  if (split) {
    TwinBlock after = segment.blocks[i];
    after.offset += request.size;
    after.size = rest;
    segment.blocks[i].size = request.size;
    (has(Fault::order_split_makes_the_rest) ? after : segment.blocks[i]).number = ++made_;
    segment.blocks.insert(segment.blocks.begin() + static_cast<ptrdiff_t>(i) + 1, after);
    put_back({place.segment, after.offset});
  }
  TwinBlock& block = segment.blocks[i];
  block.state = 'A';
  block.requested = request.requested;
  if (block.size >= settings_.max_split) ++oversize_allocations_;
  tell("alloc", place.segment, place.offset, request.requested);
  count();
  return place;
}

void Allocator::put_back(Place place) {
  at(place).birth = pool_of(place.segment).searches[segments_.at(place.segment).small];
}

void Allocator::join(int id, int64_t survivor) {
  auto& blocks = segments_.at(id).blocks;
  const int64_t number = at({id, survivor}).number;
  for (size_t i = 0; i + 1 < blocks.size();) {
    TwinBlock &a = blocks[i], &b = blocks[i + 1];
    if (a.state == '-' && b.state == '-' && a.mapped == b.mapped) {
      a.size += b.size;
      blocks.erase(blocks.begin() + static_cast<ptrdiff_t>(i) + 1);
    } else {
      ++i;
    }
  }
  if (has(Fault::order_merged_as_the_lowest)) return;
  for (TwinBlock& block : blocks) {
    if (block.offset <= survivor && survivor < block.offset + block.size) block.number = number;
  }
}

// --- free --------------------------------------------------------------------------------------------------

void Allocator::free(Place place) {
  TwinBlock& block = at(place);
  block.state = 'P';
  tell("free_requested", place.segment, place.offset, block.requested);
  if (block.size >= settings_.max_split) --oversize_allocations_;
  count();
  if (block.uses.empty()) {
    complete(place);
  } else if (!routes_.empty()) {
    deferred_.push_back(place);
  } else {
    mark(place);
  }
}

void Allocator::complete(Place place) {
  TwinBlock& block = at(place);
  tell("free_completed", place.segment, place.offset, block.requested);
  block.state = '-';
  block.capture_uses.clear();
  const int64_t old_birth = block.birth;
  join(place.segment, place.offset);
  for (TwinBlock& now : segments_.at(place.segment).blocks) {
    if (now.offset <= place.offset && place.offset < now.offset + now.size)
      put_back({place.segment, now.offset});
    if (now.offset == place.offset && has(Fault::garbage_birth_stays)) now.birth = old_birth;
  }
  count();
}

void Allocator::record_stream(Place place, int64_t stream) {
  if (stream == segments_.at(place.segment).stream && !has(Fault::own_stream_counts)) return;
  TwinBlock& block = at(place);
  if (routes_.empty()) block.capture_uses.erase(stream);
  if (!routes_.empty() && !block.uses.contains(stream)) block.capture_uses.insert(stream);
  block.uses.insert(stream);
}

void Allocator::mark(Place place) {
  TwinBlock& block = at(place);
  block.marks = static_cast<int>(block.uses.size());
  for (const int64_t stream : block.uses) marks_[stream].push_back({false, place});
  block.uses.clear();
  if (block.marks == 0) complete(place);
}

void Allocator::finish_deferred() {
  std::vector<Place> deferred;
  deferred.swap(deferred_);
  for (const Place place : deferred) {
    TwinBlock& block = at(place);
    if (!has(Fault::capture_uses_stay))
      for (const int64_t stream : block.capture_uses) block.uses.erase(stream);
    mark(place);
  }
}

void Allocator::process_events() {
  finish_deferred();
  for (auto& [stream, queue] : marks_) {
    while (!queue.empty() && queue.front().finished) {
      const Place place = queue.front().block;
      queue.pop_front();
      if (--at(place).marks == 0) complete(place);
    }
  }
}

void Allocator::wait(std::optional<PoolName> only) {
  for (auto& [stream, queue] : marks_) {
    std::deque<Mark> kept;
    for (const Mark& mark : std::exchange(queue, {})) {
      if (only && segments_.at(mark.block.segment).pool != *only) {
        kept.push_back(mark);
      } else if (--at(mark.block).marks == 0) {
        complete(mark.block);
      }
    }
    queue = kept;
  }
}

void Allocator::done(int64_t stream) {
  for (Mark& mark : marks_[stream]) mark.finished = true;
}

// --- Giving back -------------------------------------------------------------------------------------------

void Allocator::collect_garbage() {
  const auto threshold =
      static_cast<int64_t>(std::floor(settings_.gc_threshold * static_cast<double>(limit_)));
  if (held_ <= threshold || has(Fault::garbage_stays)) return;
  const int64_t target = (held_ - threshold) * (has(Fault::garbage_to_zero) ? 2 : 1);
  const auto age = [&](Place place) { return static_cast<double>(pools_[0].searches[0] - at(place).birth); };
  double sum = 0, number = 0;
  for (const Place place : idle({}, false, std::nullopt)) {
    if (is_whole(place)) sum += age(place), ++number;
  }
  int64_t released = 0;
  bool any = true;
  const double first_mean = sum / number;
  while (released < target && any && number > 0) {
    any = false;
    double least = has(Fault::garbage_mean_stays) ? first_mean : sum / number;
    if (has(Fault::garbage_ignores_age)) least = 0;
    if (has(Fault::garbage_above_the_mean)) least = std::nextafter(least, least + 1);
    for (const Place place : idle({}, false, std::nullopt)) {
      if (!is_whole(place) || segments_.at(place.segment).expandable || age(place) < least) continue;
      any = true;
      released += at(place).size;
      sum -= age(place);
      --number;
      give_back(place);
      if (has(Fault::garbage_stops_within) && released >= target) break;
    }
    if (has(Fault::garbage_one_pass)) break;
  }
}

bool Allocator::release_oversize(const Request& request) {
  if (settings_.max_split == INT64_MAX || has(Fault::oversize_does_nothing)) return false;
  const int64_t wanted = std::max(request.size, settings_.max_split);
  const auto stream = has(Fault::oversize_ignores_the_stream) ? std::nullopt : std::optional(request.stream);
  std::vector<Place> places = idle(request.pool, request.small, stream);
  size_t i = 0;
  while (i < places.size() && at(places[i]).size < wanted) ++i;
  const auto releasable = [&](Place place) {
    return !segments_.at(place.segment).expandable && is_whole(place);
  };
  if (i < places.size() && releasable(places[i]) && !has(Fault::oversize_keeps_the_fitting)) {
    give_back(places[i]);
    return true;
  }
  if (i < places.size() && has(Fault::oversize_stops_at_the_fitting)) return false;
  int64_t least = settings_.max_split;
  if (has(Fault::oversize_above_the_limit)) ++least;
  if (has(Fault::oversize_goes_below)) least = 1;
  places.resize(i);
  std::erase_if(places, [&](Place place) { return at(place).size < least; });
  if (!has(Fault::oversize_smallest_first)) std::reverse(places.begin(), places.end());
  int64_t released = 0;
  for (const Place place : places) {
    if (released >= wanted) break;
    if (!releasable(place) && has(Fault::oversize_stops_at_split)) break;
    if (!releasable(place)) continue;
    released += at(place).size;
    give_back(place);
    if (has(Fault::oversize_one_is_enough)) break;
  }
  if (has(Fault::oversize_never_enough)) return false;
  return released >= wanted || has(Fault::oversize_always_enough);
}

void Allocator::give_back(Place place) {
  const int64_t size = at(place).size;
  ++counters_["num_device_free"];
  tell("segment_free", place.segment, 0, size);
  free_ += size;
  held_ -= size;
  if (size >= settings_.max_split) --oversize_segments_;
  segments_.erase(place.segment);
  count();
}

void Allocator::unmap(Place place) {
  TwinSegment& segment = segments_.at(place.segment);
  const size_t i = index_of(place);
  const TwinBlock old = segment.blocks[i];
  const int64_t from = (old.offset + segment.page - 1) / segment.page * segment.page;
  int64_t to = (old.offset + old.size) / segment.page * segment.page;
  if (has(Fault::pages_round_out) && to < old.offset + old.size) to -= std::min(segment.page, to);
  if (to <= from) return;
  std::vector<TwinBlock> parts(3, old);
  parts[0].size = from - old.offset;
  parts[1].offset = from;
  parts[1].size = to - from;
  parts[1].mapped = false;
  parts[2].offset = to;
  parts[2].size = old.offset + old.size - to;
  segment.blocks.erase(segment.blocks.begin() + static_cast<ptrdiff_t>(i));
  size_t next = i;
  for (TwinBlock& part : parts) {
    if (part.size == 0) continue;
    if (part.mapped) part.number = ++made_;
    segment.blocks.insert(segment.blocks.begin() + static_cast<ptrdiff_t>(next++), part);
    put_back({place.segment, part.offset});
  }
  done(segment.stream);
  free_ += to - from;
  held_ -= to - from;
  ++counters_["num_device_free"];
  tell("segment_unmap", place.segment, from, to - from);
  join(place.segment, from);
  if (is_whole(place)) segments_.erase(place.segment);
  count();
}

void Allocator::release_set(PoolName pool, bool small) {
  const std::vector<Place> places = idle(pool, small, std::nullopt);
  for (const Place place : places) {
    if (!segments_.at(place.segment).expandable && is_whole(place)) give_back(place);
  }
  for (const Place place : places) {
    if (segments_.contains(place.segment) && segments_.at(place.segment).expandable) unmap(place);
  }
}

void Allocator::flush(PoolName name) {
  if (name == PoolName{} && (routes_.empty() || has(Fault::flush_while_routed))) {
    ++counters_["num_sync_all_streams"];
    finish_deferred();
    if (!has(Fault::flush_does_not_wait)) wait(std::nullopt);
    release_set({}, has(Fault::flush_small_first));
    release_set({}, !has(Fault::flush_small_first));
  }
  for (const Pool& pool : pools_) {
    if (has(Fault::flush_forgets_pools)) break;
    if (pool.name == PoolName{} || (pool.users > 0 && !has(Fault::flush_used_pools)) ||
        (name != PoolName{} && pool.name != name))
      continue;
    if (name != PoolName{}) {
      ++counters_["num_sync_all_streams"];
      if (routes_.empty()) finish_deferred();
      wait(pool.name);
    }
    release_set(pool.name, true);
    release_set(pool.name, false);
    std::erase_if(segments_, [&](const auto& entry) {  // reservations without a page
      const TwinSegment& segment = entry.second;
      return segment.pool == pool.name && segment.blocks.size() == 1 && !segment.blocks[0].mapped;
    });
  }
  std::erase_if(pools_, [&](const Pool& pool) {
    return pool.name != PoolName{} && pool.users == 0 &&
           std::none_of(segments_.begin(), segments_.end(),
                        [&](const auto& entry) { return entry.second.pool == pool.name; });
  });
}

void Allocator::empty(PoolName pool) { flush(pool); }

void Allocator::fraction(double share) {
  limit_ = share < 1 ? static_cast<int64_t>(std::floor(share * static_cast<double>(total_))) : -1;
}

void Allocator::begin(PoolName name, std::optional<int64_t> only_stream) {
  if (Pool* pool = find_pool(name)) {
    ++pool->users;
  } else {
    pools_.push_back({.name = name});
  }
  routes_.emplace_back(name, only_stream);
}

void Allocator::end(PoolName name) {
  std::erase_if(routes_, [&](const auto& route) { return route.first == name; });
}

void Allocator::release(PoolName name) { --find_pool(name)->users; }

}  // namespace gpustrata::twin
