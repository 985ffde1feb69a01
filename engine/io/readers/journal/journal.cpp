#include "engine/io/readers/journal/journal.h"

#include <fmt/core.h>

#include "engine/base/column.h"
#include "engine/base/memory_refused.h"
#include "engine/base/units.h"
#include "engine/io/containers/input_buffer.h"
#include "engine/io/readers/journal/journal_rows.h"

namespace gpustrata::io {

bool begins_journal(std::string_view beginning) { return beginning.starts_with(journal::kMagic); }

namespace {

class JournalReader final : public Reader {
 public:
  explicit JournalReader(model::Recording& recording) : recording_(recording) {}

  [[nodiscard]] std::span<std::byte> writable() override { return buffer_.writable(); }
  void expect_bytes(int64_t total) override { expected_ = total; }

  [[nodiscard]] Status commit(size_t bytes) override {
    // As much as is said to come, if it is believable: growing by halves would copy it again and again.
    if (file_.empty() && expected_ > 0 && expected_ < recording_.budget.limit())
      (void)file_.reserve(static_cast<size_t>(expected_));
    return file_.append(buffer_.first(bytes)) ? Status{} : file_refused(recording_.budget);
  }

  [[nodiscard]] Status finish() override {
    const std::span<const std::byte> file = file_.span();
    recording_.input_bytes = static_cast<int64_t>(file.size());
    const auto header = journal::read_header(file);
    if (!header) return tl::unexpected(header.error());
    journal::Layout layout(recording_.budget);
    if (Status laid = journal::lay_out(file, *header, recording_.budget, layout); !laid) return laid;
    if (layout.first_loss >= 0) {
      const auto diag = layout.damaged ? model::Diag::damaged : model::Diag::truncated;
      recording_.diagnostics.add(diag, layout.first_loss, layout.loss);
    }
    if (!layout.reason.empty()) {
      const std::string lost =
          layout.lost_events > 0 ? fmt::format("; {} came later", counted(layout.lost_events, "event")) : "";
      recording_.diagnostics.add(model::Diag::truncated, -1,
                                 fmt::format("the program stopped writing: {}{}", layout.reason, lost));
    }
    journal::Rows rows(recording_);
    if (!rows.add_part(layout)) return file_refused(recording_.budget);
    return {};
  }

  [[nodiscard]] std::string format() const override { return "journal"; }

 private:
  model::Recording& recording_;
  InputBuffer buffer_;
  Column<std::byte> file_{recording_.budget};
  int64_t expected_ = 0;
};

}  // namespace

std::unique_ptr<Reader> journal_reader(model::Recording& recording) {
  return std::make_unique<JournalReader>(recording);
}

}  // namespace gpustrata::io
