#include "engine/answers/common/parts.h"

#include <algorithm>

#include "engine/analysis/stacks/frame_filter.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/answers/text/bounded.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

namespace {

// As it is shown; where frames found no room, what says how many.
struct ShownFrame {
  std::string text, name, file;
  int32_t line = 0;
  int64_t repeats = 1;
  bool hidden = false, own = false;
  std::vector<std::string> fx;
};

void describe(Members& m, const ShownFrame& frame) {
  m.is({"Frame", "A line of a stack."});
  m.text("text", frame.text);
  m.text("name", frame.name);
  m.text("file", frame.file);
  m.count("line", frame.line);
  m.count("repeats", frame.repeats);
  m.flag({"hidden", "Of the interpreter, or a wrapper: PyTorch's own viewer leaves it out."}, frame.hidden);
  m.flag({"own", "The user's own code."}, frame.own);
  m.texts({"fx", "What torch.fx says of it."}, frame.fx);
}

[[nodiscard]] ShownFrame shown(const model::Recording& recording, const analysis::FrameLine& line, bool own) {
  const trace::Frame& frame = recording.frames[line.frame];
  ShownFrame shown{.text = in_list(analysis::frame_text(recording, line.frame)),
                   .name = in_list(recording.strings.view(frame.name)),
                   .file = in_list(recording.strings.view(frame.filename)),
                   .line = std::max(frame.line, 0),
                   .repeats = line.repeats,
                   .hidden = line.hidden,
                   .own = own,
                   .fx = {}};
  for (const auto& text : analysis::fx_lines(recording, line.frame)) shown.fx.push_back(in_list(text));
  return shown;
}

int64_t frames_to_json(JsonWriter& json, const model::Recording& recording, StackId stack) {
  int64_t left_out = 0;
  json.begin_array();
  if (!stack.is_none()) {
    left_out = static_cast<int64_t>(recording.stacks.frames_of(stack).size());
    const analysis::OwnFrames own(recording, stack);
    Room room(json);
    for (const analysis::FrameLine& line : analysis::frame_lines(recording, stack)) {
      if (!room.for_one_more()) break;
      to_json(json, shown(recording, line, own.is_own(line.frame)));
      left_out -= line.repeats;
    }
    if (left_out > 0)
      to_json(json, ShownFrame{.text = more_text(left_out), .name = {}, .file = {}, .fx = {}});
  }
  json.end_array();
  return left_out;
}

constexpr auto kStacksFrom = words_up_to<analysis::StackFrom::block>("", "alloc", "free", "block");

}  // namespace

void describe_pool(Members& m, const model::Recording& recording, PoolId pool) {
  const auto write = [&](JsonWriter& json) {
    if (pool.is_none()) return json.null();
    const model::Pool& key = recording.pools[pool.index()];
    json.begin_array();
    json.value(static_cast<uint64_t>(key.graph_id));
    json.value(static_cast<uint64_t>(key.user_id));
    json.end_array();
  };
  m.written(As::pool, {"pool", "Its two numbers; null: the file does not say."}, write, true);
}

int64_t describe_frames(Members& m, const model::Recording& recording, StackId stack, Name name) {
  int64_t left_out = 0;
  m.written(name, std::span<const ShownFrame>(),
            [&](JsonWriter& json) { left_out = frames_to_json(json, recording, stack); });
  return left_out;
}

void describe_damage(Members& m, bool damaged) {
  if (const auto there = m.when(damaged))
    m.flag({"damaged", "The file is damaged or ends too early: no number is whole."}, true);
}

int64_t describe_annotations(Members& m, const model::Recording& recording,
                             const analysis::Annotations& annotations) {
  int64_t left_out = 0;
  const auto write = [&](JsonWriter& json) {
    json.begin_array();
    Room room(json);
    for (const StringId text : annotations.texts) {
      if (room.for_one_more()) json.value(in_list(recording.strings.view(text)));
    }
    room.leave_out(annotations.left_out);
    if (room.left_out() > 0) json.value(more_text(room.left_out()));
    json.end_array();
    left_out = room.left_out();
  };
  m.written("annotations", std::span<const std::string>(), write);
  return left_out;
}

void describe_text(Members& m, Name name, const model::Recording& recording, StringId text) {
  m.text(name, [&] {
    return text.is_none() ? std::nullopt
                          : std::optional(utf8::cut(recording.strings.view(text), kLongestText));
  });
}

void describe_stack_from(Members& m, analysis::StackFrom from) { m.word("stack_of", kStacksFrom, from); }

void describe_both(Members& m, Name name, const analysis::BeforeAfter& both) {
  m.object(name, [&] {
    m.is({"BeforeAfter", "Bytes or a number, in two recordings."});
    m.number("before", both.before);
    m.number("after", both.after);
    m.number("growth", both.growth());
  });
}

std::optional<int32_t> device_or_null(int32_t device) {
  return device == model::kUnknownDevice ? std::nullopt : std::optional(device);
}

}  // namespace gpustrata::answers
