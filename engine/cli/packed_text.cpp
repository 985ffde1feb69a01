#include "engine/cli/packed_text.h"

#include <zlib.h>

#include <string>
#include <string_view>
#include <vector>

#include "engine/io/sniff.h"

namespace memstrata::cli {

namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// The first `letters` of the four of a group.
void append_group(std::string& text, uint32_t group, int letters) {
  for (int i = 0; i < letters; ++i) text += kLetters[group >> (18 - 6 * i) & 63U];
}

class Deflater {
 public:
  Deflater() {
    constexpr int kGzip = 16 + 15;
    constexpr int kMostMemory = 9;
    ready_ = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMostMemory,
                          Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~Deflater() {
    if (ready_) deflateEnd(&stream_);
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  [[nodiscard]] bool ready() const { return ready_; }
  [[nodiscard]] Status write(std::span<std::byte> bytes, bool last, io::ByteSink& out) {
    stream_.next_in = reinterpret_cast<Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = packed_.data();
      stream_.avail_out = static_cast<uInt>(packed_.size());
      (void)deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
      const std::span<const Bytef> made(packed_.data(), packed_.size() - stream_.avail_out);
      if (Status written = out.write(std::as_bytes(made)); !written) return written;
    } while (stream_.avail_out == 0);
    return {};
  }

 private:
  z_stream stream_{};
  std::vector<Bytef> packed_ = std::vector<Bytef>(kChunkBytes);
  bool ready_ = false;
};

}  // namespace

Status Base64Sink::write(std::span<const std::byte> bytes) {
  bytes_ += static_cast<int64_t>(bytes.size());
  std::string text;
  text.reserve(bytes.size() / 3 * 4 + 8);
  for (const std::byte byte : bytes) {
    group_ = group_ << 8 | std::to_integer<uint32_t>(byte);
    if (++count_ < 3) continue;
    append_group(text, group_, 4);
    group_ = 0;
    count_ = 0;
  }
  return out_.write(io::bytes_of(text));
}

Status Base64Sink::finish() {
  if (count_ == 0) return {};
  const int letters = count_ + 1;
  std::string text;
  append_group(text, group_ << 8 * (3 - count_), letters);
  text.append(static_cast<size_t>(4 - letters), '=');
  return out_.write(io::bytes_of(text));
}

Status write_packed(std::FILE* in, io::ByteSink& out) {
  std::vector<std::byte> chunk(kChunkBytes);
  const auto next = [&] { return std::span(chunk).first(std::fread(chunk.data(), 1, chunk.size(), in)); };
  std::span<std::byte> bytes = next();
  const io::Format format = io::sniff(bytes).format;
  if (format == io::Format::gzip || format == io::Format::zstd || format == io::Format::zip) {
    for (; !bytes.empty(); bytes = next()) {
      if (Status written = out.write(bytes); !written) return written;
    }
  } else {
    Deflater deflater;
    if (!deflater.ready()) return fail(ErrorCode::out_of_memory, -1, "There is no memory to pack the file.");
    for (bool last = false; !last;) {
      last = bytes.empty();
      if (Status written = deflater.write(bytes, last, out); !written) return written;
      if (!last) bytes = next();
    }
  }
  if (std::ferror(in) != 0) return fail(ErrorCode::io_error, -1, "This file cannot be read again.");
  return {};
}

}  // namespace memstrata::cli
