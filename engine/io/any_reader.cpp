#include "engine/io/any_reader.h"

#include <algorithm>
#include <utility>

#include "engine/io/containers/html_reader.h"
#include "engine/io/containers/unpack_reader.h"
#include "engine/io/containers/zip_reader.h"
#include "engine/io/readers/json_snapshot.h"
#include "engine/io/readers/torch_snapshot.h"

namespace memstrata::io {

namespace {
constexpr int64_t kLargestFile = int64_t{1} << 50;  // what is said may be anything
}

AnyReader::AnyReader(model::Recording& recording)
    : own_file_(std::make_unique<OpenedFile>(OpenedFile{recording})),
      file_(*own_file_),
      depth_(0),
      reader_(std::make_unique<TorchSnapshotReader>(recording, TorchSnapshotReader::Way::fast, false)) {}

AnyReader::AnyReader(OpenedFile& file, std::string place, int depth)
    : file_(file),
      place_(std::move(place)),
      depth_(depth),
      reader_(std::make_unique<TorchSnapshotReader>(file.recording, TorchSnapshotReader::Way::fast, false)) {}

AnyReader::~AnyReader() = default;

void AnyReader::expect_bytes(int64_t total) {
  expected_ = total;
  if (own_file_) own_file_->expected = std::min(total, kLargestFile);
  reader_->expect_bytes(total);
}

std::span<std::byte> AnyReader::writable() { return reader_->writable(); }

std::span<std::byte> AnyReader::writable_ahead() {
  return decided_ ? reader_->writable_ahead() : std::span<std::byte>{};
}

Status AnyReader::decide(std::span<const std::byte> first_bytes) {
  decided_ = true;
  const Sniffed sniffed = sniff(first_bytes);
  recognised_ = is_read(sniffed.format);
  const bool is_container = recognised_ && sniffed.format != Format::pickle && sniffed.format != Format::json;
  if (is_container && depth_ >= kMaxNesting) {
    return fail(
        ErrorCode::limit_exceeded, 0,
        "Here is a compressed file inside of {} others; no more than {} levels are opened. Unpack the outer "
        "ones first.",
        depth_, kMaxNesting);
  }
  std::unique_ptr<Reader> other;
  switch (sniffed.format) {
    case Format::pickle:
      return {};
    case Format::gzip:
      other = std::make_unique<UnpackReader>(file_, Packing::gzip, place_, depth_);
      break;
    case Format::zstd:
      other = std::make_unique<UnpackReader>(file_, Packing::zstd, place_, depth_);
      break;
    case Format::zip:
      other = std::make_unique<ZipReader>(file_, place_, depth_);
      break;
    case Format::html:
      other = std::make_unique<HtmlReader>(file_, place_, depth_);
      break;
    case Format::json:
      other = std::make_unique<JsonSnapshotReader>(file_.recording, false);
      break;
    case Format::unknown:
    case Format::zeros:
    case Format::empty:
      return fail(ErrorCode::invalid_format, 0, "{}", sniffed.reason);
    default:
      return fail(ErrorCode::unsupported, 0, "{}", sniffed.reason);
  }
  other->expect_bytes(expected_);
  before_ = std::exchange(reader_, std::move(other));  // `first_bytes` may lie in its buffer
  return {};
}

// Bytes that came before the decision, which lie somewhere else than in the reader's buffer.
Status AnyReader::hand_over(std::span<const std::byte> bytes) {
  Status status = push(*reader_, bytes);
  before_.reset();
  head_ = {};
  return status;
}

Status AnyReader::commit(size_t bytes) {
  if (own_file_) own_file_->received += static_cast<int64_t>(bytes);
  if (decided_) return reader_->commit(bytes);
  const std::span<const std::byte> chunk = reader_->writable().first(bytes);
  if (head_.empty() && bytes >= kSniffBytes) {  // the usual case: nothing of a pickle is copied
    if (Status status = decide(chunk); !status) return status;
    return before_ ? hand_over(chunk) : reader_->commit(bytes);
  }
  head_.insert(head_.end(), chunk.begin(), chunk.end());
  if (head_.size() < kSniffBytes) return {};
  if (Status status = decide(head_); !status) return status;
  return hand_over(std::exchange(head_, {}));
}

Status AnyReader::finish() {
  if (!decided_) {
    if (Status status = decide(head_); !status) return status;
    if (Status status = hand_over(std::exchange(head_, {})); !status) return status;
  }
  if (Status status = reader_->finish(); !status) return status;
  if (own_file_) {
    file_.recording.input_bytes = own_file_->received;
    file_.recording.format = reader_->format();
    file_.recording.seal();
  }
  return {};
}

bool AnyReader::done() const { return decided_ && reader_->done(); }

}  // namespace memstrata::io
