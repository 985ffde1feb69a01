#include "capture/stacks/symbols.h"

#include <cxxabi.h>
#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <system_error>
#include <thread>

#include "capture/stacks/dwarf_lines.h"
#include "capture/stacks/elf_symbols.h"

namespace gpustrata::capture {

namespace {

using Clock = std::chrono::steady_clock;
constexpr unsigned kFewestThreads = 2;  // one may have to wait for its file
constexpr unsigned kMostThreads = 8;

[[nodiscard]] std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = text != nullptr && status == 0 ? text : name;
  std::free(text);
  return result;
}

// Empty without a build id; need not be there.
[[nodiscard]] std::string debug_file(const Module& module, const std::string& debug_folder) {
  if (module.build_id.size() < 4) return {};
  return fmt::format("{}/.build-id/{}/{}.debug", debug_folder, module.build_id.substr(0, 2),
                     module.build_id.substr(2));
}

// The Source of everyday.
void frames_of_machine(const Module& module, std::span<const uint64_t> addresses,
                       std::vector<Symbols::Frames>& frames, const std::function<bool()>& expired) {
  frames_from_files(module, "/usr/lib/debug", addresses, frames, expired);
}

}  // namespace

void frames_from_files(const Module& module, const std::string& debug_folder,
                       std::span<const uint64_t> addresses, std::vector<Symbols::Frames>& frames,
                       const std::function<bool()>& expired) {
  const std::string debug = debug_file(module, debug_folder);
  if (!frames_from_dwarf(module.path, addresses, frames, expired))
    (void)frames_from_dwarf(debug, addresses, frames, expired);
  std::vector<std::string> names(addresses.size());
  name_from_symbols(module.path, addresses, names, expired);
  name_from_symbols(debug, addresses, names, expired);
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    // The symbol table has the full name of what was called; DWARF knows it without qualifiers in C only.
    if (frames[i].empty()) frames[i].push_back({{}, "??", 0});
    frames[i].back().name = std::move(names[i]);
  }
}

// The addresses of one module, ascending, and what is found of them. A worker's until it has returned.
struct Symbols::Job {
  Module module;
  std::vector<uint64_t> addresses;  // as loaded
  std::vector<uint64_t> in_file;    // of the calls, in the file
  std::vector<Frames> frames;
  bool complete = false;
  bool returned = false;  // under Crew::lock

  // Every address gets a frame, whatever is known of it.
  void complete_names() {
    frames.resize(addresses.size());
    for (size_t i = 0; i < addresses.size(); ++i) {
      if (frames[i].empty()) frames[i].push_back({{}, "??", 0});
      for (NamedFrame& frame : frames[i]) {
        frame.name =
            frame.name.empty() ? fmt::format("{}+{:#x}", module.name(), in_file[i]) : demangled(frame.name);
      }
    }
  }
};

// Threads at work on the jobs of one resolve(). Theirs too, so that it lives as long as the last of them.
struct Symbols::Crew {
  std::mutex lock;
  std::condition_variable one_returned;
  std::vector<std::shared_ptr<Job>> jobs;
  size_t next = 0;
  size_t returned = 0;
  bool over = false;  // nobody waits: no further job is begun
  Clock::time_point deadline;
  Source source = nullptr;

  void work() {
    const std::function<bool()> expired = [this] { return Clock::now() >= deadline; };
    while (true) {
      std::unique_lock guard(lock);
      if (over || next == jobs.size()) return;
      Job& job = *jobs[next++];
      guard.unlock();
      job.frames.resize(job.addresses.size());
      source(job.module, job.in_file, job.frames, expired);
      job.complete = !expired();
      job.complete_names();
      guard.lock();
      job.returned = true;
      ++returned;
      one_returned.notify_one();
    }
  }
};

Symbols::Symbols() : Symbols(frames_of_machine, Patience()) {}
Symbols::Symbols(Source source, Patience patience) : source_(source), patience_(patience) {}

std::vector<std::shared_ptr<Symbols::Job>> Symbols::jobs_for(const std::vector<uint64_t>& addresses) {
  const std::vector<Module> modules = loaded_modules();
  std::vector<std::shared_ptr<Job>> jobs;
  const Module* last = nullptr;
  for (const uint64_t address : addresses) {
    const Module* const module = module_of(modules, address - 1);
    if (module == nullptr || module->path.empty()) {
      known_[address] = {{fmt::format("{:#x}", address), "??", 0}};
      continue;
    }
    if (module != last) {
      jobs.push_back(std::make_shared<Job>());
      jobs.back()->module = *module;
      last = module;
    }
    jobs.back()->addresses.push_back(address);
    // A return address may be the first one after its function: the call before it is meant.
    jobs.back()->in_file.push_back(address - 1 - module->base);
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const auto& a, const auto& b) { return a->addresses.size() > b->addresses.size(); });
  return jobs;
}

void Symbols::wait_for(Crew& crew) const {
  std::unique_lock guard(crew.lock);
  const auto all_returned = [&crew] { return crew.returned == crew.jobs.size(); };
  const auto last_moment = crew.deadline + patience_.grace;
  auto next_line = Clock::now() + patience_.progress;
  while (!crew.one_returned.wait_until(guard, std::min(next_line, last_moment), all_returned)) {
    const auto now = Clock::now();
    if (now >= last_moment) return;
    if (now < next_line) continue;
    next_line = now + patience_.progress;
    (void)std::fprintf(stderr, "gpustrata: naming the stacks: %zu of %zu modules\n", crew.returned,
                       crew.jobs.size());
  }
}

void Symbols::adopt(Job& job) {
  auto& names = job.complete ? known_ : unnamed_;
  for (size_t i = 0; i < job.addresses.size(); ++i) {
    if (!known_.contains(job.addresses[i])) names[job.addresses[i]] = std::move(job.frames[i]);
  }
}

void Symbols::resolve(std::span<const uint64_t> addresses, double seconds) {
  const std::lock_guard guard(lock_);
  unnamed_.clear();
  // What earlier calls had to leave behind: taken over where it is done by now.
  std::vector<std::string> busy;
  std::erase_if(left_, [&](const std::shared_ptr<Crew>& crew) {
    const std::lock_guard crew_guard(crew->lock);
    std::erase_if(crew->jobs, [&](const std::shared_ptr<Job>& job) {
      if (job->returned) {
        adopt(*job);
      } else {
        busy.push_back(job->module.path);
      }
      return job->returned;
    });
    return crew->jobs.empty();
  });

  std::vector<uint64_t> wanted;
  for (const uint64_t address : addresses) {
    if (!known_.contains(address)) wanted.push_back(address);
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  if (wanted.empty()) return;

  const std::vector<std::shared_ptr<Job>> jobs = jobs_for(wanted);
  const auto crew = std::make_shared<Crew>();
  crew->source = source_;
  crew->deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e6)));
  std::copy_if(jobs.begin(), jobs.end(), std::back_inserter(crew->jobs), [&](const auto& job) {
    return std::find(busy.begin(), busy.end(), job->module.path) == busy.end();
  });
  const size_t most = std::clamp(std::thread::hardware_concurrency(), kFewestThreads, kMostThreads);
  std::vector<std::thread> threads;
  try {
    for (size_t i = 0; i < std::min(most, crew->jobs.size()); ++i)
      threads.emplace_back([crew] { crew->work(); });
  } catch (const std::system_error&) {
    // No more threads: those there are do it, or this one.
    if (threads.empty()) crew->work();
  }
  wait_for(*crew);

  std::unique_lock crew_guard(crew->lock);
  const bool all_returned = crew->returned == crew->jobs.size();
  crew->over = true;
  size_t left = 0;
  for (const auto& job : jobs) {
    left += job->returned && job->complete ? 0 : job->addresses.size();
    if (job->returned) {
      adopt(*job);
      continue;
    }
    Job empty;  // the job itself may be somebody's still
    empty.module = job->module;
    empty.addresses = job->addresses;
    empty.in_file = job->in_file;
    empty.complete_names();
    adopt(empty);
  }
  crew->jobs.resize(std::min(crew->next, crew->jobs.size()));  // without those that nobody began
  crew_guard.unlock();
  for (std::thread& thread : threads) {
    if (all_returned) {
      thread.join();
    } else {
      thread.detach();
    }
  }
  if (!all_returned) left_.push_back(crew);
  if (left > 0)
    (void)std::fprintf(stderr,
                       "gpustrata: %zu addresses of stacks have no complete names: %.0f s were over\n", left,
                       seconds);
}

const Symbols::Frames& Symbols::frames(uint64_t address) const {
  const std::lock_guard guard(lock_);
  static const Frames kUnknown = {{"??", "??", 0}};
  if (const auto found = known_.find(address); found != known_.end()) return found->second;
  if (const auto found = unnamed_.find(address); found != unnamed_.end()) return found->second;
  return kUnknown;
}

}  // namespace gpustrata::capture
