// What `gpustrata report` says of a device, as JSON.
#pragma once

#include <string_view>

#include "engine/analysis/report/report.h"
#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"
#include "engine/base/json_writer.h"
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

// {"file","format","devices":[these],"diagnostics"} as a line, a device at a time.
class ReportLine {
 public:
  ReportLine(TextOut& out, std::string_view file, std::string_view format);
  void add(std::string_view snapshot, const analysis::EventContext& context, const analysis::Report& report,
           const analysis::CategoryRules& rules);
  void end(const model::Diagnostics& diagnostics);

 private:
  TextOut& out_;
  JsonWriter json_;
};

}  // namespace gpustrata::answers
