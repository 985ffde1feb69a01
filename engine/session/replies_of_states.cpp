#include "engine/answers/details/address_owner.h"
#include "engine/answers/details/events.h"
#include "engine/answers/details/memory_after.h"
#include "engine/answers/details/state_info.h"
#include "engine/session/replies.h"

namespace gpustrata::session::reply {

namespace {

[[nodiscard]] Status number(Asked& asked, const Result<int32_t>& number) {
  if (!number) return tl::unexpected(number.error());
  asked.json().value(*number);
  return {};
}

// What was found, and what it refers to before it.
template <typename Found, typename... Context>
[[nodiscard]] Status answer(Asked& asked, const Result<Found>& found, const Context&... context) {
  if (!found) return tl::unexpected(found.error());
  if constexpr (answers::kIsOptional<Found>) {
    answers::or_null_to_json(asked.json(), *found, context...);
  } else {
    answers::to_json(asked.json(), context..., *found);
  }
  return {};
}

// Calls `reply` with the states of the view's device.
template <typename Reply>
[[nodiscard]] Status with_states(Asked& asked, Reply&& reply) {
  const auto states = asked.view->device().states();
  if (!states) return tl::unexpected(states.error());
  return reply(**states);
}

Status prepare(Asked& asked) {
  Device& device = asked.view->device();
  if (Status prepared = device.prepare_states(asked.arguments.integer("part")); !prepared) return prepared;
  asked.json().value(device.state_parts());
  return {};
}

Status states(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    answers::to_json(asked.json(), states.info(asked.view->peak_event()));
    return Status();
  });
}

// Calls `reply` with the events that the filter means.
template <typename Reply>
[[nodiscard]] Status with_events(Asked& asked, Reply&& reply) {
  const auto list = asked.view->device().events(asked.arguments.text("filter"));
  if (!list) return tl::unexpected(list.error());
  return reply(**list);
}

Status filter_events(Asked& asked) {
  return with_events(asked, [&](const analysis::EventList& list) { return number(asked, list.count()); });
}

Status event_rows(Asked& asked) {
  return with_events(asked, [&](const analysis::EventList& list) -> Status {
    const auto context = asked.view->device().context();
    if (!context) return tl::unexpected(context.error());
    answers::list_to_json(asked.json(),
                          analysis::event_rows(*context, list, asked.arguments.integer("first"),
                                               asked.arguments.integer("count")),
                          *context);
    return {};
  });
}

Status row_of_event(Asked& asked) {
  return with_events(asked, [&](const analysis::EventList& list) {
    return number(asked, list.row_of(asked.arguments.integer("event")));
  });
}

Status event(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    answers::or_null_to_json(asked.json(), states.event_details(asked.arguments.integer("event")),
                             states.context());
    return Status();
  });
}

Status find_event(Asked& asked) {
  const std::string_view kind = asked.arguments.text("kind");
  if (kind == "peak") return number(asked, asked.view->peak_event());
  return with_states(asked, [&](StateView& states) {
    return number(
        asked, states.find_event(kind, asked.arguments.integer("from"), asked.arguments.flag("backwards")));
  });
}

Status totals(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return answer(asked, states.totals(asked.arguments.integer("event")));
  });
}

Status layout(Asked& asked) {
  return with_states(asked, [&](StateView& states) -> Status {
    const int32_t event = asked.arguments.integer("event");
    const auto window = asked.arguments.window("window");
    const bool has_look = asked.arguments.has("look");
    const auto rects = has_look ? asked.view->draw_state(event, window, asked.arguments.look("look"))
                                : states.layout(event, window);
    if (!rects) return tl::unexpected(rects.error());
    const auto ranks = states.ranks_of(*rects);
    if (!ranks) return tl::unexpected(ranks.error());
    const auto totals = states.totals(event);
    if (!totals) return tl::unexpected(totals.error());
    answers::to_columns(asked.json(), asked.answer,
                        answers::StateLayout{{*rects, *ranks, has_look}, *totals});
    return {};
  });
}

Status state_sketch(Asked& asked) {
  const auto drawn = asked.view->sketch_state(asked.arguments.integer("event"),
                                              asked.arguments.window("window"), asked.arguments.look("look"));
  if (!drawn) return tl::unexpected(drawn.error());
  answers::to_columns(asked.json(), asked.answer, answers::ShownRects{drawn->rects, drawn->ranks, true});
  return {};
}

Status state_pick(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    const auto hit = states.pick(asked.arguments.integer("event"), asked.arguments.window("window"),
                                 asked.arguments.real("x"), asked.arguments.real("y"));
    if (!hit) return Status(tl::unexpected(hit.error()));
    answers::or_null_to_json(asked.json(), hit->segment < 0 ? nullptr : &*hit, states.context(),
                             states.memory());
    return Status();
  });
}

Status state_block(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return answer(asked, states.block(asked.arguments.integer("event"), asked.arguments.integer("block")),
                  states.context());
  });
}

Status state_segment(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return answer(asked, states.segment(asked.arguments.integer("event"), asked.arguments.integer("segment")),
                  states.context());
  });
}

Status owner(Asked& asked) {
  const auto address = analysis::address_in(asked.arguments.text("address"));
  if (!address) return fail(ErrorCode::wrong_usage, -1, "Say the address as 0x7f3c00001200, or in decimal.");
  return with_states(asked, [&](StateView& states) {
    return answer(asked, states.owner(asked.arguments.integer("event"), *address), states.context());
  });
}

Status state_place(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return answer(asked, states.place(asked.arguments.integer("event"), asked.arguments.integer("block"),
                                      asked.arguments.window("window")));
  });
}

Status regions(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return answer(asked,
                  states.regions(asked.arguments.word<replay::RegionOrder>("order"),
                                 asked.arguments.integer("first"), asked.arguments.integer("count")),
                  states.context());
  });
}

Status address_map(Asked& asked) {
  return with_states(asked, [&](StateView& states) -> Status {
    const auto order = asked.arguments.word<replay::RegionOrder>("order");
    const replay::ColumnGrid columns = asked.arguments.columns("columns");
    const int32_t first = asked.arguments.integer("first"), count = asked.arguments.integer("count");
    const int32_t height = asked.arguments.integer("height");
    const auto map = states.address_map(order, columns, first, count, height);
    if (!map) return tl::unexpected(map.error());
    const std::vector<uint32_t> shades = asked.arguments.colours("shades");
    if (shades.empty()) {
      answers::to_columns(asked.json(), asked.answer, answers::ShownMap{*map});
      const auto pixels = asked.answer.pixels("pixels", map->size());
      if (!pixels) return tl::unexpected(pixels.error());
      return asked.view->colour_map(*map, asked.arguments.look("look"), *pixels);
    }
    const auto shares = states.free_shares(order, columns, first, count);
    if (!shares) return tl::unexpected(shares.error());
    answers::to_columns(asked.json(), asked.answer, answers::ShownMap{*map, *shares});
    const auto pixels = asked.answer.pixels("pixels", map->size());
    if (!pixels) return tl::unexpected(pixels.error());
    View::shade_map({*map, *shares, columns.count, height, shades}, asked.arguments.look("look"), *pixels);
    return {};
  });
}

Status region_of_block(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return number(asked, states.region_of_block(asked.arguments.word<replay::RegionOrder>("order"),
                                                asked.arguments.integer("block")));
  });
}

Status block_of_rank(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    asked.json().value(states.block_of_rank(asked.arguments.integer("rank")));
    return Status();
  });
}

Status rank_of_block(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return number(asked, states.rank_of_block(asked.arguments.integer("block")));
  });
}

// clang-format off
constexpr Question kOfStates[] = {
    // Makes at least the first `part` parts of what the questions below need, which else make it all at once;
    // a part takes some milliseconds. How many parts there are.
    {"prepare", Of::view, "part: Count", "Count", prepare},
    {"states", Of::states, "", "StateInfo", states},
    // The number of events that a filter means.
    {"filterEvents", Of::states, "filter: Text", "Count", filter_events},
    // At most 1,000.
    {"eventRows", Of::states, "filter: Text, first: Count, count: Count", "EventRow[]", event_rows},
    // Row in the list, or of the next event listed.
    {"rowOfEvent", Of::states, "filter: Text, event: Event", "Count", row_of_event},
    {"event", Of::states, "event: Event", "EventDetails | null", event},
    // The next event of a kind: an action's name, or "peak". -1 = none.
    {"findEvent", Of::states, "kind: Text, from: Event, backwards: Flag", "Event", find_event},
    {"totals", Of::states, "event: Event", "StateTotals", totals},
    // The state after an event as rectangles, and its totals; with a look the rectangles have colours.
    {"layout", Of::states, "event: Event, window: StateWindow, look?: Look", "StateLayout", layout},
    {"stateSketch", Of::view, "event: Event, window: StateWindow, look: Look", "StateSketch", state_sketch},
    {"statePick", Of::states, "event: Event, window: StateWindow, x: Real, y: Real", "StatePick | null", state_pick},
    {"stateBlock", Of::states, "event: Event, block: Row", "StateBlock", state_block},
    // null = the event is before it or after it.
    {"stateSegment", Of::states, "event: Event, segment: Row", "StateSegment | null", state_segment},
    // Who holds an address after the event, had it before and has it later (engine/analysis/address_owner.h); refused if it is
    // neither 0x... nor decimal.
    {"owner", Of::states, "event: Event, address: Text", "AddressOwner", owner},
    // null = the block does not exist after the event.
    {"statePlace", Of::states, "event: Event, block: Row, window: StateWindow", "StatePlace | null", state_place},
    // Rows of the address map, at most 1,000.
    {"regions", Of::states, "order: RegionOrder, first: Count, count: Count", "Regions", regions},
    // Regions [first, first + count), each `height` pixels high with a free line below. With `shades` free memory has the one
    // of the share of its region that is free then, from none to all, and all blocks look alike.
    {"addressMap", Of::states, "order: RegionOrder, columns: Columns, first: Count, count: Count, height: Pixels, look: Look, shades?: Colour[]", "MapPicture", address_map},
    // -1 = none.
    {"regionOfBlock", Of::states, "order: RegionOrder, block: Row", "Row", region_of_block},
    // -1 = none: the rank is no block's.
    {"blockOfRank", Of::states, "rank: RankOrNone", "Row", block_of_rank},
    // -1 = none: the timeline does not show the block.
    {"rankOfBlock", Of::states, "block: Row", "Rank", rank_of_block},
};
// clang-format on

}  // namespace

std::span<const Question> of_states() { return kOfStates; }

}  // namespace gpustrata::session::reply
