#include "engine/analysis/filters/event_filter.h"

#include <algorithm>

#include "engine/analysis/filters/block_filter.h"
#include "engine/analysis/filters/filter_tree.h"
#include "engine/analysis/filters/search.h"
#include "engine/analysis/filters/stack_terms.h"
#include "engine/replay/links.h"

namespace gpustrata::analysis {

using trace::Action;

namespace {

class EventTerms {
 public:
  EventTerms(Device& device, const EventContext& context, const MadeIn* made_in)
      : device_(device),
        context_(context),
        recording_(context.recording),
        events_(context.recording.events),
        made_in_(made_in),
        ranks_(context.recording.budget) {}

  // The ranks of blocks, which terms of blocks need.
  [[nodiscard]] bool prepare() {
    return replay::rank_blocks(recording_, context_.history, context_.lifetimes, ranks_);
  }

  [[nodiscard]] Result<Mask> term(const FilterNode& node) const {
    const auto stack_of = [&](size_t event) { return events_.stack[first() + event]; };
    switch (node.field) {
      case FilterField::action:
        return action_term(node);
      case FilterField::anything:
        return search_term(SearchIn::anything, node.text);
      case FilterField::address:
        return search_term(SearchIn::address, node.text);
      case FilterField::stack:
        return search_term(SearchIn::frame, node.text);
      case FilterField::metadata:
        return search_term(SearchIn::metadata, node.text);
      case FilterField::op:
        return op_term(node);
      case FilterField::call:
        return call_term(recording_, node, count(), stack_of);
      case FilterField::who:
        return who_term(device_, node, count(), stack_of);
      case FilterField::size:
        return per_event([&](size_t, size_t row) {
          return events_.size[row] >= node.low && events_.size[row] <= node.high;
        });
      case FilterField::stream:
        return per_event([&](size_t, size_t row) {
          return is_stream(recording_, node, events_.stream[row],
                           [&](StreamId stream) { return context_.stream_number(stream); });
        });
      case FilterField::pool:
        return pool_term(node);
      case FilterField::category:
      case FilterField::lifetime:
      case FilterField::born:
      case FilterField::freed:
      case FilterField::alive: {
        const auto blocks = blocks_of_term(device_, node, made_in_);
        if (!blocks) return tl::unexpected(blocks.error());
        return per_event([&](size_t event, size_t) { return is_of(*blocks, event); });
      }
    }
    return empty_mask(recording_.budget, count());
  }

 private:
  [[nodiscard]] int32_t count() const { return context_.history.event_count(); }
  [[nodiscard]] size_t first() const { return static_cast<size_t>(context_.history.rows.events.first); }
  // holds(event of the device, row of the table)
  template <typename Holds>
  [[nodiscard]] Result<Mask> per_event(const Holds& holds) const {
    return mask_where(recording_.budget, count(),
                      [&](size_t event) { return holds(event, first() + event); });
  }
  [[nodiscard]] Result<Mask> search_term(SearchIn where, std::string_view text) const {
    return search_events(recording_, context_.history, where, text);
  }

  // Rank of the event's block, -1 = it is of none that the timeline shows.
  [[nodiscard]] int32_t rank_of(size_t event) const {
    const Action action = events_.action[context_.row(static_cast<int32_t>(event))];
    const int32_t block = context_.history.row_of_event[event];
    return block < 0 || !trace::is_of_block(action) ? -1 : ranks_[block];
  }
  [[nodiscard]] bool is_of(const Mask& blocks, size_t event) const {
    const int32_t rank = rank_of(event);
    return rank >= 0 && blocks[static_cast<size_t>(rank)] != 0;
  }

  [[nodiscard]] Result<Mask> action_term(const FilterNode& node) const {
    std::vector<uint8_t> wanted(256, 0);  // per action
    for (std::string_view rest = node.text; !rest.empty();) {
      const size_t end = std::min(rest.find(','), rest.size());
      const std::string_view name = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      bool known = false;
      for (size_t i = 0; i < wanted.size(); ++i) {
        const auto action = static_cast<Action>(i);
        const bool segments = trace::is_of_segment(action);
        const bool blocks = trace::is_of_block(action) && action != Action::annotate;
        const bool meant = name == "blocks"     ? blocks
                           : name == "segments" ? segments
                           : name == "markers"  ? !blocks && !segments
                                                : recording_.action_name(action) == name;
        if (!meant) continue;
        wanted[i] = 1;
        known = true;
      }
      if (!known && !trace::action_of(name)) {
        return fail(ErrorCode::invalid_format, node.at,
                    "There is no action of this name; there are {}, and blocks, segments and markers.",
                    all_actions());
      }
    }
    return per_event(
        [&](size_t, size_t row) { return wanted[static_cast<size_t>(events_.action[row])] != 0; });
  }
  [[nodiscard]] static std::string all_actions() {
    std::string all;
    for (int i = 0; i < static_cast<int>(Action::first_unknown); ++i) {
      all += all.empty() ? "" : ", ";
      all += trace::name_of(static_cast<Action>(i));
    }
    return all;
  }

  [[nodiscard]] Result<Mask> op_term(const FilterNode& node) const {
    auto own = search_term(SearchIn::op, node.text);
    if (!own || made_in_ == nullptr) return own;
    const auto blocks = blocks_of_term(device_, node, made_in_);
    if (!blocks) return tl::unexpected(blocks.error());
    return per_event([&](size_t event, size_t row) {
      return (*own)[event] != 0 || (events_.action[row] == Action::alloc && is_of(*blocks, event));
    });
  }

  [[nodiscard]] Result<Mask> pool_term(const FilterNode& node) const {
    const auto blocks = blocks_of_term(device_, node, made_in_);
    if (!blocks) return tl::unexpected(blocks.error());
    return per_event([&](size_t event, size_t row) {
      const PoolId pool = events_.pool[row];
      if (pool.is_none()) return is_of(*blocks, event);
      const model::Pool& key = recording_.pools[pool.index()];
      return static_cast<int64_t>(key.graph_id) == node.low && static_cast<int64_t>(key.user_id) == node.high;
    });
  }

  Device& device_;
  const EventContext& context_;
  const model::Recording& recording_;
  const model::EventTable& events_;
  const MadeIn* made_in_;
  Column<int32_t> ranks_;  // per row of StateHistory::blocks, -1 = none
};

}  // namespace

Result<EventList> filter_events(Device& device, std::string_view text, const MadeIn* made_in) {
  const auto tree = parse_filter(text);
  if (!tree) return tl::unexpected(tree.error());
  const auto context = device.context();
  if (!context) return tl::unexpected(context.error());
  const int32_t count = context->history.event_count();
  if (tree->root < 0) return EventList::all(count, device.recording().budget);
  const auto no_memory = [&] {
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to list {} events", count);
  };
  EventTerms terms(device, *context, made_in);
  if (!terms.prepare()) return no_memory();
  const auto mask = mask_of(*tree, [&](const FilterNode& node) { return terms.term(node); });
  if (!mask) return tl::unexpected(mask.error());
  EventList list = EventList::none(count, device.recording().budget);
  for (int32_t event = 0; event < count; ++event) {
    if ((*mask)[static_cast<size_t>(event)] != 0 && !list.add(event)) return no_memory();
  }
  return list;
}

}  // namespace gpustrata::analysis
