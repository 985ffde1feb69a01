// Python values and the picklers that write them: Python's, protocols 0 to 5, and the C++ one of servers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpustrata::tests {

// One object; copies are the same object, as in Python.
class Py {
 public:
  enum class Kind : uint8_t {
    none,
    boolean,
    integer,
    unsigned_integer,
    real,
    text,
    list,
    tuple,
    dict,
    opcodes
  };
  struct Node {
    Kind kind = Kind::none;
    uint64_t number = 0;
    double real = 0;
    std::string text;
    std::vector<Py> items;  // of a dict: key, value, key, value
  };

  Py() : Py(nullptr) {}
  Py(std::nullptr_t) : node_(std::make_shared<Node>()) {}
  Py(bool value) : Py(Kind::boolean, value ? 1 : 0) {}
  Py(int value) : Py(Kind::integer, static_cast<uint64_t>(int64_t{value})) {}
  Py(int64_t value) : Py(Kind::integer, static_cast<uint64_t>(value)) {}
  Py(uint64_t value) : Py(Kind::unsigned_integer, value) {}
  Py(double value) : Py(Kind::real, 0) { node_->real = value; }
  Py(const char* value) : Py(std::string(value)) {}
  Py(std::string value) : Py(Kind::text, 0) { node_->text = std::move(value); }

  static Py list(std::vector<Py> items) { return with_items(Kind::list, std::move(items)); }
  static Py tuple(std::vector<Py> items) { return with_items(Kind::tuple, std::move(items)); }
  // Equal keys of all dicts are one object, as they are for a C++ or Python program with constants.
  static Py dict(std::vector<std::pair<std::string, Py>> members) {
    static std::map<std::string, Py> keys;
    std::vector<Py> items;
    for (auto& [name, value] : members) {
      items.push_back(keys.try_emplace(name, Py(name)).first->second);
      items.push_back(std::move(value));
    }
    return with_items(Kind::dict, std::move(items));
  }
  // Of keys and values in turn; a key may be anything.
  static Py dict_of(std::vector<Py> items) { return with_items(Kind::dict, std::move(items)); }
  // Bytes of the pickle itself, for what the picklers here do not write.
  static Py opcodes(std::string bytes) {
    Py made(Kind::opcodes, 0);
    made.node_->text = std::move(bytes);
    return made;
  }

  // A copy with a member more (dict), or with it replaced.
  [[nodiscard]] Py with(const std::string& key, const Py& value) const {
    std::vector<Py> items;
    for (size_t i = 0; i < node_->items.size(); i += 2) {
      if (node_->items[i].node().text == key) continue;
      items.push_back(node_->items[i]);
      items.push_back(node_->items[i + 1]);
    }
    items.push_back(dict({{key, 0}}).node().items[0]);
    items.push_back(value);
    return with_items(Kind::dict, std::move(items));
  }
  [[nodiscard]] Py without(const std::string& key) const {
    Py made = with(key, nullptr);
    made.node_->items.resize(made.node_->items.size() - 2);
    return made;
  }

  [[nodiscard]] const Node& node() const { return *node_; }

 private:
  Py(Kind kind, uint64_t number) : node_(std::make_shared<Node>()) {
    node_->kind = kind;
    node_->number = number;
  }
  static Py with_items(Kind kind, std::vector<Py> items) {
    Py made(kind, 0);
    made.node_->items = std::move(items);
    return made;
  }

  std::shared_ptr<Node> node_;
};

enum class Writer : uint8_t { protocol0, protocol1, protocol2, protocol3, protocol4, protocol5, cpp };
inline constexpr Writer kAllWriters[] = {Writer::protocol0, Writer::protocol1, Writer::protocol2,
                                         Writer::protocol3, Writer::protocol4, Writer::protocol5,
                                         Writer::cpp};

[[nodiscard]] std::string pickled(const Py& value, Writer writer = Writer::protocol4);

// Little-endian operands, for pickles written by hand.
[[nodiscard]] std::string u16(uint64_t value);
[[nodiscard]] std::string u32(uint64_t value);
[[nodiscard]] std::string u64(uint64_t value);
// "80 04 95": what two hexadecimal digits each say; spaces do not matter.
[[nodiscard]] std::string from_hex(std::string_view digits);

}  // namespace gpustrata::tests
