// Numbers over time for a page, as JSON.
#pragma once

#include <functional>
#include <vector>

#include "engine/analysis/series/series_view.h"
#include "engine/answers/described/members.h"
#include "engine/replay/series/series_picture.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::SeriesPart& part);
// After a column; a value for each series.
void describe(Members& m, const model::Recording& recording, const analysis::SeriesMoment& moment);
void describe(Members& m, const analysis::FunctionCall& call);
// A column has the highest and the lowest of each series.
struct SeriesPicture {
  size_t series;
  std::function<std::vector<replay::SeriesColumn>(size_t)> columns_of;
};
void describe(Members& m, const SeriesPicture& picture);
void describe(Members& m, const replay::SeriesStack& stack);

}  // namespace gpustrata::answers
