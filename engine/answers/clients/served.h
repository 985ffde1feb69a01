// What a server tells of the files it serves, beside the answers to questions about them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/answers/described/members.h"
#include "engine/base/status.h"

namespace gpustrata::answers {

struct ServedFile {
  std::string name;
  int64_t bytes = 0;
  int64_t modified_us = 0;
  std::optional<int64_t> peak_bytes;  // the highest of its devices; none = not known (yet)
  std::string error;                  // why it cannot be shown
};

struct ServedFiles {
  std::string_view version, served;  // of the program; the folder or file
  bool left_out = false;             // there are more files
  int64_t to_examine = 0;            // whose peaks are being found out
  std::vector<ServedFile> files;     // the highest peak first, those without behind, by name
};
void describe(Members& m, const ServedFiles& served);

// A file that was opened: how far the server has read it.
struct Reading {
  bool is_ready = false;
  int64_t bytes = 0, total = 0, events = 0;
  std::optional<Error> error;
};
void describe(Members& m, const Reading& reading);

struct OpenedSession {
  std::string_view session, name;
};
void describe(Members& m, const OpenedSession& opened);

struct Refused {
  Error error;
};
void describe(Members& m, const Refused& refused);

}  // namespace gpustrata::answers
