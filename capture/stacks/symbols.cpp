#include "capture/stacks/symbols.h"

#include <cxxabi.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <system_error>
#include <thread>

#include "capture/stacks/dwarf_lines.h"
#include "capture/stacks/elf_symbols.h"
#include "capture/stacks/modules.h"

namespace memstrata::capture {

namespace {

using Clock = std::chrono::steady_clock;
constexpr unsigned kMostThreads = 8;
constexpr auto kProgressEvery = std::chrono::seconds(2);

[[nodiscard]] std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = text != nullptr && status == 0 ? text : name;
  std::free(text);
  return result;
}

// The addresses of one module, ascending, and what is found of them.
struct Job {
  const Module* module = nullptr;
  std::vector<uint64_t> addresses;  // as loaded
  std::vector<Symbols::Frames> frames;
  bool complete = false;
};

[[nodiscard]] std::string debug_file(const Module& module) {
  if (module.build_id.size() < 4) return {};
  return fmt::format("/usr/lib/debug/.build-id/{}/{}.debug", module.build_id.substr(0, 2),
                     module.build_id.substr(2));
}

void name_addresses(Job& job, const std::function<bool()>& expired) {
  const Module& module = *job.module;
  // A return address may be the first one after its function: the call before it is meant.
  std::vector<uint64_t> in_file;
  in_file.reserve(job.addresses.size());
  for (const uint64_t address : job.addresses) in_file.push_back(address - 1 - module.base);
  const std::string debug = debug_file(module);
  const bool has_debug_file = !debug.empty() && ::access(debug.c_str(), R_OK) == 0;

  job.frames.resize(job.addresses.size());
  if (!frames_from_dwarf(module.path, in_file, job.frames, expired) && has_debug_file)
    (void)frames_from_dwarf(debug, in_file, job.frames, expired);
  std::vector<std::string> names(in_file.size());
  name_from_symbols(module.path, in_file, names, expired);
  if (has_debug_file) name_from_symbols(debug, in_file, names, expired);

  job.complete = !expired();
  for (size_t i = 0; i < in_file.size(); ++i) {
    Symbols::Frames& frames = job.frames[i];
    // The symbol table has the full name of what was called; DWARF knows it without qualifiers in C only.
    if (frames.empty()) frames.push_back({{}, "??", 0});
    if (!names[i].empty()) frames.back().name = names[i];
    for (NamedFrame& frame : frames) {
      frame.name =
          frame.name.empty() ? fmt::format("{}+{:#x}", module.name(), in_file[i]) : demangled(frame.name);
    }
  }
}

}  // namespace

void Symbols::resolve(std::span<const uint64_t> addresses, double seconds) {
  const std::lock_guard guard(lock_);
  unnamed_.clear();
  std::vector<uint64_t> wanted;
  for (const uint64_t address : addresses) {
    if (!known_.contains(address)) wanted.push_back(address);
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  if (wanted.empty()) return;

  const std::vector<Module> modules = loaded_modules();
  std::vector<Job> jobs;
  for (const uint64_t address : wanted) {
    const Module* const module = module_of(modules, address - 1);
    if (module == nullptr || module->path.empty()) {
      known_[address] = {{fmt::format("{:#x}", address), "??", 0}};
    } else {
      if (jobs.empty() || jobs.back().module != module) jobs.push_back({module, {}, {}, false});
      jobs.back().addresses.push_back(address);
    }
  }
  // The ones with many addresses first, so that no thread ends with a long one.
  std::sort(jobs.begin(), jobs.end(),
            [](const Job& a, const Job& b) { return a.addresses.size() > b.addresses.size(); });

  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e6)));
  const auto expired = [deadline] { return Clock::now() >= deadline; };
  std::atomic<size_t> next{0};
  std::mutex done_lock;
  std::condition_variable all_done;
  size_t done = 0;
  const auto work = [&] {
    for (size_t i = next.fetch_add(1); i < jobs.size(); i = next.fetch_add(1)) {
      name_addresses(jobs[i], expired);
      const std::lock_guard done_guard(done_lock);
      ++done;
      all_done.notify_one();
    }
  };
  std::vector<std::thread> threads;
  const size_t count =
      std::min<size_t>(std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads), jobs.size());
  threads.reserve(count);
  try {
    for (size_t i = 0; i < count; ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads: those there are do it, or this one.
    if (threads.empty()) work();
  }
  {
    std::unique_lock waiting(done_lock);
    while (!all_done.wait_for(waiting, kProgressEvery, [&] { return done == jobs.size(); })) {
      (void)std::fprintf(stderr, "memstrata: naming the stacks: %zu of %zu modules\n", done, jobs.size());
    }
  }
  for (std::thread& thread : threads) thread.join();

  size_t left = 0;
  for (Job& job : jobs) {
    left += job.complete ? 0 : job.addresses.size();
    auto& names = job.complete ? known_ : unnamed_;
    for (size_t i = 0; i < job.addresses.size(); ++i) names[job.addresses[i]] = std::move(job.frames[i]);
  }
  if (left > 0)
    (void)std::fprintf(stderr,
                       "memstrata: %zu addresses of stacks have no complete names: %.0f s were over\n", left,
                       seconds);
}

const Symbols::Frames& Symbols::frames(uint64_t address) const {
  const std::lock_guard guard(lock_);
  static const Frames kUnknown = {{"??", "??", 0}};
  if (const auto found = known_.find(address); found != known_.end()) return found->second;
  if (const auto found = unnamed_.find(address); found != unnamed_.end()) return found->second;
  return kUnknown;
}

}  // namespace memstrata::capture
