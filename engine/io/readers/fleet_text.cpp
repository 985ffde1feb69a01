#include "engine/io/readers/fleet_text.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "engine/base/base64.h"
#include "engine/base/charge.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"
#include "engine/io/encodings/json/number.h"
#include "engine/io/values/numbers.h"

namespace gpustrata::io {

namespace ondemand = simdjson::ondemand;
using model::Diag;
using model::Fleet;
using model::FleetColumn;
using model::kNoNumber;

namespace {

static_assert(kFleetTextPadding >= simdjson::SIMDJSON_PADDING);

// What simdjson takes for a byte of text: an index of 4 bytes, texts without escapes (5 thirds).
constexpr int64_t kParserBytesPerByte = 6;

// A member of an object, and where its value goes: one of the pointers.
struct Field {
  std::string_view name;
  double* number = nullptr;
  StringId* text = nullptr;
  int32_t* row = nullptr;
  model::RowRange* rows = nullptr;
  model::RowRange* stacks = nullptr;  // of a finding
  bool* flag = nullptr;
  model::FleetKind* kind = nullptr;
};
using Fields = std::initializer_list<Field>;

template <typename Names>
[[nodiscard]] size_t place_of(std::string_view name, const Names& names) {
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

}  // namespace

struct FleetText::State {
  State(Fleet& to, model::Diagnostics& found) : fleet(to), diagnostics(found), charge(to.budget) {}

  Fleet& fleet;
  model::Diagnostics& diagnostics;
  ondemand::parser parser;
  const char* begin = nullptr;
  int64_t offset = 0;
  Status status;   // the first failure ends reading
  int64_t at = 0;  // of the value that is read
  int64_t columns_at = 0, curves_at = 0;
  Charge charge;

  using Value = ondemand::value;

  // -- Failures. All return false, so that callers stop.

  bool no_memory() {
    if (status)
      status = fail(ErrorCode::limit_exceeded, -1,
                    "the memory for this file does not suffice: {} are allowed, about {} would be enough",
                    size_text(fleet.budget.limit()), size_text(fleet.budget.needed()));
    return false;
  }
  bool damaged() {
    if (status) status = fail(ErrorCode::invalid_format, at, "the JSON text of the fleet is damaged here");
    return false;
  }
  bool left_out(Diag diag) {
    diagnostics.add(diag, at);
    return true;
  }

  // -- Values. False: reading ends.

  std::string_view token_of(Value& value) {
    const std::string_view token = value.raw_json_token();
    at = offset + (token.data() - begin);
    return token;
  }
  [[nodiscard]] bool type_of(Value& value, ondemand::json_type& type) {
    return value.type().get(type) == simdjson::SUCCESS || damaged();
  }

  // `each(key, value)` for each member. A value that is no object is left out.
  template <typename Each>
  [[nodiscard]] bool members(Value& value, const Each& each) {
    (void)token_of(value);
    ondemand::json_type type{};
    if (!type_of(value, type)) return false;
    if (type != ondemand::json_type::object) return left_out(Diag::wrong_type);
    ondemand::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS) return damaged();
    return members_of(object, each);
  }
  template <typename Each>
  [[nodiscard]] bool members_of(ondemand::object& object, const Each& each) {
    for (auto found : object) {
      std::string_view key;
      Value value;
      if (found.unescaped_key(true).get(key) != simdjson::SUCCESS) return damaged();
      if (found.value().get(value) != simdjson::SUCCESS) return damaged();
      (void)token_of(value);
      if (!each(key, value)) return false;
    }
    return true;
  }
  template <typename Each>
  [[nodiscard]] bool items(Value& value, const Each& each) {
    (void)token_of(value);
    ondemand::json_type type{};
    if (!type_of(value, type)) return false;
    if (type == ondemand::json_type::null) return true;
    if (type != ondemand::json_type::array) return left_out(Diag::wrong_type);
    ondemand::array array;
    if (value.get_array().get(array) != simdjson::SUCCESS) return damaged();
    for (auto found : array) {
      Value item;
      if (found.get(item) != simdjson::SUCCESS) return damaged();
      (void)token_of(item);
      if (!each(item)) return false;
    }
    return true;
  }

  [[nodiscard]] bool number_of(std::string_view token, double& to) {
    const JsonNumber form = json_number(token);
    if (form.length == 0 ||
        (form.length < token.size() &&
         std::string_view(" \t\r\n,:]}").find(token[form.length]) == std::string_view::npos))
      return damaged();
    const auto read = values::real_of_text(token.substr(0, form.length));
    to = read ? values::double_of(*read) : kNoNumber;
    if (!std::isfinite(to)) {
      to = kNoNumber;
      return left_out(Diag::not_finite);
    }
    return true;
  }
  // null and what is no number: kNoNumber. true and false count as 1 and 0.
  [[nodiscard]] bool number(Value& value, double& to) {
    const std::string_view token = token_of(value);
    to = kNoNumber;
    ondemand::json_type type{};
    if (!type_of(value, type)) return false;
    if (type == ondemand::json_type::number) return number_of(token, to);
    if (type == ondemand::json_type::boolean) {
      bool truth = false;
      if (value.get_bool().get(truth) != simdjson::SUCCESS) return damaged();
      to = truth ? 1 : 0;
      return true;
    }
    if (type != ondemand::json_type::null) return left_out(Diag::wrong_type);
    return is_null(value);
  }
  [[nodiscard]] bool is_null(Value& value) {
    bool null = false;
    return (value.is_null().get(null) == simdjson::SUCCESS && null) || damaged();
  }
  [[nodiscard]] bool letters(Value& value, std::string_view& to) {
    return value.get_string(true).get(to) == simdjson::SUCCESS || damaged();
  }
  [[nodiscard]] bool text(Value& value, StringId& to) {
    (void)token_of(value);
    to = {};
    ondemand::json_type type{};
    if (!type_of(value, type)) return false;
    if (type == ondemand::json_type::null) return is_null(value);
    if (type != ondemand::json_type::string) return left_out(Diag::wrong_type);
    std::string_view found;
    if (!letters(value, found)) return false;
    to = fleet.strings.intern(found);
    return !to.is_none() || no_memory();
  }
  // -1: none, or not to be had.
  [[nodiscard]] bool row(Value& value, int32_t& to) {
    double found = 0;
    to = -1;
    if (!number(value, found)) return false;
    if (std::isnan(found)) return true;
    if (found < 0 || found >= double{INT32_MAX} || found != std::trunc(found))
      return left_out(Diag::integer_out_of_range);
    to = static_cast<int32_t>(found);
    return true;
  }
  [[nodiscard]] bool rows(Value& value, model::RowRange& to) {
    to = {static_cast<int32_t>(fleet.rows.size()), 0};
    return items(value, [&](Value& item) {
      int32_t found = -1;
      if (!row(item, found)) return false;
      if (found < 0) return true;
      if (fleet.rows.size() >= model::kMaxRows || !fleet.rows.push_back(found)) return no_memory();
      ++to.count;
      return true;
    });
  }
  [[nodiscard]] bool stacks(Value& value, model::RowRange& to) {
    to = {static_cast<int32_t>(fleet.finding_stacks.size()), 0};
    return items(value, [&](Value& item) {
      model::FleetFindingStack one;
      if (!object(item, {{.name = "stack", .text = &one.stack},
                         {.name = "who", .text = &one.who},
                         {.name = "value", .number = &one.value},
                         {.name = "median", .number = &one.median}}))
        return false;
      if (fleet.finding_stacks.size() >= model::kMaxRows || !fleet.finding_stacks.push_back(one))
        return no_memory();
      ++to.count;
      return true;
    });
  }
  [[nodiscard]] bool kind(Value& value, model::FleetKind& to) {
    StringId found;
    if (!text(value, found)) return false;
    const size_t place = place_of(fleet.strings.view(found), model::kFleetKinds);
    if (place == model::kFleetKinds.size()) return left_out(Diag::unknown_entry);
    to = static_cast<model::FleetKind>(place);
    return true;
  }
  [[nodiscard]] bool flag(Value& value, bool& to) {
    double found = 0;
    if (!number(value, found)) return false;
    to = found != 0 && !std::isnan(found);
    return true;
  }

  [[nodiscard]] bool object(Value& value, Fields fields) {
    return members(value, [&](std::string_view key, Value& member) {
      for (const Field& field : fields) {
        if (field.name != key) continue;
        if (field.number != nullptr) return number(member, *field.number);
        if (field.text != nullptr) return text(member, *field.text);
        if (field.row != nullptr) return row(member, *field.row);
        if (field.rows != nullptr) return rows(member, *field.rows);
        if (field.stacks != nullptr) return stacks(member, *field.stacks);
        if (field.flag != nullptr) return flag(member, *field.flag);
        return kind(member, *field.kind);
      }
      return left_out(Diag::unknown_entry);
    });
  }
  // A list of objects, each a row of `to`.
  template <typename Row, typename FieldsOf>
  [[nodiscard]] bool table(Value& value, Column<Row>& to, const FieldsOf& fields_of) {
    return items(value, [&](Value& item) {
      Row one;
      if (!fields_of(item, one)) return false;
      return to.push_back(one) || no_memory();
    });
  }

  // -- The members of the file.

  [[nodiscard]] bool coverage(Value& value) {
    return table(value, fleet.coverage, [&](Value& item, model::FleetCoverage& one) {
      return object(item, {{.name = "run", .text = &one.run},
                           {.name = "rows", .number = &one.rows},
                           {.name = "ranks", .number = &one.ranks},
                           {.name = "lowest_rank", .number = &one.lowest_rank},
                           {.name = "highest_rank", .number = &one.highest_rank},
                           {.name = "world_size", .number = &one.world_size},
                           {.name = "duplicates", .number = &one.duplicates},
                           {.name = "without_rank", .number = &one.without_rank},
                           {.name = "damaged", .number = &one.damaged},
                           {.name = "without_times", .number = &one.without_times},
                           {.name = "first_us", .number = &one.first_us},
                           {.name = "last_us", .number = &one.last_us},
                           {.name = "missing", .text = &one.missing}});
    });
  }
  [[nodiscard]] bool groups(Value& value) {
    return table(value, fleet.groups, [&](Value& item, model::FleetGroup& one) {
      return object(item, {{.name = "run", .text = &one.run},
                           {.name = "kind", .text = &one.kind},
                           {.name = "name", .text = &one.name},
                           {.name = "rows", .number = &one.rows},
                           {.name = "median_peak", .number = &one.median_peak},
                           {.name = "least_peak", .number = &one.least_peak},
                           {.name = "most_peak", .number = &one.most_peak},
                           {.name = "most_row", .row = &one.most_row},
                           {.name = "ooms", .number = &one.ooms},
                           {.name = "rows_of", .rows = &one.rows_of}});
    });
  }
  [[nodiscard]] bool findings(Value& value) {
    return table(value, fleet.findings, [&](Value& item, model::FleetFinding& one) {
      return object(item, {{.name = "kind", .kind = &one.kind},
                           {.name = "title", .text = &one.title},
                           {.name = "text", .text = &one.text},
                           {.name = "rows", .rows = &one.rows},
                           {.name = "stacks", .stacks = &one.stacks},
                           {.name = "bad", .flag = &one.bad}});
    });
  }
  [[nodiscard]] bool shares(Value& value) {
    return table(value, fleet.stacks, [&](Value& item, model::FleetStack& one) {
      return object(item, {{.name = "run", .text = &one.run},
                           {.name = "stack", .text = &one.stack},
                           {.name = "who", .text = &one.who},
                           {.name = "rows", .number = &one.rows},
                           {.name = "total", .number = &one.total},
                           {.name = "share", .number = &one.share},
                           {.name = "median", .number = &one.median},
                           {.name = "most", .number = &one.most},
                           {.name = "most_row", .row = &one.most_row}});
    });
  }
  [[nodiscard]] bool says(Value& value) {
    return items(value, [&](Value& item) {
      StringId sentence;
      if (!text(item, sentence)) return false;
      return sentence.is_none() || fleet.says.push_back(sentence) || no_memory();
    });
  }
  [[nodiscard]] bool unreadable(Value& value) {
    return table(value, fleet.unreadable, [&](Value& item, model::FleetUnreadable& one) {
      return object(item, {{.name = "file", .text = &one.file}, {.name = "message", .text = &one.message}});
    });
  }

  [[nodiscard]] bool columns(Value& value) {
    columns_at = at;
    return items(value, [&](Value& item) { return column(item); });
  }
  // Values may come before their unit: numbers and texts are told apart as they come.
  [[nodiscard]] bool column(Value& value) {
    FleetColumn one(fleet.budget);
    size_t count = 0;
    StringId unit;
    const int64_t column_at = at;
    const bool read = members(value, [&](std::string_view key, Value& member) {
      if (key == "name") return text(member, one.name);
      if (key == "title") return text(member, one.title);
      if (key == "unit") return text(member, unit);
      if (key != "values") return left_out(Diag::unknown_entry);
      return items(member, [&](Value& item) { return fact(item, one, count++); });
    });
    if (!read) return false;
    at = column_at;
    const size_t known = place_of(fleet.strings.view(unit), model::kFleetUnits);
    const bool is_new = !one.name.is_none() && fleet.column(fleet.strings.view(one.name)) == nullptr;
    if (known == model::kFleetUnits.size() || !is_new || fleet.columns.size() == model::kMostFleetColumns)
      return left_out(Diag::unknown_entry);
    one.unit = static_cast<model::FleetUnit>(known);
    const bool is_text = one.unit == model::FleetUnit::text;
    if (is_text ? !one.numbers.empty() : !one.texts.empty()) diagnostics.add(Diag::wrong_type, at);
    if (is_text) {
      one.numbers = Column<double>(fleet.budget);
      if (!one.texts.resize(count, StringId())) return no_memory();
    } else {
      one.texts = Column<StringId>(fleet.budget);
      if (!one.numbers.resize(count, kNoNumber)) return no_memory();
    }
    if (!fleet.columns.empty() && count != static_cast<size_t>(fleet.row_count)) {
      status = fail(ErrorCode::invalid_format, at, "the column \"{}\" has {} values, the one before it {}",
                    utf8::cut(fleet.strings.view(one.name), 60), count, fleet.row_count);
      return false;
    }
    if (count >= model::kMaxRows) return no_memory();
    fleet.row_count = static_cast<int32_t>(count);
    fleet.columns.push_back(std::move(one));
    return true;
  }
  [[nodiscard]] bool fact(Value& value, FleetColumn& column, size_t row) {
    ondemand::json_type type{};
    if (!type_of(value, type)) return false;
    if (type == ondemand::json_type::null) return is_null(value);
    if (type == ondemand::json_type::string) {
      StringId found;
      return text(value, found) &&
             ((column.texts.resize(row, StringId()) && column.texts.push_back(found)) || no_memory());
    }
    double found = kNoNumber;
    if (!number(value, found)) return false;
    return std::isnan(found) || (column.numbers.resize(row, kNoNumber) && column.numbers.push_back(found)) ||
           no_memory();
  }

  [[nodiscard]] bool curves(Value& value) {
    model::FleetCurves& to = fleet.curves;
    double buckets = model::kFleetBuckets;
    StringId clock;
    curves_at = at;
    const bool read = members(value, [&](std::string_view key, Value& member) {
      if (key == "clock") return text(member, clock);
      if (key == "from_us") return number(member, to.from_us);
      if (key == "to_us") return number(member, to.to_us);
      if (key == "buckets") return number(member, buckets);
      if (key == "scale") return number(member, to.scale);
      if (key == "allocated") return bytes(member, to.allocated);
      if (key == "reserved") return bytes(member, to.reserved);
      return left_out(Diag::unknown_entry);
    });
    if (!read) return false;
    at = curves_at;
    to.common_clock = fleet.strings.view(clock) != "each";
    if (std::isnan(to.scale) || to.scale < 0) to.scale = 0;
    if (buckets != double{model::kFleetBuckets}) {
      status = fail(ErrorCode::invalid_format, at, "the curves of the fleet have {} buckets instead of {}",
                    buckets, model::kFleetBuckets);
      return false;
    }
    return true;
  }
  [[nodiscard]] bool bytes(Value& value, Column<uint8_t>& to) {
    const int64_t token_at = at;
    ondemand::json_type type{};
    if (!type_of(value, type)) return false;
    if (type == ondemand::json_type::null) return is_null(value);
    if (type != ondemand::json_type::string) return left_out(Diag::wrong_type);
    std::string_view found;
    if (!letters(value, found)) return false;
    const size_t count = bytes_of_base64(found);
    if (count == SIZE_MAX) {
      status = fail(ErrorCode::invalid_format, token_at, "the curves of the fleet are no base64: {} letters",
                    found.size());
      return false;
    }
    to.clear();
    if (!to.resize(count, 0)) return no_memory();
    const size_t wrong = read_base64(found, {to.data(), to.size()});
    if (wrong == found.size()) return true;
    status = fail(ErrorCode::invalid_format, token_at + 1 + static_cast<int64_t>(wrong),
                  "the curves of the fleet are no base64 here");
    return false;
  }

  [[nodiscard]] bool member(std::string_view key, Value& value) {
    struct Known {
      std::string_view key;
      bool (State::*read)(Value&);
    };
    static constexpr Known kKnown[] = {
        {"coverage", &State::coverage},     {"says", &State::says},     {"unreadable", &State::unreadable},
        {"columns", &State::columns},       {"groups", &State::groups}, {"curves", &State::curves},
        {"findings", &State::findings},     {"stacks", &State::shares}, {"title", &State::title},
        {"unreadable_count", &State::count}};
    if (key == "gpustrata_fleet") return true;
    for (size_t i = 0; i < std::size(kKnown); ++i) {
      if (kKnown[i].key != key) continue;
      const uint32_t bit = 1U << i;
      if ((seen & bit) != 0) return left_out(Diag::unknown_entry);  // a second one
      seen |= bit;
      return (this->*kKnown[i].read)(value);
    }
    return left_out(Diag::unknown_entry);
  }
  uint32_t seen = 0;
  [[nodiscard]] bool title(Value& value) { return text(value, fleet.title); }
  [[nodiscard]] bool count(Value& value) {
    if (!number(value, fleet.unreadable_count)) return false;
    if (std::isnan(fleet.unreadable_count)) fleet.unreadable_count = 0;
    return true;
  }

  // -- The whole.

  [[nodiscard]] bool version(ondemand::object& object) {
    double found = kNoNumber;
    bool is_told = false;
    const bool read = members_of(object, [&](std::string_view key, Value& value) {
      if (key != "gpustrata_fleet" || is_told) return true;
      is_told = true;
      return number(value, found);
    });
    if (!read) return false;
    if (found == double{model::kFleetVersion}) return true;
    if (found > double{model::kFleetVersion}) {
      status = fail(ErrorCode::unsupported, -1,
                    "a reduced fleet of version {}; this gpustrata reads version {}. A newer one opens it.",
                    found, model::kFleetVersion);
    } else {
      status =
          fail(ErrorCode::invalid_format, -1, "not a reduced fleet: \"gpustrata_fleet\" is not its version");
    }
    return false;
  }

  // Names of rows that there are not go.
  void drop_absent_rows() {
    int64_t dropped = 0;
    const auto is_there = [&](int32_t row) { return row < fleet.row_count; };
    const auto keep = [&](model::RowRange& range) {
      int32_t kept = range.first;
      for (int32_t i = range.first; i < range.end(); ++i) {
        if (is_there(fleet.rows[i])) fleet.rows[kept++] = fleet.rows[i];
      }
      dropped += range.end() - kept;
      range.count = kept - range.first;
    };
    const auto keep_one = [&](int32_t& row) {
      if (row < 0 || is_there(row)) return;
      row = -1;
      ++dropped;
    };
    for (model::FleetGroup& group : fleet.groups.span()) {
      keep(group.rows_of);
      keep_one(group.most_row);
    }
    for (model::FleetFinding& finding : fleet.findings.span()) keep(finding.rows);
    for (model::FleetStack& stack : fleet.stacks.span()) keep_one(stack.most_row);
    if (dropped > 0) diagnostics.add_many(Diag::integer_out_of_range, dropped);
  }

  [[nodiscard]] bool check_curves() {
    const size_t wanted = static_cast<size_t>(fleet.row_count) * size_t{model::kFleetBuckets};
    for (const Column<uint8_t>* one : {&fleet.curves.allocated, &fleet.curves.reserved}) {
      if (one->empty() || one->size() == wanted) continue;
      status = fail(ErrorCode::invalid_format, curves_at,
                    "the curves of the fleet have {} bytes; {} rows of {} are {}", one->size(),
                    fleet.row_count, model::kFleetBuckets, wanted);
      return false;
    }
    return true;
  }

  void read(std::span<char> text) {
    if (!charge.more(static_cast<int64_t>(text.size()) * kParserBytesPerByte)) {
      (void)no_memory();
      return;
    }
    ondemand::document document;
    ondemand::object object;
    const auto open = [&] {
      const simdjson::error_code error =
          parser.iterate(text.data(), text.size(), text.size() + kFleetTextPadding).get(document);
      if (error == simdjson::SUCCESS && document.get_object().get(object) == simdjson::SUCCESS) return true;
      if (error == simdjson::UTF8_ERROR) at += invalid_utf8({text.data(), text.size()});
      return error == simdjson::MEMALLOC ? no_memory() : damaged();
    };
    if (!open() || !version(object) || !open()) return;
    const bool whole =
        members_of(object, [&](std::string_view key, Value& value) { return member(key, value); });
    if (!whole || !check_curves()) return;
    drop_absent_rows();
  }

  [[nodiscard]] static int64_t invalid_utf8(std::string_view text) {
    size_t place = 0;
    while (place < text.size()) {
      const utf8::Sequence sequence = utf8::sequence_at(text, place);
      if (!sequence.valid) break;
      place += sequence.length;
    }
    return static_cast<int64_t>(place);
  }
};

FleetText::FleetText(Fleet& fleet, model::Diagnostics& diagnostics)
    : state_(std::make_unique<State>(fleet, diagnostics)) {}

FleetText::~FleetText() = default;

Status FleetText::read(std::span<char> text, int64_t offset) {
  state_->begin = text.data();
  state_->offset = state_->at = offset;
  state_->read(text);
  return state_->status;
}

}  // namespace gpustrata::io
