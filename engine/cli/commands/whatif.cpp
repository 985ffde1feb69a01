// gpustrata whatif FILE [--conf TEXT] [--capacity BYTES] [--without FILTER] [--scale FILTER=X] [--take SIZE@EVENT[..EVENT]]
//                  [--empty-cache EVENT] [--no-caching] [--smallest] [--search] [--device D] [--snapshot S] [--dump OUT] [--json]

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "engine/analysis/what_if/what_if.h"
#include "engine/answers/text/json_of.h"
#include "engine/answers/text/printable.h"
#include "engine/answers/what_if/what_if.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/one_file.h"
#include "engine/cli/options.h"
#include "engine/cli/output/output_file.h"
#include "engine/cli/sizes.h"
#include "engine/io/writers/torch_snapshot.h"

namespace gpustrata::cli {

namespace {

struct WhatIfOptions {
  FileChoice choice;
  std::optional<std::string> conf;  // default: the recorded settings
  std::optional<int64_t> capacity;  // default: what the recording says
  std::vector<std::string> without;
  std::vector<std::string> scale;    // FILTER=X
  std::vector<std::string> take;     // SIZE@EVENT or SIZE@EVENT..EVENT
  std::vector<int32_t> empty_cache;  // after these events
  bool no_caching = false;
  bool smallest = false;
  bool search = false;
  std::string dump;  // where the simulated run goes as a snapshot; empty = nowhere
};

using analysis::Rehearsal;
using analysis::WhatIfAnswer;

// A recording that takes longer than that was made to.
constexpr std::chrono::seconds kLongestRun{120};

// "FILTER=X": filters have signs of their own, the last one counts.
[[nodiscard]] Outcome<analysis::Change> scale_of(const std::string& given) {
  const size_t at = given.rfind('=');
  const std::string number = at == std::string::npos ? "" : given.substr(at + 1);
  char* end = nullptr;
  const double factor = std::strtod(number.c_str(), &end);
  const bool is_number = !number.empty() && number.size() < 64 &&
                         number.find_first_not_of("0123456789.eE+-") == std::string::npos &&
                         end == number.c_str() + number.size();
  if (!is_number || at == 0)
    return failure(name_of(ErrorCode::wrong_usage), "--scale",
                   "Write a filter, an equals sign and a number: \"size>1GiB=0.5\".");
  return analysis::Change{given.substr(0, at), factor};
}

[[nodiscard]] Outcome<std::vector<analysis::Change>> changes_of(const WhatIfOptions& options) {
  std::vector<analysis::Change> changes;
  for (const std::string& filter : options.without) changes.push_back({filter, 0});
  for (const std::string& given : options.scale) {
    auto change = scale_of(given);
    if (!change) return tl::unexpected(change.error());
    changes.push_back(std::move(*change));
  }
  return changes;
}

// A whole number of 31 bits and nothing else.
[[nodiscard]] std::optional<int32_t> event_in(std::string_view text) {
  int32_t event = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), event);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size() || event < 0)
    return std::nullopt;
  return event;
}

// "4GiB@1017", "4GiB@1017..1100".
[[nodiscard]] Outcome<std::vector<analysis::ExtraRequest>> extra_of(const WhatIfOptions& options) {
  std::vector<analysis::ExtraRequest> requests;
  for (const std::string_view given : options.take) {
    const size_t at = given.find('@');
    const std::string_view events = at == std::string_view::npos ? "" : given.substr(at + 1);
    const size_t dots = events.find("..");
    const auto bytes = size_in(given.substr(0, at));
    const auto after = event_in(events.substr(0, dots));
    const auto until = dots == std::string_view::npos ? std::optional(-1) : event_in(events.substr(dots + 2));
    if (!bytes || !after || !until)
      return failure(
          name_of(ErrorCode::wrong_usage), "--take",
          "Write a size, @ and the number of an event: 4GiB@1017; 4GiB@1017..1100 frees it again.");
    requests.push_back({*after, *bytes, *until});
  }
  return requests;
}

// Runs all settings, each in one of as many threads as the machine has cores; the first error.
[[nodiscard]] Result<std::vector<WhatIfAnswer::Tried>> search(const Rehearsal& rehearsal,
                                                              const analysis::Scenario& scenario,
                                                              Budget& budget) {
  const std::vector<std::string> texts = analysis::settings_to_try(rehearsal);
  std::vector<Result<WhatIfAnswer::Tried>> found(texts.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < texts.size(); i = next++) {
      analysis::Scenario tried = scenario;
      const auto config = analysis::settings_of(texts[i]);
      if (!config) {
        found[i] = tl::unexpected(config.error());
        continue;
      }
      tried.config = *config;
      tried.caches = true;
      const auto numbers =
          analysis::run_scenario(rehearsal, tried, budget, analysis::for_at_most(kLongestRun));
      if (numbers) {
        found[i] = WhatIfAnswer::Tried{texts[i], *numbers};
      } else {
        found[i] = tl::unexpected(numbers.error());
      }
    }
  };
  std::vector<std::thread> threads;
  const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
  try {
    for (unsigned i = 1; i < cores; ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {  // no thread is left: fewer do it
  }
  work();
  for (std::thread& thread : threads) thread.join();
  std::vector<WhatIfAnswer::Tried> search;
  for (auto& one : found) {
    if (!one) return tl::unexpected(one.error());
    search.push_back(std::move(*one));
  }
  analysis::rank(search);
  return search;
}

[[nodiscard]] Outcome<void> write_dump(const WhatIfOptions& options, const Rehearsal& rehearsal,
                                       const analysis::Scenario& scenario, model::Recording& recording,
                                       const Console& console) {
  if (auto recorded = analysis::record_scenario(rehearsal, scenario, recording, nullptr,
                                                analysis::for_at_most(kLongestRun));
      !recorded)
    return failure(recorded.error(), options.choice.file);
  const auto written = write_output(
      options.dump, {&options.choice.file, 1}, console, [&](io::ByteSink& sink) -> Outcome<void> {
        const Status dumped = io::write_torch_snapshot(recording, sink, recording.parts.size() - 1);
        return dumped ? Outcome<void>() : failure(dumped.error(), options.dump);
      });
  return written ? Outcome<void>() : tl::unexpected(written.error());
}

[[nodiscard]] Outcome<void> answer(const WhatIfOptions& options, model::Recording& recording,
                                   const Console& console, answers::TextOut& out) {
  const std::string& file = options.choice.file;
  const auto changes = changes_of(options);
  if (!changes) return tl::unexpected(changes.error());
  const auto chosen = choose(recording, options.choice);
  if (!chosen) return tl::unexpected(chosen.error());
  const auto extra = extra_of(options);
  if (!extra) return tl::unexpected(extra.error());
  auto device = analysis::Device::open(recording, *chosen->part, chosen->device);
  if (!device) return failure(device.error(), file);
  Budget& budget = recording.budget;
  const auto rehearsal =
      analysis::rehearse((*device)->replayed(), budget, analysis::for_at_most(kLongestRun));
  if (!rehearsal) return failure(rehearsal.error(), file);

  WhatIfAnswer answer;
  analysis::Scenario scenario{rehearsal->config, options.capacity.value_or(rehearsal->capacity)};
  answer.conf = options.conf.value_or(analysis::settings_text(*rehearsal));
  answer.capacity = scenario.capacity;
  scenario.extra = answer.extra = *extra;
  scenario.empty_cache_after = answer.empty_cache_after = options.empty_cache;
  scenario.caches = answer.caches = !options.no_caching;
  answer.is_other = options.conf || options.capacity || !changes->empty() || !extra->empty() ||
                    !options.empty_cache.empty() || options.no_caching;
  if (options.conf) {
    auto config = analysis::settings_of(*options.conf);
    if (!config) return failure(config.error(), "--conf");
    scenario.config = std::move(*config);
  }
  analysis::ChangedSizes changed(budget);
  if (!changes->empty()) {
    auto found = analysis::changed_sizes(*rehearsal, **device, *changes, budget);
    if (!found && found.error().code == ErrorCode::invalid_format)
      return failure(name_of(ErrorCode::wrong_usage), "--without, --scale", found.error().message);
    if (!found) return failure(found.error(), file);
    changed = std::move(*found);
    scenario.sizes = changed.sizes.span();
    answer.asks_for_changes = true;
    answer.changed_blocks = changed.blocks;
    answer.unscaled_blocks = changed.unscaled;
  }
  const auto simulated =
      analysis::run_scenario(*rehearsal, scenario, budget, analysis::for_at_most(kLongestRun));
  if (!simulated) return failure(simulated.error(), file);
  answer.simulated = *simulated;
  if (options.smallest) {
    const auto smallest =
        analysis::smallest_capacity(*rehearsal, scenario, budget, analysis::for_at_most(kLongestRun));
    if (!smallest) return failure(smallest.error(), file);
    answer.smallest_capacity = *smallest;
  }
  if (options.search) {
    auto found = search(*rehearsal, scenario, budget);
    if (!found) return failure(found.error(), file);
    answer.search = std::move(*found);
  }
  if (!options.dump.empty()) {
    if (auto dumped = write_dump(options, *rehearsal, scenario, recording, console); !dumped) return dumped;
  }
  const std::string text = options.choice.json
                               ? answers::json_of(answers::WhatIfLine{file, *rehearsal, answer}) + "\n"
                               : answers::printable(file) + "\n\n" +
                                     answers::printable_lines(answers::to_text(*rehearsal, answer));
  if (options.dump == "-")  // standard output is the dump's
    console.note("{}", text);
  else
    out.add(text);
  return {};
}

int run_whatif(const WhatIfOptions& options, const Console& console) {
  // Before the file is read: wrong usage is that, whatever it holds.
  if (options.conf) {
    if (const auto config = analysis::settings_of(*options.conf); !config)
      return tell(failure(config.error(), "--conf").value(), options.choice.json, console);
  }
  if (options.capacity) {
    if (const auto usable = simulate::check_capacity(*options.capacity); !usable)
      return tell(failure(usable.error(), "--capacity").value(), options.choice.json, console);
  }
  return answer_about(options.choice, console, [&](model::Recording& recording, answers::TextOut& out) {
    return answer(options, recording, console, out);
  });
}

}  // namespace

void add_whatif(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "whatif", "Runs the recorded requests again under other settings", run_whatif);
  add_choice(*command, options->choice);
  command->add_option("--conf", options->conf,
                      "Settings as in PYTORCH_CUDA_ALLOC_CONF; default: the recorded ones");
  add_size(*command, "--capacity", options->capacity,
           "What the device has for this allocator; default: what the recording says, else enough");
  command
      ->add_option("--without", options->without, "Leave out the blocks that a filter means; may be repeated")
      ->type_name("FILTER")
      ->allow_extra_args(false);
  command->add_option("--scale", options->scale, "Blocks of other sizes: size>1GiB=0.5; may be repeated")
      ->type_name("FILTER=X")
      ->allow_extra_args(false);
  command
      ->add_option("--take", options->take,
                   "One more request: so many bytes (4GiB) after an event, kept or freed after another one")
      ->type_name("SIZE@EVENT[..EVENT]")
      ->allow_extra_args(false);
  command
      ->add_option("--empty-cache", options->empty_cache,
                   "Call empty_cache() after an event; may be repeated")
      ->type_name("EVENT")
      ->allow_extra_args(false);
  command->add_flag("--no-caching", options->no_caching, "As with PYTORCH_NO_CUDA_MEMORY_CACHING=1");
  command->add_flag("--smallest", options->smallest, "The smallest device on which it fits");
  command->add_flag("--search", options->search, "Try settings that may help, and rank them");
  command->add_option("--dump", options->dump, "Write the simulated run as a snapshot to this file (pickle)");
}

}  // namespace gpustrata::cli
