// The files that a server may read: those it was started with, and those below its folders. Read only.
//
// A name from outside is resolved by the system, links included; what is open then is asked where it lies, so that no
// change of a link in between leads out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/answers/clients/served.h"
#include "engine/base/status.h"
#include "engine/serve/journal_head.h"

namespace gpustrata::serve {

// Closes what it holds.
class OpenFile {
 public:
  OpenFile() = default;
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  ~OpenFile();
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

// Which file it is, and which content it has: where the system keeps it, its size, when its bytes and when anything of it
// changed (which programs cannot set back). A journal is mapped by who writes it, which moves no time: how far it is written.
struct Stamp {
  uint64_t device = 0, inode = 0;
  int64_t bytes = 0, modified_ns = 0, changed_ns = 0;
  std::optional<JournalHead> journal = std::nullopt;
  bool operator==(const Stamp&) const = default;
};

struct FoundFile {
  OpenFile file;
  int64_t bytes = 0;
  int64_t modified_us = 0;
  Stamp stamp;
};

// As the list has it.
struct ListedFile {
  answers::ServedFile shown;
  Stamp stamp;
  bool is_being_written = false;  // a journal, by a process that runs
};

// Names are bytes, the list is text: bytes that are no UTF-8 are shown as \xHH.
[[nodiscard]] std::string shown_name(std::string_view name);
// What such a name may stand for; as it is if it has none of these.
[[nodiscard]] std::string bytes_of_shown(std::string_view shown);

class Files {
 public:
  // Paths of files and folders. Error: wrong_usage, what cannot be served.
  [[nodiscard]] static Result<Files> of(const std::vector<std::string>& paths);

  // A file by its name, or as list() shows it. Error: wrong_usage, in words for who asked.
  [[nodiscard]] Result<FoundFile> open(std::string_view name) const;
  // By name; of folders those that may be snapshots. At most kMostFiles, `left_out` says if there are more.
  [[nodiscard]] std::vector<ListedFile> list(bool& left_out) const;
  // Names of the journals among them, in their order.
  [[nodiscard]] std::vector<std::string> journals() const;
  // What is served, for people.
  [[nodiscard]] std::string about() const;

  static constexpr size_t kMostFiles = 10'000;

 private:
  struct Root {
    std::string name;  // of a file; of a folder, what its files' names begin with
    std::string path;  // without links
    bool is_folder = false;
  };
  [[nodiscard]] Result<FoundFile> open_exact(std::string_view name) const;
  void look_inside(ListedFile& file, std::string_view name) const;
  // take(root, name below it, status) of each that may be a snapshot.
  template <typename Take>
  void walk(bool& left_out, const Take& take) const;
  [[nodiscard]] Result<FoundFile> open_below(const Root& folder, std::string_view name) const;

  std::vector<Root> roots_;
};

}  // namespace gpustrata::serve
