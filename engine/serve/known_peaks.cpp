#include "engine/serve/known_peaks.h"

#include <algorithm>
#include <utility>

namespace gpustrata::serve {

namespace {

[[nodiscard]] bool is_same(const ListedFile& a, const ListedFile& b) {
  return a.shown.name == b.shown.name && a.stamp == b.stamp;
}

}  // namespace

int64_t KnownPeaks::look_up(std::vector<ListedFile>& files) {
  int64_t left = 0;
  wanted_.clear();
  for (ListedFile& file : files) {
    const auto found = known_.find(file.shown.name);
    if (found != known_.end() && is_same(found->second.file, file)) {
      file.shown.peak_bytes = found->second.known.peak_bytes;
      file.shown.error = found->second.known.error;
    } else if (file.shown.bytes <= kLargest && !file.is_being_written) {
      ++left;
      if (!examining_ || !is_same(*examining_, file)) wanted_.push_back(file);
    }
  }
  std::reverse(wanted_.begin(), wanted_.end());
  return left;
}

const ListedFile* KnownPeaks::take() {
  if (wanted_.empty()) return nullptr;
  examining_ = std::move(wanted_.back());
  wanted_.pop_back();
  return &*examining_;
}

void KnownPeaks::examined(Known known) {
  if (!examining_) return;
  const std::string name = examining_->shown.name;
  known_[name] = {std::move(*examining_), std::move(known)};
  examining_.reset();
}

}  // namespace gpustrata::serve
