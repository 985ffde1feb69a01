#include "capture/recorder/journal_stacks.h"

#include <fmt/core.h>

namespace gpustrata::capture {

StackId JournalStacks::operator()(StackId raw) {
  if (raw.is_none() || raw.index() >= kMostPages * kPageStacks) return {};
  std::atomic<Page*>& place = pages_[raw.index() / kPageStacks];
  const size_t row = raw.index() % kPageStacks;
  if (const Page* const page = place.load(std::memory_order_acquire)) {
    if (const int32_t told = (*page)[row].load(std::memory_order_acquire); told != kNotTold)
      return StackId(told);
  }
  const std::lock_guard guard(lock_);
  Page* page = place.load(std::memory_order_relaxed);
  if (page == nullptr) {
    page = owned_.emplace_back(std::make_unique<Page>()).get();
    for (std::atomic<int32_t>& one : *page) one.store(kNotTold, std::memory_order_relaxed);
    place.store(page, std::memory_order_release);
  }
  std::atomic<int32_t>& own = (*page)[row];
  int32_t told = own.load(std::memory_order_relaxed);
  if (told == kNotTold) {
    told = tell(raw).value;
    own.store(told, std::memory_order_release);
  }
  return StackId(told);
}

StackId JournalStacks::tell(StackId raw) {
  const RawStacks::Kept kept = raw_.get(raw);
  std::vector<FrameId> frames;
  if (modules_.empty() && !kept.addresses.empty()) modules_ = loaded_modules();
  const Module* const own = module_of(modules_, reinterpret_cast<uint64_t>(&loaded_modules));
  bool inside = true;  // of this library: left out, unless there is nothing else
  for (const uint64_t address : kept.addresses) {
    inside = inside && own != nullptr && module_of(modules_, address) == own;
    if (!inside) frames.push_back(frame(address));
  }
  for (const trace::Frame& row : kept.python)
    frames.push_back(journal_.frame(raw_.text(row.name), raw_.text(row.filename), row.line));
  return journal_.stack(frames);
}

FrameId JournalStacks::frame(uint64_t address) {
  const Module* module = module_of(modules_, address);
  if (module == nullptr) {  // loaded since
    modules_ = loaded_modules();
    module = module_of(modules_, address);
  }
  if (module == nullptr) return journal_.frame(fmt::format("{:#x}", address), "??", 0);
  return journal_.frame(fmt::format("{}+{:#x}", module->name(), address - module->base), module->path, 0);
}

}  // namespace gpustrata::capture
