#include "engine/analysis/steps/step_period.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "engine/base/hash.h"

namespace gpustrata::analysis {

using trace::Action;

namespace {

constexpr double kLeastShare = 0.4;    // of the allocations that must agree
constexpr double kLeastRegular = 0.6;  // of the steps that are about as long as the others

[[nodiscard]] bool is_python(std::string_view file) { return file.ends_with(".py"); }
// The outermost Python frame of a thread that a library started: autograd's, a loader's. What such threads ask for
// comes between the program's own calls at any time.
[[nodiscard]] bool begins_other_thread(std::string_view file) {
  return file.find("/torch/") != std::string_view::npos || file.ends_with("threading.py");
}

// What repeats below such a frame are layers, parameters or nodes of the graph.
[[nodiscard]] bool begins_inner(std::string_view function, std::string_view file) {
  constexpr std::array<std::string_view, 5> kFunctions = {"forward", "backward", "_call_impl",
                                                          "_wrapped_call_impl", "_call_impl_wrapper"};
  constexpr std::array<std::string_view, 3> kFiles = {"torch/nn/modules/module.py", "torch/optim/",
                                                      "torch/autograd/"};
  return std::find(kFunctions.begin(), kFunctions.end(), function) != kFunctions.end() ||
         std::any_of(kFiles.begin(), kFiles.end(),
                     [&](std::string_view part) { return file.find(part) != std::string_view::npos; });
}

// The call that makes a step a step of training.
[[nodiscard]] bool is_of_training(std::string_view function, std::string_view file) {
  return function == "backward" || function == "optimizer_step" ||
         (function == "step" && file.find("optim") != std::string_view::npos);
}

struct Vote {
  int32_t entries;
  int64_t allocations;
  bool of_training;
};

class Period {
 public:
  Period(const model::Recording& recording, const replay::DeviceRows& rows)
      : recording_(recording),
        rows_(rows),
        site_of_node_(recording.budget),
        sites_(recording.budget),
        table_(recording.budget),
        entries_(recording.budget),
        first_(recording.budget),
        allocations_(recording.budget),
        event_(recording.budget),
        node_(recording.budget),
        votes_(recording.budget) {}

  [[nodiscard]] bool run(Steps& found) {
    if (!prepare_sites() || !collect() || !count_entries() || !collect_votes()) return false;
    for (size_t tries = 0; tries < 3 && !votes_.empty(); ++tries) {
      const auto [entries, first, largest, share] = elect();
      if (first < 0) return true;
      for (const int32_t anchor : {first, largest}) {
        found.begin.clear();
        if (!mark(anchor, found)) return false;
        const double regular = regularity(found);
        if (regular < kLeastRegular) continue;
        found.from = StepsFrom::period;
        found.anchor = sites_[anchor].frame;
        found.sureness = std::min(1.0, share) * regular;
        found.call_sites = sites_of(entries);
        return true;
      }
      found.begin.clear();
      withdraw(entries);
    }
    return true;
  }

 private:
  // Call sites are paths of Python frames, whatever lies between them: compiled frames differ from call to call, and
  // unwinders cut them. Where the recording has no Python frames, all count.
  [[nodiscard]] bool prepare_sites() {
    const size_t frames = recording_.frames.size(), nodes = recording_.stacks.node_count();
    constexpr uint8_t kCounts = 1, kBegins = 2;
    Column<uint8_t> kind(recording_.budget);
    if (!kind.resize(frames, 0) || !site_of_node_.resize(nodes, -1)) return false;
    for (size_t i = 0; i < frames; ++i) {
      const trace::Frame& frame = recording_.frames[FrameId{i}];
      const std::string_view file = recording_.strings.view(frame.filename);
      if (is_python(file)) kind[i] = kCounts;
      any_python_ |= is_python(file);
      if (begins_inner(recording_.strings.view(frame.name), file)) kind[i] |= kBegins;
    }
    for (size_t i = 0; i < nodes; ++i) {  // callers have lower numbers
      const trace::StackTable::Node& node = recording_.stacks.node(static_cast<int32_t>(i));
      const int32_t caller = node.caller < 0 ? -1 : site_of_node_[node.caller];
      const bool counts = !any_python_ || (kind[node.frame] & kCounts) != 0;
      const bool is_deep = caller >= 0 && sites_[caller].depth >= kMostStepFrames;
      if (!counts || is_deep) {
        site_of_node_[i] = caller;
        continue;
      }
      const bool inner = caller >= 0 && (sites_[caller].inner || (kind[sites_[caller].frame] & kBegins) != 0);
      const int32_t number = site({caller, node.frame, caller < 0 ? 0 : sites_[caller].depth + 1,
                                   caller < 0 ? -1 : sites_[caller].outermost, inner});
      if (number < 0) return false;
      site_of_node_[i] = number;
    }
    return entries_.resize(sites_.size(), 0) && first_.resize(sites_.size(), 0) &&
           allocations_.resize(sites_.size(), 0);
  }

  struct Site {
    int32_t caller;  // a site with a lower number; -1 = outermost
    FrameId frame;
    int32_t depth;
    int32_t outermost;  // the site at the root of the path; -1 = this one
    bool inner;
  };
  // The number of the site with that caller and frame. -1 = no memory.
  [[nodiscard]] int32_t site(Site one) {
    if (sites_.size() * 2 >= table_.size() && !grow_table()) return -1;
    size_t place = slot_of(one);
    for (; table_[place] >= 0; place = (place + 1) & (table_.size() - 1)) {
      const Site& known = sites_[table_[place]];
      if (known.caller == one.caller && known.frame == one.frame) return table_[place];
    }
    const auto number = static_cast<int32_t>(sites_.size());
    if (one.outermost < 0) one.outermost = number;
    table_[place] = number;
    return sites_.push_back(one) ? number : -1;
  }
  [[nodiscard]] size_t slot_of(const Site& one) const {
    const uint64_t both = static_cast<uint64_t>(static_cast<uint32_t>(one.caller)) << 32 |
                          static_cast<uint32_t>(one.frame.value);
    return static_cast<size_t>(mix_hash(both)) & (table_.size() - 1);
  }
  [[nodiscard]] bool grow_table() {
    const size_t size = std::max<size_t>(64, table_.size() * 2);
    table_.clear();
    if (!table_.resize(size, -1)) return false;
    for (size_t i = 0; i < sites_.size(); ++i) {
      size_t place = slot_of(sites_[i]);
      while (table_[place] >= 0) place = (place + 1) & (size - 1);
      table_[place] = static_cast<int32_t>(i);
    }
    return true;
  }

  // Allocations and the call sites that they are of.
  [[nodiscard]] bool collect() {
    const model::EventTable& events = recording_.events;
    for (int32_t event = 0; event < rows_.events.count; ++event) {
      const auto row = static_cast<size_t>(rows_.events.first + event);
      if (events.action[row] != Action::alloc || events.stack[row].is_none()) continue;
      const int32_t leaf = recording_.stacks.leaf(events.stack[row]);
      const int32_t site = leaf < 0 ? -1 : site_of_node_[leaf];
      if (site < 0 || !is_own_thread(site)) continue;
      if (!event_.push_back(event) || !node_.push_back(site)) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_own_thread(int32_t site) const {
    const FrameId frame = sites_[sites_[site].outermost].frame;
    return !any_python_ || !begins_other_thread(recording_.strings.view(recording_.frames[frame].filename));
  }
  [[nodiscard]] bool can_begin_steps(size_t site) const {
    return entries_[site] >= kFewestSteps && !sites_[site].inner;
  }

  // Where the paths of two call sites to the root meet; -1 = nowhere.
  [[nodiscard]] int32_t meeting(int32_t a, int32_t b) const {
    while (a != b && a >= 0 && b >= 0) {
      if (sites_[a].depth >= sites_[b].depth) {
        a = sites_[a].caller;
      } else {
        b = sites_[b].caller;
      }
    }
    return a == b ? a : -1;
  }

  [[nodiscard]] bool count_entries() {
    int32_t before = -1;
    for (size_t i = 0; i < node_.size(); ++i) {
      const int32_t here = node_[i];
      ++allocations_[here];
      if (here != before) {
        const int32_t common = before < 0 ? -1 : meeting(before, here);
        for (int32_t n = here; n != common && n >= 0; n = sites_[n].caller) {
          if (entries_[n]++ == 0) first_[n] = static_cast<int32_t>(i);
        }
      }
      before = here;
    }
    for (size_t i = allocations_.size(); i-- > 0;) {
      const int32_t caller = sites_[i].caller;
      if (caller >= 0) allocations_[caller] += allocations_[i];
    }
    return true;
  }

  [[nodiscard]] bool collect_votes() {
    Column<Vote> all(recording_.budget);
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (!can_begin_steps(i)) continue;
      const Site& site = sites_[i];
      const trace::Frame& frame = recording_.frames[site.frame];
      const bool training =
          is_of_training(recording_.strings.view(frame.name), recording_.strings.view(frame.filename));
      const bool is_said = site.caller >= 0 && entries_[site.caller] == entries_[i];
      if (is_said && !training) continue;
      if (!all.push_back({entries_[i], is_said ? 0 : allocations_[i], training})) return false;
    }
    std::sort(all.data(), all.data() + all.size(),
              [](const Vote& a, const Vote& b) { return a.entries < b.entries; });
    for (const Vote& vote : all) {
      if (votes_.empty() || votes_.back().entries != vote.entries) {
        if (!votes_.push_back(vote)) return false;
        continue;
      }
      votes_.back().allocations += vote.allocations;
      votes_.back().of_training |= vote.of_training;
    }
    return true;
  }

  // A step more or less is the same number: a warm-up, or a recording that ends inside a step.
  [[nodiscard]] int64_t weight_around(size_t i) const {
    constexpr int32_t kManySteps = 8;
    int64_t weight = votes_[i].allocations;
    bool training = votes_[i].of_training;
    if (votes_[i].entries >= kManySteps) {
      for (const size_t j : {i - 1, i + 1}) {
        if (j >= votes_.size() || std::abs(votes_[j].entries - votes_[i].entries) != 1) continue;
        weight += votes_[j].allocations;
        training |= votes_[j].of_training;
      }
    }
    if (training) weight += static_cast<int64_t>(node_.size()) / 4;
    return weight;
  }

  struct Elected {
    int32_t entries;
    int32_t first,
        largest;  // call sites: the one that is entered first, so that steps begin where the loop does; the
                  // one with most allocations
    double share;
  };
  [[nodiscard]] Elected elect() const {
    size_t best = 0;
    for (size_t i = 1; i < votes_.size(); ++i) {
      // Of neighbours that weigh the same the loop that trains, not what it began a step later.
      if (std::tuple(weight_around(i), votes_[i].of_training, votes_[i].allocations) >
          std::tuple(weight_around(best), votes_[best].of_training, votes_[best].allocations))
        best = i;
    }
    const double share =
        static_cast<double>(weight_around(best)) / static_cast<double>(std::max<size_t>(node_.size(), 1));
    if (share < kLeastShare) return {0, -1, -1, 0};
    const int32_t entries = votes_[best].entries;
    int32_t first = -1, largest = -1;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i] != entries || !can_begin_steps(i)) continue;
      if (first < 0 || first_[i] < first_[first]) first = static_cast<int32_t>(i);
      if (largest < 0 || allocations_[i] > allocations_[largest]) largest = static_cast<int32_t>(i);
    }
    return {entries, first, largest, share};
  }
  void withdraw(int32_t entries) {
    Vote* const end = std::remove_if(votes_.data(), votes_.data() + votes_.size(),
                                     [&](const Vote& vote) { return vote.entries == entries; });
    votes_.truncate(static_cast<size_t>(end - votes_.data()));
  }

  [[nodiscard]] bool is_under(int32_t node, int32_t anchor) const {
    while (node > anchor) node = sites_[node].caller;  // callers have lower numbers
    return node == anchor;
  }

  [[nodiscard]] bool mark(int32_t anchor, Steps& found) {
    bool before = false;
    int32_t last = -1;
    bool last_is_under = false;
    for (size_t i = 0; i < node_.size(); ++i) {
      const bool here = node_[i] == last ? last_is_under : is_under(node_[i], anchor);
      last = node_[i];
      last_is_under = here;
      if (here && !before && !found.begin.push_back(event_[i])) return false;
      before = here;
    }
    found.end = rows_.events.count;
    found.last_is_whole = false;  // who knows
    return true;
  }

  // Share of the steps, but the last, that are between half and twice as long as the one in the middle.
  [[nodiscard]] double regularity(const Steps& found) const {
    const int32_t count = found.count();
    if (count < kFewestSteps) return 0;
    Column<int32_t> lengths(recording_.budget);
    for (int32_t i = 0; i + 1 < count; ++i) {
      if (!lengths.push_back(found.begin[i + 1] - found.begin[i])) return 0;
    }
    std::sort(lengths.data(), lengths.data() + lengths.size());
    const int32_t middle = lengths[lengths.size() / 2];
    const auto regular = std::count_if(lengths.begin(), lengths.end(), [&](int32_t length) {
      return int64_t{length} * 2 >= middle && length <= int64_t{middle} * 2;
    });
    return static_cast<double>(regular) / static_cast<double>(lengths.size());
  }

  [[nodiscard]] int32_t sites_of(int32_t entries) const {
    Column<int32_t> own(recording_.budget);
    if (!own.resize(entries_.size(), 0)) return 0;
    for (const int32_t node : node_) ++own[node];
    return static_cast<int32_t>(std::count_if(
        own.begin(), own.end(), [&](int32_t count) { return count >= std::max(2, entries / 2); }));
  }

  const model::Recording& recording_;
  const replay::DeviceRows& rows_;
  Column<int32_t> site_of_node_;  // -1 = no call site in the path
  Column<Site> sites_;
  Column<int32_t> table_;  // of sites, by caller and frame; -1 = free
  // Per site.
  Column<int32_t> entries_;
  Column<int32_t> first_;         // allocation of the first entry
  Column<int64_t> allocations_;   // below the node
  Column<int32_t> event_, node_;  // of the allocations with a stack
  Column<Vote> votes_;            // ascending by entries
  bool any_python_ = false;
};

}  // namespace

bool find_period(const model::Recording& recording, const replay::DeviceRows& rows, Steps& found) {
  return Period(recording, rows).run(found);
}

}  // namespace gpustrata::analysis
