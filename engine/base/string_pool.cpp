#include "engine/base/string_pool.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "engine/base/hash.h"

namespace gpustrata {

namespace {
constexpr size_t kChunkBytes = size_t{1} << 18;  // small enough to waste little, large enough to be rare
constexpr size_t kFirstTable = 1024;
}  // namespace

StringPool::StringPool(Budget& budget) : budget_(&budget), entries_(budget), table_(budget) {}

StringPool::~StringPool() {
  for (const Chunk& chunk : chunks_) budget_->give_back(static_cast<int64_t>(chunk.size));
}

StringId StringPool::find(std::string_view text) const {
  if (table_.empty()) return {};
  const auto hash = static_cast<uint32_t>(hash_text(text));
  const size_t mask = table_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const int32_t id = table_[slot];
    if (id < 0) return {};
    const Entry& entry = entries_[id];
    if (entry.hash == hash && std::string_view{entry.data, entry.length} == text) return StringId{id};
  }
}

StringId StringPool::intern(std::string_view text) {
  if (entries_.size() * 2 >= table_.size() && !grow_table()) return {};
  const auto hash = static_cast<uint32_t>(hash_text(text));
  const size_t mask = table_.size() - 1;
  size_t slot = hash & mask;
  for (;; slot = (slot + 1) & mask) {
    const int32_t id = table_[slot];
    if (id < 0) break;
    const Entry& entry = entries_[id];
    if (entry.hash == hash && std::string_view{entry.data, entry.length} == text) return StringId{id};
  }
  const char* stored = store(text);
  if (stored == nullptr) return {};
  if (!entries_.push_back({stored, static_cast<uint32_t>(text.size()), hash})) return {};
  const StringId id{entries_.size() - 1};
  table_[slot] = id.value;
  return id;
}

bool StringPool::copy_from(const StringPool& other) {
  if (!table_.append(other.table_.span()) || !entries_.reserve(other.entries_.size())) return false;
  for (const Entry& entry : other.entries_) {
    const char* stored = store({entry.data, entry.length});
    if (stored == nullptr || !entries_.push_back({stored, entry.length, entry.hash})) return false;
  }
  return true;
}

bool StringPool::grow_table() {
  Column<int32_t> grown(*budget_);
  if (!grown.resize(table_.empty() ? kFirstTable : table_.size() * 2, -1)) return false;
  fill(grown);
  table_ = std::move(grown);
  return true;
}

// The table, whose slots are all free, gets every entry.
void StringPool::fill(Column<int32_t>& table) const {
  const size_t mask = table.size() - 1;
  for (size_t i = 0; i < entries_.size(); ++i) {
    size_t slot = entries_[i].hash & mask;
    while (table[slot] >= 0) slot = (slot + 1) & mask;
    table[slot] = static_cast<int32_t>(i);
  }
}

void StringPool::back_to(const Mark& mark) {
  if (entries_.size() == mark.entries) return;
  entries_.truncate(mark.entries);
  entries_.shrink_to_fit();
  table_.truncate(mark.table);
  table_.shrink_to_fit();
  std::fill_n(table_.data(), table_.size(), -1);
  fill(table_);
  for (; chunks_.size() > mark.chunks; chunks_.pop_back())
    budget_->give_back(static_cast<int64_t>(chunks_.back().size));
  chunk_used_ = mark.chunk_used;
}

const char* StringPool::store(std::string_view text) {
  if (chunks_.empty() || chunks_.back().size - chunk_used_ < text.size()) {
    const size_t size = text.size() > kChunkBytes ? text.size() : kChunkBytes;
    if (!budget_->take(static_cast<int64_t>(size))) return nullptr;
    std::unique_ptr<char[]> bytes(new (std::nothrow) char[size]);
    if (!bytes) {
      budget_->give_back(static_cast<int64_t>(size));
      budget_->note_refusal(static_cast<int64_t>(size));
      return nullptr;
    }
    chunks_.push_back({std::move(bytes), size});
    chunk_used_ = 0;
  }
  char* target = chunks_.back().bytes.get() + chunk_used_;
  if (!text.empty()) std::memcpy(target, text.data(), text.size());
  chunk_used_ += text.size();
  return target;
}

}  // namespace gpustrata
