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

// A journal that a server lists: how far it is written, and by whom.
enum class JournalState : uint8_t {
  written,  // its process runs
  closed,   // by its program: nothing follows
  left,     // never closed, and no process of this machine writes it
};
struct ServedJournal {
  std::string name;
  JournalState state = JournalState::written;
  int64_t process = 0;
  int64_t started_us = 0;         // tells one run from another that writes a file of the same name
  int64_t position = 0;           // behind the last record
  std::optional<int64_t> events;  // told so far; none = not counted
};
struct ServedJournals {
  std::vector<ServedJournal> journals;  // by name
};
void describe(Members& m, const ServedJournals& served);

// A file that was opened: how far the server has read it.
struct Reading {
  bool is_ready = false;
  int64_t bytes = 0, total = 0, events = 0;
  std::optional<ServedJournal> journal;  // how far it was written when it was read; none = it is no journal
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
