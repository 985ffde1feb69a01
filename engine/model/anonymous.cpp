#include "engine/model/anonymous.h"

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace gpustrata::model {

namespace {

[[nodiscard]] tl::unexpected<Error> no_memory() {
  return fail(ErrorCode::limit_exceeded, -1, "There is not enough memory for other names.");
}

// The path from "torch/" on of a file of the installed PyTorch; empty if it is none.
[[nodiscard]] std::string_view inside_torch(std::string_view path) {
  for (const std::string_view folder : {"site-packages/torch/", "dist-packages/torch/"}) {
    const size_t at = path.rfind(folder);
    if (at != std::string_view::npos)
      return path.substr(at + folder.size() - std::string_view("torch/").size());
  }
  return {};
}

// ".py", ".cpp"; empty if what is behind the last point is no ending of source files.
[[nodiscard]] std::string_view ending_of(std::string_view path) {
  for (const std::string_view ending : {".py", ".cpp", ".cc", ".cu", ".h", ".c", ".pyx", ".so"})
    if (path.ends_with(ending)) return ending;
  return {};
}

[[nodiscard]] bool is_number(std::string_view json) {
  return json == "true" || json == "false" || json == "null" ||
         (!json.empty() && json.find_first_not_of("+-.0123456789eE") == std::string_view::npos);
}

// New texts for old ones: the same for the same, different ones for different ones.
class Renaming {
 public:
  Renaming(StringPool& strings, Budget& budget) : strings_(strings), known_(budget) {}
  // False: no memory.
  [[nodiscard]] bool begin() { return known_.resize(strings_.size(), StringId{}); }

  // False: no memory. None stays none, an empty text empty.
  [[nodiscard]] bool rename(StringId& id, std::string_view kind, int64_t& count,
                            std::string_view ending = {}) {
    if (id.is_none() || strings_.view(id).empty() || id.index() >= known_.size()) return true;
    StringId& known = known_[id.index()];
    if (known.is_none()) {
      ++count;
      known = strings_.intern(fmt::format("{}_{}{}", kind, count, ending));
    }
    id = known;
    return !known.is_none();
  }
  void keep(StringId id, StringId as) {
    if (!id.is_none() && id.index() < known_.size()) known_[id.index()] = as;
  }
  [[nodiscard]] bool knows(StringId id) const {
    return !id.is_none() && id.index() < known_.size() && !known_[id.index()].is_none();
  }

 private:
  StringPool& strings_;
  Column<StringId> known_;  // by what it replaces
};

class Anonymizer {
 public:
  explicit Anonymizer(Recording& recording)
      : rec_(recording),
        files_(rec_.strings, rec_.budget),
        functions_(rec_.strings, rec_.budget),
        regions_(rec_.strings, rec_.budget),
        texts_(rec_.strings, rec_.budget) {}

  [[nodiscard]] Result<Replaced> run() {
    for (const Part& part : rec_.parts)
      if (part.kind != PartKind::snapshot)
        return fail(ErrorCode::wrong_usage, -1,
                    "Only memory snapshots are anonymized; this file holds something else.");
    if (!files_.begin() || !functions_.begin() || !regions_.begin() || !texts_.begin()) return no_memory();
    if (!frames() || !rows() || !parts()) return no_memory();
    return counts_;
  }

 private:
  [[nodiscard]] bool text(StringId& id) { return texts_.rename(id, "text", counts_.texts); }

  [[nodiscard]] bool keep_torch() {
    Column<uint8_t> taken(rec_.budget);  // by text
    for (size_t i = 0; i < rec_.frames.size(); ++i) {
      const trace::Frame& frame = rec_.frames[FrameId(static_cast<int32_t>(i))];
      const std::string_view path = inside_torch(rec_.strings.view(frame.filename));
      if (path.empty()) continue;
      functions_.keep(frame.name, frame.name);
      if (files_.knows(frame.filename)) continue;
      const StringId kept = rec_.strings.intern(std::string(path));
      if (kept.is_none()) return false;
      // Of two installations only one keeps its names, so that their frames stay apart.
      while (taken.size() <= kept.index())
        if (!taken.push_back(0)) return false;
      if (std::exchange(taken[kept.index()], uint8_t{1}) != 0) continue;
      files_.keep(frame.filename, kept);
      ++counts_.kept_files;
    }
    return true;
  }

  [[nodiscard]] bool frames() {
    if (!keep_torch()) return false;
    trace::FrameTable renamed(rec_.budget);
    for (size_t i = 0; i < rec_.frames.size(); ++i) {
      trace::Frame frame = rec_.frames[FrameId(static_cast<int32_t>(i))];
      const std::string ending(ending_of(rec_.strings.view(frame.filename)));
      if (!files_.rename(frame.filename, "file", counts_.files, ending)) return false;
      if (!functions_.rename(frame.name, "function", counts_.functions)) return false;
      FrameId id;
      if (frame.fx < 0) {
        id = renamed.intern(frame);
      } else {
        trace::FxNode node = rec_.frames.fx_of(frame);
        if (!text(node.name) || !text(node.target) || !text(node.original_trace)) return false;
        id = renamed.intern(frame, node);
      }
      if (id.is_none() || id.index() != i) return false;
    }
    rec_.frames = std::move(renamed);
    return true;
  }

  [[nodiscard]] bool rows() {
    for (PackedColumn<StringId>* column : {&rec_.events.context, &rec_.events.metadata})
      for (size_t i = 0; i < column->size(); ++i) {
        StringId id = (*column)[i];
        if (!id.is_none() && (!text(id) || !column->set(i, id))) return false;
      }
    for (Column<StringId>* column : {&rec_.blocks.metadata, &rec_.segments.metadata})
      for (StringId& id : column->span())
        if (!text(id)) return false;
    for (StringId& id : rec_.annotations.name.span()) {
      if (rec_.strings.view(id).starts_with("ProfilerStep#") && is_number(rec_.strings.view(id).substr(13)))
        continue;
      if (!regions_.rename(id, "region", counts_.regions)) return false;
    }
    for (size_t i = 0; i < rec_.extras.size_rows(); ++i) {
      StringId& value = rec_.extras.value[i];
      const std::string_view key = rec_.strings.view(rec_.extras.key[i]);
      if (key == "category" || is_number(rec_.strings.view(value))) continue;
      if (!extra(value, key == "forward_frames")) return false;
    }
    return true;
  }

  // JSON text, but for forward frames.
  [[nodiscard]] bool extra(StringId& value, bool is_plain) {
    if (is_plain) return text(value);
    StringId other = value;
    if (!text(other)) return false;
    value = rec_.strings.intern(fmt::format("\"{}\"", rec_.strings.view(other)));
    return !value.is_none();
  }

  // Names of snapshots: keys of a dict, members of an archive.
  [[nodiscard]] bool parts() {
    for (size_t i = 0; i < rec_.parts.size(); ++i) {
      std::string& name = rec_.parts[i].name;
      if (!name.empty() && !is_number(name)) name = fmt::format("snapshot_{}", i);
    }
    return true;
  }

  Recording& rec_;
  Renaming files_, functions_, regions_, texts_;
  Replaced counts_;
};

}  // namespace

Result<Replaced> anonymize(Recording& recording) { return Anonymizer(recording).run(); }

}  // namespace gpustrata::model
