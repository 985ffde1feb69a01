#include "engine/answers/clients/written_file.h"

#include <fmt/core.h>

#include "engine/answers/common/findings.h"
#include "engine/answers/text/printable.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

namespace {

void describe_written(Members& m, std::string_view file, std::string_view output) {
  m.text("file", file);
  m.text("output", output);
}

[[nodiscard]] std::string name_of_output(std::string_view output) {
  return output == "-" ? "standard output" : printable(output);
}

}  // namespace

void describe(Members& m, const Conversion& done) {
  m.line({"convert --json", "What was written."});
  describe_written(m, done.file, done.output);
  m.text({"to", "The form, as `--to` names it."}, done.to);
  m.bytes({"bytes", "Of the output."}, done.bytes);
  if (const auto there = m.when(!done.table.empty())) {
    m.text({"table", "Of a form that has one."}, done.table);
    m.count("rows", done.rows);
  }
  m.count("snapshots", done.snapshots);
  m.count("events", done.events);
  m.count("segments", done.segments);
  m.count("blocks", done.blocks);
  if (const auto there = m.when(done.points > 0)) m.count({"points", "Of numbers over time."}, done.points);
  m.list("diagnostics", done.findings);
}

std::string to_text(const Conversion& done) {
  if (!done.table.empty()) {
    return fmt::format("{}: {}, {} of the table {}\n{}", name_of_output(done.output),
                       exact_size_text(done.bytes), counted(done.rows, "row"), done.table,
                       finding_lines(done.findings, Remarks::left_out));
  }
  if (done.snapshots == 0 && done.points > 0) {
    return fmt::format("{}: {}, {}\n{}", name_of_output(done.output), exact_size_text(done.bytes),
                       counted(done.points, "point"), finding_lines(done.findings, Remarks::left_out));
  }
  std::string text = fmt::format(
      "{}: {}, {}, {}, {}, {}\n{}", name_of_output(done.output), exact_size_text(done.bytes),
      counted(done.snapshots, "snapshot"), counted(done.events, "event"), counted(done.segments, "segment"),
      counted(done.blocks, "block"), finding_lines(done.findings, Remarks::left_out));
  if (done.snapshots > 1 && done.to == "pickle")
    text += "  PyTorch's own viewer opens only one snapshot per file: choose it with --snapshot.\n";
  return text;
}

void describe(Members& m, const Anonymized& done) {
  m.line({"anonymize --json", "What was written."});
  describe_written(m, done.file, done.output);
  m.bytes({"bytes", "Of the output."}, done.bytes);
  m.object({"replaced", "How many of each."}, [&] {
    m.count("files", done.replaced.files);
    m.count("functions", done.replaced.functions);
    m.count("regions", done.replaced.regions);
    m.count("texts", done.replaced.texts);
  });
  m.object("kept", [&] { m.count({"torch_files", "Of PyTorch itself."}, done.replaced.kept_files); });
}

std::string to_text(const Anonymized& done) {
  const auto& [files, functions, regions, texts, kept_files] = done.replaced;
  return fmt::format(
      "{}: {}\n"
      "  Replaced: {}, {}, {}, {}.\n"
      "  Kept: all sizes, addresses, times, line numbers, streams and pools; actions, categories and settings of the\n"
      "  allocator; ProfilerStep#N; {} of PyTorch itself, from torch/ on, with their functions.\n",
      name_of_output(done.output), exact_size_text(done.bytes), counted(files, "file"),
      counted(functions, "function"), counted(regions, "region"), counted(texts, "other text"),
      counted(kept_files, "file"));
}

void describe(Members& m, const WrittenPage& done) {
  m.line({"html --json", "What was written."});
  describe_written(m, done.file, done.output);
  m.bytes({"bytes", "Of the page."}, done.bytes);
  m.bytes({"packed_bytes", "Of the snapshot in it."}, done.packed_bytes);
  m.list("diagnostics", done.findings);
}

std::string to_text(const WrittenPage& done) {
  return fmt::format("{}: {}, of which the packed snapshot is {}\n{}", name_of_output(done.output),
                     size_text(done.bytes), size_text(done.packed_bytes),
                     finding_lines(done.findings, Remarks::left_out));
}

}  // namespace gpustrata::answers
