#include "engine/io/containers/members.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/utf8.h"

namespace gpustrata::io {

using model::Diag;

Members::Members(OpenedFile& file, std::string place, int depth, bool tells_others)
    : file_(file),
      place_(std::move(place)),
      depth_(depth),
      tells_others_(tells_others),
      first_snapshot_(file.recording.parts.size()) {}

// Archives may hold two members of one name; they stay apart.
std::string Members::unique_name(std::string_view raw) {
  const std::string plain = utf8::cut(utf8::sanitized(raw), kMaxNameBytes);
  std::string name = plain;
  for (int32_t n = 2; !names_.insert(name).second; ++n) name = fmt::format("{} ({})", plain, n);
  return name;
}

bool Members::begin(std::string_view name, Packing packing, int64_t offset) {
  if (count_ >= kMaxMembersOfArchive || snapshots() >= kMaxSnapshots) {
    if (!std::exchange(too_many_, true)) {
      file_.recording.diagnostics.add(Diag::too_many_members, offset,
                                      fmt::format("left out: {}", utf8::sanitized(name)));
    }
    return false;
  }
  ++count_;
  name_ = unique_name(name);
  offset_ = offset;
  snapshots_before_ = file_.recording.parts.size();
  unpacked_before_ = file_.unpacked;
  diagnostics_before_ = file_.recording.diagnostics;
  current_ = std::make_unique<Unpacking>(file_, packing, place_.empty() ? name_ : name_ + " in " + place_,
                                         offset, depth_ + 1);
  return true;
}

void Members::note(Diag diag, std::string_view why) {
  file_.recording.diagnostics.add(diag, offset_, fmt::format("{}: {}", name_, why));
}

void Members::remember(std::string_view why, ErrorCode code, int64_t offset) {
  if (std::exchange(refused_, true)) return;
  first_refusal_ = {code, fmt::format("{}: {}", name_, why), offset, {}};
}

void Members::end(End how, std::string_view why) {
  const std::unique_ptr<Unpacking> member = std::move(current_);
  if (file_.room() <= 0 && file_.forgiven < kForgivenMembers) {
    ++file_.forgiven;
    file_.unpacked = unpacked_before_;
  }
  model::Recording& recording = file_.recording;
  const int64_t cuts = recording.diagnostics[Diag::truncated].count;
  if (Status status = member->finish(); !status) {
    // What the reader found in something that is not shown is of no interest.
    recording.diagnostics = std::move(diagnostics_before_);
    recording.parts.resize(snapshots_before_);
    const Error& error = status.error();
    const bool is_other =
        how == End::complete && (!member->reader().recognised() || error.code == ErrorCode::unsupported);
    const std::string text =
        how == End::complete ? error.message : fmt::format("{}, nothing of it can be shown", why);
    if (!is_other || tells_others_) note(is_other ? Diag::not_a_snapshot : Diag::member_not_read, text);
    remember(text, is_other ? ErrorCode::unsupported : error.code, offset_);
    return;
  }
  for (size_t i = snapshots_before_; i < recording.parts.size(); ++i) {
    std::string& inner = recording.parts[i].name;
    inner = inner.empty() ? name_ : fmt::format("{}/{}", name_, inner);
  }
  const std::string format = member->reader().format();
  if (std::find(formats_.begin(), formats_.end(), format) == formats_.end()) formats_.push_back(format);
  switch (how) {
    case End::complete:
      break;
    case End::cut:
      if (recording.diagnostics[Diag::truncated].count == cuts) note(Diag::truncated, why);
      break;
    case End::damaged:
      note(Diag::damaged, why);
      break;
    case End::wrong_checksum:
      note(Diag::checksum_mismatch, why);
      break;
    case End::too_much:
      note(Diag::unpacks_to_too_much, why);
  }
}

void Members::leave_out(std::string_view name, int64_t offset, std::string_view why) {
  if (count_ >= kMaxMembersOfArchive) return;
  ++count_;
  name_ = unique_name(name);
  offset_ = offset;
  note(Diag::member_not_read, why);
  remember(why, ErrorCode::unsupported, offset);
}

Status Members::conclude(std::string_view container) {
  if (snapshots() > 0) return {};
  if (count_ == 0) return fail(ErrorCode::unsupported, 0, "There is no snapshot in this {}.", container);
  return fail(first_refusal_.code, first_refusal_.offset,
              "There is no memory snapshot in this {} of {} file{}. {}{}", container, count_,
              count_ == 1 ? "" : "s", count_ == 1 ? "" : "The first: ", first_refusal_.message);
}

std::string Members::format(std::string_view container) const {
  std::string all;
  for (const std::string& format : formats_) all += (all.empty() ? "" : " and ") + format;
  return fmt::format("{} in {}", all, container);
}

}  // namespace gpustrata::io
