#include "engine/session/session_parts.h"

#include <algorithm>
#include <utility>

#include "engine/analysis/filter_completion.h"
#include "engine/answers/block_groups.h"
#include "engine/answers/filter_completion.h"
#include "engine/answers/json_of.h"
#include "engine/base/json_writer.h"
#include "engine/base/saturating.h"

namespace memstrata::session {

Result<std::string> Session::filter(std::string_view text) {
  State& s = *state_;
  if (!s.view) return std::string("null");
  if (const Status ready = s.find_attributes(); !ready) return tl::unexpected(ready.error());
  const replay::Bands& lives = s.view->ranked();
  const int32_t peak = s.view->bands().peak_event;
  const analysis::BlockAttributes& attributes = *s.view->attributes;
  auto found = s.view->segments ? analysis::filter_segments(s.recording, *s.view->segments, attributes, text)
                                : analysis::filter_blocks(s.recording, s.view->device->part, s.view->lives(),
                                                          attributes, text);
  if (!found) return tl::unexpected(found.error());
  int64_t at_peak = 0;
  for (const int32_t rank : found->ranks) {
    const auto r = static_cast<size_t>(rank);
    if (lives.born[r] <= peak && peak < lives.freed[r]) add_saturated(at_peak, lives.size[r]);
  }
  JsonWriter json;
  json.begin_object();
  json.member("count", static_cast<int64_t>(found->ranks.size()));
  json.member("bytes", found->bytes);
  json.member("at_peak", at_peak);
  json.member("first", found->ranks.empty() ? int64_t{-1} : int64_t{found->ranks[0]});
  json.end_object();
  s.drawn.forget();
  s.view->matches.reset();
  if (text.find_first_not_of(" \t\n\r") != std::string_view::npos) s.view->matches.emplace(std::move(*found));
  return std::move(json).text();
}

Result<std::string> Session::complete_filter_json(std::string_view text, size_t cursor) {
  State& s = *state_;
  if (!s.view) return std::string("null");
  if (const Status ready = s.find_attributes(); !ready) return tl::unexpected(ready.error());
  const analysis::Completions found =
      analysis::complete_filter(s.recording, s.view->ranked(), *s.view->attributes, text, cursor);
  return answers::json_of(found);
}

int32_t Session::match(int32_t k) const {
  if (!state_->view || !state_->view->matches) return -1;
  const auto& ranks = state_->view->matches->ranks;
  return k >= 0 && static_cast<size_t>(k) < ranks.size() ? ranks[static_cast<size_t>(k)] : -1;
}

Result<std::string> Session::colour_by(std::string_view by) {
  State& s = *state_;
  if (!s.view) return std::string("null");
  const auto wanted = analysis::group_by_name(by);
  if (!wanted) return fail(ErrorCode::internal, -1, "there is no colour by \"{}\"", by);
  if (const Status ready = s.find_attributes(); !ready) return tl::unexpected(ready.error());
  auto groups = analysis::group_blocks(s.recording, s.view->ranked(), *s.view->attributes, *wanted);
  if (!groups) return tl::unexpected(groups.error());
  s.drawn.forget();
  s.view->lit.reset();
  s.view->groups.emplace(std::move(*groups));
  return answers::json_of(s.recording, *s.view->groups);
}

std::string Session::shares_json(int32_t event) const {
  const State& s = *state_;
  if (!s.view) return "null";
  const replay::Bands& lives = s.view->ranked();
  event = std::clamp(event, -1, lives.events.count - 1);
  JsonWriter json;
  const auto write = [&](const analysis::Share& share) {
    json.begin_object();
    json.member("bytes", share.bytes);
    json.member("blocks", share.blocks);
    json.end_object();
  };
  json.begin_object();
  json.member("event", int64_t{event});
  json.member("level", s.view->bands().level_after(event));
  json.key("kinds");
  json.begin_array();
  if (s.view->groups) {
    for (const analysis::Share& share : analysis::shares_at(lives, *s.view->groups, event)) write(share);
  }
  json.end_array();
  if (s.view->pools) json.member("unused", s.view->bands().level_after(event) - lives.level_after(event));
  json.key("matched");
  if (s.view->matches) {
    analysis::Share matched;
    for (const int32_t rank : s.view->matches->ranks) {
      const auto r = static_cast<size_t>(rank);
      if (lives.born[r] > event || event >= lives.freed[r]) continue;
      add_saturated(matched.bytes, lives.size[r]);
      ++matched.blocks;
    }
    write(matched);
  } else {
    json.null();
  }
  json.end_object();
  return std::move(json).text();
}

void Session::light_kind(int32_t kind) {
  State& s = *state_;
  if (!s.view) return;
  s.drawn.forget();
  s.view->lit.reset();
  if (kind < 0 || !s.view->groups || s.view->groups->group.empty()) return;
  const Column<uint32_t>& group = s.view->groups->group;
  Column<uint8_t> lit(s.budget);
  if (!lit.resize(group.size(), 0)) return;  // then nothing is dimmed
  for (size_t r = 0; r < group.size(); ++r) lit[r] = group[r] == static_cast<uint32_t>(kind) ? 1 : 0;
  s.view->lit.emplace(std::move(lit));
}

}  // namespace memstrata::session
