// One open file and all questions about it: the only API of every client that is not the command line.
//
// Reading:   while (input) { fill writable(); commit(n); }  finish();
// Then:      ask(question) -> answer, both as frames (frame.h); replies_of_*.cpp list what can be asked.
// A program in C++ may also open views and call them (view.h).
//
// Several views of a file may be open; each question names its view and is pure. What a view keeps is charged
// to the budget and given back when it is released. Several clients may ask about one file, each through a session of its
// own: what one opens, tells or releases is nothing to the others. One thread per file.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/analysis/fit/carried_requests.h"
#include "engine/analysis/what_if/what_if.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/session/view.h"

namespace gpustrata::session {

// Of one session; never used again after release(). 0 = none.
using ViewId = int32_t;

class Session {
 public:
  // `within`: what several files together may take; it outlives them.
  explicit Session(int64_t budget_bytes, Budget* within = nullptr);
  // Another client of the same file: alike views are one underneath. No client of it can add runs from then on.
  explicit Session(Session& of_first);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // -- Reading. The kind of file is decided from the first bytes.
  void expect_bytes(int64_t total);
  [[nodiscard]] std::span<std::byte> writable();  // valid until the next call; empty: no memory
  // `bytes` of writable() were filled; more than it has is refused. Error: limit_exceeded, wrong_usage, or
  // what is wrong with the input.
  [[nodiscard]] Status commit(size_t bytes);
  // Nothing can be read after it. Error: as commit().
  [[nodiscard]] Status finish();
  [[nodiscard]] bool done() const;  // the rest of the input does not matter
  [[nodiscard]] bool finished() const;
  struct Progress {
    int64_t bytes = 0;   // read so far
    int64_t events = 0;  // found so far
    int64_t heap = 0;    // bytes of the budget in use
  };
  [[nodiscard]] Progress progress() const;
  // 16 hexadecimal digits that tell one input from another; of the bytes committed so far, however they were
  // cut into chunks. Not cryptographic.
  [[nodiscard]] std::string content_hash() const;
  [[nodiscard]] const model::Recording& recording() const;

  // -- Views. Error of opening: wrong_usage (unfinished; no such device; kMostViews are open),
  // limit_exceeded.
  static constexpr size_t kMostViews = 64;
  // Of one client among several: what a view of one filter needs is nobody else's, and memory is everybody's.
  static constexpr size_t kMostFilteredViews = 8;
  [[nodiscard]] Result<ViewId> open_view(int32_t snapshot, int32_t device, Bands bands,
                                         std::string_view only = {});
  // The one that views share, or one that nobody keeps. Error: as open_view().
  [[nodiscard]] Result<std::shared_ptr<Device>> device(int32_t snapshot, int32_t device) const;
  void release(ViewId view);              // of no view: nothing happens
  [[nodiscard]] View* view(ViewId view);  // null if it is not open
  // Device::tell_made_in() of the view's device, for this client alone. Error also: limit_exceeded.
  [[nodiscard]] Result<int64_t> tell_made_in(ViewId view, const Device::MadeInPart& part, bool anew);

  // -- What fits: requests of other recordings, told by numbers below analysis::kMostFitted. Behind those told before of the same number, or
  // `anew`. How many rows there are of it. Error: wrong_usage, limit_exceeded; then nothing of that number is told.
  [[nodiscard]] Result<int64_t> tell_requests(int32_t other, const analysis::CarriedRequests& part,
                                              bool anew);
  // Null: not told, or not all of them.
  [[nodiscard]] const analysis::Rehearsal* told_requests(int32_t other) const;

  // -- What if: a run of a view's device under other circumstances, as one more snapshot of the file. It takes the place of
  // the run before, whose views are gone; all others stay open. One that fails leaves nothing. Error: as
  // analysis::record_scenario(); wrong_usage (a view of a run; the file has other clients, who would see it).
  [[nodiscard]] Result<int32_t> add_run(ViewId of, const analysis::Scenario& scenario,
                                        const analysis::GoesOn& goes_on);
  // By event of that device, the last event of the run that stands there; null = there is no such run.
  [[nodiscard]] const Column<int32_t>* moments_of_run(int32_t snapshot) const;
  // What takes long ends after that time, or when whoever waits sets the flag, from any thread.
  [[nodiscard]] analysis::GoesOn for_at_most(std::chrono::seconds limit) const;
  void end_when(const std::atomic<bool>& stopped);

  // -- A question as a frame, answered by one. Whatever the bytes are: an answer or an error in words. Valid
  // until the next call.
  [[nodiscard]] std::span<const std::byte> ask(std::span<const std::byte> question);
  // The same without an answer.
  [[nodiscard]] std::span<const std::byte> refuse(std::span<const std::byte> question, const Error& why);
  // Gives back the memory of the last answer, if it is much.
  void forget_answer();

 private:
  struct File;
  struct State;
  void drop_run();
  std::unique_ptr<State> state_;
};

}  // namespace gpustrata::session
