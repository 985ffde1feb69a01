// What is in a file, what was noticed while reading it, and why it could not be read: JSON of `memstrata
// summary` and of failures. The shape is in engine/cli/README.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/analysis/summary.h"
#include "engine/base/json_writer.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace memstrata::answers {

// A sentence, and what the first of its kind was.
[[nodiscard]] std::string finding_text(const analysis::Finding& finding);
// As an array: [{"name","severity","count","first_offset","text"}], with "first_in" and "file_offset" where
// the finding lies inside of something that the file holds.
void findings_to_json(JsonWriter& json, std::span<const analysis::Finding> findings);

// {"file","format","bytes","snapshots":[...],"diagnostics":[...]} on one line, without a newline.
[[nodiscard]] std::string summary_json(const analysis::Summary& summary, std::string_view file);
[[nodiscard]] Result<std::string> summary_json(const model::Recording& recording, std::string_view file);
// {"file","error":{"code","message","offset"}} on one line; offset null where it does not apply; "inside"
// names what the offset counts in, if that is not the file itself.
[[nodiscard]] std::string error_json(const Error& error, std::string_view file);
[[nodiscard]] std::string error_json(std::string_view code, std::string_view message, int64_t offset,
                                     std::string_view inside, std::string_view file);

}  // namespace memstrata::answers
