#include "engine/session/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/content_hash.h"
#include "engine/io/any_reader.h"
#include "engine/session/frame.h"
#include "engine/session/questions.h"

namespace gpustrata::session {

struct Session::State {
  explicit State(int64_t budget_bytes)
      : budget(budget_bytes), recording(budget), reader(recording), answer(budget) {}

  Budget budget;
  model::Recording recording;
  io::AnyReader reader;
  int64_t bytes_read = 0;
  ContentHash hash;
  std::span<std::byte> room;  // where the caller writes what it commits next
  bool finished = false;

  struct Open {
    ViewId id = 0;
    std::unique_ptr<View> view;
    Bands bands = Bands::blocks;
    std::string only;
    int64_t users = 1;
  };
  std::vector<Open> views;
  ViewId last_view = 0;
  bool are_shared = false;
  struct Run {
    int32_t snapshot = 0;
    Column<int32_t> moments;
  };
  std::vector<Run> runs;
  AnswerFrame answer;
};

Session::Session(int64_t budget_bytes) : state_(std::make_unique<State>(budget_bytes)) {}
Session::~Session() = default;

void Session::expect_bytes(int64_t total) { state_->reader.expect_bytes(total); }

std::span<std::byte> Session::writable() {
  state_->room = state_->finished ? std::span<std::byte>() : state_->reader.writable();
  return state_->room;
}

Status Session::commit(size_t bytes) {
  const auto room = std::exchange(state_->room, {});
  if (bytes > room.size())
    return fail(ErrorCode::wrong_usage, -1, "{} bytes were committed, there was room for {}", bytes,
                room.size());
  state_->bytes_read += static_cast<int64_t>(bytes);
  state_->hash.add(room.first(bytes));
  return state_->reader.commit(bytes);
}

Status Session::finish() {
  if (state_->finished) return fail(ErrorCode::wrong_usage, -1, "reading has been finished before");
  Status finished = state_->reader.finish();
  state_->finished = finished.has_value();
  return finished;
}

bool Session::done() const { return state_->reader.done(); }
bool Session::finished() const { return state_->finished; }

Session::Progress Session::progress() const {
  return {state_->bytes_read, static_cast<int64_t>(state_->recording.events.size_rows()),
          state_->budget.used()};
}

std::string Session::content_hash() const { return fmt::format("{:016x}", state_->hash.value()); }

const model::Recording& Session::recording() const { return state_->recording; }

Result<std::shared_ptr<Device>> Session::device(int32_t snapshot, int32_t device) const {
  for (const State::Open& open : state_->views) {
    const Device& known = open.view->device();
    if (known.snapshot_number() == snapshot && known.replayed().ordinal() == device)
      return open.view->shared_device();
  }
  return Device::open(state_->recording, snapshot, device);
}

Result<ViewId> Session::open_view(int32_t snapshot, int32_t device_number, Bands bands,
                                  std::string_view only) {
  State& s = *state_;
  if (!s.finished) return fail(ErrorCode::wrong_usage, -1, "no file has been read");
  for (State::Open& open : s.views) {
    const replay::Device& shown = open.view->device().replayed();
    if (!s.are_shared || open.view->device().snapshot_number() != snapshot ||
        shown.ordinal() != device_number || open.bands != bands || open.only != only)
      continue;
    ++open.users;
    return open.id;
  }
  if (s.views.size() >= kMostViews)
    return fail(ErrorCode::wrong_usage, -1, "{} views are open; release one first", kMostViews);
  auto shared = device(snapshot, device_number);
  if (!shared) return tl::unexpected(shared.error());
  auto view = View::open(std::move(*shared), bands, only);
  if (!view) return tl::unexpected(view.error());
  s.views.push_back({++s.last_view, std::move(*view), bands, std::string(only)});
  return s.last_view;
}

void Session::release(ViewId view) {
  std::erase_if(state_->views, [view](State::Open& open) { return open.id == view && --open.users == 0; });
}

void Session::share_views() { state_->are_shared = true; }

View* Session::view(ViewId view) {
  for (const State::Open& open : state_->views) {
    if (open.id == view) return open.view.get();
  }
  return nullptr;
}

Result<int32_t> Session::add_run(ViewId of, const analysis::Scenario& scenario,
                                 const analysis::GoesOn& goes_on) {
  State& s = *state_;
  const View* const told = view(of);
  if (told == nullptr) return fail(ErrorCode::wrong_usage, -1, "there is no such view");
  if (s.runs.size() >= kMostRuns)
    return fail(ErrorCode::wrong_usage, -1, "{} runs have been added to the file: open it anew for more",
                kMostRuns);
  const auto rehearsal = told->device().rehearsal(goes_on);
  if (!rehearsal) return tl::unexpected(rehearsal.error());
  Column<int32_t> moments(s.budget);
  const Status recorded = analysis::record_scenario(**rehearsal, scenario, s.recording, &moments, goes_on);
  // The events lie elsewhere now, and timelines refer to their times.
  for (State::Open& open : s.views) {
    auto again = View::open(open.view->shared_device(), open.view->bands());
    if (!again) return tl::unexpected(again.error());
    open.view = std::move(*again);
  }
  if (!recorded) return tl::unexpected(recorded.error());
  const auto snapshot = static_cast<int32_t>(s.recording.parts.size()) - 1;
  s.runs.push_back({snapshot, std::move(moments)});
  return snapshot;
}

const Column<int32_t>* Session::moments_of_run(int32_t snapshot) const {
  for (const State::Run& run : state_->runs) {
    if (run.snapshot == snapshot) return &run.moments;
  }
  return nullptr;
}

std::span<const std::byte> Session::ask(std::span<const std::byte> question) {
  const uint32_t id = id_of(question);
  AnswerFrame& answer = state_->answer;
  answer.begin();
  const Status answered = answer_question(*this, question, answer);
  return answered ? answer.finish(id) : answer.refuse(id, answered.error());
}

}  // namespace gpustrata::session
