// A Recording in the shape of PyTorch's snapshots, told to an output (PickleOutput, JsonOutput) value by
// value.
//
// What is absent in the tables is absent in the output, with these exceptions, which PyTorch's web viewer
// needs: `device_traces` reaches as far as the devices of the segments, blocks with frames have a
// requested_size (their size if it is unknown), frames have texts for name and filename, blocks a state.
#pragma once

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/io/encodings/json/text_values.h"
#include "engine/io/limits.h"
#include "engine/io/readers/snapshot/snapshot_words.h"
#include "engine/io/writers/written_lists.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

// Pieces of a formatted stack, as PyTorch lists them: each begins with a line `  File "...`.
[[nodiscard]] std::vector<std::string_view> forward_frame_pieces(std::string_view text);
// Whether each history has a place in the list of devices, which ends at kMaxTraces: what is beyond is not read either.
// `snapshot`: its index, or kAllSnapshots. Error: limit_exceeded.
[[nodiscard]] Status check_devices(const model::Recording& recording, size_t snapshot);
// A key for each snapshot of a file; all different. Empty: their names are 0, 1, 2, ..., so they are a list.
[[nodiscard]] std::vector<std::string> snapshot_keys(const model::Recording& recording);

template <typename Output>
class SnapshotShape {
 public:
  SnapshotShape(const model::Recording& recording, Output& output) : rec_(recording), out_(output) {
    for (const model::Owner owner : rec_.extras.owner) has_extras_[static_cast<size_t>(owner)] = true;
  }

  // All snapshots: as one, or in a dict by name, or in a list.
  void file() {
    const size_t count = rec_.parts.size();
    if (count == 1) return snapshot(0);
    const std::vector<std::string> keys = snapshot_keys(rec_);
    if (keys.empty()) {
      out_.begin_list();
      for (size_t i = 0; i < count && !out_.failed(); ++i) {
        out_.item();
        snapshot(i);
      }
      return out_.end_list();
    }
    out_.begin_dict();
    for (size_t i = 0; i < count && !out_.failed(); ++i) {
      out_.key(std::string_view(keys[i]));
      snapshot(i);
    }
    out_.end_dict();
  }

  void snapshot(size_t index) {
    const model::Part& part = rec_.parts[index];
    clock_ = part.clock;
    out_.begin_dict();
    // Events first: their keys get the shortest references.
    out_.key(Word::device_traces);
    traces(part);
    out_.key(Word::segments);
    segments(part.segments);
    if (!part.settings_json.is_none()) {
      out_.key(Word::allocator_settings);
      write_json_value(rec_.strings.view(part.settings_json), out_);
    }
    out_.key(Word::external_annotations);
    annotations(part.annotations);
    if (part.has_host) {
      out_.key(Word::host_segments);
      segments(part.host_segments);
      out_.key(Word::host_traces);
      events(part.host_events);
    }
    extras(model::Owner::part, static_cast<int32_t>(index));
    if (rec_.diagnostics.incomplete()) {
      out_.key(Word::gpustrata_damaged);
      write_json_value("true", out_);
    }
    out_.end_dict();
  }

 private:
  void traces(const model::Part& part) {
    int64_t lists = 0;
    for (int32_t row = part.segments.first; row < part.segments.end(); ++row) {
      lists = std::max(lists, int64_t{rec_.segments.device[row]} + 1);
    }
    if (!part.traces.empty()) lists = std::max(lists, int64_t{part.traces.back().device} + 1);
    lists = std::min(lists, static_cast<int64_t>(kMaxTraces));  // check_devices()
    out_.begin_list();
    for (int64_t device = 0; device < lists; ++device) {
      out_.item();
      events(part.events_of(static_cast<int32_t>(device)));
    }
    out_.end_list();
  }

  // A list of rows; empty ones are not shared.
  template <typename WriteRow>
  void rows(RowList list, model::RowRange range, WriteRow&& write_row) {
    if (range.count > 0 && out_.refer(list, range)) return;
    out_.begin_list();
    if (range.count > 0) out_.remember(list, range);
    for (int32_t row = range.first; row < range.end() && !out_.failed(); ++row) {
      out_.item();
      write_row(row);
      out_.row_done();
    }
    out_.end_list();
  }

  void events(model::RowRange range) {
    rows(RowList::events, range, [&](int32_t row) { event(row); });
  }
  void segments(model::RowRange range) {
    rows(RowList::segments, range, [&](int32_t row) { segment(row); });
  }
  void annotations(model::RowRange range) {
    rows(RowList::annotations, range, [&](int32_t row) { annotation(row); });
  }

  void event(int32_t row) {
    const auto i = static_cast<size_t>(row);
    const model::EventTable& e = rec_.events;
    out_.begin_dict();
    member(Word::action, e.action[i]);
    if (e.action[i] == trace::Action::oom) {
      if (const auto free = model::device_free(e, i)) member(Word::device_free, *free);
    } else {
      out_.key(Word::addr);
      out_.address(e.address[i]);
    }
    member(Word::size, e.size[i]);
    member(Word::stream, rec_.streams[e.stream[i].index()]);
    time(e.time[i]);
    if (!e.context[i].is_none()) member(Word::compile_context, e.context[i]);
    if (!e.metadata[i].is_none()) member(Word::user_metadata, e.metadata[i]);
    if (!e.pool[i].is_none()) member(Word::pool_id, e.pool[i]);
    frames(e.stack[i]);
    extras(model::Owner::event, row);
    out_.end_dict();
  }

  void segment(int32_t row) {
    const model::SegmentTable& s = rec_.segments;
    out_.begin_dict();
    member(Word::device, int64_t{s.device[row]});
    out_.key(Word::address);
    out_.address(s.address[row]);
    member(Word::total_size, s.total_size[row]);
    known_size(Word::allocated_size, s.allocated_size[row]);
    known_size(Word::active_size, s.active_size[row]);
    known_size(Word::requested_size, s.requested_size[row]);
    member(Word::stream, rec_.streams[s.stream[row].index()]);
    if (s.type[row] != model::SegmentType::unknown) {
      member(Word::segment_type, s.type[row] == model::SegmentType::small ? Word::small : Word::large);
    }
    if (!s.pool[row].is_none()) member(Word::segment_pool_id, s.pool[row]);
    if (s.expandable[row] != model::Tristate::unknown) {
      member(Word::is_expandable, s.expandable[row] == model::Tristate::yes);
    }
    frames(s.stack[row]);
    if (!s.metadata[row].is_none()) member(Word::user_metadata, s.metadata[row]);
    out_.key(Word::blocks);
    out_.begin_list();
    const bool knows_requests = s.requested_size[row] != model::kUnknownSize;
    for (int32_t block_row = s.blocks[row].first; block_row < s.blocks[row].end() && !out_.failed();
         ++block_row) {
      out_.item();
      block(block_row, knows_requests);
      out_.row_done();
    }
    out_.end_list();
    extras(model::Owner::segment, row);
    out_.end_dict();
  }

  void block(int32_t row, bool segment_knows_requests) {
    const model::BlockTable& b = rec_.blocks;
    StackId stack = b.stack[row];
    int64_t requested = b.requested_size[row];
    if (b.history[row].count > 0) {
      // The reader takes both from the first entry where the block itself lacks them (2022-23).
      const auto first = static_cast<size_t>(b.history[row].first);
      const bool active = b.state[row] == model::BlockState::active_allocated ||
                          b.state[row] == model::BlockState::active_pending_free;
      if (active && stack == rec_.history.stack[first]) stack = {};
      if (active && !segment_knows_requests && requested == rec_.history.real_size[first]) {
        requested = model::kUnknownSize;
      }
    }
    if (!stack.is_none() && requested == model::kUnknownSize) requested = b.size[row];
    out_.begin_dict();
    out_.key(Word::address);
    out_.address(b.address[row]);
    member(Word::size, b.size[row]);
    known_size(Word::requested_size, requested);
    out_.key(Word::state);
    switch (b.state[row]) {
      case model::BlockState::active_allocated:
        out_.value(Word::active_allocated);
        break;
      case model::BlockState::active_pending_free:
        out_.value(Word::active_pending_free);
        break;
      case model::BlockState::inactive:
        out_.value(Word::inactive);
        break;
      case model::BlockState::unknown:
        out_.value(std::string_view("unknown"));
    }
    frames(stack);
    if (b.history[row].count > 0) history(b.history[row]);
    if (!b.metadata[row].is_none()) member(Word::user_metadata, b.metadata[row]);
    extras(model::Owner::block, row);
    out_.end_dict();
  }

  void history(model::RowRange range) {
    out_.key(Word::history);
    out_.begin_list();
    for (int32_t row = range.first; row < range.end() && !out_.failed(); ++row) {
      out_.item();
      out_.begin_dict();
      out_.key(Word::addr);
      out_.address(rec_.history.address[row]);
      member(Word::real_size, rec_.history.real_size[row]);
      frames(rec_.history.stack[row]);
      out_.end_dict();
    }
    out_.end_list();
  }

  void annotation(int32_t row) {
    const model::AnnotationTable& a = rec_.annotations;
    out_.begin_dict();
    member(Word::name, a.name[row]);
    out_.key(Word::stage);
    if (a.stage[row] == model::Stage::unknown) {
      out_.value(std::string_view("unknown"));
    } else {
      out_.value(a.stage[row] == model::Stage::start ? Word::START : Word::END);
    }
    member(Word::device, int64_t{a.device[row]});
    time(a.time[row]);
    extras(model::Owner::annotation, row);
    out_.end_dict();
  }

  void time(int64_t ticks) {
    if (const auto us = clock_.microseconds(ticks)) member(Word::time_us, *us);
  }

  void frames(StackId stack) {
    if (stack.is_none()) return;
    out_.key(Word::frames);
    if (out_.refer(stack)) return;
    out_.begin_list();
    out_.remember(stack);
    for (int32_t node = out_.refer_frames(rec_.stacks.leaf(stack)); node >= 0 && !out_.failed();
         node = out_.refer_frames(rec_.stacks.node(node).caller)) {
      out_.item();
      frame(rec_.stacks.node(node).frame);
      out_.row_done();
    }
    out_.end_list();
  }

  void frame(FrameId id) {
    if (out_.refer(id)) return;
    const trace::Frame& frame = rec_.frames[id];
    out_.begin_dict();
    out_.remember(id);
    member(Word::name, frame.name);
    member(Word::filename, frame.filename);
    member(Word::line, int64_t{frame.line});
    if (frame.fx >= 0) {
      const trace::FxNode& fx = rec_.frames.fx_of(frame);
      text_or_none(Word::fx_node_op, fx.op);
      text_or_none(Word::fx_node_name, fx.name);
      text_or_none(Word::fx_node_target, fx.target);
      text_or_none(Word::fx_original_trace, fx.original_trace);
    }
    out_.end_dict();
  }

  void extras(model::Owner owner, int32_t row) {
    if (!has_extras_[static_cast<size_t>(owner)]) return;
    const model::RowRange range = rec_.extras_of(owner, row);
    // Keys that are no texts may be written alike: 1 and "1". The last one counts, as where a key occurs twice.
    std::vector<bool> is_last(static_cast<size_t>(range.count), true);
    std::set<std::string_view> later;
    for (size_t i = is_last.size(); i-- > 0 && range.count > 1;)
      is_last[i] =
          later.insert(rec_.strings.view(rec_.extras.key[static_cast<size_t>(range.first) + i])).second;
    for (int32_t at = range.first; at < range.end(); ++at) {
      if (!is_last[static_cast<size_t>(at - range.first)]) continue;
      const StringId value = rec_.extras.value[at];
      const std::string_view key = rec_.strings.view(rec_.extras.key[at]);
      if (key == kWordTexts[static_cast<size_t>(Word::gpustrata_damaged)]) continue;  // see snapshot()
      out_.key(rec_.extras.key[at]);
      if (key == kWordTexts[static_cast<size_t>(Word::forward_frames)]) {
        forward_frames(value);
      } else if (const std::string_view text = rec_.strings.view(value); !text.starts_with('"')) {
        write_json_value(text, out_);
      } else if (!out_.refer_json(value)) {  // texts repeat: one for each allocation of a kind
        write_json_value(text, out_);
        out_.remember_json(value);
      }
    }
  }

  // Kept as one text; a reader joins the pieces.
  void forward_frames(StringId id) {
    const std::string_view text = rec_.strings.view(id);
    if (text == "null") return out_.none();
    out_.begin_list();
    if (text != "[]") {
      for (const std::string_view piece : forward_frame_pieces(text)) {
        out_.item();
        out_.value(piece);
      }
    }
    out_.end_list();
  }

  template <typename T>
  void member(Word key, T value) {
    out_.key(key);
    out_.value(value);
  }
  void known_size(Word key, int64_t bytes) {
    if (bytes != model::kUnknownSize) member(key, bytes);
  }
  void text_or_none(Word key, StringId text) {
    out_.key(key);
    if (text.is_none()) {
      out_.none();
    } else {
      out_.value(text);
    }
  }

  const model::Recording& rec_;
  Output& out_;
  model::Clock clock_;                             // of the part at work
  std::array<bool, model::kOwners> has_extras_{};  // by owner
};

}  // namespace gpustrata::io
