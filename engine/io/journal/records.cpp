#include "engine/io/journal/records.h"

namespace gpustrata::io::journal {

std::optional<std::string_view> text_of(const Records::Record& record) {
  const auto text = record.as<TextRecord>();
  if (!text || text->length > kMostTextBytes || text->length > record.bytes.size() - sizeof(TextRecord))
    return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(record.bytes.data() + sizeof(TextRecord)),
                          text->length);
}

std::optional<std::span<const std::byte>> frames_of(const Records::Record& record) {
  const auto stack = record.as<StackRecord>();
  if (!stack || stack->count > kMostFrames) return std::nullopt;
  const size_t bytes = stack->count * sizeof(int32_t);
  if (bytes > record.bytes.size() - sizeof(StackRecord)) return std::nullopt;
  return record.bytes.subspan(sizeof(StackRecord), bytes);
}

}  // namespace gpustrata::io::journal
