#include "engine/analysis/steps/steps.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/analysis/steps/marks.h"
#include "engine/base/ascii.h"
#include "engine/base/charge.h"

namespace gpustrata::analysis {

namespace {

constexpr size_t kLongestRegionName = 200;

// Small letters, numbers left out: regions of one kind have one.
[[nodiscard]] std::string kind_of(std::string_view name) {
  std::string kind;
  for (const char c : name.substr(0, kLongestRegionName)) {
    if (c < '0' || c > '9') kind += ascii::lower(c);
  }
  return kind;
}

template <size_t Count>
[[nodiscard]] bool has_any(std::string_view text, const std::array<std::string_view, Count>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// How well a kind of region stands for steps: the larger the better, 0 = not at all.
enum Fit : int { kNo, kPhase, kLoader, kOptimizer, kStep, kProfiler };
[[nodiscard]] Fit fit_of(std::string_view kind) {
  constexpr std::array<std::string_view, 4> kOther = {"eval", "valid", "test", "infer"};
  constexpr std::array<std::string_view, 3> kOfLibraries = {"::", "(dynamo", "nccl"};
  constexpr std::array<std::string_view, 3> kSteps = {"step", "iter", "minibatch"};
  constexpr std::array<std::string_view, 3> kPhases = {"train", "forward", "backward"};
  if (kind.starts_with("profilerstep")) return kProfiler;
  if (kind.starts_with("optimizer.step#")) return kOptimizer;
  if (kind.starts_with("optimizer.zero_grad#") || kind.starts_with("enumerate(dataloader)#")) return kLoader;
  if (has_any(kind, kOfLibraries) || has_any(kind, kOther)) return kNo;
  if (has_any(kind, kSteps)) return kStep;
  return has_any(kind, kPhases) ? kPhase : kNo;
}

[[nodiscard]] Fit fit_of_name(const model::Recording& recording, StringId name) {
  return fit_of(kind_of(recording.strings.view(name)));
}

struct Candidate {
  Fit fit = kNo;
  int32_t count = 0;
  int32_t until = -1;  // of the last one, to leave out those inside it
  int64_t events = 0;  // covered
};

// `named`: the program marks whole steps itself.
[[nodiscard]] bool steps_of_regions(const Column<Region>& all, const model::Recording& recording,
                                    int32_t event_count, Steps& found, bool& named) {
  constexpr int64_t kEntryBytes = 128;  // of the two maps
  Charge charge(recording.budget);
  std::unordered_map<std::string, int32_t> kinds;
  std::unordered_map<int32_t, int32_t> candidate_of_name;
  std::vector<Candidate> candidates;
  Column<int32_t> order(recording.budget);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!order.push_back(static_cast<int32_t>(i))) return false;
  }
  std::sort(order.data(), order.data() + order.size(), [&](int32_t a, int32_t b) {
    return std::tuple(all[a].from_event, -all[a].to_event, a) <
           std::tuple(all[b].from_event, -all[b].to_event, b);
  });
  // What the profiler counts are steps, even those before or after all events.
  const auto is_step = [&](const Region& region) {
    return region.to_event > region.from_event || fit_of_name(recording, region.name) == kProfiler;
  };
  for (const int32_t i : order) {
    const Region& region = all[i];
    if (region.cut_start || !is_step(region)) continue;
    const auto known = candidate_of_name.find(region.name.value);
    int32_t number = known == candidate_of_name.end() ? -1 : known->second;
    if (number < 0) {
      const std::string kind = kind_of(recording.strings.view(region.name));
      if (!charge.more(kEntryBytes + static_cast<int64_t>(kind.size()))) return false;
      const auto [place, is_new] = kinds.try_emplace(kind, static_cast<int32_t>(candidates.size()));
      if (is_new) candidates.push_back({fit_of(kind), 0, -1, 0});
      number = place->second;
      candidate_of_name.emplace(region.name.value, number);
    }
    Candidate& one = candidates[static_cast<size_t>(number)];
    if (region.from_event < one.until) continue;  // inside of the last
    ++one.count;
    one.until = region.to_event;
    one.events += region.to_event - region.from_event;
  }
  const auto is_possible = [](const Candidate& one) {
    return one.fit != kNo && (one.fit == kProfiler || one.count >= kFewestSteps);
  };
  const auto best =
      std::max_element(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
        return std::tuple(is_possible(a), a.fit, a.events, a.count) <
               std::tuple(is_possible(b), b.fit, b.events, b.count);
      });
  if (best == candidates.end() || !is_possible(*best)) return true;
  const auto chosen = static_cast<int32_t>(best - candidates.begin());
  found.from = best->fit == kProfiler ? StepsFrom::annotations : StepsFrom::regions;
  found.sureness = best->fit == kProfiler ? 1.0 : 0.95;
  named = best->fit >= kStep;
  int32_t until = -1;
  for (const int32_t i : order) {
    const Region& region = all[i];
    const auto known = candidate_of_name.find(region.name.value);
    if (known == candidate_of_name.end() || known->second != chosen || region.cut_start || !is_step(region) ||
        region.from_event < until)
      continue;
    if (found.begin.empty()) found.name = region.name;
    if (!found.begin.push_back(region.from_event)) return false;
    until = region.to_event;
    found.last_is_whole = !region.cut_end;
  }
  found.end = std::max(until, found.begin.back());
  // Regions that are only a part of a step: the steps lie between them.
  if (best->fit < kStep) {
    found.end = event_count;
    found.last_is_whole = false;
  }
  return true;
}

}  // namespace

Result<Steps> find_steps(const model::Recording& recording, const model::Part& part,
                         const replay::DeviceRows& rows, const replay::BlockLives& lives) {
  Steps found(recording.budget);
  const auto regions = find_regions(recording, part, rows);
  if (!regions) return tl::unexpected(regions.error());
  bool named = false;
  if (!steps_of_regions(*regions, recording, rows.events.count, found, named)) {
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to look for steps in {} events.",
                rows.events.count);
  }
  if (named) return found;
  auto looked = find_loop(recording, lives);
  if (!looked) return tl::unexpected(looked.error());
  const bool has_regions = found.from != StepsFrom::nothing;
  if (!looked->loop || (has_regions && !looked->loop->trains && looked->loop->sureness < kSureLoop)) {
    if (!has_regions) found.why_not = recording.spans.size_rows() > 0 ? NoLoop::of_trace : looked->why_not;
    return found;
  }
  Loop& loop = *looked->loop;
  found = Steps(recording.budget);
  found.from = StepsFrom::loop;
  found.loop = loop.place;
  found.trains = loop.trains;
  found.begin = std::move(loop.begin);
  found.end = loop.end;
  found.last_is_whole = !loop.goes_on;
  found.sureness = loop.sureness;
  return found;
}

}  // namespace gpustrata::analysis
