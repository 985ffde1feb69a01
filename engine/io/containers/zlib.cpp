// gzip (RFC 1952) and raw deflate (RFC 1951) through zlib, which checks CRC and length of gzip.
#include <zlib.h>

#include <algorithm>
#include <climits>
#include <string_view>

#include "engine/io/containers/charged_memory.h"
#include "engine/io/containers/decoder.h"

namespace gpustrata::io {

namespace {

constexpr int kWindowBits = 15;  // the largest; that of the stream is in its header
constexpr int kGzipWrapping = 16;

void* allocate(void* budget, unsigned count, unsigned size) {
  return allocate_charged(*static_cast<Budget*>(budget), size_t{count} * size);
}
void release(void* budget, void* memory) { free_charged(*static_cast<Budget*>(budget), memory); }

class Inflater final : public Decoder {
 public:
  Inflater(bool gzip, Budget& budget) {
    stream_.zalloc = allocate;
    stream_.zfree = release;
    stream_.opaque = &budget;
    ready_ = inflateInit2(&stream_, gzip ? kWindowBits + kGzipWrapping : -kWindowBits) == Z_OK;
    if (!ready_) problem_ = kMemoryProblem;
  }
  ~Inflater() override {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  Step decode(std::span<const std::byte> in, std::span<std::byte> out) override {
    if (!ready_) return {0, 0, State::damaged};
    if (at_end_) {
      inflateReset(&stream_);
      at_end_ = false;
    }
    const auto given = static_cast<unsigned>(std::min<size_t>(in.size(), UINT_MAX));
    const auto room = static_cast<unsigned>(std::min<size_t>(out.size(), UINT_MAX));
    // zlib does not write to its input; its C interface cannot say so.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
    stream_.avail_in = given;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = room;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    Step step{given - stream_.avail_in, room - stream_.avail_out, State::more};
    taken_ += static_cast<int64_t>(step.taken);
    switch (result) {
      case Z_STREAM_END:
        at_end_ = true;
        step.state = State::ended;
        break;
      case Z_OK:
      case Z_BUF_ERROR:  // no progress possible: more input or room is needed
        break;
      case Z_MEM_ERROR:
        problem_ = kMemoryProblem;
        step.state = State::damaged;
        break;
      case Z_NEED_DICT:
        problem_ = "it needs a dictionary that is not in the file";
        step.state = State::damaged;
        break;
      default:
        problem_ = stream_.msg != nullptr ? std::string_view(stream_.msg) : "the data is damaged";
        if (problem_ == "incorrect data check") problem_ = kChecksumProblem;
        if (problem_ == "incorrect length check") problem_ = kChecksumProblem;
        step.state = State::damaged;
    }
    return step;
  }
  std::string_view problem() const override { return problem_; }
  int64_t problem_offset() const override { return taken_; }

 private:
  z_stream stream_{};
  bool ready_ = false;
  bool at_end_ = false;
  std::string_view problem_;
  int64_t taken_ = 0;
};

}  // namespace

std::unique_ptr<Decoder> make_inflater(bool gzip, Budget& budget) {
  return std::make_unique<Inflater>(gzip, budget);
}

}  // namespace gpustrata::io
