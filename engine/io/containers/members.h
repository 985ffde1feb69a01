// The members of an archive, one after the other, on their way into one Recording. Each is a file of its own:
// what one of them is or lacks does not touch the others.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/io/containers/opened_file.h"
#include "engine/io/containers/unpacking.h"

namespace gpustrata::io {

class Members {
 public:
  // `place`: where the archive lies, empty = it is the file; `depth`: containers around it.
  // `tells_others`: members that are no snapshots are worth a remark.
  Members(OpenedFile& file, std::string place, int depth, bool tells_others = true);

  // A member begins at byte `offset` of the archive. False: there are too many already.
  [[nodiscard]] bool begin(std::string_view name, Packing packing, int64_t offset);
  [[nodiscard]] Unpacking& current() { return *current_; }
  [[nodiscard]] bool has_current() const { return current_ != nullptr; }
  [[nodiscard]] size_t snapshots() const { return file_.recording.parts.size() - first_snapshot_; }

  enum class End : uint8_t { complete, cut, damaged, wrong_checksum, too_much };
  // The member is over; `why` is a half-sentence unless it is complete. Names its snapshots.
  void end(End how, std::string_view why = {});
  // A member that cannot be unpacked at all.
  void leave_out(std::string_view name, int64_t offset, std::string_view why);

  // Error if no snapshot was found; `container` is "zip archive".
  [[nodiscard]] Status conclude(std::string_view container);
  // "pickle and json in zip"
  [[nodiscard]] std::string format(std::string_view container) const;

 private:
  void note(model::Diag diag, std::string_view why);
  void remember(std::string_view why, ErrorCode code, int64_t offset);
  [[nodiscard]] std::string unique_name(std::string_view raw);

  OpenedFile& file_;
  std::string place_;
  int depth_;
  bool tells_others_;
  size_t first_snapshot_;  // those before belong to others
  std::set<std::string> names_;
  std::vector<std::string> formats_;  // different ones, by first appearance
  int32_t count_ = 0;
  bool too_many_ = false;

  // The current one.
  std::unique_ptr<Unpacking> current_;
  std::string name_;
  int64_t offset_ = 0;
  size_t snapshots_before_ = 0;
  int64_t unpacked_before_ = 0;
  model::Diagnostics diagnostics_before_;

  // The first one that was left out, for telling why nothing can be shown.
  Error first_refusal_;
  bool refused_ = false;
};

}  // namespace gpustrata::io
