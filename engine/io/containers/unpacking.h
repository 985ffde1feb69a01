// One packed stream on its way into a reader.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/io/any_reader.h"
#include "engine/io/containers/decoder.h"
#include "engine/io/containers/opened_file.h"

namespace gpustrata::io {

class Unpacking {
 public:
  enum class State : uint8_t {
    running,
    ended,     // the stream is complete; feed() begins another one behind it
    damaged,   // see problem()
    too_much,  // more than limits.h allows
    enough,    // the snapshot is complete and far more comes behind it
  };

  // `place` is where the unpacked bytes lie, for findings, and `begin` where that begins in what is around
  // it; `depth`: how many containers are around them.
  Unpacking(OpenedFile& file, Packing packing, std::string place, int64_t begin, int depth);

  // Takes from the front of `in` what belongs to the stream, until it ends or stops.
  void feed(std::span<const std::byte>& in);
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] std::string_view problem() const { return decoder_->problem(); }
  [[nodiscard]] int64_t problem_offset() const { return decoder_->problem_offset(); }  // in the packed bytes
  [[nodiscard]] Packing packing() const { return packing_; }
  [[nodiscard]] int64_t packed() const { return packed_; }      // bytes taken
  [[nodiscard]] int64_t unpacked() const { return unpacked_; }  // bytes made
  [[nodiscard]] uint32_t crc() const { return crc_; }           // CRC-32 of the unpacked bytes
  // What the reader said that gets the bytes; what comes later is unpacked and dropped.
  [[nodiscard]] const std::optional<Error>& refusal() const { return refusal_; }

  [[nodiscard]] const AnyReader& reader() const { return reader_; }
  void expect_bytes(int64_t unpacked) { reader_.expect_bytes(unpacked); }
  // No more bytes: what became of it. Called once.
  [[nodiscard]] Status finish();

 private:
  [[nodiscard]] std::span<std::byte> target();
  void deliver(std::span<const std::byte> made);
  void refuse(Error error);

  OpenedFile& file_;
  std::string place_;
  int64_t begin_;
  Packing packing_;
  std::unique_ptr<Decoder> decoder_;
  AnyReader reader_;
  State state_ = State::running;
  int64_t packed_ = 0;
  int64_t unpacked_ = 0;
  int64_t behind_end_ = 0;  // unpacked after the reader was done
  uint32_t crc_ = 0;
  std::optional<Error> refusal_;
  std::vector<std::byte> dropped_;  // takes what nobody wants
};

}  // namespace gpustrata::io
