// View: what a range did, and calls as trees.
#include <algorithm>
#include <utility>

#include "engine/analysis/calls/call_tree_layout.h"
#include "engine/base/hash.h"
#include "engine/session/view.h"

namespace gpustrata::session {

namespace {

[[nodiscard]] uint64_t hash_of(const analysis::CarriedCalls& calls) {
  uint64_t hash = mix_hash(1);
  const auto add = [&](const void* bytes, size_t count) { hash = mix_hash(hash ^ hash_bytes(bytes, count)); };
  for (const std::string& text : calls.texts) add(text.data(), text.size());
  add(calls.frames.data(), calls.frames.size() * sizeof(analysis::CarriedCalls::Frame));
  add(calls.nodes.data(), calls.nodes.size() * sizeof(analysis::CarriedCalls::Node));
  const double sums[] = {calls.without, calls.rest};
  add(sums, sizeof(sums));
  return hash;
}

}  // namespace

analysis::RangeTotals View::range(replay::Axis axis, int64_t from, int64_t to) const {
  if (from > to) std::swap(from, to);
  return analysis::find_range_totals(ranked(), timeline_->event_at(axis, from),
                                     timeline_->event_at(axis, to));
}

template <typename Use>
auto View::with_bands(const TreeWanted& wanted, const Use& use)
    -> decltype(use(std::declval<const analysis::BandsAsked&>())) {
  const auto known = attributes();
  if (!known) return tl::unexpected(known.error());
  return device_->memo().with_room([&]() -> decltype(use(std::declval<const analysis::BandsAsked&>())) {
    const auto meant = filtered(wanted.filter);
    if (!meant) return tl::unexpected(meant.error());
    const std::span<const uint8_t> matched =
        *meant == nullptr ? std::span<const uint8_t>() : (*meant)->matches.matched.span();
    return use(
        {recording(), ranked(), *timeline_, (*known)->stack.span(), matched, wanted.asked.only_matched});
  });
}

analysis::TreeAsked View::within(const analysis::TreeAsked& wanted) const {
  analysis::TreeAsked asked = wanted;
  const int32_t last = event_count() - 1;
  asked.weights.from = std::clamp(asked.weights.from, -1, last);
  asked.weights.to = std::clamp(asked.weights.to, -1, last);
  return asked;
}

Result<View::KeptCalls> View::kept_calls(const TreeWanted& wanted) {
  analysis::TreeAsked asked = within(wanted.asked);
  // Against another recording it is a difference, whatever was asked: calls are of a moment or a range.
  if (wanted.before != nullptr && asked.weights.of == analysis::BlocksOf::difference)
    asked.weights.of = analysis::BlocksOf::moment;
  const uint64_t before = wanted.before == nullptr ? 0 : hash_of(*wanted.before);
  std::string key = memo_key(before, asked.weights.of, asked.weights.by, asked.weights.from, asked.weights.to,
                             asked.by, asked.frames, asked.inverted, asked.only_matched, wanted.filter);
  const auto find = [&](const analysis::BandsAsked& of) -> Result<Calls> {
    if (wanted.before == nullptr) {
      const analysis::WhoOfStacks* who = nullptr;
      if (asked.frames == analysis::FramesOf::own) {
        const auto known = device_->who();
        if (!known) return tl::unexpected(known.error());
        who = *known;
      }
      auto tree = analysis::build_call_tree(of, asked, who);
      if (!tree) return tl::unexpected(tree.error());
      return Calls(std::move(*tree));
    }
    const auto after = analysis::find_carried_calls(of, asked.weights, SIZE_MAX);
    if (!after) return tl::unexpected(after.error());
    auto two = analysis::compare_calls(*wanted.before, *after, asked, budget_);
    if (!two) return tl::unexpected(two.error());
    Calls calls(std::move(two->tree));
    calls.both = std::move(two->both);
    calls.rest = wanted.before->rest;
    return calls;
  };
  const auto found = kept<Calls>(
      key, [&] { return with_bands(wanted, find); }, 1);
  if (!found) return tl::unexpected(found.error());
  return KeptCalls{std::move(key), *found};
}

Result<View::KnownCalls> View::calls(const TreeWanted& wanted) {
  const auto kept = kept_calls(wanted);
  if (!kept) return tl::unexpected(kept.error());
  const Calls& calls = *kept->calls;
  return KnownCalls{calls.tree, calls.both ? *calls.both : recording(), calls.rest};
}

Result<analysis::CarriedCalls> View::carried_calls(const TreeWanted& wanted) {
  analysis::WeightsAsked asked = within(wanted.asked).weights;
  if (asked.of == analysis::BlocksOf::difference) asked.of = analysis::BlocksOf::moment;
  return with_bands(wanted, [&](const analysis::BandsAsked& of) {
    return analysis::find_carried_calls(of, asked, analysis::kMostCarriedCalls);
  });
}

Result<std::span<const analysis::FrameRow>> View::call_rows(const TreeWanted& wanted,
                                                            const RowsWanted& rows) {
  const auto tree = kept_calls(wanted);
  if (!tree) return tl::unexpected(tree.error());
  const Calls& calls = *tree->calls;
  const model::Recording& of = calls.both ? *calls.both : recording();
  const auto found = kept<Column<analysis::FrameRow>>(
      memo_key(rows.order, rows.descending, rows.search.size(), rows.search, tree->key),
      [&]() -> Result<Column<analysis::FrameRow>> {
        Column<uint8_t> keys(budget_);
        const bool all = rows.search.find_first_not_of(" \t\r\n") == std::string_view::npos;
        if (!all && !analysis::find_keys_with(of, calls.tree, rows.search, keys))
          return fail(ErrorCode::limit_exceeded, -1, "not enough memory to look for a text in all calls");
        return analysis::find_frame_rows(of, calls.tree, rows.order, rows.descending, keys.span());
      },
      1);
  if (!found) return tl::unexpected(found.error());
  return std::span<const analysis::FrameRow>((*found)->span());
}

}  // namespace gpustrata::session
