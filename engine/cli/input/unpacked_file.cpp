#include "engine/cli/input/unpacked_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/io/limits.h"
#include "engine/io/sniff.h"

namespace gpustrata::cli {

Status UnpackedFile::fill() {
  while (!at_end_) {
    const ssize_t count = ::read(file_.get(), in_.data(), in_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(ErrorCode::io_error, -1, "Reading failed: {}.", std::strerror(errno));
    at_end_ = count == 0;
    left_ = std::span<const std::byte>(in_).first(static_cast<size_t>(count));
    packed_ += count;
    break;
  }
  return {};
}

// A pipe may give less than what tells its form at first; what does not tell is plain.
Status UnpackedFile::begin() {
  has_begun_ = true;
  if (file_.get() < 0)
    return fail(ErrorCode::io_error, -1, "This file cannot be opened: {}.", std::strerror(errno));
  in_.resize(io::kPackedChunkBytes);
  if (Status filled = fill(); !filled) return filled;
  const io::Format format = io::sniff(left_.first(std::min(left_.size(), io::kSniffBytes))).format;
  if (format != io::Format::gzip && format != io::Format::zstd) return {};
  decoder_ = io::make_decoder(format == io::Format::gzip ? io::Packing::gzip : io::Packing::zstd, budget_);
  out_.resize(io::kPackedChunkBytes);
  return {};
}

Result<std::span<const std::byte>> UnpackedFile::read() {
  if (!has_begun_) {
    if (Status begun = begin(); !begun) return tl::unexpected(begun.error());
  }
  for (;;) {
    if (left_.empty()) {
      if (Status filled = fill(); !filled) return tl::unexpected(filled.error());
    }
    if (decoder_ == nullptr) return std::exchange(left_, {});
    if (left_.empty() && !is_inside_) return left_;
    const io::Decoder::Step step = decoder_->decode(left_, out_);
    left_ = left_.subspan(step.taken);
    unpacked_ += static_cast<int64_t>(step.made);
    is_inside_ = step.state == io::Decoder::State::more;
    if (step.state == io::Decoder::State::damaged)
      return fail(ErrorCode::invalid_format, -1, "Its packed data are damaged: {}.", decoder_->problem());
    if (unpacked_ > std::max(io::kFreeUnpackedBytes, io::kUnpackedPerPacked * packed_))
      return fail(ErrorCode::limit_exceeded, -1, "It unpacks to too much.");
    if (step.made > 0) return std::span<const std::byte>(out_).first(step.made);
    if (at_end_ && is_inside_) return fail(ErrorCode::invalid_format, -1, "Its packed data end early.");
    if (step.taken == 0 && is_inside_ && !left_.empty())
      return fail(ErrorCode::invalid_format, -1, "Its packed data are damaged: they lead nowhere.");
  }
}

}  // namespace gpustrata::cli
