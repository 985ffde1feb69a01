// Numbers over time in words, for `memstrata summary`.
#pragma once

#include <string>

#include "engine/analysis/series_summary.h"

namespace memstrata::cli {

// Lines of at most `columns`.
void append_series(std::string& out, const analysis::SeriesSummary& series, size_t columns);

}  // namespace memstrata::cli
