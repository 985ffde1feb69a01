#include "engine/io/any_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/io/containers/html_reader.h"
#include "engine/io/containers/unpack_reader.h"
#include "engine/io/containers/zip_reader.h"

namespace gpustrata::io {

namespace {
constexpr int64_t kLargestFile = int64_t{1} << 50;  // what is said may be anything
}

AnyReader::AnyReader(model::Recording& recording)
    : own_file_(std::make_unique<OpenedFile>(OpenedFile{recording})),
      file_(*own_file_),
      depth_(0),
      reader_(all_kinds().front().make(file_.recording)),
      parts_before_(recording.parts.size()) {}

AnyReader::AnyReader(OpenedFile& file, std::string place, int depth)
    : file_(file),
      place_(std::move(place)),
      depth_(depth),
      reader_(all_kinds().front().make(file_.recording)) {}

AnyReader::~AnyReader() = default;

void AnyReader::expect_bytes(int64_t total) {
  expected_ = total;
  if (own_file_) own_file_->expected = std::min(total, kLargestFile);
  if (reader_) reader_->expect_bytes(total);
}

std::span<std::byte> AnyReader::writable() { return reader_ ? reader_->writable() : std::span<std::byte>{}; }

std::span<std::byte> AnyReader::writable_ahead() {
  return decided_ && reader_ ? reader_->writable_ahead() : std::span<std::byte>{};
}

Status AnyReader::look_at(std::span<const std::byte> beginning, bool is_all) {
  if (!is_sniffed_) {
    if (beginning.size() < kSniffBytes && !is_all) return {};
    is_sniffed_ = true;
    sniffed_ = sniff(beginning);
    recognised_ = is_read(sniffed_.format);
  }
  if (is_container(sniffed_.format)) return choose_container();
  const std::string_view text(reinterpret_cast<const char*>(beginning.data()), beginning.size());
  const Told told = tell(sniffed_.format, text.substr(0, kTellingBytes));
  // What tells comes first in most files, so that nothing needs to be kept.
  const bool may_tell = recognised_ && told.offset < 0 && beginning.size() < kTellingBytes && !is_all;
  return may_tell ? Status{} : choose_kind(told);
}

Status AnyReader::choose_container() {
  decided_ = true;
  if (depth_ >= kMaxNesting) {
    return fail(
        ErrorCode::limit_exceeded, 0,
        "Here is a compressed file inside of {} others; no more than {} levels are opened. Unpack the outer "
        "ones first.",
        depth_, kMaxNesting);
  }
  switch (sniffed_.format) {
    case Format::gzip:
      take(std::make_unique<UnpackReader>(file_, Packing::gzip, place_, depth_));
      break;
    case Format::zstd:
      take(std::make_unique<UnpackReader>(file_, Packing::zstd, place_, depth_));
      break;
    case Format::zip:
      take(std::make_unique<ZipReader>(file_, place_, depth_));
      break;
    default:
      take(std::make_unique<HtmlReader>(file_, place_, depth_));
  }
  return {};
}

Status AnyReader::choose_kind(const Told& told) {
  decided_ = true;
  if (told.kind == nullptr) {
    const bool is_known = sniffed_.format != Format::unknown && sniffed_.format != Format::zeros &&
                          sniffed_.format != Format::empty;
    return fail(is_known ? ErrorCode::unsupported : ErrorCode::invalid_format, 0, "{}", sniffed_.reason);
  }
  if (told.kind->make == nullptr) {
    return fail(ErrorCode::unsupported, told.offset, "{}", told.kind->refusal);
  }
  told_by_ = fmt::format("{} There {}.", sniffed_.format == Format::unknown ? "Text." : sniffed_.reason,
                         told.reason);
  if (told.kind->make != all_kinds().front().make) take(told.kind->make(file_.recording));
  return {};
}

void AnyReader::take(std::unique_ptr<Reader> reader) {
  reader->expect_bytes(expected_);
  before_ = std::exchange(reader_, std::move(reader));  // the beginning may lie in its buffer
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
  if (!reader_) return {};
  if (decided_) return reader_->commit(bytes);
  const std::span<const std::byte> chunk = reader_->writable().first(bytes);
  if (head_.empty()) {
    if (Status status = look_at(chunk, false); !status) return status;
    // The usual case: nothing of a pickle is copied.
    if (decided_) return before_ ? hand_over(chunk) : reader_->commit(bytes);
  }
  head_.insert(head_.end(), chunk.begin(), chunk.end());
  if (head_.size() < (is_sniffed_ ? kTellingBytes : kSniffBytes)) return {};
  if (Status status = look_at(head_, false); !status) return status;
  return decided_ ? hand_over(std::exchange(head_, {})) : Status{};
}

Status AnyReader::finish() {
  if (!reader_) return {};
  if (!decided_) {
    if (Status status = look_at(head_, true); !status) return status;
    if (Status status = hand_over(std::exchange(head_, {})); !status) return status;
  }
  if (Status status = reader_->finish(); !status) return status;
  format_ = reader_->format();
  reader_.reset();  // what it needed for reading is as large as a small file
  model::Recording& recording = file_.recording;
  if (!told_by_.empty()) {
    for (size_t i = parts_before_; i < recording.parts.size(); ++i) recording.parts[i].told_by = told_by_;
  }
  if (own_file_) {
    recording.input_bytes = own_file_->received;
    recording.format = format_;
    recording.seal();
  }
  return {};
}

bool AnyReader::done() const { return decided_ && (!reader_ || reader_->done()); }

}  // namespace gpustrata::io
