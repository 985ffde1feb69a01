#include "engine/session/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/content_hash.h"
#include "engine/io/any_reader.h"
#include "engine/session/frame.h"
#include "engine/session/questions.h"

namespace memstrata::session {

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
  };
  std::vector<Open> views;
  ViewId last_view = 0;
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

Result<ViewId> Session::open_view(int32_t snapshot, int32_t device_number, Bands bands) {
  State& s = *state_;
  if (!s.finished) return fail(ErrorCode::wrong_usage, -1, "no file has been read");
  if (s.views.size() >= kMostViews)
    return fail(ErrorCode::wrong_usage, -1, "{} views are open; release one first", kMostViews);
  auto shared = device(snapshot, device_number);
  if (!shared) return tl::unexpected(shared.error());
  auto view = View::open(std::move(*shared), bands);
  if (!view) return tl::unexpected(view.error());
  s.views.push_back({++s.last_view, std::move(*view)});
  return s.last_view;
}

void Session::release(ViewId view) {
  std::erase_if(state_->views, [view](const State::Open& open) { return open.id == view; });
}

View* Session::view(ViewId view) {
  for (const State::Open& open : state_->views) {
    if (open.id == view) return open.view.get();
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

}  // namespace memstrata::session
