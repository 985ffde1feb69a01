// Whether the process that a journal names still writes it.
#pragma once

#include <cstdint>
#include <optional>

namespace gpustrata::serve {

// Of one journal. A number may be another process's by now: the first time it is looked up whether that process has the file
// mapped, later whether it is still the same one.
class Writer {
 public:
  // True where the system does not tell: nobody is called dead who may be alive.
  [[nodiscard]] bool writes(int64_t process, uint64_t inode);

 private:
  std::optional<uint64_t>
      started_;  // of the process that was found to write it, in ticks since the machine's start
};

}  // namespace gpustrata::serve
