#include "engine/io/containers/unpacking.h"

#include <zlib.h>

#include <utility>

namespace gpustrata::io {

Unpacking::Unpacking(OpenedFile& file, Packing packing, std::string place, int64_t begin, int depth)
    : file_(file),
      place_(std::move(place)),
      begin_(begin),
      packing_(packing),
      decoder_(make_decoder(packing, file.recording.budget)),
      reader_(file, place_, depth) {}

std::span<std::byte> Unpacking::target() {
  if (!refusal_) {
    const std::span<std::byte> room = reader_.writable();
    if (!room.empty()) return room;
    refuse({ErrorCode::limit_exceeded, "No memory is left to read on.", unpacked_, {}});
  }
  dropped_.resize(kPackedChunkBytes);
  return dropped_;
}

void Unpacking::refuse(Error error) {
  if (error.inside.empty()) error.inside = place_;
  refusal_ = std::move(error);
}

void Unpacking::deliver(std::span<const std::byte> made) {
  const bool was_done = refusal_ || reader_.done();
  if (!refusal_) {
    const Inside inside(file_, place_, begin_);
    if (Status status = reader_.commit(made.size()); !status) refuse(std::move(status.error()));
  }
  if (!was_done) return;
  behind_end_ += static_cast<int64_t>(made.size());
  if (!refusal_ && behind_end_ > kCheckedBehindEnd) state_ = State::enough;
}

void Unpacking::feed(std::span<const std::byte>& in) {
  if (state_ == State::ended) state_ = State::running;
  while (state_ == State::running) {
    std::span<std::byte> out = target();
    if (packing_ != Packing::stored) {
      const int64_t room = file_.room();
      if (room <= 0) {
        state_ = State::too_much;
        return;
      }
      if (static_cast<int64_t>(out.size()) > room) out = out.first(static_cast<size_t>(room));
    }
    const Decoder::Step step = decoder_->decode(in, out);
    in = in.subspan(step.taken);
    packed_ += static_cast<int64_t>(step.taken);
    unpacked_ += static_cast<int64_t>(step.made);
    if (packing_ != Packing::stored) file_.unpacked += static_cast<int64_t>(step.made);
    if (step.made > 0) {
      crc_ = static_cast<uint32_t>(
          crc32(crc_, reinterpret_cast<const Bytef*>(out.data()), static_cast<uInt>(step.made)));
      deliver(out.first(step.made));
    }
    if (step.state == Decoder::State::ended && state_ == State::running) state_ = State::ended;
    if (step.state == Decoder::State::damaged) state_ = State::damaged;
    const bool wants_input = step.made < out.size() && in.empty();
    if (wants_input || (step.taken == 0 && step.made == 0)) return;
  }
}

Status Unpacking::finish() {
  if (refusal_) return tl::unexpected(*refusal_);
  const Inside inside(file_, place_, begin_);
  if (Status status = reader_.finish(); !status) {
    refuse(std::move(status.error()));
    return tl::unexpected(*refusal_);
  }
  return {};
}

}  // namespace gpustrata::io
