#include "capture/stacks/named_stacks.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/stacks/modules.h"

namespace gpustrata::capture {

namespace {

constexpr std::string_view kInterpreterLoop = "_PyEval_EvalFrameDefault";

class Namer {
 public:
  Namer(const RawStacks& raw, model::Recording& recording, Symbols& symbols, const void* also_own)
      : raw_(raw),
        rec_(recording),
        symbols_(symbols),
        ids_(raw.size()),
        kept_(raw.size()),
        also_own_(also_own == nullptr ? own_ : module_of(modules_, reinterpret_cast<uint64_t>(also_own))) {}

  [[nodiscard]] bool run(double seconds) {
    std::vector<bool> used(raw_.size());
    each_column([&](StackId& id) {
      if (!id.is_none()) used[id.index()] = true;
    });
    std::vector<uint64_t> addresses;
    for (size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) continue;
      kept_[i] = raw_.get(StackId(i));
      drop_own_frames(kept_[i].addresses);
      addresses.insert(addresses.end(), kept_[i].addresses.begin(), kept_[i].addresses.end());
    }
    symbols_.resolve(addresses, seconds);
    rec_.frames = trace::FrameTable(rec_.budget);
    rec_.stacks = trace::StackTable(rec_.budget);
    for (size_t i = 0; i < used.size(); ++i) {
      if (used[i] && !name(i)) return false;
    }
    each_column([&](StackId& id) {
      if (!id.is_none()) id = ids_[id.index()];
    });
    return true;
  }

 private:
  struct NamedAddress {
    std::vector<FrameId> frames;
    bool is_loop = false;
  };

  template <typename Action>
  void each_column(Action&& action) {
    for (StackId& id : rec_.events.stack.span()) action(id);
    for (StackId& id : rec_.blocks.stack.span()) action(id);
    for (StackId& id : rec_.segments.stack.span()) action(id);
  }

  // Of the leading frames; not if there is nothing else (a program that this library is linked into).
  void drop_own_frames(std::vector<uint64_t>& addresses) const {
    const auto first = std::find_if(addresses.begin(), addresses.end(), [this](uint64_t address) {
      const Module* const module = module_of(modules_, address);
      return module != own_ && module != also_own_;
    });
    if (first != addresses.end()) addresses.erase(addresses.begin(), first);
  }

  [[nodiscard]] FrameId frame(std::string_view name, std::string_view filename, int32_t line) {
    trace::Frame row;
    row.name = rec_.strings.intern(name);
    row.filename = rec_.strings.intern(filename);
    row.line = line;
    if (row.name.is_none() || row.filename.is_none()) return {};
    return rec_.frames.intern(row);
  }

  [[nodiscard]] const NamedAddress& at(uint64_t address) {
    const auto [found, is_new] = known_.try_emplace(address);
    NamedAddress& named = found->second;
    if (is_new) {
      for (const NamedFrame& row : symbols_.frames(address)) {
        named.frames.push_back(frame(row.name, row.filename, row.line));
        named.is_loop |= row.name.find(kInterpreterLoop) != std::string::npos;
      }
    }
    return named;
  }

  [[nodiscard]] bool name(size_t id) {
    const RawStacks::Kept& kept = kept_[id];
    size_t loops = 0;
    for (const uint64_t address : kept.addresses) loops += at(address).is_loop ? 1 : 0;
    std::vector<FrameId> frames;
    size_t next = 0;  // Python frame
    const auto add_python = [&](size_t count) {
      for (; count > 0 && next < kept.python.size(); --count, ++next) {
        const trace::Frame& row = kept.python[next];
        frames.push_back(frame(raw_.text(row.name), raw_.text(row.filename), row.line));
      }
    };
    for (const uint64_t address : kept.addresses) {
      const NamedAddress& named = at(address);
      if (named.is_loop) add_python(--loops == 0 ? kept.python.size() : 1);
      frames.insert(frames.end(), named.frames.begin(), named.frames.end());
    }
    add_python(kept.python.size());
    if (std::any_of(frames.begin(), frames.end(), [](FrameId f) { return f.is_none(); })) return false;
    ids_[id] = rec_.stacks.intern(frames);
    return !ids_[id].is_none();
  }

  const RawStacks& raw_;
  model::Recording& rec_;
  Symbols& symbols_;
  std::vector<StackId> ids_;
  std::vector<RawStacks::Kept> kept_;
  std::vector<Module> modules_ = loaded_modules();
  const Module* own_ = module_of(modules_, reinterpret_cast<uint64_t>(&name_stacks));
  const Module* also_own_;
  std::unordered_map<uint64_t, NamedAddress> known_;
};

}  // namespace

Status name_stacks(const RawStacks& raw, model::Recording& recording, Symbols& symbols, double seconds,
                   const void* also_own) {
  if (Namer(raw, recording, symbols, also_own).run(seconds)) return {};
  return fail(ErrorCode::limit_exceeded, -1, "no memory for the stacks of the snapshot: {} bytes are allowed",
              recording.budget.limit());
}

}  // namespace gpustrata::capture
