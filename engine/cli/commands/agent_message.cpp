#include "engine/cli/commands/agent_message.h"

#include <cstdint>
#include <type_traits>
#include <utility>

#include "engine/io/encodings/json/text_values.h"

namespace gpustrata::cli {

namespace {

class Head {
 public:
  void begin_dict() { ++depth_; }
  void end_dict() { --depth_; }
  void begin_list() { ++depth_; }
  void end_list() { --depth_; }
  void item() {}
  void none() {}
  void unsigned_value(uint64_t given) { value(static_cast<double>(given)); }
  void key(std::string_view name) {
    if (depth_ == 1) outer_ = name;
    if (depth_ == 2) inner_ = name;
  }
  template <typename T>
  void value(T given) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (depth_ == 1 && outer_ == "method") head_.method = given;
      if (depth_ == 2 && outer_ == "params" && inner_ == "protocolVersion") head_.protocol = given;
    }
    if constexpr (!std::is_same_v<T, bool>) {
      if (depth_ != 1 || outer_ != "id") return;
      JsonValue& id = head_.id.emplace();
      if constexpr (std::is_same_v<T, std::string_view>) {
        id.kind = JsonValue::Kind::text;
        id.text = given;
      } else {
        id.kind = JsonValue::Kind::number;
        id.number = static_cast<double>(given);
      }
    }
  }
  [[nodiscard]] MessageHead take() { return std::move(head_); }

 private:
  int depth_ = 0;
  std::string outer_, inner_;  // keys
  MessageHead head_;
};

}  // namespace

MessageHead head_of_message(std::string_view message) {
  Head head;
  (void)io::JsonValues<Head>(message, head).run();
  return head.take();
}

}  // namespace gpustrata::cli
