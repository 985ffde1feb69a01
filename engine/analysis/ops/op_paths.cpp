#include "engine/analysis/ops/op_paths.h"

namespace gpustrata::analysis {

Result<OpPaths> OpPaths::make(const model::Recording& recording) {
  const model::SpanTable& spans = recording.spans;
  OpPaths paths(recording.budget);
  const auto no_memory = [] {
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to find the paths of ops");
  };
  if (!paths.of_.resize(spans.size_rows(), -1)) return no_memory();
  for (size_t row = 0; row < spans.size_rows(); ++row) {
    const int32_t around = spans.parent[row] < 0 ? -1 : paths.of_[spans.parent[row]];
    const StringId name = spans.name[row];
    const bool op = analysis::is_op(spans.kind[row]);
    if (name.is_none() || (!op && spans.kind[row] != model::SpanKind::python)) {
      paths.of_[row] = around;
      continue;
    }
    const int32_t node = paths.nodes_.intern({op ? name.value : -2 - name.value, around});
    if (node < 0) return no_memory();
    paths.of_[row] = node;
  }
  return paths;
}

}  // namespace gpustrata::analysis
