// gpustrata owner ADDRESS FILE [--at MOMENT] [--device D] [--snapshot S] [--json]
//
// Without --device every device of the snapshot is asked. Those that ever had the address answer, else the one with something
// nearest to it.

#include <optional>
#include <string>
#include <vector>

#include "engine/analysis/details/address_owner.h"
#include "engine/analysis/report/summary.h"
#include "engine/answers/common/findings.h"
#include "engine/answers/details/address_owner.h"
#include "engine/answers/text/json_of.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/one_file.h"
#include "engine/cli/opened_device.h"
#include "engine/cli/options.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::cli {

namespace {

struct OwnerOptions {
  std::string address;  // 0x7f3c00001200, or decimal
  FileChoice choice;
  std::string at = "end";  // an illegal memory access ends a program
};

[[nodiscard]] std::vector<int32_t> devices_of(const model::Recording& recording, const Chosen& chosen,
                                              const FileChoice& choice) {
  if (!choice.device.empty()) return {chosen.device};
  std::vector<int32_t> devices = chosen.part->devices(recording.segments);
  if (chosen.part->has_host) devices.push_back(replay::kHostDevice);
  return devices;
}

// The answers of devices that are opened one after the other.
class Asking {
 public:
  Asking(const model::Recording& recording, const OwnerOptions& options, uint64_t address, size_t columns,
         answers::TextOut& out)
      : recording_(recording), options_(options), address_(address), columns_(columns), out_(out) {}

  // Whether the device ever had the address, and how far it is from it; then, or if it must, it answers. A device without
  // such an event has nothing to say unless it must.
  struct Found {
    bool is_known = false;
    std::optional<int64_t> distance;
  };
  [[nodiscard]] Outcome<Found> ask(Chosen chosen, bool must_answer) {
    const auto opened = open_device(recording_, chosen);
    if (!opened) return failure(opened.error(), options_.choice.file);
    const auto event = event_or_error(options_.at, opened->moments());
    if (!event && !must_answer) return Found{};
    if (!event) return failure(event.error(), options_.choice.file);
    replay::MemoryAt memory(opened->context.history, recording_.budget);
    if (const Status there = go_to(memory, *event); !there)
      return failure(there.error(), options_.choice.file);
    const analysis::EventContext context = opened->context;
    const analysis::AddressOwner owner = analysis::find_owner(context, memory, address_);
    if (owner.is_known() || must_answer) write(context, owner);
    return Found{owner.is_known(), owner.distance()};
  }

 private:
  void write(const analysis::EventContext& context, const analysis::AddressOwner& owner) {
    if (options_.choice.json) return answers::json_line(out_, context, owner);
    if (any_) out_.add("\n");
    any_ = true;
    answers::to_text(out_, context, owner, columns_);
    model::Diagnostics noticed = recording_.diagnostics;
    analysis::add_device_diagnostics(noticed, recording_, context.lifetimes);
    noticed.add_all(context.history.diagnostics);
    answers::noticed_to_text(out_, analysis::findings(noticed));
  }

  const model::Recording& recording_;
  const OwnerOptions& options_;
  uint64_t address_;
  size_t columns_;
  answers::TextOut& out_;
  bool any_ = false;
};

int run_owner(const OwnerOptions& options, const Console& console) {
  const auto address = analysis::address_in(options.address);
  if (!address) {
    return tell(failure(name_of(ErrorCode::wrong_usage), options.choice.file,
                        "Say the address as 0x7f3c00001200, or in decimal; it has 64 bits at most.")
                    .value(),
                options.choice.json, console);
  }
  return answer_about(options.choice, console,
                      [&](const model::Recording& recording, answers::TextOut& out) -> Outcome<void> {
                        auto chosen = choose(recording, options.choice);
                        if (!chosen) return tl::unexpected(chosen.error());
                        const std::vector<int32_t> devices = devices_of(recording, *chosen, options.choice);
                        Asking asking(recording, options, *address, console.columns, out);
                        bool any_known = false;
                        std::optional<int64_t> least;
                        int32_t nearest = chosen->device;
                        for (const int32_t device : devices) {
                          const auto found = asking.ask({chosen->part, device}, false);
                          if (!found) return tl::unexpected(found.error());
                          any_known = any_known || found->is_known;
                          if (found->distance && (!least || *found->distance < *least)) {
                            least = found->distance;
                            nearest = device;
                          }
                        }
                        if (any_known) return {};
                        if (devices.size() > 1 && !options.choice.json)
                          out.print(
                              "None of {} devices has {:#x} at any moment of the recording. The nearest:\n",
                              devices.size(), *address);
                        const auto answered = asking.ask({chosen->part, nearest}, true);
                        if (!answered) return tl::unexpected(answered.error());
                        return {};
                      });
}

}  // namespace

void add_owner(CLI::App& app, Run& chosen) {
  const auto [command, options] = add(
      app, chosen, "owner", "Who holds an address, who had it before and after, and who freed it", run_owner);
  command->add_option("ADDRESS", options->address, "Any byte, as 0x7f3c00001200 or in decimal")->required();
  add_choice(*command, options->choice,
             "Ordinal, or host; default: those that ever had the address, else the nearest");
  add_moment(*command, options->at);
}

}  // namespace gpustrata::cli
