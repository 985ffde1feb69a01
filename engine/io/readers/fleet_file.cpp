#include "engine/io/readers/fleet_file.h"

#include <utility>

#include "engine/base/units.h"
#include "engine/io/containers/input_buffer.h"
#include "engine/io/limits.h"
#include "engine/io/readers/fleet_text.h"

namespace gpustrata::io {

namespace {

constexpr std::string_view kSpaceOrZero(" \t\r\n\0", 5);

[[nodiscard]] tl::unexpected<Error> no_memory_for_fleet(const Budget& budget) {
  return fail(ErrorCode::limit_exceeded, -1,
              "the memory for this file does not suffice: {} are allowed, about {} would be enough",
              size_text(budget.limit()), size_text(budget.needed()));
}

// Bytes up to the end of the value that the text begins with; npos if the text ends inside.
[[nodiscard]] size_t end_of_object(std::string_view text) {
  size_t depth = 0;
  bool in_text = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_text) {
      if (c == '\\') ++at;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

struct FleetFileReader::State {
  explicit State(model::Recording& to) : recording(to), text(to.budget) {}

  model::Recording& recording;
  InputBuffer buffer;
  Column<char> text;  // of the file so far
};

FleetFileReader::FleetFileReader(model::Recording& recording, LeftOpen)
    : state_(std::make_unique<State>(recording)) {}

FleetFileReader::~FleetFileReader() = default;

void FleetFileReader::expect_bytes(int64_t /*total*/) {}

std::span<std::byte> FleetFileReader::writable() { return state_->buffer.writable(); }

Status FleetFileReader::commit(size_t bytes) {
  State& s = *state_;
  if (s.text.size() + bytes > kMostFleetBytes)
    return fail(ErrorCode::limit_exceeded, static_cast<int64_t>(s.text.size()),
                "a reduced fleet of more than {} is not read; reduce fewer ranks at a time",
                size_text(static_cast<int64_t>(kMostFleetBytes)));
  const std::span<const std::byte> chunk = s.buffer.first(bytes);
  if (!s.text.append({reinterpret_cast<const char*>(chunk.data()), chunk.size()}))
    return no_memory_for_fleet(s.recording.budget);
  return {};
}

Status FleetFileReader::finish() {
  State& s = *state_;
  const size_t size = s.text.size();
  if (!s.text.resize(size + kFleetTextPadding, '\0')) return no_memory_for_fleet(s.recording.budget);
  const std::string_view whole(s.text.data(), size);
  const size_t start = whole.find('{');
  if (start == std::string_view::npos)
    return fail(ErrorCode::invalid_format, 0, "not a reduced fleet: there is no object in this text");
  const size_t length = end_of_object(whole.substr(start));
  if (length == std::string_view::npos)
    return fail(ErrorCode::truncated, static_cast<int64_t>(size),
                "the file of the fleet ends in the middle of it; write it again with gpustrata fleet -o");

  auto fleet = std::make_unique<model::Fleet>(s.recording.budget);
  FleetText text(*fleet, s.recording.diagnostics);
  if (Status read = text.read({s.text.data() + start, length}, static_cast<int64_t>(start)); !read)
    return read;
  const size_t behind = whole.find_first_not_of(kSpaceOrZero, start + length);
  if (behind != std::string_view::npos)
    s.recording.diagnostics.add(model::Diag::trailing_bytes, static_cast<int64_t>(behind));
  s.text = Column<char>(s.recording.budget);

  model::Part& part = s.recording.parts.emplace_back();
  part.kind = model::PartKind::fleet;
  part.has_clock = false;
  part.fleet = static_cast<int32_t>(s.recording.fleets.size());
  s.recording.fleets.push_back(std::move(fleet));
  s.recording.input_bytes = static_cast<int64_t>(size);
  return {};
}

}  // namespace gpustrata::io
