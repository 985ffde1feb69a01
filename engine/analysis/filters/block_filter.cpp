#include "engine/analysis/filters/block_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "engine/analysis/filters/stack_terms.h"
#include "engine/base/ascii.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

// Terms of the bands of one picture.
class BandTerms {
 public:
  // `search_text` answers the terms that look for words.
  using SearchText = std::function<Result<Matches>(SearchIn, std::string_view)>;
  BandTerms(Device& device, const replay::Bands& bands, const BlockAttributes& attributes,
            SearchText search_text, int32_t peak_event, bool are_blocks, const MadeIn* made_in)
      : device_(device),
        recording_(device.recording()),
        bands_(bands),
        attributes_(attributes),
        search_text_(std::move(search_text)),
        peak_event_(peak_event),
        are_blocks_(are_blocks),
        made_in_(made_in) {}

  [[nodiscard]] Result<Mask> term(const FilterNode& node) const;

 private:
  template <typename Predicate>
  [[nodiscard]] Result<Mask> per_rank(Predicate holds) const {
    return mask_where(recording_.budget, bands_.count(), holds);
  }

  [[nodiscard]] std::optional<int64_t> time_of(int32_t event) const {
    if (event < 0 || event >= bands_.events.count) return std::nullopt;
    return bands_.clock.microseconds(recording_.events.time[bands_.events.first + event]);
  }

  // Of a block that is never freed or was there before the first event: what is known of its life, so at least this.
  [[nodiscard]] std::optional<int64_t> lived_us(size_t rank) const {
    const int32_t last = bands_.events.count - 1;
    const auto from = time_of(std::max(bands_.born[rank], 0));
    const auto to = time_of(std::min(bands_.freed[rank], last));
    int64_t lived = 0;
    if (!from || !to || __builtin_sub_overflow(*to, *from, &lived)) return std::nullopt;
    return lived;
  }

  [[nodiscard]] int64_t lived_events(size_t rank) const {
    return std::min(bands_.freed[rank], bands_.events.count) - std::max(bands_.born[rank], 0);
  }

  // Of their own, so that a page gets them when it first asks for one (site/split_engine.mjs).
  [[nodiscard, gnu::noinline]] Result<Mask> text_term(const FilterNode& node) const {
    SearchIn where = SearchIn::anything;
    if (node.field == FilterField::address) where = SearchIn::address;
    if (node.field == FilterField::stack) where = SearchIn::frame;
    if (node.field == FilterField::op) where = SearchIn::op;
    if (node.field == FilterField::metadata) where = SearchIn::metadata;
    auto found = search_text_(where, node.text);
    if (!found) return tl::unexpected(found.error());
    const bool of_stacks = where == SearchIn::op || where == SearchIn::frame || where == SearchIn::anything;
    if (made_in_ == nullptr || !of_stacks || node.text.empty()) return std::move(found->matched);
    Mask made_there(recording_.budget);
    if (!mark_made_in(where == SearchIn::op, node.text, made_there))
      return fail(ErrorCode::limit_exceeded, -1, "not enough memory to look for ops of the trace");
    return per_rank([&](size_t rank) {
      if (found->matched[rank] != 0) return true;
      const int32_t born = bands_.born[rank];
      const int32_t path = born < 0 ? -1 : made_in_->node[born];
      return path >= 0 && made_there[static_cast<size_t>(path)] != 0;
    });
  }

  // As search() looks in stacks: the whole name of an op, else some of any name.
  [[nodiscard]] bool mark_made_in(bool ops, std::string_view text, Mask& marks) const {
    const std::string wanted = ascii::lower(text);
    const auto same = [](char a, char b) { return ascii::lower(a) == b; };
    return made_in_->mark(
        [&](std::string_view name, bool is_op) {
          if (ops) return is_op && name == text;
          return std::search(name.begin(), name.end(), wanted.begin(), wanted.end(), same) != name.end();
        },
        marks);
  }

  [[nodiscard, gnu::noinline]] Result<Mask> category_term(const FilterNode& node) const {
    if (!are_blocks_)
      return fail(ErrorCode::invalid_format, node.at, "Categories are those of blocks; segments have none.");
    const auto known = device_.categories();
    if (!known) return tl::unexpected(known.error());
    const std::vector<std::string>& names = (*known)->rules.names;
    const auto named = std::find(names.begin(), names.end(), ascii::lower(node.text));
    if (named == names.end()) {
      return fail(ErrorCode::invalid_format, node.at, "There is no category of this name; there are {}.",
                  fmt::join(names, ", "));
    }
    const auto wanted = static_cast<int32_t>(named - names.begin());
    return per_rank([&](size_t rank) { return (*known)->of(rank) == wanted; });
  }

  Device& device_;
  const model::Recording& recording_;
  const replay::Bands& bands_;
  const BlockAttributes& attributes_;
  SearchText search_text_;
  int32_t peak_event_;
  bool are_blocks_;
  const MadeIn* made_in_;
};

Result<Mask> BandTerms::term(const FilterNode& node) const {
  const auto within = [&](int64_t value) { return value >= node.low && value <= node.high; };
  const auto stack_of = [&](size_t rank) { return attributes_.stack[rank]; };
  switch (node.field) {
    case FilterField::action:
      return fail(ErrorCode::invalid_format, node.at,
                  "Actions are those of events: filter the list of events by them.");
    case FilterField::anything:
    case FilterField::address:
    case FilterField::stack:
    case FilterField::op:
    case FilterField::metadata:
      return text_term(node);
    case FilterField::call:
      return call_term(recording_, node, bands_.count(), stack_of);
    case FilterField::who:
      return who_term(device_, node, bands_.count(), stack_of);
    case FilterField::category:
      return category_term(node);
    case FilterField::size:
      return per_rank([&](size_t rank) { return within(bands_.size[rank]); });
    case FilterField::lifetime:
      return per_rank([&](size_t rank) {
        const std::optional<int64_t> lived = node.in_time ? lived_us(rank) : lived_events(rank);
        const bool is_whole = bands_.born[rank] >= 0 && bands_.freed[rank] < bands_.events.count;
        // A life of at least this many is surely in no range that has an end.
        return lived && within(*lived) && (is_whole || node.high == INT64_MAX);
      });
    case FilterField::born:
      return per_rank([&](size_t rank) { return within(bands_.born[rank]); });
    case FilterField::freed:
      return per_rank([&](size_t rank) {
        const int32_t freed = bands_.freed[rank];
        return within(freed >= bands_.events.count ? kNever : freed);
      });
    case FilterField::stream:
      return per_rank([&](size_t rank) {
        return is_stream(recording_, node, attributes_.stream[rank],
                         [&](StreamId stream) { return attributes_.number_of(stream); });
      });
    case FilterField::pool:
      return per_rank([&](size_t rank) {
        const PoolId pool = attributes_.pool[rank];
        if (pool.is_none()) return false;
        const model::Pool& key = recording_.pools[pool.index()];
        return static_cast<int64_t>(key.graph_id) == node.low &&
               static_cast<int64_t>(key.user_id) == node.high;
      });
    case FilterField::alive: {
      int64_t event = node.low;
      if (event == kAliveAtPeak) event = peak_event_;
      event = std::min<int64_t>(event, bands_.events.count - 1);
      return per_rank([&](size_t rank) { return bands_.born[rank] <= event && event < bands_.freed[rank]; });
    }
  }
  return empty_mask(recording_.budget, bands_.count());
}

[[nodiscard]] Result<Matches> matches_of(const BandTerms& terms, const replay::Bands& bands,
                                         std::string_view text, Budget& budget) {
  const auto tree = parse_filter(text);
  if (!tree) return tl::unexpected(tree.error());
  Matches matches(budget);
  auto mask = tree->root < 0 ? empty_mask(budget, bands.count())
                             : mask_of(*tree, [&](const FilterNode& node) { return terms.term(node); });
  if (!mask) return tl::unexpected(mask.error());
  matches.matched = std::move(*mask);
  for (size_t rank = 0; rank < matches.matched.size(); ++rank) {
    if (matches.matched[rank] == 0) continue;
    if (!matches.ranks.push_back(static_cast<int32_t>(rank)))
      return fail(ErrorCode::limit_exceeded, -1, "not enough memory for {} matches", matches.ranks.size());
    add_saturated(matches.bytes, bands.size[rank]);
  }
  return matches;
}

[[nodiscard]] BandTerms terms_of_blocks(Device& device, const BlockAttributes& attributes,
                                        std::optional<int32_t> peak_event, const MadeIn* made_in) {
  return {device,
          device.lives(),
          attributes,
          [&device](SearchIn where, std::string_view words) {
            return search(device.recording(), device.part(), device.lives(), where, words);
          },
          peak_event.value_or(device.lives().peak_event),
          true,
          made_in};
}

}  // namespace

Result<Matches> filter_blocks(Device& device, std::string_view text, std::optional<int32_t> peak_event,
                              const MadeIn* made_in) {
  const auto attributes = device.attributes();
  if (!attributes) return tl::unexpected(attributes.error());
  return matches_of(terms_of_blocks(device, **attributes, peak_event, made_in), device.lives(), text,
                    device.recording().budget);
}

Result<Mask> blocks_of_term(Device& device, const FilterNode& term, const MadeIn* made_in) {
  const auto attributes = device.attributes();
  if (!attributes) return tl::unexpected(attributes.error());
  return terms_of_blocks(device, **attributes, {}, made_in).term(term);
}

Result<Matches> filter_segments(Device& device, const replay::SegmentBands& segments,
                                const BlockAttributes& attributes, std::string_view text) {
  const BandTerms terms(
      device, segments, attributes,
      [&](SearchIn where, std::string_view words) {
        return search_segments(device.recording(), segments, attributes.stack.span(), where, words);
      },
      segments.peak_event, false, nullptr);
  return matches_of(terms, segments, text, device.recording().budget);
}

}  // namespace gpustrata::analysis
