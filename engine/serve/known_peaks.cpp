#include "engine/serve/known_peaks.h"

#include <algorithm>
#include <utility>

namespace gpustrata::serve {

namespace {

[[nodiscard]] bool is_same(const answers::ServedFile& a, const answers::ServedFile& b) {
  return a.name == b.name && a.bytes == b.bytes && a.modified_us == b.modified_us;
}

}  // namespace

int64_t KnownPeaks::look_up(std::vector<answers::ServedFile>& files) {
  int64_t left = 0;
  wanted_.clear();
  for (answers::ServedFile& file : files) {
    const auto found = known_.find(file.name);
    if (found != known_.end() && is_same(found->second.file, file)) {
      file.peak_bytes = found->second.known.peak_bytes;
      file.error = found->second.known.error;
    } else if (file.bytes <= kLargest) {
      ++left;
      if (!examining_ || !is_same(*examining_, file)) wanted_.push_back(file);
    }
  }
  std::reverse(wanted_.begin(), wanted_.end());
  return left;
}

const answers::ServedFile* KnownPeaks::take() {
  if (wanted_.empty()) return nullptr;
  examining_ = std::move(wanted_.back());
  wanted_.pop_back();
  return &*examining_;
}

void KnownPeaks::examined(Known known) {
  if (!examining_) return;
  const std::string name = examining_->name;
  known_[name] = {std::move(*examining_), std::move(known)};
  examining_.reset();
}

}  // namespace gpustrata::serve
