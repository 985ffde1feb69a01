// What of a report matters, in sentences, the most important first; each sentence names what proves it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/analysis/report/report.h"
#include "engine/answers/described/members.h"

namespace gpustrata::answers {

// What proves a sentence: an event, the rank of a block, blocks that a filter means, an answer that tells more
// ("oom", "leaks", "fragmentation").
struct Proof {
  std::optional<int32_t> event = std::nullopt, rank = std::nullopt;
  std::optional<std::string> filter = std::nullopt;
  std::string_view more = {};
};
struct Sentence {
  std::string text;
  Proof proof;
};

struct PartOfFinding {
  std::string who;
  int64_t bytes = 0, blocks = 0;
  Proof proof;
};

struct ReportFinding {
  // "oom", "leaks", "peak", "fragmentation", "reserved", "retries", "flushes", "before", "end", "no-...", "recording"
  std::string kind;
  std::string title;
  std::string value;             // what it comes to
  std::optional<int64_t> bytes;  // the same, exactly
  bool bad = false;              // something went wrong
  std::vector<Sentence> says;
  std::vector<PartOfFinding> parts;  // with the rest they add up to `bytes`
  std::string rest;                  // empty = nothing else
  std::string code;                  // a setting that helps, or a line of Python that records it next time
};

// What went wrong first; then the peak; then what is remarkable, and only that; at last what was not recorded, and the
// recording itself.
[[nodiscard]] std::vector<ReportFinding> findings_of(const analysis::EventContext& context,
                                                     const analysis::Report& report);

void describe(Members& m, const ReportFinding& finding);

// What is not worth a word where nothing asks for it.
[[nodiscard]] bool is_worth_saying(const analysis::Fragmentation& fragmentation);
[[nodiscard]] bool is_worth_saying(const analysis::ReservedUse& use);

// "27.1 GiB requested, 12.0 MiB rounding, 4.0 GiB cached."
[[nodiscard]] std::string reserved_use_text(const analysis::ReservedUse& use);
// A sentence for each kind there is.
[[nodiscard]] std::vector<std::string> flushes_texts(const analysis::CacheFlushes& flushes);
// "At this rate the 8.0 GiB available to this process are full after 30 more steps at most." Known is what it could
// have where a request failed and the program went on. What was in use when the last step began comes back with every step,
// and the leaks on top of it; what a step needs besides, and fragmentation, are left out, so it is at most. Empty if nothing
// says so, or if all that leaked is freed.
[[nodiscard]] std::string full_text(const analysis::EventContext& context, const analysis::Report& report);
// "after event 57", "before the first event"
[[nodiscard]] std::string after_text(int32_t event);
// "event 57", "before the first event"
[[nodiscard]] std::string since_text(int32_t event);

}  // namespace gpustrata::answers
