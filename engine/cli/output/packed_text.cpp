#include "engine/cli/output/packed_text.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "engine/base/base64.h"
#include "engine/io/sniff.h"

namespace gpustrata::cli {

namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr size_t kHeadBytes = 512;  // tell whether a file is packed

}  // namespace

Status Base64Sink::write(std::span<const std::byte> bytes) {
  bytes_ += static_cast<int64_t>(bytes.size());
  std::vector<uint8_t> whole(group_.begin(), group_.begin() + static_cast<std::ptrdiff_t>(count_));
  for (const std::byte byte : bytes) whole.push_back(std::to_integer<uint8_t>(byte));
  count_ = whole.size() % group_.size();
  std::copy(whole.end() - static_cast<std::ptrdiff_t>(count_), whole.end(), group_.begin());
  return out_.write(io::bytes_of(base64_of(std::span(whole).first(whole.size() - count_))));
}

Status Base64Sink::finish() { return out_.write(io::bytes_of(base64_of(std::span(group_).first(count_)))); }

class PackedSink::Deflater {
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
  [[nodiscard]] Status write(std::span<const std::byte> bytes, bool last, io::ByteSink& out) {
    stream_.next_in = reinterpret_cast<z_const Bytef*>(const_cast<std::byte*>(bytes.data()));
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

PackedSink::PackedSink(io::ByteSink& out) : out_(out) {}
PackedSink::~PackedSink() = default;

Status PackedSink::decide() {
  is_decided_ = true;
  const io::Format format = io::sniff(head_).format;
  if (format != io::Format::gzip && format != io::Format::zstd && format != io::Format::zip) {
    deflater_ = std::make_unique<Deflater>();
    if (!deflater_->ready())
      return fail(ErrorCode::out_of_memory, -1, "There is no memory to pack the file.");
  }
  const std::vector<std::byte> head = std::exchange(head_, {});
  return write(head);
}

Status PackedSink::write(std::span<const std::byte> bytes) {
  if (is_decided_) return deflater_ ? deflater_->write(bytes, false, out_) : out_.write(bytes);
  head_.insert(head_.end(), bytes.begin(), bytes.end());
  return head_.size() < kHeadBytes ? Status() : decide();
}

Status PackedSink::finish() {
  if (!is_decided_) {
    if (Status decided = decide(); !decided) return decided;
  }
  return deflater_ ? deflater_->write({}, true, out_) : Status();
}

}  // namespace gpustrata::cli
