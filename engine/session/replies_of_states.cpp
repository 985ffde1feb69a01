#include <algorithm>
#include <span>

#include "engine/session/replies.h"

namespace memstrata::session::reply {

namespace {

// An answer that is JSON text already.
[[nodiscard]] Status written(Asked& asked, const Result<std::string>& text) {
  if (!text) return tl::unexpected(text.error());
  asked.json.raw(*text);
  return {};
}

[[nodiscard]] Status written(Asked& asked, const Result<int32_t>& number) {
  if (!number) return tl::unexpected(number.error());
  asked.json.value(*number);
  return {};
}

// Calls `reply` with the states of the view's device.
template <typename Reply>
[[nodiscard]] Status with_states(Asked& asked, Reply&& reply) {
  const auto states = asked.view->device().states();
  if (!states) return tl::unexpected(states.error());
  return reply(**states);
}

}  // namespace

Status prepare(Asked& asked) {
  Device& device = asked.view->device();
  if (Status prepared = device.prepare_states(asked.arguments.integer("part")); !prepared) return prepared;
  asked.json.value(device.state_parts());
  return {};
}

Status states(Asked& asked) {
  return with_states(
      asked, [&](StateView& states) { return written(asked, states.info_json(asked.view->peak_event())); });
}

Status filter_events(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return written(asked, states.listed(asked.arguments.event_filter("filter")));
  });
}

Status event_rows(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return written(
        asked, states.event_rows_json(asked.arguments.event_filter("filter"),
                                      asked.arguments.integer("first"), asked.arguments.integer("count")));
  });
}

Status row_of_event(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return written(
        asked, states.row_of_event(asked.arguments.event_filter("filter"), asked.arguments.integer("event")));
  });
}

Status event(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return written(asked, states.event_details_json(asked.arguments.integer("event")));
  });
}

Status find_event(Asked& asked) {
  const std::string_view kind = asked.arguments.text("kind");
  if (kind == "peak") {
    asked.json.value(asked.view->peak_event());
    return {};
  }
  return with_states(asked, [&](StateView& states) {
    return written(
        asked, states.find_event(kind, asked.arguments.integer("from"), asked.arguments.flag("backwards")));
  });
}

Status totals(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return written(asked, states.totals_json(asked.arguments.integer("event")));
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
    const auto totals = states.totals_json(event);
    if (!totals) return tl::unexpected(totals.error());
    asked.json.begin_object();
    asked.json.key("rects");
    asked.json.begin_object();
    asked.json.end_object();
    asked.json.key("totals");
    asked.json.raw(*totals);
    asked.json.end_object();
    AnswerFrame& answer = asked.answer;
    Status sent = answer.column("rects.x", rects->x);
    if (sent) sent = answer.column("rects.y", rects->y);
    if (sent) sent = answer.column("rects.width", rects->width);
    if (sent) sent = answer.column("rects.height", rects->height);
    if (sent) sent = answer.column("rects.kind", rects->kind);
    if (sent) sent = answer.column("rects.row", rects->row);
    if (sent) sent = answer.column("rects.rank", *ranks);
    if (!sent || !has_look) return sent;
    const auto colours = answer.pixels("rects.colour", rects->colour.size());
    if (!colours) return tl::unexpected(colours.error());
    std::copy(rects->colour.begin(), rects->colour.end(), colours->begin());
    return answer.column("rects.matched", rects->matched);
  });
}

Status state_pick(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return written(asked, states.pick_json(asked.arguments.integer("event"), asked.arguments.window("window"),
                                           asked.arguments.real("x"), asked.arguments.real("y")));
  });
}

Status state_block(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return written(asked,
                   states.block_json(asked.arguments.integer("event"), asked.arguments.integer("block")));
  });
}

Status state_segment(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return written(asked,
                   states.segment_json(asked.arguments.integer("event"), asked.arguments.integer("segment")));
  });
}

Status state_place(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return written(asked,
                   states.place_json(asked.arguments.integer("event"), asked.arguments.integer("block"),
                                     asked.arguments.window("window")));
  });
}

Status regions(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return written(asked,
                   states.regions_json(asked.arguments.word<replay::RegionOrder>("order"),
                                       asked.arguments.integer("first"), asked.arguments.integer("count")));
  });
}

Status address_map(Asked& asked) {
  return with_states(asked, [&](StateView& states) -> Status {
    const auto map = states.address_map(asked.arguments.word<replay::RegionOrder>("order"),
                                        asked.arguments.columns("columns"), asked.arguments.integer("first"),
                                        asked.arguments.integer("count"), asked.arguments.integer("height"));
    if (!map) return tl::unexpected(map.error());
    asked.json.begin_object();
    asked.json.end_object();
    if (Status sent = asked.answer.column("ranks", *map); !sent) return sent;
    const auto pixels = asked.answer.pixels("pixels", map->size());
    if (!pixels) return tl::unexpected(pixels.error());
    return asked.view->colour_map(*map, asked.arguments.look("look"), *pixels);
  });
}

Status region_of_block(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return written(asked, states.region_of_block(asked.arguments.word<replay::RegionOrder>("order"),
                                                 asked.arguments.integer("block")));
  });
}

Status block_of_rank(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    asked.json.value(states.block_of_rank(asked.arguments.integer("rank")));
    return Status();
  });
}

Status rank_of_block(Asked& asked) {
  return with_states(asked, [&](StateView& states) {
    return written(asked, states.rank_of_block(asked.arguments.integer("block")));
  });
}

}  // namespace memstrata::session::reply
