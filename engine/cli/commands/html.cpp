// gpustrata html SNAPSHOT [-o OUT.html] [--viewer gpustrata.html] [--json]

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "engine/analysis/report/summary.h"
#include "engine/answers/clients/written_file.h"
#include "engine/answers/text/json_of.h"
#include "engine/base/content_hash.h"
#include "engine/base/markup.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/console.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/input/input.h"
#include "engine/cli/options.h"
#include "engine/cli/output/output_file.h"
#include "engine/cli/output/packed_text.h"
#include "engine/cli/output/viewer.h"

namespace gpustrata::cli {

namespace {

struct HtmlOptions {
  std::string file;    // - is standard input
  std::string out;     // empty = the file's name and .html; - is standard output
  std::string viewer;  // empty = looked for where the command is installed or built
  bool json = false;
};

// What the page looks for, see web/src/page/embedded_snapshot.ts. A script of this type is data and never run.
constexpr std::string_view kBegin =
    "<script type=\"application/octet-stream\" id=\"gpustrata-snapshot\" data-name=\"";
// Links name the file by its own bytes, not by those that the page holds.
constexpr std::string_view kEnd =
    "</script>\n<template id=\"gpustrata-snapshot-hash\" data-hash=\"{:016x}\"></template>\n";

// Hands on what it is given, and tells it from others as the session does (engine/session).
class HashedSink final : public io::ByteSink {
 public:
  explicit HashedSink(io::ByteSink& out) : out_(out) {}
  [[nodiscard]] Status write(std::span<const std::byte> bytes) override {
    hash_.add(bytes);
    return out_.write(bytes);
  }
  [[nodiscard]] uint64_t value() const { return hash_.value(); }

 private:
  io::ByteSink& out_;
  ContentHash hash_;
};

// The viewer as two texts, before and after the place of the snapshot.
struct Viewer {
  std::string page;
  size_t place = 0;
};

[[nodiscard]] Outcome<Viewer> find_viewer(const HtmlOptions& options) {
  const auto no_viewer = [&](std::string message) {
    return failure(kNoViewer, options.file, std::move(message));
  };
  auto page = viewer_page(options.viewer, options.file);
  if (!page) return tl::unexpected(page.error());
  Viewer viewer{std::move(*page), 0};
  viewer.place = viewer.page.rfind("</body>");
  if (viewer.place == std::string::npos || viewer.page.find("gpustrata-snapshot") == std::string::npos)
    return no_viewer(
        "The viewer is not a gpustrata.html that can hold a snapshot: use the one of this version.");
  if (const size_t held = viewer.page.find(kBegin); held != std::string::npos && held < viewer.place)
    return no_viewer("The viewer holds a snapshot already: use an empty gpustrata.html.");
  return viewer;
}

// The page up to the end of its body, the snapshot, the rest. Bytes of the packed snapshot.
[[nodiscard]] Outcome<int64_t> write_page(const Viewer& viewer, const std::string& name,
                                          const HtmlOptions& options, const std::string& out_path,
                                          const Console& console, model::Recording& recording,
                                          io::ByteSink& out) {
  const std::string_view page = viewer.page;
  const auto written = [&](const Status& status) -> Outcome<void> {
    return status ? Outcome<void>() : failure(status.error(), out_path);
  };
  Base64Sink base64(out);
  PackedSink packed(base64);
  HashedSink hashed(packed);
  Outcome<void> done = written(out.write(io::bytes_of(page.substr(0, viewer.place))));
  if (done) done = written(out.write(io::bytes_of(fmt::format("{}{}\">", kBegin, escaped_markup(name)))));
  if (done) {
    done = read_recording(options.file, recording, console, &hashed);
    if (!done && done.error().code == kUnwritable) done.error().about = out_path;
  }
  if (done) done = written(packed.finish());
  if (done) done = written(base64.finish());
  if (done) done = written(out.write(io::bytes_of(fmt::format(kEnd, hashed.value()))));
  if (done) done = written(out.write(io::bytes_of(page.substr(viewer.place))));
  if (!done) return tl::unexpected(done.error());
  return base64.bytes();
}

// Writes one page that holds the viewer and the snapshot, packed: the bytes are read once, examined and
// packed on their way. The exit code: 0; 1 if there is no viewer; 2 if the snapshot cannot be read or the
// page not be written.
int run_html(const HtmlOptions& options, const Console& console) {
  // Standard output is the page's if it was asked for.
  const bool is_out = options.out == "-";
  const Console beside{is_out ? console.notes : console.out, console.notes, console.columns,
                       console.is_watched, console.budget_bytes};
  const auto viewer = find_viewer(options);
  if (!viewer) return tell(viewer.error(), options.json, beside);
  const std::string name =
      options.file == "-" ? "snapshot" : options.file.substr(options.file.rfind('/') + 1);
  const std::string out_path = options.out.empty() ? name + ".html" : options.out;
  Budget budget(console.budget_bytes);
  model::Recording recording(budget);
  Outcome<int64_t> packed_bytes = 0;
  const std::string inputs[] = {options.file, options.viewer};
  const auto bytes = write_output(out_path, inputs, console, [&](io::ByteSink& out) -> Outcome<void> {
    packed_bytes = write_page(*viewer, name, options, out_path, console, recording, out);
    return packed_bytes ? Outcome<void>() : tl::unexpected(packed_bytes.error());
  });
  if (!bytes) return tell(bytes.error(), options.json, beside);
  const answers::WrittenPage page{options.file, out_path, *bytes, *packed_bytes,
                                  analysis::findings(recording.diagnostics)};
  const std::string text = options.json ? answers::json_of(page) + "\n" : answers::to_text(page);
  return beside.out.write(io::bytes_of(text)) ? kSuccess : tell_unwritten(console);
}

}  // namespace

void add_html(CLI::App& app, Run& chosen) {
  const auto [command, options] = add(
      app, chosen, "html", "One page with the viewer and the snapshot inside, which opens offline", run_html);
  command->add_option("SNAPSHOT", options->file, "Snapshot file")->required();
  command->add_option("-o,--output", options->out, "The page (default: the file's name and .html, here)");
  command->add_option("--viewer", options->viewer,
                      "gpustrata.html (default: installed or built beside this command)");
  command->add_flag("--json", options->json, "Answer as a JSON object");
}

}  // namespace gpustrata::cli
