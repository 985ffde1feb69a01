#include "engine/analysis/categories/categories.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

#include "engine/analysis/categories/trace_lives.h"
#include "engine/analysis/findings/ending.h"
#include "engine/analysis/stacks/call_kinds.h"
#include "engine/analysis/stacks/frame_filter.h"
#include "engine/base/ascii.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

constexpr uint64_t kWorkspaceBit = uint64_t{1} << 57, kAdamBit = uint64_t{1} << 58,
                   kTrainingBit = uint64_t{1} << 59, kOptimizerBit = uint64_t{1} << 60,
                   kZeroGradBit = uint64_t{1} << 61, kBackwardBit = uint64_t{1} << 62,
                   kModuleBit = uint64_t{1} << 63;  // above those of rules

// What PyTorch gives a handle of cuBLAS before Hopper: 2 x 4096 and 8 x 16 KiB (parseChosenWorkspaceSize, CublasHandlePool.cpp).
constexpr int64_t kCublasWorkspace = (2 * 4096 + 8 * 16) << 10;

// A pass backwards through the graph, as events: from its first allocation to its last.
struct Pass {
  int32_t first, last;
};

class Sorting {
 public:
  Sorting(const model::Recording& recording, const model::Part& part, const replay::BlockLives& lifetimes,
          const Column<StackId>& stacks, const Steps& steps, const CategoryRules& rules)
      : recording_(recording), part_(part), lives_(lifetimes), stacks_(stacks), steps_(steps), rules_(rules) {
    for (const CategoryRule& rule : rules.rules) wants_labels_ |= !rule.label.empty();
    unwinding_ = first_of_unwinding(recording, part, lifetimes.device);
    ends_at_failure_ = find_ending(recording, part).at_failure();
  }

  [[nodiscard]] bool run(Categories& found) {
    if (!mark_nodes() || !find_trace_lives(recording_, part_, lives_, in_trace_) ||
        (in_trace_.empty() && !(find_passes() && find_by_gradients())) ||
        !found.rule.resize(lives_.size.size(), Categories::kNoRule))
      return false;
    for (int32_t rank = 0; rank < lives_.count(); ++rank) found.rule[rank] = rule_of(rank, found);
    return true;
  }

 private:
  // Which of the rules' texts are in a frame of the node or of its callers.
  [[nodiscard]] bool mark_nodes() {
    Column<uint64_t> of_frame(recording_.budget);
    const size_t nodes = recording_.stacks.node_count();
    if (!of_frame.resize(recording_.frames.size(), 0) || !bits_.resize(nodes, 0)) return false;
    std::string text;
    for (size_t i = 0; i < recording_.frames.size(); ++i) {
      const trace::Frame& frame = recording_.frames[FrameId{i}];
      const std::string_view function = recording_.strings.view(frame.name).substr(0, kLongestName);
      text = recording_.strings.view(frame.filename).substr(0, kLongestName);
      std::replace(text.begin(), text.end(), '\\', '/');
      if (text.find("torch/optim/") != std::string::npos || text.find("/optimizers/") != std::string::npos)
        of_frame[i] |= kOptimizerBit;
      if (text.find("torch/optim/adam") != std::string::npos) of_frame[i] |= kAdamBit;
      if ((call_kind_of(function, text) & kCallsTraining) != 0) of_frame[i] |= kTrainingBit;
      if (function == "zero_grad") of_frame[i] |= kZeroGradBit;
      if (function == "_call_impl" && text.ends_with("torch/nn/modules/module.py")) of_frame[i] |= kModuleBit;
      text += ':';
      text += function;
      if (is_backward(function)) of_frame[i] |= kBackwardBit;
      if (function.find("Workspace") != std::string_view::npos) of_frame[i] |= kWorkspaceBit;
      for (size_t set = 0; set < rules_.frames.size(); ++set) {
        const bool fits =
            std::any_of(rules_.frames[set].begin(), rules_.frames[set].end(),
                        [&](const std::string& part) { return text.find(part) != std::string::npos; });
        if (fits) of_frame[i] |= uint64_t{1} << set;
      }
    }
    for (size_t i = 0; i < nodes; ++i) {  // callers have lower numbers
      const trace::StackTable::Node& node = recording_.stacks.node(static_cast<int32_t>(i));
      bits_[i] = of_frame[node.frame.index()] | (node.caller < 0 ? 0 : bits_[node.caller]);
    }
    return true;
  }
  [[nodiscard]] uint64_t bits_of(StackId stack) const {
    const int32_t leaf = stack.is_none() ? -1 : recording_.stacks.leaf(stack);
    return leaf < 0 ? 0 : bits_[leaf];
  }
  // Where a block is freed, as conditions: by who asked for it, not by whoever made the allocator look whether it is done.
  [[nodiscard]] uint32_t freed_in(int32_t rank) const {
    const int32_t event = lives_.requested(recording_, rank);
    if (event < 0) return 0;
    const uint64_t bits = bits_of(recording_.events.stack[lives_.events.first + event]);
    if ((bits & kZeroGradBit) != 0) return kFreedInZeroGrad;
    return (bits & kOptimizerBit) != 0 ? uint32_t{kFreedInOptimizer} : 0;
  }

  // A few allocations of other threads in between do not end a pass.
  [[nodiscard]] bool find_passes() {
    constexpr int32_t kOthers = 8;
    int32_t others = kOthers + 1, before = 0;
    for (int32_t event = 0; event < lives_.events.count; ++event) {
      const auto row = static_cast<size_t>(lives_.events.first + event);
      const uint64_t bits = bits_of(recording_.events.stack[row]);
      trains_ |= (bits & (kBackwardBit | kOptimizerBit | kZeroGradBit | kTrainingBit)) != 0;
      uses_adam_ |= (bits & kAdamBit) != 0;
      if (recording_.events.action[row] != trace::Action::alloc) continue;
      if ((bits & kModuleBit) != 0) {
        if (last_forward_ < 0) first_forward_ = event;
        last_forward_ = event;
      }
      if ((bits & kBackwardBit) == 0) {
        others = std::min(others + 1, kOthers + 1);
        if (passes_.empty() && ++before == kOthers + 1) outside_ = event;
        continue;
      }
      if (others > kOthers && !passes_.push_back({event, event})) return false;
      passes_.back().last = event;
      others = 0;
    }
    is_unfinished_ = ends_at_failure_ && !passes_.empty() && others <= kOthers;
    return true;
  }

  // When an optimizer steps, each parameter that it changes has a gradient of its size. So of what is older, and kept, as many of a
  // size are parameters; of the others two for each are Adam's, if it steps and does not make them in the recording. Momentum,
  // averages and other models are of those sizes, too, and cannot be told from each other.
  [[nodiscard]] bool find_by_gradients() {
    constexpr uint32_t kGradient = kInBackward | kOutlivesBackward;
    constexpr int32_t kIsGradient = -1, kIsState = -2;
    struct Sized {
      int64_t size;
      int32_t rank;  // of what is older; or one of the two above
    };
    Column<Sized> all(recording_.budget);
    Column<int32_t> gradients(recording_.budget);  // ranks
    for (int32_t rank = 0; rank < lives_.count(); ++rank) {
      const uint64_t bits = bits_of(stacks_[rank]);
      const bool is_before = lives_.born[rank] < 0;
      if (!is_before && (bits & (kBackwardBit | kOptimizerBit)) == 0) continue;
      const uint32_t is = conditions_of(rank, bits);
      if (is_before) {
        // Of what was recorded by an earlier history a stack may tell more.
        if ((is & kKept) == 0 || (bits & (kBackwardBit | kWorkspaceBit)) != 0) continue;
        if (!all.push_back({lives_.size[rank], (bits & kOptimizerBit) != 0 ? kIsState : rank})) return false;
        continue;
      }
      if ((bits & kOptimizerBit) != 0) {
        if ((is & kOutlivesStep) != 0 && !all.push_back({lives_.size[rank], kIsState})) return false;
      } else if ((is & kGradient) == kGradient && (bits & kWorkspaceBit) == 0 &&
                 lives_.born[rank] > first_forward_ && !gradients.push_back(rank)) {
        return false;
      }
    }
    int32_t step = -1;
    if (all.empty() || gradients.empty() || first_forward_ < 0) return true;
    if (!find_fullest_step(gradients, step)) return false;
    for (const int32_t rank : gradients) {
      if (lives_.born[rank] < step && step <= lives_.freed[rank] &&
          !all.push_back({lives_.size[rank], kIsGradient}))
        return false;
    }
    std::sort(all.span().begin(), all.span().end(), [](const Sized& a, const Sized& b) {
      return std::tuple(a.size, a.rank) < std::tuple(b.size, b.rank);
    });
    if (!by_gradients_.resize(lives_.size.size(), 0)) return false;
    for (size_t first = 0, end = 0; first < all.size(); first = end) {
      size_t states = 0, counted = 0;
      for (end = first; end < all.size() && all[end].size == all[first].size; ++end) {
        states += all[end].rank == kIsState ? 1 : 0;
        counted += all[end].rank == kIsGradient ? 1 : 0;
      }
      const auto older = all.span().subspan(first + states + counted, end - first - states - counted);
      for (const Sized& one : older.first(std::min(older.size(), counted)))
        by_gradients_[one.rank] = kOfGradient;
      if (!uses_adam_ || states > 0 || older.size() < 3 * counted) continue;
      for (const Sized& one : older.subspan(counted, 2 * counted)) by_gradients_[one.rank] = kBeyondGradients;
    }
    return true;
  }

  // The event of an optimizer at which most bytes of these gradients are alive. -1 = there is none.
  [[nodiscard]] bool find_fullest_step(const Column<int32_t>& gradients, int32_t& step) const {
    struct Change {
      int32_t event;
      int64_t bytes;
    };
    Column<Change> changes(recording_.budget);
    for (const int32_t rank : gradients) {
      if (!changes.push_back({lives_.born[rank], lives_.size[rank]}) ||
          !changes.push_back({lives_.freed[rank], -lives_.size[rank]}))
        return false;
    }
    std::sort(changes.span().begin(), changes.span().end(),
              [](const Change& a, const Change& b) { return a.event < b.event; });
    double alive = 0, most = 0;
    size_t next = 0;
    for (int32_t event = 0; event < lives_.events.count; ++event) {
      const uint64_t bits = bits_of(recording_.events.stack[lives_.events.first + event]);
      if ((bits & (kOptimizerBit | kZeroGradBit)) == kOptimizerBit && alive > most) {
        most = alive;
        step = event;
      }
      for (; next < changes.size() && changes[next].event <= event; ++next)
        alive += static_cast<double>(changes[next].bytes);
    }
    return true;
  }

  [[nodiscard]] uint32_t conditions_of(int32_t rank, uint64_t bits) const {
    const int32_t born = lives_.born[rank];
    const bool kept = lives_.freed[rank] >= unwinding_;
    const int32_t freed = kept ? lives_.events.count : lives_.freed[rank];
    uint32_t found = 0;
    found |= kept ? kKept : kFreed;
    // Where nothing was allocated, all blocks are older: that says nothing of them.
    const bool tells_age = lives_.count() > lives_.from_start;
    if ((born < 0 && tells_age) || (steps_.count() > 0 && born < steps_.begin[0])) found |= kOlder;
    const auto* next_step = std::upper_bound(steps_.begin.begin(), steps_.begin.end(), born);
    if (kept || (next_step != steps_.begin.end() && *next_step <= freed)) found |= kOutlivesStep;
    if (born >= 0) found |= kRecorded;
    if ((bits & kModuleBit) != 0) found |= kInModule;
    if (!in_trace_.empty()) return found | in_trace_[rank];
    found |= freed_in(rank);
    if (!by_gradients_.empty()) found |= by_gradients_[rank];
    // The first pass that does not end before the block is made.
    const auto* pass = std::lower_bound(passes_.begin(), passes_.end(), born,
                                        [](const Pass& one, int32_t event) { return one.last < event; });
    const bool tells = born >= 0 || !(trains_ || ends_at_failure_ || lives_.size[rank] == kCublasWorkspace);
    if (tells && passes_.empty() && born < first_forward_ && lives_.freed[rank] > last_forward_)
      found |= kThroughout;
    if ((bits & kBackwardBit) != 0) {
      found |= kInBackward;
      const bool is_cut_off = kept && is_unfinished_ && pass == passes_.end() - 1;
      const bool outlives_older = born < 0 && outside_ >= 0 && freed > outside_;
      if (outlives_older || (pass != passes_.end() && freed > pass->last && !is_cut_off))
        found |= kOutlivesBackward;
    } else {
      while (pass != passes_.end() && pass->first <= born) ++pass;
      if (pass != passes_.end() && freed > pass->first) {
        found |= kUntilBackward;
        // What outlives the pass is of unknown use if it is older; else a name may hold it until the next step.
        const auto* later = pass;
        while (later != passes_.end() && later->last < freed) ++later;
        const bool is_inside = later != passes_.end() && later->first <= freed;
        if (!kept && (is_inside || (born >= 0 && later <= pass + 1))) found |= kFreedInLaterBackward;
      }
    }
    return found;
  }

  // What the program or the profiler calls the block, in small letters.
  [[nodiscard]] std::string label_of(int32_t rank) const {
    const int32_t born = lives_.born[rank];
    StringId text;
    if (born >= 0) {
      const int32_t row = lives_.events.first + born;
      const model::RowRange extras = recording_.extras_of(model::Owner::event, row);
      for (int32_t extra = extras.first; extra < extras.end(); ++extra) {
        if (recording_.strings.view(recording_.extras.key[extra]) == "category")
          text = recording_.extras.value[extra];
      }
      if (text.is_none()) text = recording_.events.metadata[row];
    } else if (lives_.source[rank] >= 0) {
      text = recording_.blocks.metadata[lives_.source[rank]];
    }
    if (text.is_none()) return {};
    constexpr size_t kLongestLabel = 40;
    std::string_view view = recording_.strings.view(text);
    if (view.size() > kLongestLabel) return {};
    if (view.size() >= 2 && view.front() == '"' && view.back() == '"') view = view.substr(1, view.size() - 2);
    return ascii::lower(view);
  }

  [[nodiscard]] uint8_t rule_of(int32_t rank, Categories& found) const {
    const uint64_t bits = bits_of(stacks_[rank]);
    const uint32_t conditions = conditions_of(rank, bits);
    const std::string label = wants_labels_ ? label_of(rank) : std::string();
    for (size_t i = 0; i < rules_.rules.size(); ++i) {
      const CategoryRule& rule = rules_.rules[i];
      if ((conditions & rule.conditions) != rule.conditions || (!rule.label.empty() && rule.label != label) ||
          (rule.frames >= 0 && (bits >> rule.frames & 1) == 0))
        continue;
      found.labelled |= !rule.label.empty();
      return static_cast<uint8_t>(i);
    }
    return Categories::kNoRule;
  }

  const model::Recording& recording_;
  const model::Part& part_;
  const replay::BlockLives& lives_;
  const Column<StackId>& stacks_;
  const Steps& steps_;
  const CategoryRules& rules_;
  Column<uint64_t> bits_{recording_.budget};  // per node
  // per rank: conditions that a trace tells; empty = it is none
  Column<uint32_t> in_trace_{recording_.budget};
  Column<Pass> passes_{recording_.budget};  // ascending
  // per rank: kOfGradient or kBeyondGradients; empty = of none
  Column<uint32_t> by_gradients_{recording_.budget};
  int32_t first_forward_ = -1, last_forward_ = -1;  // allocations of modules; -1 = none
  int32_t outside_ = -1;  // an allocation by which a pass from before the recording is over; -1 = not known
  bool wants_labels_ = false;
  bool trains_ = false;  // something in it is a backward pass or an optimizer's, or named for training
  bool uses_adam_ = false, ends_at_failure_ = false;
  bool is_unfinished_ = false;  // the failure at the end cut the last pass off
  int32_t unwinding_ = 0;       // what is freed from this event on is kept: the program failed
};

}  // namespace

Result<Categories> find_categories(const model::Recording& recording, const model::Part& part,
                                   const replay::BlockLives& lifetimes, const Column<StackId>& stacks,
                                   const Steps& steps, const CategoryRules& rules) {
  Categories found(recording.budget);
  if (!Sorting(recording, part, lifetimes, stacks, steps, rules).run(found))
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to sort {} blocks into categories.",
                lifetimes.count());
  return found;
}

Result<CategorySums> sums_by_category(const replay::Bands& bands, std::span<const int32_t> ranks,
                                      const Categories& categories, const CategoryRules& rules,
                                      std::span<const uint8_t> lit, Budget& budget) {
  const auto no_memory = [&] {
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to sum up {} blocks by category.",
                ranks.size());
  };
  BlockSums by_rule(budget);  // -1 = none
  for (const int32_t rank : ranks) {
    const int32_t rule = categories.rule[rank] == Categories::kNoRule ? -1 : categories.rule[rank];
    if (!by_rule.add(rule, rank, bands.size[rank], !lit.empty() && lit[static_cast<size_t>(rank)] != 0))
      return no_memory();
  }
  CategorySums found(budget);
  found.sure.resize(rules.names.size());
  const auto category_of = [&](const BlockSum& sum) {
    return sum.key < 0 ? 0 : rules.rules[static_cast<size_t>(sum.key)].category;
  };
  if (!regroup(by_rule, category_of, found.sums)) return no_memory();
  for (const BlockSum& sum : by_rule.rows()) {
    if (sum.key >= 0)
      found.sure[static_cast<size_t>(category_of(sum))] +=
          rules.rules[static_cast<size_t>(sum.key)].sure * static_cast<double>(sum.bytes);
  }
  for (const BlockSum& sum : found.sums.rows()) {
    double& sure = found.sure[static_cast<size_t>(sum.key)];
    sure = sum.bytes > 0 ? sure / static_cast<double>(sum.bytes) : 0;
  }
  found.sums.order();
  return found;
}

}  // namespace gpustrata::analysis
