// Zstandard (RFC 8878) through the reference decoder: any number of frames, skippable ones too.
#define ZSTD_STATIC_LINKING_ONLY  // for the allocator
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <string_view>

#include "engine/io/containers/charged_memory.h"
#include "engine/io/containers/decoder.h"
#include "engine/io/limits.h"

namespace gpustrata::io {

namespace {

void* allocate(void* budget, size_t bytes) { return allocate_charged(*static_cast<Budget*>(budget), bytes); }
void release_for_zstd(void* budget, void* memory) { free_charged(*static_cast<Budget*>(budget), memory); }

class ZstdDecoder final : public Decoder {
 public:
  explicit ZstdDecoder(Budget& budget)
      : context_(ZSTD_createDCtx_advanced(ZSTD_customMem{allocate, release_for_zstd, &budget})) {
    if (context_ != nullptr) {
      (void)ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kMaxZstdWindowLog);
    } else {
      problem_ = kMemoryProblem;
    }
  }
  ~ZstdDecoder() override { ZSTD_freeDCtx(context_); }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;

  Step decode(std::span<const std::byte> in, std::span<std::byte> out) override {
    if (context_ == nullptr) return {0, 0, State::damaged};
    // As much as it asks for, so that it works block by block wherever the chunks end.
    ZSTD_inBuffer input{in.data(), std::min(in.size(), wanted_), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const size_t result = ZSTD_decompressStream(context_, &output, &input);
    Step step{input.pos, output.pos, State::more};
    taken_ += static_cast<int64_t>(input.pos);
    wanted_ -= input.pos;
    if (ZSTD_isError(result) == 0 && wanted_ == 0) {
      wanted_ = next_wanted(result);
      block_begin_ = taken_;
    }
    if (result == 0) {
      step.state = State::ended;
    } else if (ZSTD_isError(result) != 0) {
      step.state = State::damaged;
      switch (ZSTD_getErrorCode(result)) {
        case ZSTD_error_memory_allocation:
          problem_ = kMemoryProblem;
          break;
        case ZSTD_error_frameParameter_windowTooLarge:
          problem_ =
              "it was packed with --long and needs more memory than is allowed: unpack it with `zstd -d --long=31`";
          break;
        case ZSTD_error_checksum_wrong:
          problem_ = kChecksumProblem;
          break;
        case ZSTD_error_dictionary_wrong:
          problem_ = "it needs a dictionary that is not in the file";
          break;
        case ZSTD_error_prefix_unknown:
          problem_ = "another stream was expected here";
          break;
        default:
          problem_ = "the compressed data is damaged";
      }
    }
    return step;
  }
  std::string_view problem() const override { return problem_; }
  int64_t problem_offset() const override { return block_begin_; }

 private:
  static constexpr size_t kFirstWanted = ZSTD_FRAMEHEADERSIZE_MIN(ZSTD_f_zstd1);
  static constexpr size_t kBlockHeader = 3;

  // It asks for a block and the header of the next one together; if that is damaged, the block would be lost.
  [[nodiscard]] size_t next_wanted(size_t asked_for) const {
    if (asked_for == 0) return kFirstWanted;
    const bool with_header = asked_for > kBlockHeader && ZSTD_nextInputType(context_) == ZSTDnit_block;
    return with_header ? asked_for - kBlockHeader : asked_for;
  }

  ZSTD_DCtx* context_;
  std::string_view problem_;
  size_t wanted_ = kFirstWanted;  // bytes left of what it asked for
  int64_t taken_ = 0;
  int64_t block_begin_ = 0;
};

}  // namespace

std::unique_ptr<Decoder> make_zstd_decoder(Budget& budget) { return std::make_unique<ZstdDecoder>(budget); }

}  // namespace gpustrata::io
