#include "engine/io/containers/decoder.h"

#include <algorithm>
#include <cstring>

namespace gpustrata::io {

namespace {

class StoredDecoder final : public Decoder {
 public:
  Step decode(std::span<const std::byte> in, std::span<std::byte> out) override {
    const size_t count = std::min(in.size(), out.size());
    if (count > 0) std::memcpy(out.data(), in.data(), count);
    return {count, count, State::more};
  }
  std::string_view problem() const override { return {}; }
  int64_t problem_offset() const override { return 0; }
};

}  // namespace

std::string_view name_of(Packing packing) {
  switch (packing) {
    case Packing::stored:
      return "stored";
    case Packing::deflate:
      return "deflate";
    case Packing::gzip:
      return "gzip";
    case Packing::zstd:
      return "zstd";
  }
  return "stored";
}

std::unique_ptr<Decoder> make_decoder(Packing packing, Budget& budget) {
  switch (packing) {
    case Packing::deflate:
      return make_inflater(false, budget);
    case Packing::gzip:
      return make_inflater(true, budget);
    case Packing::zstd:
      return make_zstd_decoder(budget);
    case Packing::stored:
      break;
  }
  return std::make_unique<StoredDecoder>();
}

}  // namespace gpustrata::io
