#include "engine/io/encodings/pickle/machine.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/io/encodings/pickle/operands.h"
#include "engine/io/values/numbers.h"

namespace gpustrata::io::pickle {

namespace {

constexpr size_t kFirstStack = 4096;

[[nodiscard]] std::string_view text_of(const uint8_t* bytes, size_t length) {
  return {reinterpret_cast<const char*>(bytes), length};
}

[[nodiscard]] uint64_t load_big_endian(const uint8_t* p) {
  uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits = bits << 8 | p[i];
  return bits;
}

}  // namespace

Machine::Machine(StringPool& strings, Budget& budget, model::Diagnostics& diagnostics, Schema& schema)
    : strings_(strings), budget_(budget), diagnostics_(diagnostics), schema_(schema) {
  if (budget_.take(kSalvageBytes)) reserve_ = kSalvageBytes;
  if (!stack_.resize(kFirstStack, Value{})) (void)out_of_budget();
  base_ = top_ = stack_.data();
  limit_ = base_ + stack_.size();
}

Machine::~Machine() { budget_.give_back(reserve_); }

bool Machine::halt_at(Halt halt, std::string text) {
  if (halt_ == Halt::none) {
    halt_ = halt;
    halt_offset_ = offset_;
    halt_text_ = std::move(text);
  }
  return false;
}

bool Machine::damaged(std::string_view text) { return halt_at(Halt::damaged, std::string(text)); }

bool Machine::out_of_budget() {
  if (halt_ == Halt::stop) halt_ = Halt::none;  // while finishing what STOP left
  return halt_at(Halt::out_of_budget, "memory ran out");
}

void Machine::end_of_input(int64_t offset) {
  offset_ = offset;
  (void)halt_at(Halt::ended, "the input ends before the pickle does");
}

size_t Machine::run(std::span<const std::byte> bytes, int64_t offset) {
  const auto* const begin = reinterpret_cast<const uint8_t*>(bytes.data());
  const uint8_t* const end = begin + bytes.size();
  const uint8_t* p = begin;
  if (halt_ != Halt::none) return bytes.size();
  if (collecting_.code != 0) {
    p += collect(p, bytes.size());
    if (halt_ != Halt::none) return bytes.size();
  }

  Value* top = top_;  // local, so that it lives in a register; members see it through enter()
  const auto enter = [&] {
    top_ = top;
    offset_ = offset + (p - begin);
  };
  // The top of the stack into the memo. False: halted.
  const auto store = [&](uint32_t slot) {
    if (top == base_ || top[-1].tag == Tag::open || top[-1].num != 0 || memo_.get(slot).tag == Tag::open ||
        slot > offset + (p - begin) + kMemoSlack || !memo_.put(slot, top[-1])) [[unlikely]] {
      enter();
      return put(slot);
    }
    return true;
  };
  // What a memo slot holds, onto the stack. False: halted.
  const auto fetch = [&](uint32_t slot) {
    const Value value = memo_.get(slot);
    if (value.tag <= Tag::open) [[unlikely]] {
      enter();
      const bool running = get(slot);
      top = top_;
      return running;
    }
    *top++ = value;
    return true;
  };
  // A string of `length` bytes behind `header` bytes. False: halted, or the rest has to come first.
  const auto text = [&](size_t header, uint64_t length, Tag tag) {
    if (static_cast<uint64_t>(end - p) - header >= length) [[likely]] {
      const StringId id = length <= kKeptString
                              ? strings_.intern(text_of(p + header, static_cast<size_t>(length)))
                              : StringId{};
      if (id.is_none()) [[unlikely]] {
        enter();
        if (!push_text(text_of(p + header, static_cast<size_t>(length)), tag, length)) return false;
        top = top_;
      } else {
        *top++ = {tag, static_cast<uint32_t>(id.value), 0};
      }
      p += header + length;
      return true;
    }
    if (length <= kWholeOperand) return false;
    enter();
    const uint8_t code = *p;
    p += header;
    if (start_collecting(code, tag, length, false)) p += collect(p, static_cast<size_t>(end - p));
    return false;
  };

  while (p != end) {
    const uint8_t code = *p;
    if (static_cast<size_t>(end - p) <= kFixedOperand[code]) break;
    if (top == limit_) [[unlikely]] {
      enter();
      if (!make_room()) break;
      top = top_;
    }
    const uint8_t* const operand = p + 1;
    switch (static_cast<Op>(code)) {
      case Op::binget:
        if (!fetch(*operand)) break;
        p += 2;
        continue;
      case Op::long_binget:
        if (!fetch(load_u32(operand))) break;
        p += 5;
        continue;
      case Op::memoize:
        if (!store(memo_.used())) break;
        ++p;
        continue;
      case Op::binput:
        if (!store(*operand)) break;
        p += 2;
        continue;
      case Op::long_binput:
        if (!store(load_u32(operand))) break;
        p += 5;
        continue;
      case Op::binint1:
        *top++ = {Tag::integer, 0, *operand};
        p += 2;
        continue;
      case Op::binint2:
        *top++ = {Tag::integer, 0, load_u16(operand)};
        p += 3;
        continue;
      case Op::binint:
        *top++ = values::integer(static_cast<int32_t>(load_u32(operand)));
        p += 5;
        continue;
      case Op::long1: {
        const size_t length = *operand;
        if (static_cast<size_t>(end - p) < 2 + length) break;
        const Value value = values::integer_of_bytes({operand + 1, length});
        if (value.tag == Tag::huge_integer) [[unlikely]] {
          enter();
          if (!push_integer(value)) break;
          top = top_;
        } else {
          *top++ = value;
        }
        p += 2 + length;
        continue;
      }
      case Op::short_binunicode:
        if (!text(2, *operand, Tag::string)) break;
        continue;
      case Op::binunicode:
        if (!text(5, load_u32(operand), Tag::string)) break;
        continue;
      case Op::binunicode8:
        if (!text(9, load_u64(operand), Tag::string)) break;
        continue;
      case Op::short_binstring:
      case Op::short_binbytes:
        if (!text(2, *operand, Tag::bytes)) break;
        continue;
      case Op::binbytes:
        if (!text(5, load_u32(operand), Tag::bytes)) break;
        continue;
      case Op::binbytes8:
      case Op::bytearray8:
        if (!text(9, load_u64(operand), Tag::bytes)) break;
        continue;
      case Op::binstring: {
        const auto length = static_cast<int32_t>(load_u32(operand));
        if (length < 0) {
          enter();
          (void)damaged("a string of negative length");
        } else if (text(5, static_cast<uint32_t>(length), Tag::bytes)) {
          continue;
        }
        break;
      }
      case Op::long4: {
        const auto length = static_cast<int32_t>(load_u32(operand));
        enter();
        if (length < 0) {
          (void)damaged("a number of negative length");
          break;
        }
        const auto count = static_cast<size_t>(length);
        if (count > kWholeOperand) {  // too large for any field, so it is only skipped
          p += 5;
          if (!start_collecting(code, Tag::undefined, count, false)) break;
          p += collect(p, static_cast<size_t>(end - p));
          if (halt_ != Halt::none || collecting_.code != 0) break;
          top = top_;  // all of it was there
          continue;
        }
        if (static_cast<size_t>(end - p) < 5 + count) break;
        if (!push_integer(values::integer_of_bytes({operand + 4, count}))) break;
        top = top_;
        p += 5 + count;
        continue;
      }
      case Op::binfloat:
        *top++ = {Tag::real, 0, load_big_endian(operand)};
        p += 9;
        continue;
      case Op::none:
        *top++ = {Tag::none, 0, 0};
        ++p;
        continue;
      case Op::new_true:
        *top++ = {Tag::boolean, 0, 1};
        ++p;
        continue;
      case Op::new_false:
        *top++ = {Tag::boolean, 0, 0};
        ++p;
        continue;
      case Op::empty_tuple:
        *top++ = {Tag::empty_list, 0, 0};
        ++p;
        continue;
      case Op::frame:
        p += 9;
        continue;
      case Op::empty_dict: {
        enter();
        if (shortcut_ != nullptr && !complete_dict_below()) break;
        if (may_take_shortcut()) {
          const auto taken = shortcut_->take({p, static_cast<size_t>(end - p)}, offset_, memo_);
          if (taken.bytes > 0) {
            if (size() == floor() || !merge(top_[-1], taken.rows)) *top_++ = taken.rows;
            tuple_ = {};
            top = top_;
            p += taken.bytes;
            continue;
          }
        }
        if (!push_open(true)) break;
        top = top_;
        ++p;
        continue;
      }
      case Op::int_line:
      case Op::long_line:
      case Op::float_line:
      case Op::unicode_line:
      case Op::string_line:
      case Op::get:
      case Op::put:
      case Op::persid: {
        const auto left = static_cast<size_t>(end - operand);
        // A line is long or not, wherever the chunks begin.
        const void* found = std::memchr(operand, '\n', std::min(left, kWholeOperand + 1));
        enter();
        if (found == nullptr) {
          if (left <= kWholeOperand) break;
          ++p;
          if (!start_collecting(code, Tag::undefined, 0, true)) break;
          p += collect(p, left);
          if (halt_ != Halt::none || collecting_.code != 0) break;
          top = top_;  // the end of the line was there
          continue;
        }
        const auto length = static_cast<size_t>(static_cast<const uint8_t*>(found) - operand);
        if (!run_line(code, text_of(operand, length))) break;
        top = top_;
        p = operand + length + 1;
        continue;
      }
      case Op::global:
      case Op::inst: {
        const auto left = std::min(static_cast<size_t>(end - operand), kWholeOperand);
        const void* first = std::memchr(operand, '\n', left);
        const auto* name = first == nullptr ? operand : static_cast<const uint8_t*>(first) + 1;
        const void* second =
            first == nullptr ? nullptr : std::memchr(name, '\n', left - static_cast<size_t>(name - operand));
        enter();
        if (second == nullptr) {
          if (left == kWholeOperand) (void)damaged("the name of a class has no end");
          break;
        }
        const auto* after = static_cast<const uint8_t*>(second);
        const auto module = text_of(operand, static_cast<size_t>(name - operand - 1));
        if (!push_global(module, text_of(name, static_cast<size_t>(after - name)))) break;
        if (code == static_cast<uint8_t>(Op::inst) && !object_from_mark(Op::inst)) break;
        top = top_;
        p = after + 1;
        continue;
      }
      default:
        enter();
        if (!run_rare(code, operand)) break;
        top = top_;
        p += 1 + kFixedOperand[code];
        continue;
    }
    break;  // halted, or the opcode is not there as a whole
  }
  if (halt_ == Halt::none) top_ = top;
  return static_cast<size_t>(p - begin) + (halt_ == Halt::stop ? 1 : 0);
}

bool Machine::run_rare(uint8_t code, const uint8_t* operand) {
  switch (static_cast<Op>(code)) {
    case Op::mark:
      return push_mark();
    case Op::empty_list:
    case Op::empty_set:
      return push_open(false);
    case Op::appends:
    case Op::additems:
      return add_batch(false);
    case Op::setitems:
      return add_batch(true);
    case Op::append:
      return add_one(false);
    case Op::setitem:
      return add_one(true);
    case Op::list:
      return open_from_mark(false);
    case Op::dict:
      return open_from_mark(true);
    case Op::tuple:
    case Op::frozenset:
      return make_tuple_from_mark();
    case Op::tuple1:
      return make_tuple(1);
    case Op::tuple2:
      return make_tuple(2);
    case Op::tuple3:
      return make_tuple(3);
    case Op::pop:
      return pop();
    case Op::pop_mark: {
      size_t first = 0;
      if (!take_mark(first) || !close_from(first)) return false;
      top_ = base_ + first;
      return true;
    }
    case Op::dup:
      return duplicate();
    case Op::stack_global:
      return global_from_stack();
    case Op::reduce:
    case Op::newobj:
      return reduce(1);
    case Op::newobj_ex:
      return reduce(2);
    case Op::build:
      return build();
    case Op::obj:
      return object_from_mark(Op::obj);
    case Op::binpersid:
      return pop() && push_foreign("a persistent id");
    case Op::ext1:
    case Op::ext2:
    case Op::ext4:
      return push_foreign("an extension code");
    case Op::proto:
      if (*operand <= kHighestProtocol) return true;
      return halt_at(Halt::unsupported, fmt::format("pickle protocol {} is not known (the highest one is {})",
                                                    *operand, kHighestProtocol));
    case Op::next_buffer:
    case Op::readonly_buffer:
      return halt_at(Halt::unsupported, "the pickle keeps data in buffers outside the file");
    case Op::stop:
      if (size() == 0) return damaged("the pickle ends without a value");
      return halt_at(Halt::stop, {});
    default:
      return damaged(fmt::format("byte 0x{:02x} is no pickle opcode", code));
  }
}

// Opcodes whose operand is a line.
bool Machine::run_line(uint8_t code, std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);  // written in text mode on Windows
  switch (static_cast<Op>(code)) {
    case Op::int_line:
      if (line == "00" || line == "01") return push({Tag::boolean, 0, line == "01" ? 1U : 0U});
      [[fallthrough]];
    case Op::long_line: {
      const auto number = values::integer_of_text(line);
      return number ? push_integer(*number) : damaged("a number that is none");
    }
    case Op::float_line: {
      const auto number = values::real_of_text(line);
      return number ? push(*number) : damaged("a number that is none");
    }
    case Op::unicode_line: {
      const std::string text = text_of_raw_unicode(line.substr(0, kKeptString));
      return push_text(text, Tag::string, line.size() > kKeptString ? line.size() : text.size());
    }
    case Op::string_line: {
      const auto text = text_of_literal(line);
      return text ? push_text(*text, Tag::bytes, text->size()) : damaged("a string without quotes");
    }
    case Op::persid:
      return push_foreign("a persistent id");
    default: {  // GET and PUT
      const auto slot = values::integer_of_text(line);
      if (!slot || slot->tag != Tag::integer || slot->num > UINT32_MAX)
        return damaged("a memo index that is none");
      const auto index = static_cast<uint32_t>(slot->num);
      return code == static_cast<uint8_t>(Op::get) ? get(index) : put(index);
    }
  }
}

bool Machine::push_text(std::string_view text, Tag tag, uint64_t whole_length) {
  if (whole_length > kKeptString) {
    text = text.substr(0, kKeptString);
    diagnostics_.add(model::Diag::long_string_cut, offset_, fmt::format("{} bytes", whole_length));
  }
  const StringId id = strings_.intern(text);
  if (id.is_none()) return out_of_budget();
  return push({tag, static_cast<uint32_t>(id.value), 0});
}

bool Machine::push_integer(const Value& value) {
  if (value.tag == Tag::huge_integer)
    diagnostics_.add(model::Diag::integer_out_of_range, offset_, "a number of more than 64 bits");
  return push(value);
}

bool Machine::start_collecting(uint8_t code, Tag tag, uint64_t length, bool line) {
  const Op op = static_cast<Op>(code);
  if (line && op != Op::unicode_line && op != Op::string_line && op != Op::long_line) {
    return damaged("a line that is too long");
  }
  if (expected_ > offset_ && length > static_cast<uint64_t>(expected_ - offset_)) {
    return halt_at(Halt::ended, fmt::format("{} bytes are announced, but the input has only {} more", length,
                                            expected_ - offset_));
  }
  collecting_ = {code, line, tag, length, 0, offset_};
  collected_.clear();
  return true;
}

// Takes what belongs to the long string or line; tells how many bytes that were.
size_t Machine::collect(const uint8_t* bytes, size_t count) {
  size_t taken = count;
  bool complete = false;
  if (collecting_.line) {
    if (const void* found = std::memchr(bytes, '\n', count); found != nullptr) {
      taken = static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes);
      complete = true;
    }
  } else {
    taken = static_cast<size_t>(std::min<uint64_t>(collecting_.left, count));
    collecting_.left -= taken;
    complete = collecting_.left == 0;
  }
  collecting_.seen += taken;
  const bool is_number = collecting_.code == static_cast<uint8_t>(Op::long4) ||
                         collecting_.code == static_cast<uint8_t>(Op::long_line);
  if (!is_number && collected_.size() < kKeptString) {
    const size_t kept = std::min(taken, kKeptString - collected_.size());
    if (!collected_.append({reinterpret_cast<const char*>(bytes), kept})) {
      offset_ = collecting_.offset;
      (void)out_of_budget();
      return taken;
    }
  }
  if (!complete) return taken;
  offset_ = collecting_.offset;
  const Collecting done = std::exchange(collecting_, {});
  if (is_number) {
    (void)push_integer({Tag::huge_integer, 0, done.seen});
  } else if (done.line) {
    std::string_view line{collected_.data(), collected_.size()};
    std::string closed;
    if (done.seen > collected_.size() && static_cast<Op>(done.code) == Op::string_line) {
      closed = line;  // the closing quote went with the rest
      closed += line.front();
      line = closed;
    }
    if (done.seen > collected_.size()) {
      diagnostics_.add(model::Diag::long_string_cut, offset_, fmt::format("{} bytes", done.seen));
    }
    (void)run_line(done.code, line);
  } else {
    (void)push_text({collected_.data(), collected_.size()}, done.tag, done.seen);
  }
  return taken + (done.line ? 1 : 0);
}

}  // namespace gpustrata::io::pickle
