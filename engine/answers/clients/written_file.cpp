#include "engine/answers/clients/written_file.h"

#include <fmt/core.h>

#include "engine/answers/common/findings.h"
#include "engine/answers/text/printable.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

namespace {

void names_to_json(JsonWriter& json, std::string_view file, std::string_view output) {
  json.begin_object();
  json.member("file", file);
  json.member("output", output);
}

[[nodiscard]] std::string name_of_output(std::string_view output) {
  return output == "-" ? "standard output" : printable(output);
}

}  // namespace

void to_json(JsonWriter& json, const Conversion& done) {
  names_to_json(json, done.file, done.output);
  json.member("to", done.to);
  json.member("bytes", done.bytes);
  if (!done.table.empty()) {
    json.member("table", done.table);
    json.member("rows", done.rows);
  }
  json.member("snapshots", done.snapshots);
  json.member("events", done.events);
  json.member("segments", done.segments);
  json.member("blocks", done.blocks);
  if (done.points > 0) json.member("points", done.points);
  json.key("diagnostics");
  to_json(json, done.findings);
  json.end_object();
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

void to_json(JsonWriter& json, std::string_view file, std::string_view output, const Failed& failed) {
  names_to_json(json, file, output);
  json.key("error");
  error_to_json(json, failed);
  json.end_object();
}

void to_json(JsonWriter& json, const Anonymized& done) {
  const auto& [files, functions, regions, texts, kept_files] = done.replaced;
  names_to_json(json, done.file, done.output);
  json.member("bytes", done.bytes);
  json.key("replaced");
  json.begin_object();
  json.member("files", files);
  json.member("functions", functions);
  json.member("regions", regions);
  json.member("texts", texts);
  json.end_object();
  json.key("kept");
  json.begin_object();
  json.member("torch_files", kept_files);
  json.end_object();
  json.end_object();
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

void to_json(JsonWriter& json, const WrittenPage& done) {
  names_to_json(json, done.file, done.output);
  json.member("bytes", done.bytes);
  json.member("packed_bytes", done.packed_bytes);
  json.key("diagnostics");
  to_json(json, done.findings);
  json.end_object();
}

std::string to_text(const WrittenPage& done) {
  return fmt::format("{}: {}, of which the packed snapshot is {}\n{}", name_of_output(done.output),
                     size_text(done.bytes), size_text(done.packed_bytes),
                     finding_lines(done.findings, Remarks::left_out));
}

}  // namespace gpustrata::answers
