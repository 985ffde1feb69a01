// Who holds the memory of a moment, as JSON; the rules of categories.
#pragma once

#include <string_view>

#include "engine/analysis/live/holders.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

struct HolderRows {
  size_t first = 0, count = 0;
};

// {"event","bytes","blocks","count","labelled","by_lifetime","rows":[{"key","label","file","line","bytes","blocks","lit_bytes","largest",
//  "sure"|null,"says","filter"|null}]}: rows from `first` on; "largest" = rank of the largest block; "sure" of a category only;
//  "says": what the rules of a category say, "by_lifetime": they are those of traces (category_rules.h);
//  "labelled": labels of the program or the profiler decided for some blocks.
void to_json(JsonWriter& json, const model::Recording& recording, const analysis::Holders& holders,
             const HolderRows& wanted);

// Of one block: {"name","sure"|null,"line"|null,"rule"|null}: the line of `text` that decided, from 1, as it stands there.
void category_to_json(JsonWriter& json, const analysis::CategoryRules& rules, uint8_t rule,
                      std::string_view text);

// {"names":[name],"rules","text"}
void to_json(JsonWriter& json, const analysis::CategoryRules& rules, std::string_view text);

}  // namespace gpustrata::answers
