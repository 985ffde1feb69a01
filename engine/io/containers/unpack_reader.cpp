#include "engine/io/containers/unpack_reader.h"

#include <fmt/core.h>

#include "engine/base/units.h"

namespace gpustrata::io {

using model::Diag;

UnpackReader::UnpackReader(OpenedFile& file, Packing packing, const std::string& place, int depth)
    : file_(file),
      unpacking_(file, packing, place.empty() ? "the unpacked data" : place + ", unpacked", 0, depth + 1) {}

std::string UnpackReader::format() const {
  return fmt::format("{} in {}", unpacking_.reader().format(), name_of(unpacking_.packing()));
}

bool UnpackReader::begins_stream(std::byte first) const {
  if (unpacking_.packing() == Packing::gzip) return first == std::byte{0x1F};
  return first == std::byte{0x28} || (first & std::byte{0xF0}) == std::byte{0x50};  // a frame, one to skip
}

Status UnpackReader::commit(size_t bytes) {
  std::span<const std::byte> in = buffer_.first(bytes);
  received_ += static_cast<int64_t>(bytes);
  while (!in.empty() && !done_) {
    if (unpacking_.state() == Unpacking::State::ended && (behind_ > 0 || !begins_stream(in.front()))) {
      // Padding of tapes and block devices is zero.
      if (in.front() != std::byte{0} && first_behind_ < 0) {
        first_behind_ = received_ - static_cast<int64_t>(in.size());
      }
      ++behind_;
      in = in.subspan(1);
      continue;
    }
    unpacking_.feed(in);
    if (unpacking_.refusal()) return tl::unexpected(*unpacking_.refusal());
    done_ = unpacking_.state() != Unpacking::State::running && unpacking_.state() != Unpacking::State::ended;
  }
  return {};
}

Status UnpackReader::finish() {
  using State = Unpacking::State;
  const State state = unpacking_.state();
  const std::string_view packing = name_of(unpacking_.packing());
  const int64_t at = state == State::damaged ? unpacking_.problem_offset() : -1;
  model::Diagnostics& diagnostics = file_.recording.diagnostics;
  const int64_t cuts = diagnostics[Diag::truncated].count;
  const std::string too_much =
      fmt::format("more than {} and {} times its size; unpack it with `{} -d` and open the result",
                  size_text(kFreeUnpackedBytes), kUnpackedPerPacked, packing);

  if (Status status = unpacking_.finish(); !status) {
    Error error = status.error();
    if (state == State::damaged && unpacking_.problem() == kMemoryProblem) {
      return fail(ErrorCode::limit_exceeded, at,
                  "To unpack the {} data more memory is needed than is allowed ({}).", packing,
                  size_text(file_.recording.budget.limit()));
    }
    switch (state) {
      case State::running:
        return fail(
            ErrorCode::truncated, received_,
            "The {} data ends inside of its stream, and nothing of a memory snapshot came before that. The "
            "file was probably not written or copied completely.",
            packing);
      case State::damaged:
        return fail(ErrorCode::invalid_format, at,
                    "The {} data is damaged ({}), and nothing of a memory snapshot came before that.",
                    packing, unpacking_.problem());
      case State::too_much:
        return fail(
            ErrorCode::limit_exceeded, at,
            "The {} data unpacks to far more than is read, and nothing of a memory snapshot came first: {}.",
            packing, too_much);
      default:
        return tl::unexpected(std::move(error));
    }
  }
  switch (state) {
    case State::running:
      if (diagnostics[Diag::truncated].count == cuts) {
        diagnostics.add(Diag::truncated, received_, fmt::format("inside of the {} data", packing));
      }
      break;
    case State::damaged:
      diagnostics.add(unpacking_.problem() == kChecksumProblem ? Diag::checksum_mismatch : Diag::damaged, at,
                      fmt::format("{}: {}", packing, unpacking_.problem()));
      break;
    case State::too_much:
      diagnostics.add(Diag::unpacks_to_too_much, at, too_much);
      break;
    case State::enough:
      diagnostics.add(Diag::trailing_bytes, at, "unpacked behind the snapshot");
      break;
    case State::ended:
      if (first_behind_ >= 0) {
        diagnostics.add(Diag::trailing_bytes, first_behind_, fmt::format("behind the {} data", packing));
      }
  }
  return {};
}

}  // namespace gpustrata::io
