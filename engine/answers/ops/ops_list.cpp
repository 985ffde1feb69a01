// A window of an op table, for a page.
#include <fmt/core.h>

#include <algorithm>

#include "engine/answers/ops/ops.h"
#include "engine/answers/text/bounded.h"
#include "engine/base/saturating.h"

namespace gpustrata::answers {

using analysis::OpBy;
using analysis::OpGroups;
using analysis::OpRow;
using analysis::ProfilerRow;

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

}  // namespace

void describe(Members& m, const model::Recording& recording, const analysis::OpList& list,
              const analysis::OpList::Lines& lines) {
  m.is("OpLines");
  m.object({"device", "Null: it has no memory records."}, m.found([&] { return list.device(); }),
           [&](const analysis::OpDevice& device) {
             describe_device(m, device);
             m.bytes("end_bytes", saturated_sum(device.base, device.net));
             m.flag("has_addresses", device.has_addresses);
           });
  m.count({"count", "Lines in all."}, lines.all);
  m.list("lines", lines.lines, [&](const analysis::OpLine& line) {
    const OpRow& row = m.is_schema() ? Members::sample<OpRow>() : list.device()->rows[line.row];
    const OpGroups& groups = list.table().groups;
    m.is("OpLine");
    m.count({"row", "Tells it from others, whatever the order."}, line.row);
    m.count("depth", line.depth);
    m.count({"inside", "Ops right inside of it."}, line.inside);
    m.text("name", [&] { return in_list(recording.strings.view(groups.name(row.group))); });
    m.text("detail", [&] { return detail_of(recording, groups, row.group); });
    describe_numbers(m, row, !m.is_schema() && list.device()->has_addresses);
    m.text({"why", "Why `self` is negative."},
           [&] { return or_none(negative_self_text(recording, groups, row)); });
    m.text({"filter", "What lights its blocks."},
           [&] { return or_none(filter_of(recording, groups, row.group)); });
  });
}

void describe_numbers(Members& m, const ProfilerRow& row) {
  m.count({"calls", "As PyTorch counts them.", "Calls"}, row.calls);
  m.bytes({"cpu", "As PyTorch prints it: of all threads while the op runs.", "CPU Mem"}, row.cpu);
  m.bytes({"self_cpu", "The same without the ops inside of it.", "Self CPU Mem"}, row.self_cpu);
  m.bytes({"device", "As PyTorch prints it: of all devices together, all threads while the op runs.",
           "Device Mem"},
          row.device);
  m.bytes({"self_device", "The same without the ops inside of it.", "Self Device Mem"}, row.self_device);
}

void describe(Members& m, const ProfilerRows& rows, int64_t first, int64_t count) {
  m.is("ProfilerLines");
  const auto window = m.found([&] {
    const auto all = rows.order.span();
    const size_t from = std::min(static_cast<size_t>(first), all.size());
    return all.subspan(from, std::min(static_cast<size_t>(count), all.size() - from));
  });
  m.flag("shows_devices", [&] { return rows.table.shows_devices; });
  m.count("count", rows.order.size());
  m.list("lines", window, [&](int32_t i) {
    const ProfilerRow& row = m.is_schema() ? Members::sample<ProfilerRow>() : rows.table.rows[i];
    m.is("ProfilerLine");
    m.text("name", [&] { return row_name(rows.recording, row); });
    m.text("detail", [&] { return text_or_none(rows.recording, row.shapes).value_or(""); });
    describe_numbers(m, row);
    m.text("filter", [&] {
      std::string filter;
      if (!row.name.is_none() && !row.is_step) add_term(filter, "op", rows.recording.strings.view(row.name));
      return or_none(std::move(filter));
    });
  });
}

}  // namespace gpustrata::answers
