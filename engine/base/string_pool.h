// Strings interned by content: equal bytes, equal id. Bytes are kept as they came, also when they are not
// UTF-8. O(length) per lookup. Memory is charged to the budget.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/base/column.h"
#include "engine/base/ids.h"

namespace gpustrata {

class StringPool {
 public:
  explicit StringPool(Budget& budget);
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;
  ~StringPool();

  // None if the budget refuses.
  [[nodiscard]] StringId intern(std::string_view text);
  // None if the text was never interned.
  [[nodiscard]] StringId find(std::string_view text) const;
  // Empty for none. Valid as long as the pool.
  [[nodiscard]] std::string_view view(StringId id) const {
    return id.is_none() ? std::string_view{}
                        : std::string_view{entries_[id.index()].data, entries_[id.index()].length};
  }
  [[nodiscard]] size_t size() const { return entries_.size(); }
  // The same texts under the same ids. Must be empty. False if the budget refuses; then it is of no use.
  [[nodiscard]] bool copy_from(const StringPool& other);

  // What is there now; back_to() forgets the texts that came later, and gives their memory back.
  struct Mark {
    size_t entries = 0, table = 0, chunks = 0, chunk_used = 0;
  };
  [[nodiscard]] Mark mark() const { return {entries_.size(), table_.size(), chunks_.size(), chunk_used_}; }
  void back_to(const Mark& mark);

 private:
  struct Entry {
    const char* data;
    uint32_t length;
    uint32_t hash;
  };
  [[nodiscard]] bool grow_table();
  void fill(Column<int32_t>& table) const;
  [[nodiscard]] const char* store(std::string_view text);

  Budget* budget_;
  Column<Entry> entries_;
  Column<int32_t> table_;  // open addressing, power of two, -1 = free
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };
  std::vector<Chunk> chunks_;
  size_t chunk_used_ = 0;
};

}  // namespace gpustrata
