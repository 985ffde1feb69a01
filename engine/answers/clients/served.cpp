#include "engine/answers/clients/served.h"

#include "engine/answers/common/failure.h"

namespace gpustrata::answers {

namespace {

constexpr auto kJournalStates = words_up_to<JournalState::left>("written", "closed", "left");

void describe_place(Members& m, const ServedJournal& journal) {
  m.microseconds({"started_us", "Tells one run from another that writes a file of the same name."},
                 journal.started_us);
  m.count({"position", "Byte behind the last record."}, journal.position);
  m.count({"events", "Told so far; null: not counted."}, journal.events);
}

}  // namespace

void describe(Members& m, const ServedJournals& served) {
  m.is({"ServedJournals", "The journals that a server has, and how far each is written."});
  m.list({"journals", "By name."}, served.journals, [&](const ServedJournal& journal) {
    m.text("name", journal.name);
    m.word({"state", "`left`: never closed, and no process of the server's machine writes it."},
           kJournalStates, journal.state);
    m.count({"process", "Its number."}, journal.process);
    describe_place(m, journal);
  });
}

void describe(Members& m, const ServedFiles& served) {
  m.is({"ServedFiles", "What a server (`gpustrata serve`) says that it serves."});
  m.text("version", served.version);
  m.text({"served", "Folder or file, as the server names it."}, served.served);
  m.flag({"left_out", "There are more files."}, served.left_out);
  m.count({"to_examine", "Files whose peaks are still being found out."}, served.to_examine);
  m.list({"files", "The highest peak first."}, served.files, [&](const ServedFile& file) {
    m.text("name", file.name);
    m.bytes("bytes", file.bytes);
    m.microseconds("modified_us", file.modified_us);
    m.bytes({"peak_bytes", "Null: not known (yet)."}, file.peak_bytes);
    if (const auto there = m.when(!file.error.empty()))
      m.text({"error", "Why it cannot be shown."}, file.error);
  });
}

void describe(Members& m, const Reading& reading) {
  m.is({"ServedReading", "How far a server has read a file."});
  m.flag("ready", reading.is_ready);
  m.bytes("bytes", reading.bytes);
  m.bytes("total", reading.total);
  m.count("events", reading.events);
  m.object({"journal", "How far it was written when it was read; null: it is no journal, or not known yet."},
           reading.journal, [&](const ServedJournal& journal) {
             m.flag({"closed", "By its program: nothing follows."}, journal.state == JournalState::closed);
             describe_place(m, journal);
           });
  if (const auto there = m.when(reading.error.has_value()))
    m.object("error", [&] { describe(m, reading.error.value_or(Error())); });
}

void describe(Members& m, const OpenedSession& opened) {
  m.is({"ServedSession", "A file that a server has opened."});
  m.text("session", opened.session);
  m.text("name", opened.name);
}

void describe(Members& m, const Refused& refused) {
  m.is({"ServedRefusal", "Why a server has not opened a file."});
  m.object("error", [&] { describe(m, refused.error); });
}

}  // namespace gpustrata::answers
