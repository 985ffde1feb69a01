#include "engine/session/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "engine/answers/compare/carried_stacks.h"
#include "engine/base/saturating.h"
#include "engine/base/words.h"

namespace gpustrata::session {

namespace {

enum class Kind : uint8_t { flag, real, whole, event, rank, text, word, object };

struct Type {
  std::string_view name;
  Kind kind;
  std::string_view content = {};  // words of a word, the signature of an object
  double least = 0, most = 0;     // of numbers
};

constexpr double kFar = 9007199254740992.0;      // 2^53: whole numbers are exact up to here
constexpr double kHuge = 4611686018427387904.0;  // 2^62: sums of two are within 64 bits
constexpr double kInt32 = std::numeric_limits<int32_t>::max();

// web/engine/protocol/generate.mjs reads these rows, one a line, and writes the types of TypeScript.
// clang-format off
constexpr Type kTypes[] = {
    {"Flag", Kind::flag},
    {"Text", Kind::text},
    // Any finite number.
    {"Real", Kind::real, {}, -kHuge, kHuge},
    {"Positive", Kind::real, {}, 5e-324, kHuge},
    {"Extent", Kind::real, {}, 0, 65536},
    // A whole number.
    {"Whole", Kind::whole, {}, -kFar, kFar},
    {"Size", Kind::whole, {}, 0, kFar},
    {"Width", Kind::whole, {}, 1, kFar},
    {"Count", Kind::whole, {}, 0, kInt32},
    {"Pixels", Kind::whole, {}, 0, 65536},
    // 0xAABBGGRR.
    {"Colour", Kind::whole, {}, 0, 4294967295.0},
    // -1 = pinned host memory.
    {"Device", Kind::whole, {}, -1, kInt32},
    // Of the view: -1 = before the first one, their number = the end.
    {"Event", Kind::event},
    // Of the view's bands.
    {"Rank", Kind::rank},
    {"RankOrNone", Kind::whole, {}, -1, kInt32},
    {"Row", Kind::whole, {}, 0, kInt32},
    // -1 = the filter decides.
    {"KindOrNone", Kind::whole, {}, -1, 255},
    {"Axis", Kind::word, words_in(replay::Axis{})},
    // What the bands are: blocks, blocks in the envelopes of their private pools, or segments.
    {"Bands", Kind::word, words_in(analysis::BandKind{})},
    {"ColourBy", Kind::word, words_in(analysis::GroupBy{})},
    // Of which blocks (engine/analysis/live/stack_weights.h).
    {"BlocksOf", Kind::word, words_in(analysis::BlocksOf{})},
    {"WeightBy", Kind::word, words_in(analysis::WeightBy{})},
    {"FrameKey", Kind::word, words_in(analysis::FrameKey{})},
    {"FramesOf", Kind::word, words_in(analysis::FramesOf{})},
    {"HolderBy", Kind::word, words_through(analysis::By::category)},
    {"FrameOrder", Kind::word, words_in(analysis::RowOrder{})},
    // -1 = blocks without a stack.
    {"FrameOrNone", Kind::whole, {}, -1, kInt32},
    // What lines of an op table stand for.
    {"OpBy", Kind::word, words_in(analysis::OpBy{})},
    // Whose memory an op holds: that of its own thread, or of all threads of its process meanwhile.
    {"OpScope", Kind::word, words_in(analysis::OpScope{})},
    {"OpSort", Kind::word, words_in(analysis::OpSort{})},
    {"RegionOrder", Kind::word, words_in(replay::RegionOrder{})},
    // Columns [first, first + count) of a grid in which column k covers [k * width, (k + 1) * width).
    {"Columns", Kind::object, "axis: Axis, first: Whole, width: Width, count: Pixels"},
    // Allocated: as the bands are. Free memory (cached; held back by what is in use) is that after the last event of a column.
    {"LevelOf", Kind::word, words_in(analysis::LevelOf{})},
    {"LevelAxis", Kind::word, words_in(analysis::LevelAxis{})},
    // The same, also of an axis that runs through the steps, or the regions of a name, one after the other: each is 65,536 wide.
    {"LevelColumns", Kind::object, "axis: LevelAxis, first: Whole, width: Width, count: Pixels, region?: Text"},
    // The same of an axis that the question knows.
    {"Stretch", Kind::object, "first: Whole, width: Width, count: Pixels"},
    {"Rows", Kind::object, "bottom: Real, bytesPerRow: Positive, count: Pixels"},
    {"Palette", Kind::object, "bands: Colour[], nothing: Colour, dimmedTowards: Colour, envelope: Colour"},
    // How blocks are coloured. Those that the filter does not mean fade; with `kind` all that are not of it.
    {"Look", Kind::object, "palette: Palette, colourBy: ColourBy, filter: Text, kind: KindOrNone"},
    // Calls of a moment or range. `from`: the event after which a range begins, or with which `to` is compared. Blocks
    // that the filter does not mean count as not lit, or with `onlyFiltered` not at all.
    {"CallTree", Kind::object, "of: BlocksOf, from: Event, to: Event, weight: WeightBy, by: FrameKey, frames: FramesOf, inverted: Flag, filter: Text, onlyFiltered: Flag"},
    // Pixels: at zoom 1 the whole layout fills width x height; (left, top) is its corner in the zoomed one.
    {"StateWindow", Kind::object, "width: Extent, height: Extent, zoom: Real, left: Real, top: Real"},
    // The blocks that a filter means get a size so many times as large; 0 = they are left out.
    {"SizeChange", Kind::object, "filter: Text, factor: Real"},
    // After an event, kept or freed after another one.
    {"ExtraRequest", Kind::object, "after: Event, bytes: Size, until?: Event"},
    // What is left out is as it was recorded; capacity 0 = a device with room for all.
    {"Scenario", Kind::object, "conf?: Text, capacity?: Size, changes?: SizeChange[], extra?: ExtraRequest[], emptyCacheAfter?: Event[], caching?: Flag"},
    // What the answer `facts` says of the stacks of another moment or file: lists of one length.
    {"Facts", Kind::object, "keys: Text[], places: Text[], sizes: Size[], counts: Size[], rest_bytes: Size, rest_blocks: Size"},
    // What the answer `callFacts` says of another file: of each frame the numbers of its texts and its line; of each node its
    // frame, its caller (a lower number, -1 = none) and what the stacks hold that end there.
    {"NodeOrNone", Kind::whole, {}, -1, kInt32},
    {"CallFacts", Kind::object, "texts: Text[], names: Count[], files: Count[], lines: Count[], frames: Count[], callers: NodeOrNone[], weights: Real[], blocks: Size[], without: Real, withoutBlocks: Size, rest: Real, restBlocks: Size"},
    // A part of what the answer `requests` says of another recording.
    {"AboutRequests", Kind::object, "rows: Count, present: Count, peakReserved: Size, ooms: Count, firstOomEvent: RankOrNone, exact: Flag, atFailure: Flag, isOpen: Flag, isCut: Flag"},
    {"CarriedRequests", Kind::object, "about: AboutRequests, texts: Text[], names: Count[], files: Count[], lines: Count[], frames: Count[], callers: NodeOrNone[], poolGraphs: Whole[], poolUsers: Whole[], requests: Count[], sizes: Size[], streams: Count[], subjects: RankOrNone[], stacks: Whole[]"},
    // Values of the parameters of a fit, in their order.
    {"FitPoint", Kind::object, "values: Count[]"},
    {"FitRecording", Kind::object, "file: Text, values: Count[]"},
};
// clang-format on

constexpr size_t kLongestText = size_t{1} << 14;
constexpr size_t kMostItems = 20'000;

[[nodiscard]] const Type* type_of(std::string_view name) {
  for (const Type& type : kTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

struct Parameter {
  std::string_view name;
  const Type* type = nullptr;  // null: there is no such type
  bool optional = false, list = false;
};

// The first parameter of a signature, which then is the rest.
[[nodiscard]] Parameter next_parameter(std::string_view& signature) {
  const size_t end = signature.find(',');
  const std::string_view one = signature.substr(0, end);
  signature.remove_prefix(end == std::string_view::npos ? signature.size()
                                                        : std::min(end + 2, signature.size()));
  const size_t colon = one.find(':');
  if (colon == std::string_view::npos || one.size() < colon + 2) return {one};
  Parameter parameter{one.substr(0, colon)};
  std::string_view type = one.substr(colon + 2);
  parameter.optional = parameter.name.ends_with('?');
  if (parameter.optional) parameter.name.remove_suffix(1);
  parameter.list = type.ends_with("[]");
  if (parameter.list) type.remove_suffix(2);
  parameter.type = type_of(type);
  return parameter;
}

[[nodiscard]] Parameter parameter_of(std::string_view signature, std::string_view name) {
  while (!signature.empty()) {
    const Parameter parameter = next_parameter(signature);
    if (parameter.name == name) return parameter;
  }
  return {};
}

// Number of a word in a list of words, -1 = it is not there.
[[nodiscard]] int index_of_word(std::string_view words, std::string_view wanted) {
  for (int index = 0; !words.empty(); ++index) {
    if (next_word(words) == wanted) return index;
  }
  return -1;
}

template <typename... Args>
[[nodiscard]] tl::unexpected<Error> wrong(fmt::format_string<Args...> text, Args&&... args) {
  return fail(ErrorCode::wrong_usage, -1, text, std::forward<Args>(args)...);
}

[[nodiscard]] std::string number_text(double number) {
  if (!std::isfinite(number)) return "null";
  if (number == std::floor(number) && std::abs(number) <= kHuge)
    return fmt::format("{}", static_cast<int64_t>(number));
  return fmt::format("{}", number);
}

[[nodiscard]] Status check_number(std::string_view name, double number, bool whole, double least,
                                  double most) {
  const bool positive = least > 0 && least < 1;
  if (!(number >= least && number <= most)) {
    return wrong("`{}` must be {} {} to {}; {} is not", name, positive ? "above" : "from",
                 positive ? std::string("0, up") : number_text(least), number_text(most),
                 number_text(number));
  }
  if (whole && number != std::floor(number))
    return wrong("`{}` must be whole; {} is not", name, number_text(number));
  return {};
}

[[nodiscard]] Status check_object(std::string_view signature, const JsonValue& given, const Limits& limits);

[[nodiscard]] Status check_value(std::string_view name, const Type& type, const JsonValue& value,
                                 const Limits& limits) {
  using JsonKind = JsonValue::Kind;
  switch (type.kind) {
    case Kind::flag:
      if (value.kind != JsonKind::flag) return wrong("`{}` must be true or false", name);
      return {};
    case Kind::text:
      if (value.kind != JsonKind::text) return wrong("`{}` must be a text", name);
      if (value.text.size() > kLongestText) return wrong("`{}` is longer than {} bytes", name, kLongestText);
      return {};
    case Kind::word:
      if (value.kind != JsonKind::text || index_of_word(type.content, value.text) < 0)
        return wrong("`{}` must be one of: {}", name, type.content);
      return {};
    case Kind::object:
      if (value.kind != JsonKind::object) return wrong("`{}` must be an object", name);
      return check_object(type.content, value, limits);
    default:
      break;
  }
  if (value.kind != JsonKind::number) return wrong("`{}` must be a number", name);
  if (type.kind == Kind::event) return check_number(name, value.number, true, -1, limits.events);
  if (type.kind == Kind::rank) {
    if (limits.ranks == 0) return wrong("`{}`: the view has no bands", name);
    return check_number(name, value.number, true, 0, limits.ranks - 1);
  }
  return check_number(name, value.number, type.kind == Kind::whole, type.least, type.most);
}

Status check_object(std::string_view signature, const JsonValue& given, const Limits& limits) {
  for (const JsonValue::Member& member : given.members) {
    if (parameter_of(signature, member.name).type == nullptr)
      return wrong("there is no argument `{}`; there are: {}", member.name.substr(0, 40), signature);
  }
  while (!signature.empty()) {
    const Parameter parameter = next_parameter(signature);
    const JsonValue* const value = given.find(parameter.name);
    if (value == nullptr) {
      if (parameter.optional) continue;
      return wrong("`{}` is missing", parameter.name);
    }
    if (!parameter.list) {
      if (Status checked = check_value(parameter.name, *parameter.type, *value, limits); !checked)
        return checked;
      continue;
    }
    if (value->kind != JsonValue::Kind::list) return wrong("`{}` must be a list", parameter.name);
    if (value->items.size() > kMostItems)
      return wrong("`{}` has more than {} items", parameter.name, kMostItems);
    for (const JsonValue& item : value->items) {
      if (Status checked = check_value(parameter.name, *parameter.type, item, limits); !checked)
        return checked;
    }
  }
  return {};
}

}  // namespace

bool is_signature(std::string_view signature) {
  while (!signature.empty()) {
    const Parameter parameter = next_parameter(signature);
    if (parameter.type == nullptr) return false;
    if (parameter.type->kind == Kind::object && !is_signature(parameter.type->content)) return false;
  }
  return true;
}

Result<Arguments> Arguments::check(std::string_view signature, const JsonValue& given, const Limits& limits) {
  if (given.kind != JsonValue::Kind::object) return wrong("arguments must be an object");
  if (const Status checked = check_object(signature, given, limits); !checked)
    return tl::unexpected(checked.error());
  return Arguments(signature, given);
}

const JsonValue& Arguments::value(std::string_view name) const {
  static const JsonValue nothing;
  const JsonValue* const found = given_->find(name);
  return found == nullptr ? nothing : *found;
}
bool Arguments::has(std::string_view name) const { return given_->find(name) != nullptr; }
bool Arguments::flag(std::string_view name) const { return value(name).flag; }
double Arguments::real(std::string_view name) const { return value(name).number; }
int64_t Arguments::whole(std::string_view name) const { return static_cast<int64_t>(value(name).number); }
int32_t Arguments::integer(std::string_view name) const { return static_cast<int32_t>(value(name).number); }
std::string_view Arguments::text(std::string_view name) const { return value(name).text; }

std::vector<int32_t> Arguments::integers(std::string_view name) const {
  std::vector<int32_t> numbers;
  for (const JsonValue& item : value(name).items) numbers.push_back(static_cast<int32_t>(item.number));
  return numbers;
}

std::vector<double> Arguments::reals(std::string_view name) const {
  std::vector<double> numbers;
  for (const JsonValue& item : value(name).items) numbers.push_back(item.number);
  return numbers;
}

std::vector<std::string_view> Arguments::texts(std::string_view name) const {
  std::vector<std::string_view> texts;
  for (const JsonValue& item : value(name).items) texts.push_back(item.text);
  return texts;
}

std::vector<int> Arguments::word_indices(std::string_view name) const {
  std::vector<int> indices;
  for (const JsonValue& item : value(name).items)
    indices.push_back(index_of_word(parameter_of(signature_, name).type->content, item.text));
  return indices;
}

std::vector<uint32_t> Arguments::colours(std::string_view name) const {
  std::vector<uint32_t> colours;
  for (const JsonValue& item : value(name).items) colours.push_back(static_cast<uint32_t>(item.number));
  return colours;
}

int Arguments::word_index(std::string_view name) const {
  return index_of_word(parameter_of(signature_, name).type->content, value(name).text);
}

Arguments Arguments::object(std::string_view name) const {
  return Arguments(parameter_of(signature_, name).type->content, value(name));
}

replay::ColumnGrid Arguments::columns(std::string_view name) const {
  const Arguments grid = object(name);
  return {grid.word<replay::Axis>("axis"), grid.whole("first"), grid.whole("width"), grid.integer("count")};
}

AskedColumns Arguments::level_columns(std::string_view name) const {
  return {object(name).word<analysis::LevelAxis>("axis"), stretch(name), object(name).text("region")};
}

replay::SeriesGrid Arguments::stretch(std::string_view name) const {
  const Arguments grid = object(name);
  return {grid.whole("first"), grid.whole("width"), grid.integer("count")};
}

replay::RowGrid Arguments::rows(std::string_view name) const {
  const Arguments grid = object(name);
  return {grid.real("bottom"), grid.real("bytesPerRow"), grid.integer("count")};
}

replay::StateWindow Arguments::window(std::string_view name) const {
  const Arguments window = object(name);
  return {window.real("width"), window.real("height"), window.real("zoom"), window.real("left"),
          window.real("top")};
}

TreeWanted Arguments::call_tree(std::string_view name) const {
  const Arguments given = object(name);
  TreeWanted wanted;
  wanted.filter = given.text("filter");
  analysis::TreeAsked& asked = wanted.asked;
  asked.weights = {given.word<analysis::BlocksOf>("of"), given.word<analysis::WeightBy>("weight"),
                   given.integer("from"), given.integer("to")};
  asked.by = given.word<analysis::FrameKey>("by");
  asked.frames = given.word<analysis::FramesOf>("frames");
  asked.inverted = given.flag("inverted");
  asked.only_matched = given.flag("onlyFiltered");
  return wanted;
}

AskedScenario Arguments::scenario(std::string_view name) const {
  const Arguments given = object(name);
  AskedScenario asked;
  if (given.has("conf")) asked.conf = given.text("conf");
  if (given.has("capacity")) asked.capacity = given.whole("capacity");
  for (const JsonValue& item : given.value("changes").items) {
    const Arguments change(type_of("SizeChange")->content, item);
    asked.changes.push_back({std::string(change.text("filter")), change.real("factor")});
  }
  for (const JsonValue& item : given.value("extra").items) {
    const Arguments extra(type_of("ExtraRequest")->content, item);
    asked.extra.push_back(
        {extra.integer("after"), extra.whole("bytes"), extra.has("until") ? extra.integer("until") : -1});
  }
  asked.empty_cache_after = given.integers("emptyCacheAfter");
  asked.caching = !given.has("caching") || given.flag("caching");
  return asked;
}

Result<analysis::CarriedStacks> Arguments::carried_stacks(std::string_view name, Budget& budget) const {
  const Arguments given = object(name);
  const auto& keys = given.value("keys").items;
  const auto& places = given.value("places").items;
  const auto& sizes = given.value("sizes").items;
  const auto& counts = given.value("counts").items;
  if (places.size() != keys.size() || sizes.size() != keys.size() || counts.size() != keys.size())
    return wrong("`{}`: keys, places, sizes and counts must be of one length", name);
  analysis::CarriedStacks stacks(budget);
  stacks.bytes = stacks.rest_bytes = given.whole("rest_bytes");
  stacks.blocks = stacks.rest_blocks = given.whole("rest_blocks");
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto bytes = static_cast<int64_t>(sizes[i].number);
    const auto blocks = static_cast<int64_t>(counts[i].number);
    add_saturated(stacks.bytes, bytes);
    add_saturated(stacks.blocks, blocks);
    if (!stacks.stacks.push_back({answers::key_of_text(keys[i].text), answers::key_of_text(places[i].text),
                                  bytes, blocks, StackId{}, -1}))
      return fail(ErrorCode::limit_exceeded, -1, "`{}`: no memory for {} stacks", name, keys.size());
  }
  return stacks;
}

Result<analysis::CarriedCalls> Arguments::carried_calls(std::string_view name, Budget& budget) const {
  const Arguments given = object(name);
  const auto& texts = given.value("texts").items;
  const auto& names = given.value("names").items;
  const auto& files = given.value("files").items;
  const auto& lines = given.value("lines").items;
  const auto& frames = given.value("frames").items;
  const auto& callers = given.value("callers").items;
  const auto& weights = given.value("weights").items;
  const auto& blocks = given.value("blocks").items;
  if (files.size() != names.size() || lines.size() != names.size() || callers.size() != frames.size() ||
      weights.size() != frames.size() || blocks.size() != frames.size())
    return wrong("`{}`: lists of frames, and of nodes, must be of one length", name);
  const auto number = [](const JsonValue& item) { return static_cast<int32_t>(item.number); };
  const auto no_memory = [&] { return fail(ErrorCode::limit_exceeded, -1, "`{}`: no memory for it", name); };
  analysis::CarriedCalls calls(budget);
  for (const JsonValue& text : texts) calls.texts.emplace_back(text.text);
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].number >= static_cast<double>(texts.size()) ||
        files[i].number >= static_cast<double>(texts.size()))
      return wrong("`{}`: frame {} has a text that is none", name, i);
    if (!calls.frames.push_back({number(names[i]), number(files[i]), number(lines[i])})) return no_memory();
  }
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].number >= static_cast<double>(names.size()) || callers[i].number >= static_cast<double>(i))
      return wrong("`{}`: node {} has a frame that is none, or a caller that does not come before it", name,
                   i);
    if (!calls.nodes.push_back({number(frames[i]), number(callers[i]), weights[i].number,
                                static_cast<int64_t>(blocks[i].number)}))
      return no_memory();
  }
  calls.without = given.real("without");
  calls.without_blocks = given.whole("withoutBlocks");
  calls.rest = given.real("rest");
  calls.rest_blocks = given.whole("restBlocks");
  return calls;
}

Result<analysis::CarriedRequests> Arguments::carried_requests(std::string_view name, Budget& budget) const {
  const Arguments given = object(name);
  const auto list = [&](std::string_view of) -> const std::vector<JsonValue>& {
    return given.value(of).items;
  };
  const auto number = [](const JsonValue& item) { return static_cast<int32_t>(item.number); };
  const auto &names = list("names"), &files = list("files"), &lines = list("lines");
  const auto &frames = list("frames"), &callers = list("callers");
  const auto &graphs = list("poolGraphs"), &users = list("poolUsers");
  const auto &requests = list("requests"), &sizes = list("sizes"), &streams = list("streams");
  const auto &subjects = list("subjects"), &stacks = list("stacks");
  if (files.size() != names.size() || lines.size() != names.size() || callers.size() != frames.size() ||
      users.size() != graphs.size() || sizes.size() != requests.size() || streams.size() != requests.size() ||
      subjects.size() != requests.size() || stacks.size() != requests.size())
    return wrong("`{}`: lists of frames, of nodes, of pools and of rows must be of one length", name);
  const auto no_memory = [&] { return fail(ErrorCode::limit_exceeded, -1, "`{}`: no memory for it", name); };
  analysis::CarriedRequests carried(budget);
  const Arguments about = given.object("about");
  carried.about = {about.whole("rows"),     about.whole("present"),         about.whole("peakReserved"),
                   about.whole("ooms"),     about.integer("firstOomEvent"), about.flag("exact"),
                   about.flag("atFailure"), about.flag("isOpen"),           about.flag("isCut")};
  for (const JsonValue& text : list("texts")) carried.texts.push_back(text.text);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!carried.frames.push_back({number(names[i]), number(files[i]), number(lines[i])})) return no_memory();
  }
  for (size_t i = 0; i < frames.size(); ++i) {
    if (!carried.nodes.push_back({number(frames[i]), number(callers[i])})) return no_memory();
  }
  for (size_t i = 0; i < graphs.size(); ++i)
    carried.pools.push_back({static_cast<int64_t>(graphs[i].number), static_cast<int64_t>(users[i].number)});
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].number > 255) return wrong("`{}`: row {} is no request", name, i);
    // -1 and -2 are the only numbers below 0 that mean something; others are refused where they are looked up.
    const double stack = std::clamp(stacks[i].number, -3.0, kInt32);
    if (!carried.rows.push_back({static_cast<simulate::Request>(requests[i].number),
                                 static_cast<int64_t>(sizes[i].number), number(streams[i]),
                                 number(subjects[i]), static_cast<int32_t>(stack)}))
      return no_memory();
  }
  return carried;
}

std::vector<AskedFitRecording> Arguments::fit_recordings(std::string_view name) const {
  std::vector<AskedFitRecording> all;
  for (const JsonValue& item : value(name).items) {
    const Arguments one(type_of("FitRecording")->content, item);
    all.push_back({one.text("file"), one.reals("values")});
  }
  return all;
}

std::vector<std::vector<double>> Arguments::fit_points(std::string_view name) const {
  std::vector<std::vector<double>> all;
  for (const JsonValue& item : value(name).items)
    all.push_back(Arguments(type_of("FitPoint")->content, item).reals("values"));
  return all;
}

Look Arguments::look(std::string_view name) const {
  const Arguments given = object(name);
  const Arguments palette = given.object("palette");
  const auto colour = [](double number) { return static_cast<uint32_t>(number); };
  Look look;
  look.bands = palette.colours("bands");
  look.nothing = colour(palette.real("nothing"));
  look.dimmed_towards = colour(palette.real("dimmedTowards"));
  look.envelope = colour(palette.real("envelope"));
  look.colour_by = given.word<analysis::GroupBy>("colourBy");
  look.filter = given.text("filter");
  look.kind = given.integer("kind");
  return look;
}

}  // namespace gpustrata::session
