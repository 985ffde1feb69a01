#include "engine/session/frame.h"

#include <algorithm>
#include <bit>

#include "engine/answers/common/failure.h"
#include "engine/answers/text/json_of.h"

namespace gpustrata::session {

static_assert(std::endian::native == std::endian::little, "columns are sent as they lie in memory");

namespace {

constexpr size_t kHeadRoom = 4096;               // most heads of answers with columns
constexpr size_t kKeptFrame = size_t{16} << 20;  // a picture of a usual screen
constexpr size_t kKeptHead = size_t{256} << 10;  // room of a head that is kept for the next one

struct Header {
  uint32_t magic = 0, version = 0, id = 0, head = 0, columns = 0, nothing = 0;
};
static_assert(sizeof(Header) == kFrameHeader);

[[nodiscard]] constexpr size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

[[nodiscard]] Header header_of(std::span<const std::byte> frame) {
  Header header;
  std::memcpy(&header, frame.data(), std::min(frame.size(), sizeof header));
  return header;
}

}  // namespace

uint32_t id_of(std::span<const std::byte> frame) {
  return frame.size() < kFrameHeader ? 0 : header_of(frame).id;
}

Result<QuestionFrame> read_question(std::span<const std::byte> frame) {
  if (frame.size() < kFrameHeader)
    return fail(ErrorCode::truncated, static_cast<int64_t>(frame.size()), "a question ends in its header");
  if (frame.size() > kLargestQuestion)
    return fail(ErrorCode::limit_exceeded, -1, "a question of {} bytes is too long", frame.size());
  const Header header = header_of(frame);
  if (header.magic != kQuestionMagic) return fail(ErrorCode::invalid_format, 0, "this is no question");
  if (header.version != kProtocolVersion) {
    return fail(
        ErrorCode::unsupported, 4,
        "The question is of protocol version {}, this engine answers version {}: page and engine are "
        "not of the same release. Reload the page without its cache, or open the address that `gpustrata serve` prints.",
        header.version, kProtocolVersion);
  }
  if (header.columns != 0 || header.nothing != 0)
    return fail(ErrorCode::invalid_format, 16, "a question has no columns");
  if (header.head > frame.size() - kFrameHeader)
    return fail(ErrorCode::truncated, static_cast<int64_t>(frame.size()), "a question ends in its head");
  if (header.head < frame.size() - kFrameHeader)
    return fail(ErrorCode::invalid_format, 12, "bytes follow the question");
  const auto head = frame.subspan(kFrameHeader, header.head);
  return QuestionFrame{header.id, {reinterpret_cast<const char*>(head.data()), head.size()}};
}

bool AnswerFrame::append(std::string_view text) {
  return head_.append(std::as_bytes(std::span(text.data(), text.size())));
}

void AnswerFrame::forget() {
  head_.clear();
  head_.shrink_to_fit();
  if (frame_.size() <= kKeptFrame) return;
  frame_.clear();
  frame_.shrink_to_fit();
}

void AnswerFrame::begin() {
  const bool is_large = head_.size() > kKeptHead;
  head_.clear();
  if (is_large) head_.shrink_to_fit();
  json_ = JsonWriter([this](std::string_view piece) {
    return (!head_.empty() || (head_.resize(kFrameHeader, std::byte{0}) && append("{\"answer\":"))) &&
           append(piece);
  });
  columns_ = {};
  column_bytes_ = 0;
  status_ = {};
}

std::byte* AnswerFrame::room(std::string_view name, answers::Element element, size_t count) {
  constexpr size_t kBytes[] = {4, 4, 8, 1, 4};  // by Element
  const size_t bytes = count * kBytes[static_cast<size_t>(element)];
  const size_t from = kHeadRoom + column_bytes_;
  const size_t end = from + padded(bytes);
  // It never gets smaller, so that the bytes of a picture are not cleared each time.
  if (frame_.size() < end && !frame_.resize(end, std::byte{0})) {
    status_ = fail(ErrorCode::limit_exceeded, -1, "not enough memory for an answer of {} bytes", bytes);
    return nullptr;
  }
  std::memset(frame_.data() + from + bytes, 0, padded(bytes) - bytes);
  column_bytes_ += padded(bytes);
  columns_.begin_object();
  columns_.member("name", place_ + std::string(name));
  columns_.member("type", answers::kElements[static_cast<size_t>(element)]);
  columns_.member("count", count);
  columns_.end_object();
  return frame_.data() + from;
}

Result<std::span<uint32_t>> AnswerFrame::pixels(std::string_view name, size_t count) {
  std::byte* const at = room(name, answers::Element::rgba, count);
  if (at == nullptr) return tl::unexpected(status_.error());
  return std::span<uint32_t>(reinterpret_cast<uint32_t*>(at), count);
}

std::span<const std::byte> AnswerFrame::finish(uint32_t id) {
  if (!status_) return refuse(id, status_.error());
  if (json_.size() == 0) json_.null();
  bool fits = json_.finish();
  if (!columns_.text().empty())
    fits = fits && append(",\"columns\":[") && append(columns_.text()) && append("]");
  fits = fits && append("}");
  fits = fits && head_.resize(kFrameHeader + padded(head_.size() - kFrameHeader), std::byte{' '});
  if (!fits) return refuse(id, {ErrorCode::limit_exceeded, "not enough memory for an answer", -1, {}});
  const Header header{kAnswerMagic,
                      kProtocolVersion,
                      id,
                      static_cast<uint32_t>(head_.size() - kFrameHeader),
                      static_cast<uint32_t>(column_bytes_),
                      0};
  std::memcpy(head_.data(), &header, sizeof header);
  if (column_bytes_ == 0) return head_.span();
  const size_t before = head_.size();
  size_t columns_at = kHeadRoom;
  if (before > kHeadRoom) {
    columns_at = padded(before);
    if (!frame_.resize(std::max(frame_.size(), columns_at + column_bytes_), std::byte{0}))
      return refuse(id, {ErrorCode::limit_exceeded, "not enough memory for an answer", -1, {}});
    std::memmove(frame_.data() + columns_at, frame_.data() + kHeadRoom, column_bytes_);
  }
  std::byte* const start = frame_.data() + columns_at - before;
  std::memcpy(start, head_.data(), before);
  return {start, before + column_bytes_};
}

std::span<const std::byte> AnswerFrame::refuse(uint32_t id, const Error& error) {
  std::string head = "{\"error\":" + answers::json_of(error) + "}";
  head.resize(padded(head.size()), ' ');
  const Header header{kAnswerMagic, kProtocolVersion, id, static_cast<uint32_t>(head.size()), 0, 0};
  refusal_.assign(reinterpret_cast<const char*>(&header), sizeof header);
  refusal_ += head;
  return std::as_bytes(std::span(refusal_));
}

}  // namespace gpustrata::session
