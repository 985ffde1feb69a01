// Which of the files that are listed have been examined, and which are still to be. No thread and no lock: peaks.h.
//
// A file is its name and stamp, as the list has them: one that cannot be opened is known as well, with the
// reason, until it changes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/serve/files.h"

namespace gpustrata::serve {

class KnownPeaks {
 public:
  struct Known {
    std::optional<int64_t> peak_bytes;  // none: it cannot be read, or holds no snapshot
    std::string error;
  };

  // Fills in what is known of the files. The others are to be examined, in the order of the list, and no longer those of an
  // earlier list. How many they are, with the one that is being examined.
  [[nodiscard]] int64_t look_up(std::vector<ListedFile>& files);
  // The next one to examine, until `examined` is called; null: there is none. Valid until then.
  [[nodiscard]] const ListedFile* take();
  void examined(Known known);
  [[nodiscard]] bool has_more() const { return !wanted_.empty(); }

  // Larger files are examined when they are opened only; so are those that are being written.
  static constexpr int64_t kLargest = int64_t{1} << 30;

 private:
  struct Examined {
    ListedFile file;  // as it was listed
    Known known;
  };
  std::map<std::string, Examined, std::less<>> known_;
  std::vector<ListedFile> wanted_;  // taken from the end
  std::optional<ListedFile> examining_;
};

}  // namespace gpustrata::serve
