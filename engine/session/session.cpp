#include "engine/session/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "engine/analysis/fit/fit.h"
#include "engine/base/content_hash.h"
#include "engine/io/any_reader.h"
#include "engine/session/frame.h"
#include "engine/session/questions.h"

namespace gpustrata::session {

// What all clients share. Views are kept by those who opened them.
struct Session::File {
  File(int64_t budget_bytes, Budget* within)
      : budget(budget_bytes, within), recording(budget), reader(recording), answer(budget) {}

  Budget budget;
  model::Recording recording;
  io::AnyReader reader;
  int64_t bytes_read = 0;
  ContentHash hash;
  std::span<std::byte> room;  // where the caller writes what it commits next
  bool finished = false;
  bool has_clients = false;  // more than the first
  std::vector<std::weak_ptr<View>> views;
  AnswerFrame answer;
};

struct Session::State {
  explicit State(std::shared_ptr<File> of) : file(std::move(of)) {}

  std::shared_ptr<File> file;
  struct Open {
    ViewId id = 0;
    std::shared_ptr<View> view;
  };
  std::vector<Open> views;
  ViewId last_view = 0;
  struct Run {
    int32_t snapshot = 0;
    Column<int32_t> moments;
    model::Recording::Mark before;
  };
  std::optional<Run> run;
  std::array<std::unique_ptr<analysis::ToldRequests>, analysis::kMostFitted> told;  // of other recordings
  const std::atomic<bool>* stopped = nullptr;
};

namespace {

[[nodiscard]] bool is_of(const Device& device, int32_t snapshot, int32_t number) {
  return device.snapshot_number() == snapshot && device.ordinal() == number;
}

// What was told to a device is its client's alone.
[[nodiscard]] bool is_everybodys(const View& view) { return view.device().made_in_version() == 0; }

}  // namespace

Session::Session(int64_t budget_bytes, Budget* within)
    : state_(std::make_unique<State>(std::make_shared<File>(budget_bytes, within))) {}
Session::Session(Session& of_first) : state_(std::make_unique<State>(of_first.state_->file)) {
  state_->file->has_clients = true;
}
Session::~Session() = default;

void Session::expect_bytes(int64_t total) { state_->file->reader.expect_bytes(total); }

std::span<std::byte> Session::writable() {
  state_->file->room = state_->file->finished ? std::span<std::byte>() : state_->file->reader.writable();
  return state_->file->room;
}

Status Session::commit(size_t bytes) {
  const auto room = std::exchange(state_->file->room, {});
  if (bytes > room.size())
    return fail(ErrorCode::wrong_usage, -1, "{} bytes were committed, there was room for {}", bytes,
                room.size());
  state_->file->bytes_read += static_cast<int64_t>(bytes);
  state_->file->hash.add(room.first(bytes));
  return state_->file->reader.commit(bytes);
}

Status Session::finish() {
  if (state_->file->finished) return fail(ErrorCode::wrong_usage, -1, "reading has been finished before");
  Status finished = state_->file->reader.finish();
  state_->file->finished = finished.has_value();
  return finished;
}

bool Session::done() const { return state_->file->reader.done(); }
bool Session::finished() const { return state_->file->finished; }

Session::Progress Session::progress() const {
  return {state_->file->bytes_read, static_cast<int64_t>(state_->file->recording.events.size_rows()),
          state_->file->budget.used()};
}

std::string Session::content_hash() const { return fmt::format("{:016x}", state_->file->hash.value()); }

const model::Recording& Session::recording() const { return state_->file->recording; }

Result<std::shared_ptr<Device>> Session::device(int32_t snapshot, int32_t device) const {
  for (const State::Open& open : state_->views) {
    if (is_of(open.view->device(), snapshot, device)) return open.view->shared_device();
  }
  for (const std::weak_ptr<View>& known : state_->file->views) {
    const std::shared_ptr<View> view = known.lock();
    if (view && is_everybodys(*view) && is_of(view->device(), snapshot, device)) return view->shared_device();
  }
  return Device::open(state_->file->recording, snapshot, device);
}

Result<ViewId> Session::open_view(int32_t snapshot, int32_t device_number, Bands bands,
                                  std::string_view only) {
  State& s = *state_;
  if (!s.file->finished) return fail(ErrorCode::wrong_usage, -1, "no file has been read");
  if (s.views.size() >= kMostViews)
    return fail(ErrorCode::wrong_usage, -1, "{} views are open; release one first", kMostViews);
  const auto filtered = std::count_if(s.views.begin(), s.views.end(),
                                      [](const State::Open& open) { return !open.view->only().empty(); });
  if (s.file->has_clients && !only.empty() && filtered >= static_cast<ptrdiff_t>(kMostFilteredViews)) {
    return fail(ErrorCode::wrong_usage, -1, "{} views of one filter are open; release one first",
                kMostFilteredViews);
  }
  auto shared = device(snapshot, device_number);
  if (!shared) return tl::unexpected(shared.error());
  std::vector<std::weak_ptr<View>>& all = s.file->views;
  std::shared_ptr<View> view;
  for (const std::weak_ptr<View>& known : all) {
    const std::shared_ptr<View> there = known.lock();
    if (there && there->shared_device() == *shared && there->bands() == bands && there->only() == only)
      view = there;
  }
  if (!view) {
    auto opened = View::open(std::move(*shared), bands, only);
    if (!opened) return tl::unexpected(opened.error());
    view = std::move(*opened);
    std::erase_if(all, [](const std::weak_ptr<View>& known) { return known.expired(); });
    all.push_back(view);
  }
  s.views.push_back({++s.last_view, std::move(view)});
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

Result<int64_t> Session::tell_made_in(ViewId of, const Device::MadeInPart& part, bool anew) {
  State& s = *state_;
  const View* const told = view(of);
  if (told == nullptr) return fail(ErrorCode::wrong_usage, -1, "there is no such view");
  std::shared_ptr<Device> device = told->shared_device();
  if (s.file->has_clients && is_everybodys(*told)) {
    // From here on this client's views are of a device of its own.
    auto own = Device::open(s.file->recording, device->snapshot_number(), device->ordinal());
    if (!own) return tl::unexpected(own.error());
    std::vector<State::Open> views = s.views;
    for (State::Open& open : views) {
      if (open.view->shared_device() != device) continue;
      auto again = View::open(*own, open.view->bands(), open.view->only());
      if (!again) return tl::unexpected(again.error());
      open.view = std::move(*again);
      s.file->views.push_back(open.view);
    }
    s.views = std::move(views);
    device = std::move(*own);
  }
  if (anew) device->forget_made_in();
  if (Status known = device->tell_made_in(part); !known) return tl::unexpected(known.error());
  return device->made_in_count();
}

Result<int64_t> Session::tell_requests(int32_t other, const analysis::CarriedRequests& part, bool anew) {
  if (other < 0 || static_cast<size_t>(other) >= state_->told.size())
    return fail(ErrorCode::wrong_usage, -1, "recording {} is more than the {} that can be fitted", other,
                state_->told.size());
  std::unique_ptr<analysis::ToldRequests>& told = state_->told[static_cast<size_t>(other)];
  if (anew || !told) {
    auto made = analysis::ToldRequests::make(part.about, state_->file->budget);
    if (!made) return tl::unexpected(made.error());
    told = std::move(*made);
  }
  if (Status added = told->add(part); !added) {
    told.reset();
    return tl::unexpected(added.error());
  }
  return static_cast<int64_t>(told->rehearsal().requests.log.size_rows());
}

const analysis::Rehearsal* Session::told_requests(int32_t other) const {
  if (other < 0 || static_cast<size_t>(other) >= state_->told.size()) return nullptr;
  const auto& told = state_->told[static_cast<size_t>(other)];
  return told && told->is_whole() ? &told->rehearsal() : nullptr;
}

Result<int32_t> Session::add_run(ViewId of, const analysis::Scenario& scenario,
                                 const analysis::GoesOn& goes_on) {
  State& s = *state_;
  const View* const told = view(of);
  if (told == nullptr) return fail(ErrorCode::wrong_usage, -1, "there is no such view");
  if (s.file->has_clients)
    return fail(ErrorCode::wrong_usage, -1,
                "others may ask about this file, too: it must be opened again for runs of your own");
  if (s.run && told->device().snapshot_number() == s.run->snapshot)
    return fail(ErrorCode::wrong_usage, -1, "this is a run: ask for another one of a recorded device");
  const auto rehearsal = told->device().rehearsal(goes_on);
  if (!rehearsal) return tl::unexpected(rehearsal.error());
  drop_run();
  model::Recording& recording = s.file->recording;
  State::Run run{static_cast<int32_t>(recording.parts.size()), Column<int32_t>(s.file->budget),
                 recording.mark()};
  if (Status recorded = analysis::record_scenario(**rehearsal, scenario, recording, &run.moments, goes_on);
      !recorded) {
    recording.back_to(run.before);
    return tl::unexpected(recorded.error());
  }
  return s.run.emplace(std::move(run)).snapshot;
}

void Session::drop_run() {
  State& s = *state_;
  if (!s.run) return;
  std::erase_if(s.views, [&](const State::Open& open) {
    return open.view->device().snapshot_number() == s.run->snapshot;
  });
  s.file->recording.back_to(s.run->before);
  s.run.reset();
}

const Column<int32_t>* Session::moments_of_run(int32_t snapshot) const {
  return state_->run && state_->run->snapshot == snapshot ? &state_->run->moments : nullptr;
}

analysis::GoesOn Session::for_at_most(std::chrono::seconds limit) const {
  return [in_time = analysis::for_at_most(limit), stopped = state_->stopped] {
    return in_time() && (stopped == nullptr || !*stopped);
  };
}

void Session::end_when(const std::atomic<bool>& stopped) { state_->stopped = &stopped; }

std::span<const std::byte> Session::ask(std::span<const std::byte> question) {
  const uint32_t id = id_of(question);
  AnswerFrame& answer = state_->file->answer;
  answer.begin();
  const Status answered = answer_question(*this, question, answer);
  return answered ? answer.finish(id) : answer.refuse(id, answered.error());
}

std::span<const std::byte> Session::refuse(std::span<const std::byte> question, const Error& why) {
  return state_->file->answer.refuse(id_of(question), why);
}

void Session::forget_answer() { state_->file->answer.forget(); }

}  // namespace gpustrata::session
