#include "engine/cli/html_command.h"

#include <fmt/core.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <climits>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/analysis/summary.h"
#include "engine/base/units.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/input.h"
#include "engine/cli/printable.h"
#include "engine/io/sniff.h"

namespace memstrata::cli {

namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
// What the page looks for, see web/src/embedded_snapshot.ts. A script of this type is data and never run.
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

[[nodiscard]] std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Bytes -> base64 -> file, in pieces of any size. RFC 4648 section 4.
class Base64File {
 public:
  explicit Base64File(std::FILE* file) : file_(file) {}
  void write(std::string_view bytes) {
    bytes_ += static_cast<int64_t>(bytes.size());
    std::string out;
    out.reserve(bytes.size() / 3 * 4 + 8);
    for (const char c : bytes) {
      group_ = group_ << 8 | static_cast<unsigned char>(c);
      if (++count_ == 3) put(out, 4);
    }
    std::fwrite(out.data(), 1, out.size(), file_);
  }
  void finish() {
    if (count_ == 0) return;
    std::string out;
    const int letters = count_ + 1;
    for (; count_ < 3; ++count_) group_ <<= 8;
    put(out, letters);
    out.append(static_cast<size_t>(4 - letters), '=');
    std::fwrite(out.data(), 1, out.size(), file_);
  }
  [[nodiscard]] int64_t bytes() const { return bytes_; }

 private:
  void put(std::string& out, int letters) {
    constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < letters; ++i) out += kLetters[group_ >> (18 - 6 * i) & 63U];
    group_ = 0;
    count_ = 0;
  }
  std::FILE* file_;
  uint32_t group_ = 0;
  int count_ = 0;
  int64_t bytes_ = 0;
};

// As it is if it is packed already, else as gzip.
[[nodiscard]] bool write_packed(std::FILE* in, Base64File& out) {
  std::string chunk(kChunkBytes, '\0');
  size_t count = std::fread(chunk.data(), 1, chunk.size(), in);
  const io::Format format = io::sniff(std::as_bytes(std::span(chunk.data(), count))).format;
  const bool is_packed =
      format == io::Format::gzip || format == io::Format::zstd || format == io::Format::zip;
  if (is_packed) {
    for (; count > 0; count = std::fread(chunk.data(), 1, chunk.size(), in)) out.write({chunk.data(), count});
    return std::ferror(in) == 0;
  }
  z_stream stream{};
  constexpr int kGzip = 16 + 15;
  constexpr int kMemoryLevel = 9;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return false;
  std::vector<Bytef> packed(kChunkBytes);
  for (bool last = false; !last;) {
    last = count == 0;
    stream.next_in = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_in = static_cast<uInt>(count);
    do {
      stream.next_out = packed.data();
      stream.avail_out = static_cast<uInt>(packed.size());
      (void)deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
      out.write({reinterpret_cast<const char*>(packed.data()), packed.size() - stream.avail_out});
    } while (stream.avail_out == 0);
    if (!last) count = std::fread(chunk.data(), 1, chunk.size(), in);
  }
  deflateEnd(&stream);
  return std::ferror(in) == 0;
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
  {  // Is it one?
    Budget budget(default_budget_bytes());
    model::Recording recording(budget);
    if (auto read = read_recording(options.file, recording); !read) {
      const ReadFailure& failure = read.error();
      return failed(options, kUnreadable, failure.code, failure.message, failure.offset, failure.inside);
    }
  }
  const File in(std::fopen(options.file.c_str(), "rb"));
  if (!in) return failed(options, kUnreadable, "unreadable", "This file cannot be opened again.");
  const std::string name = options.file.substr(options.file.rfind('/') + 1);
  const std::string out_path = options.out.empty() ? name + ".html" : options.out;
  const std::string temporary = out_path + ".part";  // so that no half page is left
  File out(std::fopen(temporary.c_str(), "wb"));
  if (!out)
    return failed(options, kUnreadable, "unwritable", fmt::format("{} cannot be written.", temporary));
  std::fwrite(page->data(), 1, place, out.get());
  const std::string begin = fmt::format("{}{}\">", kBegin, escaped(name));
  std::fwrite(begin.data(), 1, begin.size(), out.get());
  Base64File base64(out.get());
  bool written = write_packed(in.get(), base64);
  base64.finish();
  std::fwrite(kEnd.data(), 1, kEnd.size(), out.get());
  std::fwrite(page->data() + place, 1, page->size() - place, out.get());
  const long bytes = std::ftell(out.get());
  written = written && std::ferror(out.get()) == 0;
  written = std::fclose(out.release()) == 0 && written;
  if (!written || std::rename(temporary.c_str(), out_path.c_str()) != 0) {
    std::remove(temporary.c_str());
    return failed(options, kUnreadable, "unwritable", fmt::format("{} cannot be written.", out_path));
  }
  if (options.json) {
    JsonWriter json;
    json.begin_object();
    json.member("file", std::string_view(options.file));
    json.member("output", std::string_view(out_path));
    json.member("bytes", static_cast<int64_t>(bytes));
    json.member("packed_bytes", base64.bytes());
    json.end_object();
    fmt::print("{}\n", json.text());
  } else {
    fmt::print("{}: {}, of which the packed snapshot is {}\n", printable(out_path), size_text(bytes),
               size_text(base64.bytes()));
  }
  return kSuccess;
}

}  // namespace memstrata::cli
