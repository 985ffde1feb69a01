#include "engine/analysis/filters/block_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "engine/analysis/filters/filter_syntax.h"
#include "engine/analysis/stacks/frame_pattern.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/base/ascii.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

using Mask = Column<uint8_t>;

class Evaluation {
 public:
  // `search_text` answers the terms that look for words.
  using SearchText = std::function<Result<Matches>(SearchIn, std::string_view)>;
  Evaluation(const model::Recording& recording, const replay::Bands& bands, const BlockAttributes& attributes,
             const FilterTree& tree, SearchText search_text, int32_t peak_event,
             const CategorySource& categories, const MadeIn* made_in)
      : recording_(recording),
        bands_(bands),
        attributes_(attributes),
        tree_(tree),
        search_text_(std::move(search_text)),
        peak_event_(peak_event),
        categories_(categories),
        made_in_(made_in) {}

  [[nodiscard]] Result<Mask> of(int32_t node_index) const {
    const FilterNode& node = tree_.nodes[static_cast<size_t>(node_index)];
    if (node.kind == FilterNode::Kind::term) return term(node);
    Mask joined(recording_.budget);
    for (const int32_t child : node.children) {
      auto mask = of(child);
      if (!mask) return mask;
      if (joined.empty()) {
        joined = std::move(*mask);
        continue;
      }
      const bool all = node.kind == FilterNode::Kind::all_of;
      for (size_t i = 0; i < joined.size(); ++i)
        joined[i] = all ? joined[i] & (*mask)[i] : joined[i] | (*mask)[i];
    }
    if (node.kind == FilterNode::Kind::none_of) {
      for (uint8_t& holds : joined.span()) holds ^= 1;
    }
    return joined;
  }

 private:
  template <typename Predicate>
  [[nodiscard]] Result<Mask> per_rank(Predicate holds) const {
    Mask mask(recording_.budget);
    const auto count = static_cast<size_t>(bands_.count());
    if (!mask.resize(count, 0)) {
      return fail(ErrorCode::limit_exceeded, -1,
                  "not enough memory to filter {} blocks: {} bytes would be needed", count,
                  recording_.budget.needed());
    }
    for (size_t rank = 0; rank < count; ++rank) mask[rank] = holds(rank) ? 1 : 0;
    return mask;
  }

  [[nodiscard]] std::optional<int64_t> time_of(int32_t event) const {
    if (event < 0 || event >= bands_.events.count) return std::nullopt;
    return bands_.clock.microseconds(
        recording_.events.time[static_cast<size_t>(bands_.events.first + event)]);
  }

  // Counted to the end of the recording for what is never freed, as lifetimes in events are.
  [[nodiscard]] std::optional<int64_t> lived_us(size_t rank) const {
    const int32_t last = bands_.events.count - 1;
    const auto from = time_of(std::max(bands_.born[rank], 0));
    const auto to = time_of(std::min(bands_.freed[rank], last));
    int64_t lived = 0;
    if (!from || !to || __builtin_sub_overflow(*to, *from, &lived)) return std::nullopt;
    return lived;
  }

  [[nodiscard]] Result<Mask> text_term(const FilterNode& node) const {
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
      const int32_t path = born < 0 ? -1 : made_in_->node[static_cast<size_t>(born)];
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

  [[nodiscard]] Result<Mask> call_term(const FilterNode& node) const {
    const auto pattern = parse_frame_pattern(node.text);
    Mask nodes(recording_.budget);
    if (!pattern || !find_nodes_with(recording_, *pattern, nodes))
      return fail(ErrorCode::limit_exceeded, -1, "not enough memory to look for a call in all stacks");
    return per_rank([&](size_t rank) {
      const StackId stack = attributes_.stack[rank];
      const int32_t leaf = stack.is_none() ? -1 : recording_.stacks.leaf(stack);
      return leaf >= 0 && nodes[leaf] != 0;
    });
  }

  [[nodiscard]] Result<Mask> who_term(const FilterNode& node) const {
    const auto pattern = parse_frame_pattern(node.text);
    WhoOfStacks who_of(recording_);
    Mask frames(recording_.budget);
    if (!pattern || !who_of.prepare() || !find_frames_meant(recording_, *pattern, frames))
      return fail(ErrorCode::limit_exceeded, -1, "not enough memory to tell who asked for every block");
    return per_rank([&](size_t rank) {
      const Who who = who_of(attributes_.stack[rank]);
      return who.kind != Who::Kind::nothing && frames[who.frame.index()] != 0;
    });
  }

  [[nodiscard]] Result<Mask> category_term(const FilterNode& node) const {
    if (!categories_)
      return fail(ErrorCode::invalid_format, node.at, "Categories are those of blocks; segments have none.");
    const auto known = categories_();
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

  [[nodiscard]] Result<Mask> term(const FilterNode& node) const {
    const auto within = [&](int64_t value) { return value >= node.low && value <= node.high; };
    switch (node.field) {
      case FilterField::anything:
      case FilterField::address:
      case FilterField::stack:
      case FilterField::op:
      case FilterField::metadata:
        return text_term(node);
      case FilterField::call:
        return call_term(node);
      case FilterField::who:
        return who_term(node);
      case FilterField::category:
        return category_term(node);
      case FilterField::size:
        return per_rank([&](size_t rank) { return within(bands_.size[rank]); });
      case FilterField::lifetime:
        return per_rank([&](size_t rank) {
          if (!node.in_time) {
            const int32_t end = std::min(bands_.freed[rank], bands_.events.count);
            return within(end - std::max(bands_.born[rank], 0));
          }
          const auto lived = lived_us(rank);
          return lived && within(*lived);
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
          const StreamId stream = attributes_.stream[rank];
          if (node.text.empty()) return attributes_.number_of(stream) == node.low;
          return (stream.is_none() ? 0 : recording_.streams[stream.index()]) == node.low;
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
        return per_rank(
            [&](size_t rank) { return bands_.born[rank] <= event && event < bands_.freed[rank]; });
      }
    }
    return per_rank([](size_t) { return false; });
  }

  const model::Recording& recording_;
  const replay::Bands& bands_;
  const BlockAttributes& attributes_;
  const FilterTree& tree_;
  SearchText search_text_;
  int32_t peak_event_;
  const CategorySource& categories_;
  const MadeIn* made_in_;
};

[[nodiscard]] Result<Matches> filter(const model::Recording& recording, const replay::Bands& bands,
                                     const BlockAttributes& attributes, std::string_view text,
                                     Evaluation::SearchText search_text, int32_t peak_event,
                                     const CategorySource& categories, const MadeIn* made_in) {
  auto tree = parse_filter(text);
  if (!tree) return tl::unexpected(tree.error());
  Matches matches(recording.budget);
  if (tree->root < 0) {
    if (matches.matched.resize(static_cast<size_t>(bands.count()), 0)) return matches;
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to filter {} blocks", bands.count());
  }
  auto mask =
      Evaluation(recording, bands, attributes, *tree, std::move(search_text), peak_event, categories, made_in)
          .of(tree->root);
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

}  // namespace

Result<Matches> filter_blocks(const model::Recording& recording, const model::Part& part,
                              const replay::BlockLives& lives, const BlockAttributes& attributes,
                              std::string_view text, std::optional<int32_t> peak_event,
                              const CategorySource& categories, const MadeIn* made_in) {
  return filter(
      recording, lives, attributes, text,
      [&](SearchIn where, std::string_view words) { return search(recording, part, lives, where, words); },
      peak_event.value_or(lives.peak_event), categories, made_in);
}

Result<Matches> filter_segments(const model::Recording& recording, const replay::SegmentBands& segments,
                                const BlockAttributes& attributes, std::string_view text) {
  return filter(
      recording, segments, attributes, text,
      [&](SearchIn where, std::string_view words) {
        return search_segments(recording, segments, attributes.stack.span(), where, words);
      },
      segments.peak_event, {}, nullptr);
}

}  // namespace gpustrata::analysis
