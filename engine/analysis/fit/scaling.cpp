#include "engine/analysis/fit/scaling.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "engine/base/charge.h"
#include "engine/base/memory_refused.h"

namespace gpustrata::analysis {

namespace {

using simulate::Request;

// Of rules that are less sure it is not known: what is freed some day may be a parameter.
constexpr double kSureEnough = 0.6;

// What blocks of a category do.
enum class Use : uint8_t { unknown, stays, trained, grows, temporary };

[[nodiscard]] Use use_of(std::string_view category) {
  if (category == "parameter" || category == "gradient" || category == "optimizer_state") return Use::trained;
  if (category == "workspace" || category == "communication") return Use::stays;
  if (category == "activation" || category == "input") return Use::grows;
  return category == "temporary" ? Use::temporary : Use::unknown;
}

// The block of each row of a rehearsal's log.
class Blocks {
 public:
  Blocks(const Rehearsal& rehearsal, Budget& budget) : rehearsal_(rehearsal), charge_(budget) {}
  // False = no memory.
  [[nodiscard]] bool prepare() {
    const replay::BlockLives& lives = rehearsal_.device.lives;
    if (!charge_.more(int64_t{64} * lives.from_start)) return false;
    for (int32_t rank = 0; rank < lives.from_start; ++rank)
      rank_at_.emplace(lives.address(rehearsal_.device.recording, rank), rank);
    return true;
  }
  // Its rank; -1 = none: of a request that failed.
  [[nodiscard]] int32_t rank_of(int32_t row) const {
    const simulate::RecordedRequests& requests = rehearsal_.requests;
    if (requests.event[row] >= 0)
      return rehearsal_.device.lives.rank_born_at(requests.event[row] - rehearsal_.device.rows.events.first);
    if (requests.log.request[row] != Request::present) return -1;
    const auto found = rank_at_.find(requests.start.blocks[requests.log.subject[row]].address);
    return found == rank_at_.end() ? -1 : found->second;
  }

 private:
  const Rehearsal& rehearsal_;
  Charge charge_;
  std::unordered_map<uint64_t, int32_t> rank_at_;  // of those from the start
};

}  // namespace

Result<Column<Scales>> guess_scaling(Device& device, const Rehearsal& rehearsal,
                                     const MatchedRequests& matched, int64_t number, Budget& budget) {
  const auto no_memory = [&] { return memory_refused(budget, "to tell blocks apart"); };
  const auto known = device.categories();
  if (!known) return tl::unexpected(known.error());
  const KnownCategories& categories = **known;
  Blocks blocks(rehearsal, budget);
  Column<Use> uses(budget);
  Column<int64_t> trained(budget);
  if (!blocks.prepare()) return no_memory();
  const AskedRequests& asked = matched.outline.asked.front();
  for (int32_t request = 0; request < matched.count(); ++request) {
    const int32_t rank = blocks.rank_of(asked.row[request]);
    Use use = Use::unknown;
    if (rank >= 0 && static_cast<size_t>(rank) < categories.categories.rule.size()) {
      use = use_of(categories.rules.names[static_cast<size_t>(categories.of(static_cast<size_t>(rank)))]);
      // A rule that names frames: those of the optimizer.
      const CategoryRule* const rule = categories.rule_of(static_cast<size_t>(rank));
      if (use == Use::temporary && rule != nullptr && rule->frames >= 0) use = Use::stays;
      if (use == Use::temporary && rule != nullptr && rule->sure < kSureEnough) use = Use::unknown;
    }
    if (!uses.push_back(use)) return no_memory();
    if (use == Use::trained && !trained.push_back(matched.sizes_of(request)[0])) return no_memory();
  }
  std::sort(trained.data(), trained.data() + trained.size());
  Column<Scales> scales(budget);
  for (int32_t request = 0; request < matched.count(); ++request) {
    const int64_t size = matched.sizes_of(request)[0];
    Scales one = Scales::stays;
    if (size % number == 0 && uses[request] != Use::stays && uses[request] != Use::trained) {
      const bool may_be_trained = std::binary_search(trained.begin(), trained.end(), size);
      one = uses[request] == Use::grows                          ? Scales::grows
            : uses[request] == Use::temporary && !may_be_trained ? Scales::grows
                                                                 : Scales::unknown;
    }
    if (!scales.push_back(one)) return no_memory();
  }
  return scales;
}

}  // namespace gpustrata::analysis
