#include "engine/io/encodings/pickle/memo.h"

#include <cstdlib>

namespace gpustrata::io::pickle {

namespace {
constexpr int64_t kPageBytes = (int64_t{1} << 15) * static_cast<int64_t>(sizeof(uint32_t));
}

Memo::~Memo() {
  for (uint32_t* page : pages_) {
    if (page != nullptr) budget_->give_back(kPageBytes);
    std::free(page);
  }
}

bool Memo::add_page(size_t page) {
  if (page >= pages_.size() && !pages_.resize(page + 1, nullptr)) return false;
  if (!budget_->take(kPageBytes)) return false;
  pages_[page] = static_cast<uint32_t*>(std::calloc(1, static_cast<size_t>(kPageBytes)));
  if (pages_[page] != nullptr) return true;
  budget_->give_back(kPageBytes);
  budget_->note_refusal(kPageBytes);
  return false;
}

bool Memo::add_next_pages(uint32_t count) {
  for (size_t page = used_ >> kPageBits; page <= (used_ + count - 1) >> kPageBits; ++page) {
    if ((page >= pages_.size() || pages_[page] == nullptr) && !add_page(page)) return false;
  }
  return true;
}

bool Memo::put_aside(uint32_t& handle, const Value& value) {
  const auto in_side_table = static_cast<uint32_t>(Tag::in_side_table) << kIdBits;
  if (handle >> kIdBits == static_cast<uint32_t>(Tag::in_side_table)) {
    side_[handle & kIdMask] = value;
    return true;
  }
  if (side_.size() > kIdMask || !side_.push_back(value)) return false;
  handle = in_side_table | static_cast<uint32_t>(side_.size() - 1);
  return true;
}

}  // namespace gpustrata::io::pickle
