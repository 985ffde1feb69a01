#include "engine/cli/output/arrow_output.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string_view>

#include "engine/arrow/ipc_file.h"
#include "engine/arrow/snapshot_tables.h"
#include "engine/io/writers/text_size.h"
#include "engine/replay/state_history.h"

namespace gpustrata::cli {

namespace {

// In the order of TableKind.
constexpr std::array<std::string_view, 5> kTables{"events", "blocks", "segments", "lives", "stacks"};

[[nodiscard]] Outcome<std::optional<int32_t>> device_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (text == "host") return replay::kHostDevice;
  int32_t ordinal = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ordinal);
  if (error != std::errc() || end != text.data() + text.size() || ordinal < 0)
    return failure(name_of(ErrorCode::wrong_usage), "--device",
                   fmt::format("\"{}\" is no device: an ordinal, or host.", text));
  return ordinal;
}

}  // namespace

Outcome<int64_t> write_arrow(const model::Recording& recording, const ArrowChoice& choice, io::ByteSink& sink,
                             const std::string& output) {
  arrow::TableChoice asked;
  asked.kind = static_cast<arrow::TableKind>(std::find(kTables.begin(), kTables.end(), choice.table) -
                                             kTables.begin());
  if (choice.snapshot) asked.snapshot = static_cast<int32_t>(*choice.snapshot);
  const auto device = device_of(choice.device);
  if (!device) return tl::unexpected(device.error());
  asked.device = *device;
  asked.with_host = true;

  // Rows that many parts share, and frames that many stacks share, are written at each of them.
  io::TextSize size(recording, 0);
  for (const model::Part& part : recording.parts) size.add_rows(part);
  io::BoundedSink bounded(sink, size.limit(), "Arrow");
  arrow::IpcFile file(bounded);
  const auto table = std::make_shared<arrow::Table>(nullptr);
  arrow::TableBuilder builder(recording, table, &file);
  if (const Status added = arrow::add_table(builder, asked); !added)
    return failure(added.error(), added.error().code == ErrorCode::wrong_usage ? "--device" : output);
  if (const Status finished = file.finish(table); !finished) return failure(finished.error(), output);
  return builder.rows();
}

}  // namespace gpustrata::cli
