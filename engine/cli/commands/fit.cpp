// gpustrata fit FILE:batch=4 FILE:batch=8...|FILE --scale batch=8 [--at batch=16]... [--capacity SIZE] [--conf TEXT] [--device D] [--json]

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/analysis/fit/fit.h"
#include "engine/answers/fit/fit.h"
#include "engine/answers/text/json_of.h"
#include "engine/answers/text/printable.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/input/input.h"
#include "engine/cli/one_file.h"
#include "engine/cli/options.h"

namespace gpustrata::cli {

namespace {

// A question that takes longer than that was made to.
constexpr std::chrono::seconds kLongestFit{300};
constexpr size_t kLongestParameter = 64;

struct FitOptions {
  std::vector<std::string> files;    // FILE:NAME=VALUE,...
  std::vector<std::string> at;       // NAME=VALUE,...
  std::optional<std::string> scale;  // NAME=VALUE of the only recording
  std::optional<std::string> conf;
  std::optional<int64_t> capacity;
  FileChoice choice;  // device and json, of all files
};

struct Parameter {
  std::string name;
  int64_t value = 0;
};

[[nodiscard]] bool is_name(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && text.size() <= kLongestParameter && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-'; });
}

// "batch=4,seq=512"; none: it is not of that form.
[[nodiscard]] std::optional<std::vector<Parameter>> parameters_in(std::string_view text) {
  std::vector<Parameter> all;
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view one = text.substr(0, comma);
    const size_t equals = std::min(one.find('='), one.size());
    const std::string_view number = one.substr(std::min(equals + 1, one.size()));
    int64_t value = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
    if (!is_name(one.substr(0, equals)) || number.empty() || read.ec != std::errc() ||
        read.ptr != number.data() + number.size() || value < 1 || value > analysis::kLargestParameter)
      return std::nullopt;
    all.push_back({std::string(one.substr(0, equals)), value});
    if (comma == text.size()) return all;
    text.remove_prefix(comma + 1);
  }
}

[[nodiscard]] tl::unexpected<Failure> wrong(std::string about, std::string message) {
  return failure(name_of(ErrorCode::wrong_usage), std::move(about), std::move(message));
}

// By the names of the first file: all of them, and each once.
[[nodiscard]] Outcome<analysis::Point> point_of(const std::vector<Parameter>& given,
                                                const std::vector<std::string>& names,
                                                const std::string& about) {
  analysis::Point at;
  at.fill(1);
  std::vector<bool> is_given(names.size());
  for (const Parameter& one : given) {
    const auto found = std::find(names.begin(), names.end(), one.name);
    if (found == names.end())
      return wrong(
          about, fmt::format("There is no parameter {} at the first file: name the same at all.", one.name));
    const auto place = static_cast<size_t>(found - names.begin());
    if (is_given[place]) return wrong(about, fmt::format("{} is given twice.", one.name));
    is_given[place] = true;
    at[place] = one.value;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (!is_given[i])
      return wrong(about, fmt::format("{} is not given: name all parameters of the first file.", names[i]));
  }
  return at;
}

// What was asked for, without the recordings.
struct Asked {
  std::vector<std::string> files, texts;  // "run.pickle", "batch=4"
  std::vector<analysis::Point> points;
  analysis::FitQuestion question;
};

// Recordings with what was different.
[[nodiscard]] Outcome<void> read_files(const FitOptions& options, Asked& asked) {
  if (options.files.size() < 2 || options.files.size() > analysis::kMostFitted)
    return wrong("fit", fmt::format("Name 2 to {} recordings of one program, each with what was different: "
                                    "small.pickle:batch=4 large.pickle:batch=8.",
                                    analysis::kMostFitted));
  for (const std::string& given : options.files) {
    const size_t colon = given.rfind(':');
    const auto parameters =
        colon == std::string::npos ? std::nullopt : parameters_in(std::string_view(given).substr(colon + 1));
    if (!parameters || colon == 0)
      return wrong(
          given,
          "Write a file, a colon, and its parameters, whole numbers from 1 to 2147483648: run.pickle:batch=4,seq=512.");
    if (asked.points.empty()) {
      for (const Parameter& one : *parameters) asked.question.parameters.push_back(one.name);
      if (parameters->size() > analysis::kMostParameters)
        return wrong(given,
                     fmt::format("At most {} parameters can be told apart.", analysis::kMostParameters));
      auto sorted = asked.question.parameters;
      std::sort(sorted.begin(), sorted.end());
      const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
      if (twice != sorted.end()) return wrong(given, fmt::format("{} is given twice.", *twice));
    }
    const auto at = point_of(*parameters, asked.question.parameters, given);
    if (!at) return tl::unexpected(at.error());
    asked.files.push_back(given.substr(0, colon));
    asked.texts.push_back(given.substr(colon + 1));
    asked.points.push_back(*at);
  }
  return {};
}

// The only recording, made with one value.
[[nodiscard]] Outcome<void> read_scale(const FitOptions& options, Asked& asked) {
  const auto parameters = parameters_in(*options.scale);
  if (!parameters || parameters->size() != 1)
    return wrong("--scale", "Write the one parameter that the recording was made with: batch=8.");
  if (options.files.size() != 1)
    return wrong(
        "--scale",
        "A guess is told from one recording. Of several, write each with its own value: b4.pickle:batch=4 "
        "b8.pickle:batch=8.");
  analysis::Point at;
  at.fill(1);
  at[0] = parameters->front().value;
  asked.question.parameters.push_back(parameters->front().name);
  asked.files.push_back(options.files.front());
  asked.texts.push_back(*options.scale);
  asked.points.push_back(at);
  return {};
}

[[nodiscard]] Outcome<Asked> read_question(const FitOptions& options) {
  Asked asked;
  if (options.scale) {
    if (auto read = read_scale(options, asked); !read) return tl::unexpected(read.error());
  } else if (auto read = read_files(options, asked); !read) {
    return tl::unexpected(read.error());
  }
  for (const std::string& given : options.at) {
    const auto parameters = parameters_in(given);
    if (!parameters)
      return wrong("--at", "Write parameters, whole numbers from 1 to 2147483648: batch=16,seq=512.");
    const auto at = point_of(*parameters, asked.question.parameters, "--at");
    if (!at) return tl::unexpected(at.error());
    asked.question.at.push_back(*at);
  }
  if (options.at.empty() && !options.capacity)
    return wrong("fit", "Say what is to be foretold: --at batch=16, --capacity 80GiB, or both.");
  asked.question.capacity = options.capacity.value_or(0);
  asked.question.conf = options.conf;
  return asked;
}
// A recording that is open, and what fits it is told from.
struct Opened {
  std::unique_ptr<InputRecording> input;
  std::unique_ptr<analysis::Device> device;
  std::optional<analysis::Rehearsal> rehearsal;
};

[[nodiscard]] Outcome<void> answer(const FitOptions& options, Asked& asked, const Console& console,
                                   answers::TextOut& out) {
  Budget budget(console.budget_bytes);
  const auto goes_on = analysis::for_at_most(kLongestFit);
  std::vector<Opened> opened(asked.files.size());
  for (size_t i = 0; i < opened.size(); ++i) {
    Opened& one = opened[i];
    FileChoice choice = options.choice;
    choice.file = asked.files[i];
    one.input = std::make_unique<InputRecording>(console, budget);
    const auto recording = one.input->read(choice.file);
    if (!recording) return tl::unexpected(recording.error());
    const auto chosen = choose(**recording, choice);
    if (!chosen) return tl::unexpected(chosen.error());
    auto device = analysis::Device::open(**recording, *chosen->part, chosen->device);
    if (!device) return failure(device.error(), choice.file);
    one.device = std::move(*device);
    auto rehearsal = analysis::rehearse(one.device->replayed(), budget, goes_on);
    if (!rehearsal) return failure(rehearsal.error(), choice.file);
    one.rehearsal.emplace(std::move(*rehearsal));
  }
  // The largest comes last: what is not told by all is told by it.
  std::vector<size_t> order(opened.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return asked.points[a] < asked.points[b]; });
  std::vector<std::string> files;
  for (const size_t i : order) {
    asked.question.recordings.push_back({asked.texts[i], asked.points[i], &*opened[i].rehearsal});
    files.push_back(asked.files[i]);
  }
  if (options.scale) asked.question.guessed_from = opened.front().device.get();
  const auto found = analysis::fit(asked.question, budget, goes_on);
  if (!found) return failure(found.error(), "fit");
  if (options.choice.json) {
    answers::json_line(out, answers::FitLine{files, asked.question, *found});
  } else {
    out.add(answers::printable_lines(answers::to_text(asked.question, *found)));
  }
  return {};
}

int run_fit(const FitOptions& options, const Console& console) {
  const bool json = options.choice.json;
  if (options.conf) {
    if (const auto config = analysis::settings_of(*options.conf); !config)
      return tell(failure(config.error(), "--conf").value(), json, console);
  }
  if (options.capacity) {
    if (const auto usable = simulate::check_capacity(*options.capacity); !usable)
      return tell(failure(usable.error(), "--capacity").value(), json, console);
  }
  auto asked = read_question(options);
  if (!asked) return tell(asked.error(), json, console);
  return answer_about_many(json, console,
                           [&](answers::TextOut& out) { return answer(options, *asked, console, out); });
}

}  // namespace

void add_fit(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "fit", "What fits: memory at other sizes, foretold from a few recordings", run_fit);
  command
      ->add_option(
          "FILE", options->files,
          "Recordings of one program with what was different: small.pickle:batch=4 large.pickle:batch=8")
      ->required()
      ->type_name("FILE:NAME=VALUE[,NAME=VALUE]");
  command
      ->add_option("--scale", options->scale,
                   "A guess from one FILE alone: the parameter that it was recorded with, batch=8")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("--at", options->at, "Foretell this, all parameters named: batch=16; may be repeated")
      ->type_name("NAME=VALUE[,NAME=VALUE]")
      ->allow_extra_args(false);
  add_size(
      *command, "--capacity", options->capacity,
      "What the device has for this allocator: finds the largest value of the first parameter that fits");
  command->add_option("--conf", options->conf,
                      "Settings as in PYTORCH_CUDA_ALLOC_CONF; default: those of the largest recording");
  command->add_option("--device", options->choice.device,
                      "Ordinal; default: the one out of memory, else the highest peak");
  command->add_flag("--json", options->choice.json, "One JSON object on one line");
}

}  // namespace gpustrata::cli
