// Small snapshots as values, and what can be wrong with them: made from bytes, so that a change of a byte is a
// change of the value, not of its encoding.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/mutator/kind_mixer.h"
#include "tests/unit/io/py.h"

namespace gpustrata::tests {

// Bytes to decide by; zeros when they are used up.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool used_up() const { return size_ == 0; }
  uint8_t next() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  size_t below(size_t count) { return count == 0 ? 0 : (size_t{next()} << 8 | next()) % count; }

 private:
  const uint8_t* data_;
  size_t size_;
};

inline Py hostile_number(Choices& in) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const std::vector<Py> numbers = {0,
                                   1,
                                   -1,
                                   512,
                                   int64_t{1} << 31,
                                   int64_t{1} << 32,
                                   int64_t{1} << 62,
                                   kMost,
                                   kMost - 511,
                                   std::numeric_limits<int64_t>::min(),
                                   ~uint64_t{0},
                                   uint64_t{1} << 63,
                                   int64_t{1} << 48,
                                   20 << 20,
                                   true,
                                   0.5,
                                   1e300,
                                   std::numeric_limits<double>::quiet_NaN(),
                                   -std::numeric_limits<double>::infinity()};
  return numbers[in.next() % numbers.size()];
}

inline std::string hostile_text(Choices& in) {
  const std::vector<std::string> texts = {"",
                                          "a",
                                          "alloc",
                                          "free_completed",
                                          "free_requested",
                                          "oom",
                                          "snapshot",
                                          "active_allocated",
                                          "inactive",
                                          "segment_alloc",
                                          "segment_map",
                                          "\xE2\x80\xAE\xE2\x81\xA6\xE2\x80\x8B",  // directions, no width
                                          "\x1B[2J\x7F\r\n\t\x01",
                                          "\xC2\x9B"
                                          "31m",
                                          "=1+1;\"a\"\n,b",
                                          "\xFF\xFE\xED\xA0\x80",
                                          "\xEF\xBF\xBE</script><svg>&amp;]]>",
                                          "0x7f0000000000",
                                          "{\"a\":[1,2",
                                          "/home/user/model/train.py",
                                          "a;b;c 12",
                                          "18446744073709551616"};
  std::string text = texts[in.next() % texts.size()];
  const size_t times = in.next();
  if (times < 200) return text;
  std::string repeated;
  for (size_t i = 0; i < (times - 199) * 16; ++i) repeated += text;
  return repeated;
}

inline Py frame(const std::string& file, int line, const std::string& name) {
  return Py::dict({{"filename", file}, {"line", line}, {"name", name}});
}

// Everything that a snapshot of 2025 can hold, a little of each.
inline Py whole_snapshot(int device) {
  const Py python = Py::list(
      {frame("", 0, "at::empty_cuda"), frame("/opt/torch/nn/modules/linear.py", 12, "forward"),
       frame("/home/user/model/train.py", 40, "step"), frame("/home/user/model/train.py", 90, "main")});
  const Py native =
      Py::list({frame("??", 0, "c10::Allocator::allocate"), frame("??", 0, "DivBackward0::apply")});
  const Py pool = Py::tuple({0, 1});
  const auto event = [&](const char* action, int64_t address, int64_t size, const Py& frames, int time) {
    return Py::dict({{"action", action},
                     {"addr", address},
                     {"size", size},
                     {"stream", 0},
                     {"time_us", int64_t{1'700'000'000'000'000} + time},
                     {"compile_context", "N/A"},
                     {"user_metadata", ""},
                     {"segment_pool_id", Py::tuple({0, 0})},
                     {"frames", frames}});
  };
  constexpr int64_t kBase = 0x7f0000000000;
  const Py trace = Py::list({
      event("segment_alloc", kBase, 2 << 20, python, 0),
      event("alloc", kBase, 1024, python, 1),
      event("alloc", kBase + 1024, 4096, native, 2),
      event("free_requested", kBase, 1024, python, 3),
      event("free_completed", kBase, 1024, python, 4),
      event("snapshot", 0, 0, Py::list({}), 5),
      event("alloc", kBase + 5120, 512, python, 6).with("segment_pool_id", pool),
      Py::dict({{"action", "oom"},
                {"device_free", int64_t{1} << 30},
                {"size", int64_t{4} << 30},
                {"stream", 0},
                {"time_us", int64_t{1'700'000'000'000'007}},
                {"frames", python}}),
  });
  const auto block = [&](int64_t address, int64_t size, const char* state, const Py& frames) {
    return Py::dict({{"address", address},
                     {"size", size},
                     {"requested_size", size - 12},
                     {"state", state},
                     {"frames", frames}});
  };
  const Py segment =
      Py::dict({{"device", device},
                {"address", kBase},
                {"total_size", 2 << 20},
                {"allocated_size", 4608},
                {"active_size", 4608},
                {"requested_size", 4584},
                {"stream", 0},
                {"segment_type", "small"},
                {"segment_pool_id", Py::tuple({0, 0})},
                {"is_expandable", false},
                {"frames", python},
                {"blocks", Py::list({block(kBase, 1024, "inactive", Py::list({})),
                                     block(kBase + 1024, 4096, "active_allocated", native),
                                     block(kBase + 5120, 512, "active_pending_free", python),
                                     block(kBase + 5632, (2 << 20) - 5632, "inactive", Py::list({}))})}});
  const Py pinned = Py::dict({{"address", int64_t{0x10000}},
                              {"total_size", 4096},
                              {"allocated_size", 128},
                              {"active_size", 128},
                              {"stream", 0},
                              {"segment_type", "small"},
                              {"blocks", Py::list({block(0x10000, 4096, "active_allocated", python)})}});
  std::vector<Py> traces(static_cast<size_t>(device), Py::list({}));
  traces.push_back(trace);
  return Py::dict(
      {{"segments", Py::list({segment, segment.with("address", kBase + (64 << 20)).with("stream", 7)})},
       {"device_traces", Py::list(traces)},
       {"allocator_settings", Py::dict({{"expandable_segments", false}, {"max_split_size", -1}})},
       {"external_annotations", Py::list({Py::dict({{"name", "ProfilerStep#1"},
                                                    {"stage", "START"},
                                                    {"device", device},
                                                    {"time_us", int64_t{1'700'000'000'000'001}}}),
                                          Py::dict({{"name", "ProfilerStep#1"},
                                                    {"stage", "END"},
                                                    {"device", device},
                                                    {"time_us", int64_t{1'700'000'000'000'006}}})})},
       {"host_segments", Py::list({pinned})},
       {"host_traces", Py::list({Py::list({event("alloc", 0x10000, 4096, python, 3)})})}});
}

// As 2022 had it: segments with a history, no trace.
inline Py old_snapshot() {
  const Py history = Py::list({Py::dict(
      {{"addr", int64_t{512}},
       {"real_size", 500},
       {"frames", Py::list({frame("/home/user/a.py", 1, "f"), frame("/home/user/a.py", 2, "g")})}})});
  return Py::list({Py::dict(
      {{"device", 0},
       {"address", 512},
       {"total_size", 4096},
       {"allocated_size", 512},
       {"active_size", 512},
       {"stream", 0},
       {"segment_type", "large"},
       {"blocks", Py::list({Py::dict({{"size", 512}, {"state", "active_allocated"}, {"history", history}}),
                            Py::dict({{"size", 3584}, {"state", "inactive"}})})}})});
}

inline Py some_snapshot(Choices& in) {
  switch (in.next() % 5) {
    case 0:
      return old_snapshot();
    case 1:
      return Py::dict({{"rank0", whole_snapshot(0)}, {"rank1", whole_snapshot(1)}});
    case 2:
      return whole_snapshot(0).without("device_traces");
    case 3:
      return whole_snapshot(1);
    default:
      return whole_snapshot(0);
  }
}

// A value with one of its parts, everywhere it is used, replaced by `change` of it.
class Replaced {
 public:
  using Change = std::function<Py(const Py&)>;

  [[nodiscard]] static Py at(const Py& root, size_t place, const Change& change) {
    Replaced replaced(place, change);
    return replaced.copy(root);
  }
  // Different objects in it.
  [[nodiscard]] static size_t count(const Py& root) {
    const Change nothing;
    Replaced replaced(~size_t{0}, nothing);
    (void)replaced.copy(root);
    return replaced.made_.size();
  }

 private:
  Replaced(size_t place, const Change& change) : place_(place), change_(change) {}

  Py copy(const Py& value) {
    const auto known = made_.find(&value.node());
    if (known != made_.end()) return known->second;
    const size_t here = made_.size();
    made_.emplace(&value.node(), value);
    Py made = value;
    const Py::Node& node = value.node();
    if (!node.items.empty()) {
      std::vector<Py> items;
      for (const Py& item : node.items) items.push_back(copy(item));
      made = node.kind == Py::Kind::list    ? Py::list(std::move(items))
             : node.kind == Py::Kind::tuple ? Py::tuple(std::move(items))
                                            : Py::dict_of(std::move(items));
    }
    if (here == place_) made = change_(made);
    made_.insert_or_assign(&node, made);
    return made;
  }

  size_t place_;
  const Change& change_;
  std::map<const Py::Node*, Py> made_;
};

inline Py with_items_of(const Py& like, std::vector<Py> items) {
  return like.node().kind == Py::Kind::tuple ? Py::tuple(std::move(items)) : Py::list(std::move(items));
}

// How many objects a reader meets, that of a shared one counted each time; no more than `most`.
inline size_t size_as_read(const Py& value, size_t most) {
  size_t size = 1 + value.node().text.size() / 64;
  for (const Py& item : value.node().items) {
    if (size >= most) return most;
    size += size_as_read(item, most - size);
  }
  return std::min(size, most);
}

inline Py changed(const Py& value, const Py& other, Choices& in) {
  const Py::Node& node = value.node();
  const bool is_row = node.kind == Py::Kind::list || node.kind == Py::Kind::tuple;
  const bool is_dict = node.kind == Py::Kind::dict && node.items.size() >= 2;
  switch (in.next() % 12) {
    case 0:
    case 1:
      return hostile_number(in);
    case 2:
    case 3:
      return hostile_text(in);
    case 4:
      return nullptr;
    case 5:
      return in.next() % 2 == 0 ? Py::list({}) : Py::dict({});
    case 6:
      return other;
    case 7:
      return in.next() % 2 == 0 ? Py::list({value}) : Py::tuple({value, other});
    case 8:  // items again and again
      if (is_row) {
        std::vector<Py> items;
        const size_t times = in.next();
        for (size_t i = 0; i <= times; ++i) items.insert(items.end(), node.items.begin(), node.items.end());
        return with_items_of(value, std::move(items));
      }
      return hostile_number(in);
    case 9:  // without one
      if (is_row && !node.items.empty()) {
        std::vector<Py> items = node.items;
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(in.below(items.size())));
        return with_items_of(value, std::move(items));
      }
      if (is_dict) return value.without(node.items[2 * in.below(node.items.size() / 2)].node().text);
      return hostile_text(in);
    case 10:  // two change places
      if (is_row && node.items.size() > 1) {
        std::vector<Py> items = node.items;
        std::swap(items[in.below(items.size())], items[in.below(items.size())]);
        return with_items_of(value, std::move(items));
      }
      return hostile_number(in);
    default:  // a little more or less
      if (node.kind == Py::Kind::integer)
        return static_cast<int64_t>(node.number + (in.next() - uint64_t{128}));
      if (is_dict) return value.with(node.items[2 * in.below(node.items.size() / 2)].node().text, other);
      return hostile_text(in);
  }
}

// Up to eight changes; one that makes the value large is left out.
inline Py hostile_snapshot(Choices& in) {
  constexpr size_t kMostObjects = 60'000;
  Py value = some_snapshot(in);
  for (int left = in.next() % 9; left > 0; --left) {
    const size_t count = Replaced::count(value);
    Py other;
    (void)Replaced::at(value, in.below(count), [&](const Py& one) { return other = one; });
    const Py next =
        Replaced::at(value, in.below(count), [&](const Py& one) { return changed(one, other, in); });
    if (size_as_read(next, kMostObjects) < kMostObjects) value = next;
  }
  return value;
}

// JSON text; what has no place there becomes null.
inline void append_json(std::string& out, const Py& value) {
  const Py::Node& node = value.node();
  switch (node.kind) {
    case Py::Kind::boolean:
      out += node.number != 0 ? "true" : "false";
      break;
    case Py::Kind::integer:
      out += std::to_string(static_cast<int64_t>(node.number));
      break;
    case Py::Kind::unsigned_integer:
      out += std::to_string(node.number);
      break;
    case Py::Kind::real:
      out += std::isfinite(node.real) ? std::to_string(node.real) : "null";
      break;
    case Py::Kind::text:
      out += '"';
      for (const char c : node.text) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
      }
      out += '"';
      break;
    case Py::Kind::list:
    case Py::Kind::tuple:
    case Py::Kind::dict: {
      const bool is_dict = node.kind == Py::Kind::dict;
      out += is_dict ? '{' : '[';
      for (size_t i = 0; i < node.items.size(); ++i) {
        if (i > 0) out += is_dict && i % 2 == 1 ? ':' : ',';
        append_json(out, node.items[i]);
      }
      out += is_dict ? '}' : ']';
      break;
    }
    default:
      out += "null";
  }
}

// A file of any kind that is read, with kinds mixed.
inline std::string mixed_file(Choices& in) {
  constexpr size_t kMost = size_t{64} << 10;
  KindMixer::Random random(static_cast<unsigned>(in.below(65'536)));
  const std::string_view document = kind_mixer().document(random);
  return kind_mixer().mix(document, random, kMost);
}

// The bytes of a file with such a snapshot: of any protocol, as JSON, sometimes cut; or of another kind.
inline std::string hostile_file(Choices& in) {
  const Py value = hostile_snapshot(in);
  std::string file;
  const uint8_t form = in.next() % 12;
  if (form >= 9) return mixed_file(in);
  if (form < std::size(kAllWriters)) {
    file = pickled(value, kAllWriters[form]);
  } else {
    append_json(file, value);
  }
  if (in.next() >= 240) file.resize(in.below(file.size() + 1));
  return file;
}

}  // namespace gpustrata::tests
