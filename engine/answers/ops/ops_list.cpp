// A window of an op table, for a page.
#include <fmt/core.h>

#include <algorithm>

#include "engine/answers/ops/ops.h"
#include "engine/answers/text/bounded.h"
#include "engine/base/saturating.h"

namespace gpustrata::answers {

using analysis::OpBy;
using analysis::OpGroups;

namespace {

constexpr size_t kShownAround = 12;  // names
constexpr size_t kTermsAround = 24;  // of a filter, which takes 64
constexpr size_t kLongestTerm = 300;
constexpr size_t kLongestFilter = 4000;  // the language allows 4096 bytes

// What else tells the group: the ops around it, shapes, module, stack.
[[nodiscard]] std::string detail_of(const model::Recording& recording, const OpGroups& groups,
                                    int32_t group) {
  if (const StringId text = groups.text(group); !text.is_none()) return in_list(recording.strings.view(text));
  std::string names;
  for (const StringId name : groups.around(group, kShownAround)) {
    names += names.empty() ? "in " : " in ";
    names += in_list(recording.strings.view(name));
  }
  return names;
}

// True: the term was added. What the language cannot quote is left out.
bool add_term(std::string& filter, std::string_view field, std::string_view text) {
  if (text.empty() || text.size() > kLongestTerm || text.find('"') != std::string_view::npos) return false;
  const std::string term = fmt::format("{}{}:\"{}\"", filter.empty() ? "" : " ", field, text);
  if (filter.size() + term.size() > kLongestFilter) return false;
  filter += term;
  return true;
}

// The blocks that were allocated in the op; empty: no filter can say it.
[[nodiscard]] std::string filter_of(const model::Recording& recording, const OpGroups& groups,
                                    int32_t group) {
  std::string filter;
  if (!add_term(filter, "op", recording.strings.view(groups.name(group)))) return {};
  if (groups.by() == OpBy::module && !groups.text(group).is_none())
    add_term(filter, "stack", recording.strings.view(groups.text(group)));
  const bool of_ops = groups.by() == OpBy::path;
  if (!of_ops && groups.by() != OpBy::stack) return filter;
  for (const StringId name : groups.around(group, kTermsAround))
    add_term(filter, of_ops ? "op" : "stack", recording.strings.view(name));
  return filter;
}

void device_to_json(JsonWriter& json, const analysis::OpDevice* device) {
  json.key("device");
  if (device == nullptr) return json.null();
  json.begin_object();
  json.member("device", device->name);
  json.member("records", device->records);
  json.member("allocs", device->allocs);
  json.member("frees", device->frees);
  json.member("base_bytes", device->base);
  json.member("peak_bytes", device->peak);
  json.member("net_bytes", device->net);
  json.member("unowned_bytes", device->unowned);
  json.member("end_bytes", saturated_sum(device->base, device->net));
  json.member("has_addresses", device->has_addresses);
  json.end_object();
}

void text_or_null(JsonWriter& json, std::string_view name, const std::string& text) {
  json.key(name);
  if (text.empty()) return json.null();
  json.value(text);
}

}  // namespace

void to_json(JsonWriter& json, const model::Recording& recording, const analysis::OpList& list,
             const analysis::OpList::Lines& lines) {
  const OpGroups& groups = list.table().groups;
  json.begin_object();
  device_to_json(json, list.device());
  json.member("count", lines.all);
  json.key("lines");
  json.begin_array();
  for (const analysis::OpLine& line : lines.lines) {
    const analysis::OpRow& row = list.device()->rows[line.row];
    json.begin_object();
    json.member("row", line.row);
    json.member("depth", line.depth);
    json.member("inside", line.inside);
    json.member("name", in_list(recording.strings.view(groups.name(row.group))));
    json.member("detail", detail_of(recording, groups, row.group));
    json.member("calls", row.calls);
    json.member("net", row.net);
    json.member("self", row.self);
    json.member("gross", row.gross);
    json.member("peak", row.peak);
    json.member("abs_peak", row.abs_peak);
    json.member("at_peak", row.at_peak);
    json.member("freed", row.freed);
    json.member("at_return", list.device()->has_addresses ? std::optional(row.at_return) : std::nullopt);
    text_or_null(json, "why", negative_self_text(recording, groups, row));
    text_or_null(json, "filter", filter_of(recording, groups, row.group));
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

bool to_json(JsonWriter& json, const model::Recording& recording, const analysis::ProfilerTable& table,
             OpSort sort, int64_t first, int64_t count) {
  Column<int32_t> order(recording.budget);
  if (!sorted_rows(recording, table, sort, order)) return false;
  json.begin_object();
  json.member("shows_devices", table.shows_devices);
  json.member("count", static_cast<int64_t>(order.size()));
  json.key("lines");
  json.begin_array();
  for (int64_t i = first; i < std::min<int64_t>(static_cast<int64_t>(order.size()), first + count); ++i) {
    const analysis::ProfilerRow& row = table.rows[order[static_cast<size_t>(i)]];
    json.begin_object();
    json.member("name", row_name(recording, row));
    json.member("detail", row.shapes.is_none() ? std::string() : in_list(recording.strings.view(row.shapes)));
    json.member("calls", row.calls);
    json.member("cpu", row.cpu);
    json.member("self_cpu", row.self_cpu);
    json.member("device", row.device);
    json.member("self_device", row.self_device);
    std::string filter;
    if (!row.name.is_none() && !row.is_step) add_term(filter, "op", recording.strings.view(row.name));
    text_or_null(json, "filter", filter);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return true;
}

}  // namespace gpustrata::answers
