#include "engine/serve/reply.h"

#include <zlib.h>

#include <cstring>

namespace gpustrata::serve {

namespace {
constexpr size_t kWorthPacking = 2048;  // bytes
constexpr size_t kMostToPack = size_t{1} << 30;
constexpr int kGzip = 16 + MAX_WBITS;
constexpr int kMemoryLevel = 8;
}  // namespace

void Reply::set(std::span<const std::byte> bytes) {
  body.reset(static_cast<char*>(std::malloc(bytes.empty() ? 1 : bytes.size())));
  size = body ? bytes.size() : 0;
  if (!body) status = 503;
  if (body && !bytes.empty()) std::memcpy(body.get(), bytes.data(), bytes.size());
}

void Reply::pack() {
  if (size < kWorthPacking || size > kMostToPack) return;
  z_stream stream{};
  // Quickly: pictures are long runs of few colours.
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
    return;
  std::unique_ptr<char, FreeMemory> packed(static_cast<char*>(std::malloc(size)));
  stream.next_in = reinterpret_cast<Bytef*>(body.get());
  stream.avail_in = static_cast<uInt>(size);
  stream.next_out = reinterpret_cast<Bytef*>(packed.get());
  stream.avail_out = packed ? static_cast<uInt>(size) : 0;
  const bool is_done = packed && deflate(&stream, Z_FINISH) == Z_STREAM_END;
  const size_t packed_size = stream.total_out;
  deflateEnd(&stream);
  if (!is_done) return;
  body = std::move(packed);
  size = packed_size;
  is_packed = true;
}

Reply text_reply(unsigned status, std::string_view text) {
  Reply reply;
  reply.status = status;
  reply.set(text);
  return reply;
}

Reply json_reply(unsigned status, std::string_view json) {
  Reply reply = text_reply(status, json);
  reply.type = "application/json";
  return reply;
}

}  // namespace gpustrata::serve
