// Gathered stacks, told to a journal once each.
//
// Python frames have their names. C++ frames are told as they can be without reading symbol tables, which takes minutes:
// "libtorch.so+0x1234" of the file that it lies in. They stand before the Python frames that called them, as where the interpreter's
// loop has no name (named_stacks.h).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "capture/recorder/journal.h"
#include "capture/stacks/modules.h"
#include "capture/stacks/raw_stacks.h"

namespace gpustrata::capture {

class JournalStacks {
 public:
  JournalStacks(Journal& journal, const RawStacks& raw) : journal_(journal), raw_(raw) {}

  // The journal's number of a stack of `raw`. Safe from any thread; takes memory for stacks that are new only.
  [[nodiscard]] StackId operator()(StackId raw);

 private:
  static constexpr int32_t kNotTold = -2;
  // More than RawStacks has room for.
  static constexpr size_t kPageStacks = size_t{1} << 14, kMostPages = size_t{1} << 10;
  using Page = std::array<std::atomic<int32_t>, kPageStacks>;
  [[nodiscard]] StackId tell(StackId raw);
  [[nodiscard]] FrameId frame(uint64_t address);

  Journal& journal_;
  const RawStacks& raw_;
  std::mutex lock_;  // of what is new
  // By number in `raw`: read without the lock, by every event.
  std::array<std::atomic<Page*>, kMostPages> pages_{};
  std::vector<std::unique_ptr<Page>> owned_;
  std::vector<Module> modules_;
};

}  // namespace gpustrata::capture
