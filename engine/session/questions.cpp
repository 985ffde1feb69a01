#include "engine/session/questions.h"

#include <cmath>

#include "engine/session/replies.h"

namespace gpustrata::session {

namespace {

using Of = Question::Of;

// web/engine/protocol/generate.mjs reads these rows, one a line, and writes them as types of TypeScript.
// clang-format off
constexpr Question kQuestions[] = {
    // What is in the file, what reading it found out, and what tells it from others.
    {"contents", Of::file, "", "Contents", reply::contents},
    // The object of `gpustrata summary --json`, `file` being the name in it. Replays every device.
    {"summary", Of::file, "file: Text", "Summary", reply::summary},
    // Of all devices of all snapshots but pinned host memory. Replays every one that no view shows.
    {"peaks", Of::file, "", "DevicePeak[][]", reply::peaks},
    // The rules of categories that a text has (engine/analysis/categories/category_rules.h), those of the engine if it is empty; refused
    // with the line that is wrong.
    {"categoryRules", Of::file, "text: Text", "CategoryRules", reply::category_rules},
    // Parts of the file that are numbers over time, with what is drawn of them (engine/analysis/series/series_view.h).
    {"series", Of::file, "", "SeriesPart[]", reply::series},
    // Curves of a part on its axis.
    {"seriesPicture", Of::file, "part: Count, series: Count[], stretch: Stretch", "SeriesPicture", reply::series_picture},
    // Levels of its categories, which add up: in each column those at the moment of the highest total.
    {"seriesAreas", Of::file, "part: Count, stretch: Stretch", "SeriesAreas", reply::series_areas},
    // What a column of either shows.
    {"seriesMoment", Of::file, "part: Count, column: Whole, width: Width", "SeriesMoment", reply::series_moment},
    // Of profiled functions, at most 1,000.
    {"calls", Of::file, "part: Count, first: Count, count: Count", "FunctionCall[]", reply::calls},
    // The object of `gpustrata tracker --json`, the `most` operators that took most in it, at most 10,000.
    {"operators", Of::file, "part: Count, most: Count", "Operators", reply::operators},
    // The object of `gpustrata telemetry --json`.
    {"telemetry", Of::file, "", "Telemetry", reply::telemetry},
    // The text that `gpustrata fleet -o` wrote, of a part that is many ranks, as the file has it.
    {"fleet", Of::file, "fleet: Count", "FleetText", reply::fleet},
    // Opens a view. Views of one device share what they can. `only`: of what a filter means, stacked from zero as if the rest
    // had never been; refused as `filter`, and among pools.
    {"open", Of::file, "snapshot: Count, device: Device, bands: Bands, only?: Text", "OpenedView", reply::open},
    // The view is gone; its number is never used again.
    {"release", Of::view, "", "null", reply::release},

    // Pixels of the bands, and the curves above them. `groups`: of the stack by group instead, an area for each kind of the look.
    {"picture", Of::view, "columns: Columns, rows: Rows, look: Look, groups?: Flag", "PictureAnswer", reply::picture},
    // Room for words in the bands of that picture, at least so many columns wide and rows high.
    {"labels", Of::view, "columns: Columns, rows: Rows, leastColumns: Pixels, leastRows: Pixels", "BandLabel[]", reply::labels},
    // Highest level in the columns.
    {"highest", Of::view, "columns: Columns", "Bytes", reply::highest},
    // What a point of the picture shows, and all about it unless it is the band `known`.
    {"probe", Of::view, "axis: Axis, column: Whole, width: Width, bytes: Real, known: RankOrNone", "ProbeAnswer", reply::probe},
    // The stack by group: room for words, what a point shows, edges. `kind`: a number of `kinds`, or their number for what
    // pools keep unused.
    {"groupPlaces", Of::view, "columns: Columns, rows: Rows, by: ColourBy, filter: Text, leastColumns: Pixels, leastRows: Pixels", "KindPlace[]", reply::group_places},
    {"groupProbe", Of::view, "axis: Axis, column: Whole, width: Width, bytes: Real, by: ColourBy, filter: Text", "GroupProbe", reply::group_probe},
    {"groupOutline", Of::view, "by: ColourBy, filter: Text, kind: Count, columns: Columns", "Edges", reply::group_outline},
    // All that is known of a band, and where it lies.
    {"block", Of::view, "rank: Rank, axis: Axis", "BlockAnswer", reply::block},
    {"outline", Of::view, "rank: Rank, columns: Columns", "Edges", reply::outline},
    // Of events on the axis.
    {"position", Of::view, "axis: Axis, events: Event[]", "AxisUnits[]", reply::position},
    // How many blocks a filter means (engine/analysis/filters/filter_syntax.h); refused with the place of what is
    // wrong: offset = UTF-16 units of `text`.
    {"filter", Of::view, "text: Text", "FilterAnswer", reply::filter},
    // The rank of the match `index`, -1 = there is none.
    {"match", Of::view, "filter: Text, index: Count", "Rank", reply::match},
    // What could stand at the cursor, a number of UTF-16 units as `from` in the answer.
    {"complete", Of::view, "text: Text, cursor: Count", "Completions", reply::complete},
    {"kinds", Of::view, "by: ColourBy", "Kinds", reply::kinds},
    {"shares", Of::view, "by: ColourBy, event: Event, filter: Text", "Shares", reply::shares},
    // Regions and markers of the program.
    {"marks", Of::view, "", "Marks", reply::marks},
    // At least so many parts of the report are then found; how many there are. For long recordings.
    {"prepareReport", Of::states, "part: Count", "Count", reply::prepare_report},
    // Why it ran out of memory, what leaks, what the peak is made of, what is fragmented (engine/answers/report/report.h).
    {"report", Of::states, "", "Report", reply::report},
    // What was allocated by the events of a stretch and is never freed, by line, at most 200; from -1 = also what was
    // there before.
    {"neverFreed", Of::view, "from: Event, until: Event", "NeverFreed", reply::never_freed},
    // Of what is alive after the event: files by what their own lines asked for; and the lines of one, its name as it is there.
    {"sourceFiles", Of::view, "event: Event", "SourceFile[]", reply::source_files},
    {"sourceLines", Of::view, "event: Event, file: Text", "SourceLines", reply::source_lines},
    // What is alive after the event, stack by stack, at most 4,000, for `compare`, of whatever file.
    {"facts", Of::view, "event: Event", "StackFacts", reply::facts},
    // What is alive after the event against what `before` had: by stack, whose parts add up to both.
    {"compare", Of::view, "event: Event, before: Facts", "Compared", reply::compare},
    // Levels on an axis, step by step, or in the regions of one name, one after the other: columns of both files of a
    // comparison mean the same.
    {"curve", Of::view, "columns: Columns", "LevelCurve", reply::curve},
    {"stepCurve", Of::view, "steps: Pixels, columnsPerStep: Pixels", "LevelCurve", reply::step_curve},
    {"regionCurve", Of::view, "name: Text, regions: Pixels, columnsPerRegion: Pixels", "LevelCurve", reply::region_curve},

    // What happened from one position of the axis to another: from the state that is shown at `from` to that at `to`
    // (engine/analysis/live/stack_weights.h).
    {"range", Of::view, "axis: Axis, from: Whole, to: Whole", "RangeTotals", reply::range},
    // Who holds the memory of a moment (engine/analysis/live/holders.h), most bytes first, at most 1,000. `rules`: those of
    // categories; without them the engine's own.
    {"holders", Of::view, "by: HolderBy, event: Event, filter: Text, rules?: Text, first: Count, count: Count", "Holders", reply::holders},
    // What one block is for, and the rule that says so; null = it is no block.
    {"category", Of::view, "rank: Rank, rules?: Text", "BlockCategory | null", reply::category},
    // Who asked for memory, as a flame graph: rectangles at least a pixel wide, in rows from the root on. `path`:
    // keys of frames from the root's child to the one that fills the width (engine/analysis/calls/call_tree.h). `before`: calls of
    // another file, less which these are.
    {"flame", Of::view, "tree: CallTree, before?: CallFacts, path: FrameOrNone[], width: Pixels, rows: Pixels, search: Text", "FlameGraph", reply::flame},
    // What calls hold, for `before` of another file's `flame` and `flameRows` (engine/analysis/calls/carried_calls.h); by whole stacks,
    // those with the most.
    {"callFacts", Of::view, "tree: CallTree", "CallFacts", reply::call_facts},
    // The same as a table, a row for each frame; at most 1,000. `search`: only those with this text.
    {"flameRows", Of::view, "tree: CallTree, before?: CallFacts, search: Text, order: FrameOrder, descending: Flag, first: Count, count: Count", "FrameRows", reply::flame_rows},

    // Lines of the op table of a profiler's trace, at most 1,000; as a tree (by path) with what is inside of the `open` rows.
    {"ops", Of::view, "by: OpBy, scope: OpScope, sort: OpSort, tree: Flag, open: Count[], first: Count, count: Count", "OpLines", reply::ops},
    // Lines of PyTorch's own table of the whole trace, at most 1,000.
    {"profilerTable", Of::view, "shapes: Flag, sort: OpSort, first: Count, count: Count", "ProfilerLines", reply::profiler_table},

    // Lanes of ops above the timeline (engine/replay/span_lanes.h): threads of a profiler's trace; what columns of `step`
    // units of the axis show of rows of threads, names where one op is so many columns wide, lit those that a filter means;
    // one op in full.
    {"laneThreads", Of::view, "", "LaneThreads", reply::lane_threads},
    {"lanes", Of::view, "axis: Axis, from: Real, step: Positive, columns: Pixels, threads: Count[], rows: Count[], search: Text, leastForName: Real", "Lanes", reply::lanes},
    {"span", Of::view, "span: Row", "SpanDetails", reply::span},
    // What ran at a microsecond of the axis of times, thread by thread: the ops that a block of a snapshot of the same run was
    // made in. Of its device and address: that of the trace's own record of it alone, if there is one.
    {"opsAt", Of::view, "time: Real, device?: Device, address?: Real", "RunningOps[]", reply::ops_at},

    // A snapshot and a trace of one run, each in a session of its own. Of a snapshot: allocations from an event on, at most
    // 16,384, and the event to go on from.
    {"allocations", Of::view, "from: Event", "Allocations", reply::allocations},
    // Of a trace: the nodes of its paths of ops that allocations of a device were made in (engine/replay/op_finder.h): -1 = in
    // no op, -2 = in one of several threads, -3 = outside of the trace. `times`: microseconds since 1970; `addresses`: -1 = not
    // known.
    {"opsOf", Of::view, "device: Device, times: Real[], addresses: Real[]", "AllocationOps", reply::ops_of},
    // Such nodes: their parents (-1 = none), names, whether they are ops or Python functions.
    {"opPaths", Of::view, "nodes: Count[]", "OpPaths", reply::op_paths},
    // To a snapshot: more nodes, behind those it was told, and those of allocations. Filters of all views of the device that this client
    // has mean them from then on, as the one thing that a question changes. `anew`: what was told before is forgotten. How many allocations
    // have an op now; the device forgets them when its last view is released.
    {"tellMadeIn", Of::view, "anew: Flag, parents: NodeOrNone[], names: Text[], ops: Count[], events: Event[], nodes: NodeOrNone[]", "Count", reply::tell_made_in},

    // Makes at least the first `part` parts of what the questions below need, which else make it all at once;
    // a part takes some milliseconds. How many parts there are.
    {"prepare", Of::view, "part: Count", "Count", reply::prepare},
    {"states", Of::states, "", "StateInfo", reply::states},
    // The number of events that a filter means.
    {"filterEvents", Of::states, "filter: Text", "Count", reply::filter_events},
    // At most 1,000.
    {"eventRows", Of::states, "filter: Text, first: Count, count: Count", "EventRow[]", reply::event_rows},
    // Row in the list, or of the next event listed.
    {"rowOfEvent", Of::states, "filter: Text, event: Event", "Count", reply::row_of_event},
    {"event", Of::states, "event: Event", "EventDetails | null", reply::event},
    // The next event of a kind: an action's name, or "peak". -1 = none.
    {"findEvent", Of::states, "kind: Text, from: Event, backwards: Flag", "Event", reply::find_event},
    {"totals", Of::states, "event: Event", "StateTotals", reply::totals},
    // What holds free memory back after the event, and what each pool and stream has of it.
    {"fragmentation", Of::states, "event: Event", "Fragmentation", reply::fragmentation},
    // The same in numbers after each of at most 256 events; cheapest where they ascend.
    {"fragmentationOver", Of::states, "events: Event[]", "FragmentationOver", reply::fragmentation_over},
    // Segments that were never full, over the whole recording (engine/analysis/findings/never_full.h).
    {"neverFull", Of::states, "", "NeverFull", reply::never_full},
    // The state after an event as rectangles, and its totals; with a look the rectangles have colours.
    {"layout", Of::states, "event: Event, window: StateWindow, look?: Look", "StateLayout", reply::layout},
    {"stateSketch", Of::view, "event: Event, window: StateWindow, look: Look", "StateSketch", reply::state_sketch},
    {"statePick", Of::states, "event: Event, window: StateWindow, x: Real, y: Real", "StatePick | null", reply::state_pick},
    {"stateBlock", Of::states, "event: Event, block: Row", "StateBlock", reply::state_block},
    // null = the event is before it or after it.
    {"stateSegment", Of::states, "event: Event, segment: Row", "StateSegment | null", reply::state_segment},
    // Who holds an address after the event, had it before and has it later (engine/analysis/address_owner.h); refused if it is
    // neither 0x... nor decimal.
    {"owner", Of::states, "event: Event, address: Text", "AddressOwner", reply::owner},
    // null = the block does not exist after the event.
    {"statePlace", Of::states, "event: Event, block: Row, window: StateWindow", "StatePlace | null", reply::state_place},
    // Rows of the address map, at most 1,000.
    {"regions", Of::states, "order: RegionOrder, first: Count, count: Count", "Regions", reply::regions},
    // Regions [first, first + count), each `height` pixels high with a free line below. With `shades` free memory has the one
    // of the share of its region that is free then, from none to all, and all blocks look alike.
    {"addressMap", Of::states, "order: RegionOrder, columns: Columns, first: Count, count: Count, height: Pixels, look: Look, shades?: Colour[]", "MapPicture", reply::address_map},
    // -1 = none.
    {"regionOfBlock", Of::states, "order: RegionOrder, block: Row", "Row", reply::region_of_block},
    // -1 = none: the rank is no block's.
    {"blockOfRank", Of::states, "rank: RankOrNone", "Row", reply::block_of_rank},
    // -1 = none: the timeline does not show the block.
    {"rankOfBlock", Of::states, "block: Row", "Rank", reply::rank_of_block},

    // What if (engine/analysis/what_if/what_if.h): how exactly the recorded requests repeat, and settings worth a try.
    {"rehearsal", Of::states, "", "Rehearsal", reply::rehearsal},
    // What a run of them comes to; curves over so many columns of the recorded events.
    {"whatIf", Of::states, "scenario: Scenario, columns: Pixels", "WhatIf", reply::what_if},
    // The smallest device on which nothing is out of memory; about 15 runs.
    {"smallestCapacity", Of::states, "scenario: Scenario", "Bytes", reply::smallest_capacity},
    // The run as one more snapshot of the file: its number. It takes the place of the run before; other views stay open.
    {"addRun", Of::states, "scenario: Scenario", "Count", reply::add_run},
    // The event of such a run that stands where an event of the view does; -1 = before its first.
    {"eventOfRun", Of::states, "snapshot: Count, event: Event", "Event", reply::event_of_run},
    // Pools and segments of the view after an event beside those of such a run there.
    {"stateDifferences", Of::states, "snapshot: Count, event: Event", "StateDifferences", reply::state_differences},
    // `oom` of the report, with the settings among the remedies tried by a run.
    {"triedRemedies", Of::states, "", "ExplainedOutOfMemory[]", reply::tried_remedies},
};
// clang-format on

constexpr size_t kLongestName = 40;  // of what is repeated in an error

[[nodiscard]] tl::unexpected<Error> wrong_question(std::string_view name, std::string_view why) {
  return fail(ErrorCode::wrong_usage, -1, "{}{}{}", name, name.empty() ? "" : ": ", why);
}

[[nodiscard]] const Question* question_of(std::string_view name) {
  for (const Question& question : kQuestions) {
    if (question.name == name) return &question;
  }
  return nullptr;
}

}  // namespace

std::span<const Question> questions() { return kQuestions; }

Status answer_question(Session& session, std::span<const std::byte> frame, AnswerFrame& answer) {
  const auto read = read_question(frame);
  if (!read) return tl::unexpected(read.error());
  const auto head = parse_json(read->head);
  if (!head) return tl::unexpected(head.error());
  for (const JsonValue::Member& member : head->members) {
    if (member.name != "ask" && member.name != "view" && member.name != "args")
      return wrong_question("", "the head of a question has `ask`, `view` and `args`");
  }
  const JsonValue* const name = head->find("ask");
  if (name == nullptr || name->kind != JsonValue::Kind::text)
    return wrong_question("", "`ask` must be the name of a question");
  const Question* const question = question_of(name->text);
  if (question == nullptr)
    return fail(ErrorCode::wrong_usage, -1, "there is no question \"{}\"",
                std::string_view(name->text).substr(0, kLongestName));
  if (!session.finished()) return wrong_question(question->name, "no file has been read");

  View* view = nullptr;
  ViewId view_id = 0;
  const JsonValue* const of = head->find("view");
  if (question->of != Question::Of::file) {
    if (of == nullptr || of->kind != JsonValue::Kind::number || of->number != std::floor(of->number))
      return wrong_question(question->name, "`view` must be the number of a view");
    if (of->number >= 1 && of->number <= double{INT32_MAX}) view_id = static_cast<ViewId>(of->number);
    view = session.view(view_id);
    if (view == nullptr)
      return wrong_question(question->name, "there is no such view; it may have been released");
  } else if (of != nullptr) {
    return wrong_question(question->name, "the question is about the file, not about a view");
  }

  static const JsonValue no_arguments = [] {
    JsonValue value;
    value.kind = JsonValue::Kind::object;
    return value;
  }();
  const JsonValue* const given = head->find("args");
  Limits limits;
  if (view != nullptr) view->next_question();
  if (view != nullptr) limits = {view->event_count(), view->rank_count()};
  const auto arguments = Arguments::check(question->arguments, given ? *given : no_arguments, limits);
  if (!arguments) return wrong_question(question->name, arguments.error().message);
  Asked asked{session, view, view_id, *arguments, answer};
  return question->reply(asked);
}

}  // namespace gpustrata::session
