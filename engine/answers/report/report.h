// What `gpustrata report` says of a device, as JSON.
#pragma once

#include <functional>
#include <string_view>

#include "engine/analysis/report/report.h"
#include "engine/answers/described/members.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// "annotations", "regions", "loop"; empty for nothing, which JSON gives as null.
[[nodiscard]] std::string_view name_of(analysis::StepsFrom from);

// A device: of the snapshot with that name, empty if it has none.
struct DeviceReport {
  std::string_view snapshot;
  const analysis::Report& report;
  const analysis::CategoryRules& rules;
};
void describe(Members& m, const analysis::EventContext& context, const DeviceReport& device);

// A file, a device at a time: only one is held.
using AddDevice = std::function<void(const analysis::EventContext&, const DeviceReport&)>;
struct ReportLine {
  std::string_view file, format;
  std::function<void(const AddDevice&)> devices;
  const model::Diagnostics& diagnostics;  // of these, too
};
void describe(Members& m, const ReportLine& line);

}  // namespace gpustrata::answers
