#include "tests/unit/io/py.h"

#include <fmt/format.h>

#include <bit>

namespace gpustrata::tests {

namespace {

std::string little_endian(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(static_cast<uint8_t>(value >> (8 * i)));
  return text;
}

class Pickler {
 public:
  explicit Pickler(Writer writer)
      : is_cpp_(writer == Writer::cpp), protocol_(is_cpp_ ? 2 : static_cast<int>(writer)) {}

  std::string pickle(const Py& value) {
    if (is_cpp_) count(value);
    write(value);
    std::string head;
    if (protocol_ >= 2) head = {'\x80', static_cast<char>(protocol_)};
    if (protocol_ >= 4) head += '\x95' + u64(out_.size() + 1);
    return head + out_ + '.';
  }

 private:
  static constexpr size_t kBatch = 1000;

  void count(const Py& value) {
    if (++references_[&value.node()] > 1) return;
    for (const Py& item : value.node().items) count(item);
  }

  void put(const void* object) {
    const size_t slot = next_slot_++;
    memo_[object] = slot;
    if (protocol_ >= 4) {
      out_ += '\x94';
    } else if (protocol_ == 0) {
      out_ += fmt::format("p{}\n", slot);
    } else if (slot < 256) {
      out_ += {'q', static_cast<char>(slot)};
    } else {
      out_ += 'r' + u32(slot);
    }
  }

  bool get(const void* object) {
    const auto known = memo_.find(object);
    if (known == memo_.end()) return false;
    if (protocol_ == 0) {
      out_ += fmt::format("g{}\n", known->second);
    } else if (known->second < 256) {
      out_ += {'h', static_cast<char>(known->second)};
    } else {
      out_ += 'j' + u32(known->second);
    }
    return true;
  }

  void write(const Py& value) {
    const Py::Node& node = value.node();
    switch (node.kind) {
      case Py::Kind::none:
        out_ += 'N';
        return;
      case Py::Kind::boolean:
        if (protocol_ < 2) {
          out_ += node.number != 0 ? "I01\n" : "I00\n";
        } else {
          out_ += node.number != 0 ? '\x88' : '\x89';
        }
        return;
      case Py::Kind::integer:
        return integer(static_cast<int64_t>(node.number));
      case Py::Kind::unsigned_integer:
        if (is_cpp_ || node.number < uint64_t{1} << 63) return integer(static_cast<int64_t>(node.number));
        if (protocol_ < 2) {
          out_ += fmt::format("L{}L\n", node.number);
        } else {
          out_ += "\x8a\x09" + u64(node.number) + '\0';
        }
        return;
      case Py::Kind::real:
        if (protocol_ == 0) {
          out_ += fmt::format("F{}\n", node.real);
        } else {
          const std::string bits = u64(std::bit_cast<uint64_t>(node.real));
          out_ += 'G' + std::string(bits.rbegin(), bits.rend());
        }
        return;
      case Py::Kind::text:
        return text(node);
      case Py::Kind::opcodes:
        out_ += node.text;
        return;
      case Py::Kind::tuple:
        return tuple(node);
      case Py::Kind::list:
      case Py::Kind::dict:
        return container(node);
    }
  }

  void integer(int64_t number) {
    if (protocol_ == 0) {
      out_ += number == static_cast<int32_t>(number) ? fmt::format("I{}\n", number)
                                                     : fmt::format("L{}L\n", number);
    } else if (number >= 0 && number < 256) {
      out_ += {'K', static_cast<char>(number)};
    } else if (number >= 0 && number < 65536) {
      out_ += 'M' + u16(static_cast<uint64_t>(number));
    } else if (number == static_cast<int32_t>(number)) {
      out_ += 'J' + u32(static_cast<uint64_t>(number));
    } else if (protocol_ == 1) {
      out_ += fmt::format("L{}L\n", number);
    } else {
      size_t bytes = 8;
      while (!is_cpp_ && number == number << (8 * (9 - bytes)) >> (8 * (9 - bytes))) --bytes;
      out_ += {'\x8a', static_cast<char>(bytes)};
      out_ += little_endian(static_cast<uint64_t>(number), bytes);
    }
  }

  void text(const Py::Node& node) {
    // The C++ pickler knows equal texts, Python's equal objects.
    const void* object = &node;
    if (is_cpp_) object = texts_.try_emplace(node.text, &node).first->second;
    if (get(object)) return;
    if (protocol_ == 0) {
      out_ += 'V';
      for (const char c : node.text) {  // ASCII only
        if (c == '\\' || c == '\n') {
          out_ += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out_ += c;
        }
      }
      out_ += '\n';
    } else if (protocol_ >= 4 && node.text.size() < 256) {
      out_ += {'\x8c', static_cast<char>(node.text.size())};
      out_ += node.text;
    } else {
      out_ += 'X' + u32(node.text.size()) + node.text;
    }
    put(object);
  }

  void tuple(const Py::Node& node) {
    if (get(&node)) return;
    const size_t size = node.items.size();
    if (size == 0) {
      out_ += protocol_ == 0 ? "(t" : ")";
      return;
    }
    const bool marked = protocol_ < 2 || size > 3;
    if (marked) out_ += '(';
    for (const Py& item : node.items) write(item);
    if (marked) {
      out_ += 't';
    } else {
      out_ += static_cast<char>(0x84 + size);
    }
    if (!is_cpp_) put(&node);
  }

  void container(const Py::Node& node) {
    if (get(&node)) return;
    const bool is_dict = node.kind == Py::Kind::dict;
    const size_t step = is_dict ? 2 : 1;
    if (protocol_ == 0) {
      out_ += is_dict ? "(d" : "(l";
      put(&node);
      for (size_t i = 0; i < node.items.size(); i += step) {
        for (size_t k = 0; k < step; ++k) write(node.items[i + k]);
        out_ += is_dict ? 's' : 'a';
      }
      return;
    }
    out_ += is_dict ? '}' : ']';
    if (is_cpp_) {
      out_ += '(';
      for (const Py& item : node.items) write(item);
      out_ += is_dict ? 'u' : 'e';
      if (references_[&node] > 1) put(&node);
      return;
    }
    put(&node);
    if (node.items.size() == step) {
      for (const Py& item : node.items) write(item);
      out_ += is_dict ? 's' : 'a';
      return;
    }
    for (size_t i = 0; i < node.items.size(); i += kBatch * step) {
      out_ += '(';
      for (size_t k = i; k < node.items.size() && k < i + kBatch * step; ++k) write(node.items[k]);
      out_ += is_dict ? 'u' : 'e';
    }
  }

  bool is_cpp_;
  int protocol_;
  std::string out_;
  std::map<const void*, size_t> memo_;
  std::map<const void*, int> references_;
  std::map<std::string, const void*> texts_;
  size_t next_slot_ = 0;
};

}  // namespace

std::string pickled(const Py& value, Writer writer) { return Pickler(writer).pickle(value); }

std::string u16(uint64_t value) { return little_endian(value, 2); }
std::string u32(uint64_t value) { return little_endian(value, 4); }
std::string u64(uint64_t value) { return little_endian(value, 8); }

std::string from_hex(std::string_view digits) {
  std::string bytes;
  int high = -1;
  for (const char c : digits) {
    if (c == ' ' || c == '\n') continue;
    const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
    if (high < 0) {
      high = digit;
    } else {
      bytes += static_cast<char>(static_cast<uint8_t>(high * 16 + digit));
      high = -1;
    }
  }
  return bytes;
}

}  // namespace gpustrata::tests
