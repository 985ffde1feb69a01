// What the values of a snapshot are, besides those that every file has: the names of the schema's own tags.
#pragma once

#include "engine/io/values/value.h"

namespace gpustrata::io {

struct Of {
  using Tag = values::Tag;

  static constexpr Tag frame = Tag::own_id_0;  // id = FrameId
  static constexpr Tag stack = Tag::own_id_1;  // id = StackId; a list of frames
  static constexpr Tag pair = Tag::own_id_2;   // id = row of the pair table; a list or tuple of two integers

  static constexpr Tag event_rows = Tag::own_rows_0;
  static constexpr Tag block_rows = Tag::own_rows_1;
  static constexpr Tag segment_rows = Tag::own_rows_2;
  static constexpr Tag history_rows = Tag::own_rows_3;
  static constexpr Tag annotation_rows = Tag::own_rows_4;

  // Lists of rows, in the order of the rows: see SnapshotSchema::rows_of.
  static constexpr Tag event_list = Tag::own_kept_0;
  static constexpr Tag block_list = Tag::own_kept_1;
  static constexpr Tag segment_list = Tag::own_kept_2;
  static constexpr Tag history_list = Tag::own_kept_3;
  static constexpr Tag annotation_list = Tag::own_kept_4;
  static constexpr Tag trace_list =
      Tag::own_kept_5;  // id = first of trace_lists_, num = how many lists of events
  static constexpr Tag snapshot = Tag::own_kept_6;  // id = index of the snapshot
  static constexpr Tag wrapper = Tag::own_kept_7;   // snapshots inside a user's container: see Wrapping
};

// Is it none, but told by one in the JSON of unknown data (SnapshotSchema::write)?
[[nodiscard]] constexpr bool is_told_by_text(values::Tag tag) {
  using values::Tag;
  return values::is_rows(tag) || tag >= Tag::own_kept_0 || tag == Tag::global || tag == Tag::object ||
         tag == Tag::huge_integer;
}

}  // namespace gpustrata::io
