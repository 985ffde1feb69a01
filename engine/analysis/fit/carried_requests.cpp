#include "engine/analysis/fit/carried_requests.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/analysis/stacks/frame_filter.h"

namespace gpustrata::analysis {

using simulate::Request;
using simulate::RequestLog;

namespace {

[[nodiscard]] bool asks_for_memory(Request request) {
  return request == Request::allocate || request == Request::present;
}

// Of the pools of the log.
[[nodiscard]] bool has_pool(Request request) {
  return request == Request::allocate || request == Request::empty_cache || request == Request::release_pool;
}

[[nodiscard]] bool is_of_a_recording(Request request) {
  switch (request) {
    case Request::present:
    case Request::allocate:
    case Request::free:
    case Request::record_stream:
    case Request::finish_stream:
    case Request::empty_cache:
    case Request::release_pool:
    case Request::snapshot:
      return true;
    default:
      return false;
  }
}

class RequestsToCarry {
 public:
  RequestsToCarry(const Rehearsal& rehearsal, Budget& budget)
      : recording_(rehearsal.device.recording),
        log_(rehearsal.requests.log),
        carried_(budget),
        text_of_(budget),
        frame_of_(budget),
        node_of_(budget),
        path_(budget) {
    carried_.about = {static_cast<int64_t>(log_.size_rows()),
                      rehearsal.requests.present,
                      rehearsal.recorded.peak_reserved,
                      rehearsal.recorded.ooms,
                      rehearsal.recorded.first_oom_event,
                      rehearsal.fidelity.is_exact(),
                      rehearsal.ending.at_failure(),
                      rehearsal.ending.is_open,
                      rehearsal.ending.is_cut};
  }

  [[nodiscard]] Result<CarriedRequests> run() {
    if (!text_of_.resize(recording_.strings.size() + 1, -1) ||
        !frame_of_.resize(recording_.frames.size(), -1) ||
        !node_of_.resize(recording_.stacks.node_count(), -1) || !carried_.rows.reserve(log_.size_rows()))
      return no_memory();
    streams_.emplace(0, 0);
    for (size_t row = 0; row < log_.size_rows(); ++row) {
      if (log_.size[row] > kLargestCarried)
        return fail(ErrorCode::wrong_usage, -1, "request {} is for {} bytes: no device has so many", row,
                    log_.size[row]);
      if (!add(row)) return no_memory();
    }
    for (const trace::PoolKey& pool : log_.pools.span())
      carried_.pools.push_back({std::clamp(pool.graph_id, -kLargestCarried, kLargestCarried),
                                std::clamp(pool.user_id, -kLargestCarried, kLargestCarried)});
    return std::move(carried_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> no_memory() const {
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to gather {} requests", log_.size_rows());
  }

  [[nodiscard]] bool add(size_t row) {
    const auto [stream, is_new] =
        streams_.try_emplace(log_.stream[row], static_cast<int32_t>(streams_.size()));
    int32_t stack = CarriedRequests::kNoStack;
    if (!log_.stack[row].is_none()) {
      const int32_t leaf = recording_.stacks.leaf(log_.stack[row]);
      stack = leaf < 0 ? CarriedRequests::kEmptyStack : node_number(leaf);
      if (stack == CarriedRequests::kNoStack) return false;
    }
    return carried_.rows.push_back(
        {log_.request[row], log_.size[row], stream->second, log_.subject[row], stack});
  }

  // kNoStack = no memory.
  [[nodiscard]] int32_t node_number(int32_t leaf) {
    path_.clear();
    for (int32_t i = leaf; i >= 0 && node_of_[i] < 0; i = recording_.stacks.node(i).caller) {
      if (!path_.push_back(i)) return CarriedRequests::kNoStack;
    }
    for (size_t i = path_.size(); i-- > 0;) {  // outermost first
      const trace::StackTable::Node& node = recording_.stacks.node(path_[i]);
      const int32_t frame = frame_number(node.frame);
      node_of_[path_[i]] = static_cast<int32_t>(carried_.nodes.size());
      if (frame < 0 || !carried_.nodes.push_back({frame, node.caller < 0 ? -1 : node_of_[node.caller]}))
        return CarriedRequests::kNoStack;
    }
    return node_of_[leaf];
  }
  // -1 = no memory.
  [[nodiscard]] int32_t frame_number(FrameId id) {
    int32_t& known = frame_of_[id.index()];
    if (known < 0) {
      const trace::Frame& frame = recording_.frames[id];
      known = static_cast<int32_t>(carried_.frames.size());
      if (!carried_.frames.push_back(
              {text_number(frame.name), text_number(frame.filename), std::max(frame.line, 0)}))
        return -1;
    }
    return known;
  }
  [[nodiscard]] int32_t text_number(StringId id) {
    int32_t& known = text_of_[id.is_none() ? recording_.strings.size() : id.index()];
    if (known < 0) {
      known = static_cast<int32_t>(carried_.texts.size());
      carried_.texts.emplace_back(recording_.strings.view(id).substr(0, kLongestName));
    }
    return known;
  }

  const model::Recording& recording_;
  const RequestLog& log_;
  CarriedRequests carried_;
  Column<int32_t> text_of_, frame_of_, node_of_;  // numbers here, -1 = not carried yet
  Column<int32_t> path_;
  std::map<int64_t, int32_t> streams_;  // of a recording there are at most 32767
};

}  // namespace

Result<CarriedRequests> find_carried_requests(const Rehearsal& rehearsal, Budget& budget) {
  return RequestsToCarry(rehearsal, budget).run();
}

ToldRequests::ToldRequests(const CarriedRequests::About& about, Budget& budget)
    : about_(about),
      recording_(budget),
      texts_(budget),
      frames_(budget),
      nodes_(budget),
      stack_of_node_(budget),
      is_freed_(budget) {}

// Here, so that who closes a file to which nothing was told does not have it (site/split_engine.mjs).
ToldRequests::~ToldRequests() = default;

Result<std::unique_ptr<ToldRequests>> ToldRequests::make(const CarriedRequests::About& about,
                                                         Budget& budget) {
  std::unique_ptr<ToldRequests> told(new ToldRequests(about, budget));
  // Of a device without rows: a fit looks at its texts and stacks only.
  auto device = replay::Device::open(told->recording_, model::Part(), 0);
  if (!device) return tl::unexpected(device.error());
  told->device_ = std::move(*device);
  told->rehearsal_ = std::make_unique<Rehearsal>(*told->device_, budget);
  Rehearsal& rehearsal = *told->rehearsal_;
  rehearsal.requests.present = about.present;
  rehearsal.recorded.peak_reserved = about.peak_reserved;
  rehearsal.recorded.ooms = about.ooms;
  rehearsal.recorded.first_oom_event = about.first_oom_event;
  rehearsal.fidelity.requests = about.exact ? 0 : 1;  // in the same place: none
  rehearsal.ending.device = about.at_failure ? 0 : -1;
  rehearsal.ending.is_open = about.is_open;
  rehearsal.ending.is_cut = about.is_cut;
  return told;
}

bool ToldRequests::is_whole() const {
  const auto rows = static_cast<int64_t>(rehearsal_->requests.log.size_rows());
  return rows == about_.rows && about_.present <= rows;
}

Status ToldRequests::add(const CarriedRequests& part) {
  const auto no_memory = [] {
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to keep the requests of another recording");
  };
  for (const std::string& text : part.texts) {
    const StringId id = recording_.strings.intern(text);
    if (id.is_none() || !texts_.push_back(id)) return no_memory();
  }
  const auto texts = static_cast<int32_t>(texts_.size());
  for (const CarriedRequests::Frame& frame : part.frames) {
    if (frame.name < 0 || frame.name >= texts || frame.file < 0 || frame.file >= texts)
      return fail(ErrorCode::wrong_usage, -1, "frame {} has a text that is none", frames_.size());
    const FrameId id = recording_.frames.intern({texts_[frame.name], texts_[frame.file], frame.line, -1});
    if (id.is_none() || !frames_.push_back(id)) return no_memory();
  }
  for (const CarriedRequests::Node& node : part.nodes) {
    if (node.frame < 0 || node.frame >= static_cast<int32_t>(frames_.size()) || node.caller < -1 ||
        node.caller >= static_cast<int32_t>(nodes_.size()))
      return fail(ErrorCode::wrong_usage, -1,
                  "node {} has a frame that is none, or a caller that does not come before it",
                  nodes_.size());
    if (!nodes_.push_back(node) || !stack_of_node_.push_back(StackId())) return no_memory();
  }
  for (const trace::PoolKey& pool : part.pools) {
    if (!rehearsal_->requests.log.pools.push_back(pool)) return no_memory();
  }
  for (const CarriedRequests::Row& row : part.rows) {
    if (Status added = add_row(row); !added) return added;
  }
  return {};
}

Status ToldRequests::add_row(const CarriedRequests::Row& row) {
  RequestLog& log = rehearsal_->requests.log;
  const auto at = static_cast<int64_t>(log.size_rows());
  const auto refuse = [at](std::string_view why) {
    return fail(ErrorCode::wrong_usage, -1, "row {} {}", at, why);
  };
  if (at >= about_.rows) return refuse("is one more than there are");
  if (!is_of_a_recording(row.request)) return refuse("is a request that no recording has");
  if (row.size < 0 || row.size > kLargestCarried) return refuse("has a size that no request has");
  const bool is_setting_up = at < about_.present;
  if (is_setting_up ? !asks_for_memory(row.request) && row.request != Request::free &&
                          row.request != Request::record_stream
                    : row.request == Request::present)
    return refuse("stands where such a request does not");
  if (row.request == Request::free || row.request == Request::record_stream) {
    if (row.subject < 0 || row.subject >= at || !asks_for_memory(log.request[row.subject]) ||
        is_freed_[row.subject] != 0)
      return refuse("is of a block that is not there");
    if (row.request == Request::free) is_freed_[row.subject] = 1;
  }
  if (has_pool(row.request) && (row.subject < -1 || row.subject >= static_cast<int32_t>(log.pools.size()) ||
                                (row.request == Request::release_pool && row.subject < 0)))
    return refuse("is of a pool that is not there");
  const auto stack = stack_of(row.stack);
  if (!stack) return tl::unexpected(stack.error());
  RequestLog::Row told;
  told.request = row.request;
  told.size = row.size;
  told.stream = row.stream;
  told.subject = row.subject;
  told.stack = *stack;
  if (!log.append(told) || !is_freed_.push_back(0))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to keep {} requests of another recording",
                about_.rows);
  return {};
}

Result<StackId> ToldRequests::stack_of(int32_t node) {
  if (node == CarriedRequests::kNoStack) return StackId();
  const bool is_empty = node == CarriedRequests::kEmptyStack;
  if (!is_empty && (node < 0 || node >= static_cast<int32_t>(nodes_.size())))
    return fail(ErrorCode::wrong_usage, -1, "there is no node {}", node);
  if (!is_empty && !stack_of_node_[node].is_none()) return stack_of_node_[node];
  std::vector<FrameId> frames;  // innermost first
  for (int32_t i = is_empty ? -1 : node; i >= 0 && frames.size() < kMostFrames; i = nodes_[i].caller)
    frames.push_back(frames_[nodes_[i].frame]);
  const StackId stack = recording_.stacks.intern(frames);
  if (stack.is_none())
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to keep the stacks of another recording");
  if (!is_empty) stack_of_node_[node] = stack;
  return stack;
}

}  // namespace gpustrata::analysis
