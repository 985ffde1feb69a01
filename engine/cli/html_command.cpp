#include "engine/cli/html_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/analysis/summary.h"
#include "engine/base/json_writer.h"
#include "engine/base/markup.h"
#include "engine/base/units.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/finding_lines.h"
#include "engine/cli/input.h"
#include "engine/cli/output_file.h"
#include "engine/cli/packed_text.h"
#include "engine/cli/printable.h"
#include "engine/cli/progress.h"

namespace memstrata::cli {

namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
// What the page looks for, see web/src/page/embedded_snapshot.ts. A script of this type is data and never run.
constexpr std::string_view kBegin =
    "<script type=\"application/octet-stream\" id=\"memstrata-snapshot\" data-name=\"";
constexpr std::string_view kEnd = "</script>\n";

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[nodiscard]] std::optional<std::string> whole_file(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return std::nullopt;
  std::string text;
  std::vector<char> chunk(kChunkBytes);
  while (const size_t count = std::fread(chunk.data(), 1, chunk.size(), file.get()))
    text.append(chunk.data(), count);
  if (std::ferror(file.get()) != 0) return std::nullopt;
  return text;
}

// Beside the command, where `cmake --install` puts it, and where the wasm preset builds it.
[[nodiscard]] std::vector<std::string> places_of_viewer() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return {};
  const std::string command(path.data(), static_cast<size_t>(length));
  const std::string folder = command.substr(0, command.rfind('/'));
  return {folder + "/memstrata.html", folder + "/../share/memstrata/memstrata.html",
          folder + "/../../site/memstrata.html"};
}

// The page up to the end of its body, the snapshot, the rest. Returns the bytes of the packed snapshot.
[[nodiscard]] Result<int64_t> write_page(std::string_view page, size_t place, const std::string& name,
                                         std::FILE* snapshot, io::ByteSink& out) {
  const std::string begin = fmt::format("{}{}\">", kBegin, escaped_markup(name));
  Base64Sink base64(out);
  Status status = out.write(io::bytes_of(page.substr(0, place)));
  if (status) status = out.write(io::bytes_of(begin));
  if (status) status = write_packed(snapshot, base64);
  if (status) status = base64.finish();
  if (status) status = out.write(io::bytes_of(kEnd));
  if (status) status = out.write(io::bytes_of(page.substr(place)));
  if (!status) return tl::unexpected(status.error());
  return base64.bytes();
}

int failed(const HtmlOptions& options, int exit_code, std::string_view code, std::string_view message,
           int64_t offset = -1, std::string_view inside = {}) {
  if (options.json) {
    fmt::print("{}\n", analysis::error_json(code, message, offset, inside, options.file));
  } else {
    fmt::print(stderr, "memstrata: {}: {}\n", printable(options.file), printable(message));
  }
  return exit_code;
}

}  // namespace

int run_html(const HtmlOptions& options) {
  std::optional<std::string> page;
  if (!options.viewer.empty()) {
    page = whole_file(options.viewer);
    if (!page)
      return failed(options, kWrongUsage, "no_viewer",
                    fmt::format("The viewer {} cannot be read.", options.viewer));
  } else {
    for (const std::string& place : places_of_viewer()) {
      page = whole_file(place);
      if (page) break;
    }
    if (!page) {
      return failed(options, kWrongUsage, "no_viewer",
                    "The viewer was not found: name it with --viewer memstrata.html (build it with "
                    "`cmake --preset wasm && cmake --build --preset wasm`, it is in build/site).");
    }
  }
  const size_t place = page->rfind("</body>");
  if (place == std::string::npos || page->find("memstrata-snapshot") == std::string::npos) {
    return failed(
        options, kWrongUsage, "no_viewer",
        "The viewer is not a memstrata.html that can hold a snapshot: use the one of this version.");
  }
  if (const size_t held = page->find(kBegin); held != std::string::npos && held < place) {
    return failed(options, kWrongUsage, "no_viewer",
                  "The viewer holds a snapshot already: use an empty memstrata.html.");
  }
  std::vector<analysis::Finding> findings;
  {  // Is it one?
    Budget budget(default_budget_bytes());
    model::Recording recording(budget);
    if (auto read = read_recording(options.file, recording); !read) {
      const ReadFailure& failure = read.error();
      return failed(options, kUnreadable, failure.code, failure.message, failure.offset, failure.inside);
    }
    findings = analysis::findings(recording.diagnostics);
  }
  const File in(std::fopen(options.file.c_str(), "rb"));
  if (!in) return failed(options, kUnreadable, "unreadable", "This file cannot be opened again.");
  const std::string name = options.file.substr(options.file.rfind('/') + 1);
  const std::string out_path = options.out.empty() ? name + ".html" : options.out;
  Progress progress(out_path, -1);
  OutputFile out(out_path, progress);
  Result<int64_t> packed = 0;
  if (Status opened = out.open(); !opened) packed = tl::unexpected(opened.error());
  if (packed) packed = write_page(*page, place, name, in.get(), out);
  if (packed) {
    if (Status finished = out.finish(); !finished) packed = tl::unexpected(finished.error());
  }
  if (!packed) {
    return failed(options, kUnreadable, "unwritable",
                  fmt::format("{}: {}", out_path, packed.error().message));
  }
  if (options.json) {
    JsonWriter json;
    json.begin_object();
    json.member("file", std::string_view(options.file));
    json.member("output", std::string_view(out_path));
    json.member("bytes", out.bytes());
    json.member("packed_bytes", *packed);
    json.key("diagnostics");
    analysis::write_findings(json, findings);
    json.end_object();
    fmt::print("{}\n", json.text());
  } else {
    fmt::print("{}: {}, of which the packed snapshot is {}\n{}", printable(out_path), size_text(out.bytes()),
               size_text(*packed), finding_lines(findings, Remarks::left_out));
  }
  return kSuccess;
}

}  // namespace memstrata::cli
