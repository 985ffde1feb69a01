// Arguments of questions: the only place where numbers, ids, texts and sizes from outside are checked.
//
// A signature says what a question takes, in the words of TypeScript: "columns: Columns, filter?: Text".
// Names of types are those of kTypes (arguments.cpp); `?` = may be left out; `[]` = a list. After check()
// everything is there, of its type and within its limits; the accessors only fetch it.
//
// Refused in words: what is missing, has another type, is unknown, is not a whole number where one is meant,
// lies outside of its limits; an event or a rank that the view does not have.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/analysis/calls/carried_calls.h"
#include "engine/analysis/compare/carried_stacks.h"
#include "engine/analysis/fit/carried_requests.h"
#include "engine/analysis/steps/step_levels.h"
#include "engine/analysis/what_if/what_if.h"
#include "engine/base/json_value.h"
#include "engine/base/status.h"
#include "engine/replay/series/series_picture.h"
#include "engine/replay/state_layout.h"
#include "engine/replay/timeline.h"
#include "engine/session/view.h"

namespace gpustrata::session {

// What types mean whose limits depend on the view.
struct Limits {
  int32_t events = 0;
  int32_t ranks = 0;
};

// A scenario as it was asked for: analysis::Scenario needs the recording.
struct AskedScenario {
  std::optional<std::string_view> conf;
  std::optional<int64_t> capacity;
  std::vector<analysis::Change> changes;
  std::vector<analysis::ExtraRequest> extra;
  std::vector<int32_t> empty_cache_after;
  bool caching = true;
};

// A recording of a fit.
struct AskedFitRecording {
  std::string_view file;
  std::vector<double> values;  // of the parameters
};

struct AskedColumns {
  analysis::LevelAxis axis = analysis::LevelAxis::event;
  replay::SeriesGrid grid;
  std::string_view region;  // the name of regions
};

class Arguments {
 public:
  // Refers to both. Error: wrong_usage.
  [[nodiscard]] static Result<Arguments> check(std::string_view signature, const JsonValue& given,
                                               const Limits& limits);

  [[nodiscard]] bool has(std::string_view name) const;  // of those that may be left out
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] int64_t whole(std::string_view name) const;
  [[nodiscard]] int32_t integer(std::string_view name) const;
  [[nodiscard]] std::string_view text(std::string_view name) const;
  [[nodiscard]] std::vector<int32_t> integers(std::string_view name) const;
  [[nodiscard]] std::vector<double> reals(std::string_view name) const;
  [[nodiscard]] std::vector<std::string_view> texts(std::string_view name) const;
  [[nodiscard]] std::vector<uint32_t> colours(std::string_view name) const;  // none if it was left out
  // Number of a word in the list of its type.
  template <typename Enum>
  [[nodiscard]] Enum word(std::string_view name) const {
    return static_cast<Enum>(word_index(name));
  }
  template <typename Enum>
  [[nodiscard]] std::vector<Enum> words(std::string_view name) const {
    std::vector<Enum> found;
    for (const int index : word_indices(name)) found.push_back(static_cast<Enum>(index));
    return found;
  }

  [[nodiscard]] replay::ColumnGrid columns(std::string_view name) const;
  [[nodiscard]] AskedColumns level_columns(std::string_view name) const;
  [[nodiscard]] replay::SeriesGrid stretch(std::string_view name) const;
  [[nodiscard]] replay::RowGrid rows(std::string_view name) const;
  [[nodiscard]] replay::StateWindow window(std::string_view name) const;
  [[nodiscard]] TreeWanted call_tree(std::string_view name) const;
  [[nodiscard]] Look look(std::string_view name) const;
  [[nodiscard]] AskedScenario scenario(std::string_view name) const;
  // Error: wrong_usage (lists of different lengths), limit_exceeded.
  [[nodiscard]] Result<analysis::CarriedStacks> carried_stacks(std::string_view name, Budget& budget) const;
  [[nodiscard]] Result<analysis::CarriedCalls> carried_calls(std::string_view name, Budget& budget) const;
  // Of a part, whose numbers are checked where it is told. Errors: the same.
  [[nodiscard]] Result<analysis::CarriedRequests> carried_requests(std::string_view name,
                                                                   Budget& budget) const;
  [[nodiscard]] std::vector<AskedFitRecording> fit_recordings(std::string_view name) const;
  [[nodiscard]] std::vector<std::vector<double>> fit_points(std::string_view name) const;

 private:
  Arguments(std::string_view signature, const JsonValue& given) : signature_(signature), given_(&given) {}
  [[nodiscard]] const JsonValue& value(std::string_view name) const;  // null if it was left out
  [[nodiscard]] int word_index(std::string_view name) const;
  [[nodiscard]] std::vector<int> word_indices(std::string_view name) const;
  [[nodiscard]] Arguments object(std::string_view name) const;

  std::string_view signature_;
  const JsonValue* given_;
};

// True if every type of a signature exists; for the test of the table.
[[nodiscard]] bool is_signature(std::string_view signature);

}  // namespace gpustrata::session
