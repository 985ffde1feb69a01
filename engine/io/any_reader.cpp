#include "engine/io/any_reader.h"

#include "engine/io/readers/torch_snapshot.h"
#include "engine/io/sniff.h"

namespace memstrata::io {

AnyReader::AnyReader(model::Recording& recording)
    : reader_(std::make_unique<TorchSnapshotReader>(recording)) {}

AnyReader::~AnyReader() = default;

void AnyReader::expect_bytes(int64_t total) { reader_->expect_bytes(total); }

std::span<std::byte> AnyReader::writable() { return reader_->writable(); }

std::span<std::byte> AnyReader::writable_ahead() {
  return decided_ ? reader_->writable_ahead() : std::span<std::byte>{};
}

Status AnyReader::decide(std::span<const std::byte> first_bytes) {
  decided_ = true;
  Sniffed sniffed = sniff(first_bytes);
  if (sniffed.format == Format::pickle) return {};
  const ErrorCode code =
      sniffed.format == Format::unknown || sniffed.format == Format::zeros || sniffed.format == Format::empty
          ? ErrorCode::invalid_format
          : ErrorCode::unsupported;
  return fail(code, 0, "{}", sniffed.reason);
}

Status AnyReader::commit(size_t bytes) {
  if (decided_) return reader_->commit(bytes);
  const std::span<const std::byte> chunk = reader_->writable().first(bytes);
  if (head_.empty() && bytes >= kSniffBytes) {  // the usual case: nothing is copied
    if (Status status = decide(chunk); !status) return status;
    return reader_->commit(bytes);
  }
  head_.insert(head_.end(), chunk.begin(), chunk.end());
  if (head_.size() < kSniffBytes) return {};
  if (Status status = decide(head_); !status) return status;
  Status status = push(*reader_, head_);
  head_ = {};
  return status;
}

Status AnyReader::finish() {
  if (!decided_) {
    if (Status status = decide(head_); !status) return status;
    if (Status status = push(*reader_, head_); !status) return status;
    head_ = {};
  }
  return reader_->finish();
}

bool AnyReader::done() const { return decided_ && reader_->done(); }

}  // namespace memstrata::io
