#include "engine/answers/fit/carried_requests.h"

namespace gpustrata::answers {

using analysis::CarriedRequests;

void describe(Members& m, const CarriedRequests& carried) {
  const auto of_rows = [&](As as, Name name, const auto& of) { m.column(as, name, carried.rows, of); };
  m.is({"RequestsOfRecording", "What a fit needs of a recording, for the session of another one."});
  m.object("about", [&] {
    m.count("rows", carried.about.rows);
    m.count({"present", "Of them, those that set up what was there before."}, carried.about.present);
    m.bytes("peakReserved", carried.about.peak_reserved);
    m.count("ooms", carried.about.ooms);
    m.count({"firstOomEvent", "-1 = none."}, carried.about.first_oom_event);
    m.flag({"exact", "Run again they repeat the recording in every event."}, carried.about.exact);
    m.flag({"atFailure", "The recording has no allocation after a request that failed."},
           carried.about.at_failure);
    m.flag({"isOpen", "The recording is a journal that its program did not end."}, carried.about.is_open);
    m.flag({"isCut", "Its file is damaged or ends too early."}, carried.about.is_cut);
  });
  m.texts("texts", carried.texts);
  m.column(As::count, {"names", "Of each frame, as the next two: numbers of texts, and a line."},
           carried.frames, [](const CarriedRequests::Frame& frame) { return frame.name; });
  m.column(As::count, "files", carried.frames,
           [](const CarriedRequests::Frame& frame) { return frame.file; });
  m.column(As::count, "lines", carried.frames,
           [](const CarriedRequests::Frame& frame) { return frame.line; });
  m.column(As::count, {"frames", "Of each node of the stacks, as `callers`; -1 = outermost."}, carried.nodes,
           [](const CarriedRequests::Node& node) { return node.frame; });
  m.column(As::count, "callers", carried.nodes,
           [](const CarriedRequests::Node& node) { return node.caller; });
  m.column(As::number, {"poolGraphs", "Of each private pool, as `poolUsers`."}, carried.pools,
           [](const trace::PoolKey& pool) { return static_cast<double>(pool.graph_id); });
  m.column(As::number, "poolUsers", carried.pools,
           [](const trace::PoolKey& pool) { return static_cast<double>(pool.user_id); });
  of_rows(As::count, {"requests", "Of each row: what is asked for (engine/simulate/request_log.h)."},
          [](const CarriedRequests::Row& row) { return static_cast<uint8_t>(row.request); });
  of_rows(As::bytes, "sizes", [](const CarriedRequests::Row& row) { return static_cast<double>(row.size); });
  of_rows(As::count, "streams", [](const CarriedRequests::Row& row) { return row.stream; });
  of_rows(As::count, {"subjects", "The row of a block, or a pool; -1 = none."},
          [](const CarriedRequests::Row& row) { return row.subject; });
  of_rows(As::count, {"stacks", "The node of the innermost frame; -1 = no stack, -2 = an empty one."},
          [](const CarriedRequests::Row& row) { return row.stack; });
}

}  // namespace gpustrata::answers
