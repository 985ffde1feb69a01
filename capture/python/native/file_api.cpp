#include "capture/python/native/file_api.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/python/native/exported_stream.h"
#include "engine/analysis/report/contents.h"
#include "engine/answers/report/contents.h"
#include "engine/answers/text/json_of.h"
#include "engine/arrow/op_table.h"
#include "engine/arrow/snapshot_tables.h"
#include "engine/cli/commands.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/input/file_reading.h"
#include "engine/cli/process.h"
#include "engine/io/any_reader.h"

using namespace gpustrata;

namespace {

constexpr size_t kWrittenPiece = size_t{1} << 20;  // bytes; between two looks whether the reader needs more

// Of the text of one answer; whole commands write less.
class TextSink final : public io::ByteSink {
 public:
  [[nodiscard]] Status write(std::span<const std::byte> bytes) override {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  }

  std::string text;
};

struct Opened {
  Opened(const char* path_, int64_t budget_bytes)
      : path(path_),
        budget(budget_bytes > 0 ? budget_bytes : cli::default_budget_bytes()),
        recording(budget) {}

  std::string path;
  Budget budget;
  model::Recording recording;
  std::optional<cli::FileReading> reading;  // none once all was read, or reading failed
  std::optional<io::AnyReader> written;     // the same of bytes from elsewhere
  std::optional<cli::Failure> failure;      // of these
  bool is_read = false;
  int64_t bytes_read = 0, bytes_total = -1;
};

void say(gpustrata_answer& answer, int code, std::string_view text) {
  answer = {code, static_cast<int64_t>(text.size()), static_cast<char*>(std::malloc(text.size() + 1))};
  if (answer.text == nullptr) {
    answer = {cli::kFailed, 0, nullptr};
    return;
  }
  std::memcpy(answer.text, text.data(), text.size());
  answer.text[text.size()] = 0;
}

void say(gpustrata_answer& answer, const cli::Failure& failure) {
  say(answer, failure.exit_code(), answers::json_of(failure.told()));
}

[[nodiscard]] cli::Failure no_memory(const Opened& opened) {
  return cli::failure(name_of(ErrorCode::limit_exceeded), opened.path,
                      "There is not enough memory for this file.")
      .value();
}

void say_no_memory(gpustrata_answer& answer) {
  say(answer, cli::kFailed,
      R"({"error":{"code":"limit_exceeded","message":"There is not enough memory for this.","offset":null}})");
}

// `body`, or that there is no memory.
template <typename Body>
void guarded(gpustrata_answer* answer, Body&& body) {
  *answer = {0, 0, nullptr};
  try {
    body();
  } catch (const std::bad_alloc&) {
    say_no_memory(*answer);
  }
}

std::atomic<void* (*)(void*, const char*)> pointer_of_capsule{nullptr};

[[nodiscard]] cli::Failure not_read(const Opened& opened) {
  return cli::failure(name_of(ErrorCode::wrong_usage), opened.path, "This file has not been read.").value();
}

// What was written cannot be read. What it took is given back.
void fail(Opened& opened, cli::Failure failure, gpustrata_answer& answer) {
  opened.failure = std::move(failure);
  opened.written.reset();
  say(answer, *opened.failure);
}

// `step` of reading what is written, which fails for good.
template <typename Step>
void read_written(Opened& opened, gpustrata_answer* answer, Step&& step) {
  guarded(answer, [&] {
    if (!opened.written) return;
    try {
      const Status done = step(*opened.written);
      if (!done) fail(opened, cli::failure(done.error(), opened.path).value(), *answer);
    } catch (const std::bad_alloc&) {
      fail(opened, no_memory(opened), *answer);
    }
  });
}

}  // namespace

struct gpustrata_file {
  std::shared_ptr<Opened> opened;
};

struct gpustrata_table {
  std::shared_ptr<const arrow::Table> table;
};

void gpustrata_answer_free(gpustrata_answer* answer) {
  std::free(answer->text);
  *answer = {0, 0, nullptr};
}

int32_t gpustrata_file_interface() { return 3; }
const char* gpustrata_file_version() { return GPUSTRATA_VERSION; }

gpustrata_file* gpustrata_file_open(const char* path, int64_t budget_bytes, gpustrata_answer* answer) {
  std::unique_ptr<gpustrata_file> file;
  guarded(answer, [&] {
    auto made = std::make_unique<gpustrata_file>();
    made->opened = std::make_shared<Opened>(path, budget_bytes);
    Opened& opened = *made->opened;
    opened.reading.emplace(opened.path, opened.recording);
    if (const auto done = opened.reading->open(); !done) return say(*answer, done.error());
    opened.bytes_total = opened.reading->total_bytes();
    file = std::move(made);
  });
  return file.release();
}

int32_t gpustrata_file_read(gpustrata_file* file, int64_t bytes, gpustrata_answer* answer) {
  Opened& opened = *file->opened;
  bool goes_on = false;
  guarded(answer, [&] {
    if (!opened.reading) return opened.is_read ? void() : say(*answer, not_read(opened));
    const int64_t wanted = opened.reading->bytes_so_far() + bytes;
    for (;;) {
      const auto more = opened.reading->step();
      opened.bytes_read = opened.reading->bytes_so_far();
      if (!more) {
        opened.reading.reset();
        return say(*answer, more.error());
      }
      if (!*more) break;
      if (opened.bytes_read >= wanted) {
        goes_on = true;
        return;
      }
    }
    const auto finished = opened.reading->finish();
    opened.reading.reset();
    if (!finished) return say(*answer, finished.error());
    opened.is_read = true;
  });
  return goes_on ? 1 : 0;
}

gpustrata_file* gpustrata_file_begin(const char* name, int64_t total_bytes, int64_t budget_bytes,
                                     gpustrata_answer* answer) {
  std::unique_ptr<gpustrata_file> file;
  guarded(answer, [&] {
    auto made = std::make_unique<gpustrata_file>();
    made->opened = std::make_shared<Opened>(name, budget_bytes);
    Opened& opened = *made->opened;
    opened.written.emplace(opened.recording);
    opened.bytes_total = total_bytes;
    if (total_bytes >= 0) opened.written->expect_bytes(total_bytes);
    file = std::move(made);
  });
  return file.release();
}

int32_t gpustrata_file_write(gpustrata_file* file, const void* bytes, int64_t size,
                             gpustrata_answer* answer) {
  Opened& opened = *file->opened;
  opened.bytes_read += size;
  read_written(opened, answer, [&](io::AnyReader& reader) {
    auto rest = std::span(static_cast<const std::byte*>(bytes), static_cast<size_t>(size));
    while (!rest.empty() && !reader.done()) {
      const auto piece = rest.first(std::min(rest.size(), kWrittenPiece));
      if (Status status = io::push(reader, piece); !status) return status;
      rest = rest.subspan(piece.size());
    }
    return Status{};
  });
  return opened.written && !opened.written->done() ? 1 : 0;
}

void gpustrata_file_end(gpustrata_file* file, int64_t total_bytes, gpustrata_answer* answer) {
  Opened& opened = *file->opened;
  read_written(opened, answer, [&](io::AnyReader& reader) { return reader.finish(); });
  if (opened.failure && answer->text == nullptr) guarded(answer, [&] { say(*answer, *opened.failure); });
  if (!opened.written) return;
  opened.written.reset();
  opened.bytes_total = std::max({total_bytes, opened.bytes_total, opened.bytes_read});
  opened.recording.input_bytes = opened.bytes_total;
  opened.is_read = true;
}

void gpustrata_file_progress(const gpustrata_file* file, int64_t numbers[3]) {
  numbers[0] = file->opened->bytes_read;
  numbers[1] = file->opened->bytes_total;
  numbers[2] = file->opened->budget.used();
}

void gpustrata_file_close(gpustrata_file* file) { delete file; }

void gpustrata_file_contents(const gpustrata_file* file, gpustrata_answer* answer) {
  guarded(answer, [&] {
    const Opened& opened = *file->opened;
    if (!opened.is_read) return say(*answer, not_read(opened));
    say(*answer, cli::kSuccess,
        answers::json_of(analysis::find_contents(opened.recording), std::string_view()));
  });
}

void gpustrata_file_ask(const gpustrata_file* const* files, int32_t file_count, const char* const* arguments,
                        int32_t argument_count, gpustrata_answer* answer) {
  guarded(answer, [&] {
    std::vector<std::shared_ptr<Opened>> kept;  // until the answer is there, whoever closes them meanwhile
    std::vector<cli::OpenedFile> opened;
    int64_t budget = cli::default_budget_bytes();
    for (const gpustrata_file* file : std::span(files, static_cast<size_t>(file_count))) {
      const auto& failed = file->opened->failure;
      if (!file->opened->is_read && !failed) return say(*answer, not_read(*file->opened));
      kept.push_back(file->opened);
      opened.push_back({file->opened->path, file->opened->recording, failed ? &*failed : nullptr});
      budget = std::min(budget, file->opened->budget.limit());
    }
    const std::vector<std::string> words(arguments, arguments + argument_count);
    // It adds rows to the recording, whose columns are lent to tables.
    const bool adds_rows = std::any_of(words.begin(), words.end(),
                                       [](const std::string& word) { return word.starts_with("--dump"); });
    if (adds_rows) opened.clear();
    TextSink out, notes;
    const int code = cli::run(words, {.out = out, .notes = notes, .budget_bytes = budget, .opened = opened});
    say(*answer, code, code != 0 && out.text.empty() ? notes.text : out.text);
  });
}

int gpustrata_command(int argc, char** argv) { return cli::run_as_process(argc, argv); }

gpustrata_table* gpustrata_file_table(const gpustrata_file* file, int32_t kind, int32_t snapshot,
                                      int32_t device, gpustrata_answer* answer) {
  std::unique_ptr<gpustrata_table> table;
  guarded(answer, [&] {
    const std::shared_ptr<Opened>& opened = file->opened;
    if (!opened->is_read) return say(*answer, not_read(*opened));
    auto made = arrow::make_table(opened->recording, opened,
                                  {.kind = static_cast<arrow::TableKind>(kind),
                                   .snapshot = snapshot,
                                   .device = device == INT32_MIN ? std::nullopt : std::optional(device)});
    if (!made) return say(*answer, cli::failure(made.error(), opened->path).value());
    table = std::make_unique<gpustrata_table>(gpustrata_table{std::move(*made)});
  });
  return table.release();
}

gpustrata_table* gpustrata_file_ops(const gpustrata_file* file, int32_t snapshot, const char* device,
                                    int32_t processes, gpustrata_answer* answer) {
  std::unique_ptr<gpustrata_table> table;
  guarded(answer, [&] {
    const std::shared_ptr<Opened>& opened = file->opened;
    if (!opened->is_read) return say(*answer, not_read(*opened));
    auto made = arrow::make_op_table(opened->recording, opened, snapshot, device,
                                     processes != 0 ? analysis::OpScope::process : analysis::OpScope::thread);
    if (!made) return say(*answer, cli::failure(made.error(), opened->path).value());
    table = std::make_unique<gpustrata_table>(gpustrata_table{std::move(*made)});
  });
  return table.release();
}

int64_t gpustrata_table_rows(const gpustrata_table* table) { return table->table->rows(); }

ArrowArrayStream* gpustrata_table_stream(const gpustrata_table* table) {
  auto* stream = static_cast<ArrowArrayStream*>(std::calloc(1, sizeof(ArrowArrayStream)));
  if (stream == nullptr) return nullptr;
  try {
    python::export_stream(table->table, *stream);
    return stream;
  } catch (const std::bad_alloc&) {
    std::free(stream);
    return nullptr;
  }
}

void gpustrata_stream_free(ArrowArrayStream* stream) {
  if (stream == nullptr) return;
  if (stream->release != nullptr) stream->release(stream);  // else somebody took what it holds
  std::free(stream);
}

void gpustrata_stream_set_capsules(void* (*get_pointer)(void*, const char*)) {
  pointer_of_capsule = get_pointer;
}

const char* gpustrata_stream_capsule_name() { return "arrow_array_stream"; }

void gpustrata_stream_free_capsule(void* capsule) {
  gpustrata_stream_free(
      static_cast<ArrowArrayStream*>(pointer_of_capsule.load()(capsule, gpustrata_stream_capsule_name())));
}

void gpustrata_table_close(gpustrata_table* table) { delete table; }
