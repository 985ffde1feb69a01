#include "engine/serve/reply.h"

#include <zlib.h>

#include <utility>

namespace gpustrata::serve {

namespace {
constexpr size_t kWorthPacking = 2048;  // bytes
constexpr size_t kMostToPack = size_t{1} << 30;
constexpr int kGzip = 16 + MAX_WBITS;
constexpr int kMemoryLevel = 8;
}  // namespace

bool Reply::set(std::span<const std::byte> bytes) {
  body.clear();
  return body.append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void Reply::pack(Budget& budget) {
  if (body.size() < kWorthPacking || body.size() > kMostToPack) return;
  Column<char> packed(budget);
  if (!packed.resize(body.size(), 0)) return;
  z_stream stream{};
  // Quickly: pictures are long runs of few colours.
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
    return;
  stream.next_in = reinterpret_cast<Bytef*>(body.data());
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool is_done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.truncate(stream.total_out);
  deflateEnd(&stream);
  if (!is_done) return;
  packed.shrink_to_fit();
  body = std::move(packed);
  is_packed = true;
}

Reply text_reply(unsigned status, std::string_view text, Budget& budget) {
  Reply reply(budget);
  reply.status = status;
  reply.lasting = text;
  return reply;
}

Reply json_reply(unsigned status, std::string_view json, Budget& budget) {
  Reply reply(budget);
  if (!reply.set(std::as_bytes(std::span(json))))
    return text_reply(503, "The server has no memory left for this answer. Try again in a moment.\n", budget);
  reply.status = status;
  reply.type = "application/json";
  return reply;
}

}  // namespace gpustrata::serve
