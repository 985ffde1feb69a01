#include <algorithm>

#include "engine/answers/ops/ops.h"
#include "engine/session/replies.h"

namespace gpustrata::session::reply {

namespace {

constexpr int64_t kMostLines = 1000;

Status ops(Asked& asked) {
  const Arguments& given = asked.arguments;
  const auto by = given.word<analysis::OpBy>("by");
  const bool tree = given.flag("tree");
  if (tree && by != analysis::OpBy::path)
    return fail(ErrorCode::wrong_usage, -1, "only paths of ops are a tree: `by` must be path");
  const auto list = asked.view->device().ops(by, given.word<analysis::OpScope>("scope"));
  if (!list) return tl::unexpected(list.error());
  const auto sort = given.word<analysis::OpSort>("sort");
  const int64_t first = given.integer("first");
  const int64_t count = std::min<int64_t>(given.integer("count"), kMostLines);
  const auto lines =
      tree ? (*list)->tree(sort, given.integers("open"), first, count) : (*list)->flat(sort, first, count);
  if (!lines) return tl::unexpected(lines.error());
  answers::to_json(asked.json(), asked.session.recording(), **list, *lines);
  return {};
}

Status profiler_table(Asked& asked) {
  const auto table = asked.view->device().profiler_table(asked.arguments.flag("shapes"));
  if (!table) return tl::unexpected(table.error());
  const auto rows = answers::ProfilerRows::make(asked.session.recording(), **table,
                                                asked.arguments.word<analysis::OpSort>("sort"));
  if (!rows) return tl::unexpected(rows.error());
  answers::to_json(asked.json(), *rows, int64_t{asked.arguments.integer("first")},
                   std::min<int64_t>(asked.arguments.integer("count"), kMostLines));
  return {};
}

// clang-format off
constexpr Question kOfOps[] = {
    // Lines of the op table of a profiler's trace, at most 1,000; as a tree (by path) with what is inside of the `open` rows.
    {"ops", Of::view, "by: OpBy, scope: OpScope, sort: OpSort, tree: Flag, open: Count[], first: Count, count: Count", "OpLines", ops},
    // Lines of PyTorch's own table of the whole trace, at most 1,000.
    {"profilerTable", Of::view, "shapes: Flag, sort: OpSort, first: Count, count: Count", "ProfilerLines", profiler_table},
};
// clang-format on

}  // namespace

std::span<const Question> of_ops() { return kOfOps; }

}  // namespace gpustrata::session::reply
