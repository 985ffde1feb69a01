#include "engine/cli/commands/agent_tools.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <system_error>

namespace gpustrata::cli {

namespace {

using answers::Tool;
using answers::ToolArgument;
using Type = ToolArgument::Type;

constexpr ToolArgument kFile{"file", Type::text, true,
                             "Path of a snapshot: pickle, JSON, also packed (gz, zst, zip)"};
constexpr ToolArgument kJson{"json", Type::flag, false,
                             "The answer as JSON, with exact bytes, instead of a text"};
constexpr ToolArgument kFrom{"from", Type::whole, false,
                             "Byte of the answer to begin with, for what a shorter answer left out"};
constexpr ToolArgument kDevice{"device", Type::text, false,
                               "Ordinal of the device; default: the telling one"};
constexpr ToolArgument kAt{"at", Type::text, false, "The moment: peak, end, start, or the index of an event"};
constexpr ToolArgument kRows{"rows", Type::whole, false, "Rows to show; 20"};
constexpr ToolArgument kBy{"by", Type::text, false,
                           "What blocks are grouped by: stack, line, function or file"};

constexpr std::array kSummary{kFile, kJson, kFrom};
constexpr std::array kReport{kFile, kDevice, kJson, kFrom};
constexpr std::array kTop{kFile, kAt, kBy, kRows, kDevice, kJson, kFrom};
constexpr std::array kState{kFile, kAt, kDevice, kJson, kFrom};
constexpr std::array kOwner{
    ToolArgument{"address", Type::text, true, "The address, such as 0x7f3c00001200: any byte"},
    kFile,
    ToolArgument{"at", Type::text, false, "The moment: end, peak, start, or the index of an event; end"},
    kDevice,
    kJson,
    kFrom};
constexpr std::array kCompare{
    ToolArgument{"before", Type::text, true, "Path of the earlier snapshot, or of the other run"},
    ToolArgument{"after", Type::text, true, "Path of the later snapshot"},
    kAt,
    kBy,
    kRows,
    kJson,
    kFrom};
constexpr std::array kWhatIf{
    kFile,
    ToolArgument{"conf", Type::text, false,
                 "Settings as in PYTORCH_CUDA_ALLOC_CONF, such as expandable_segments:True"},
    ToolArgument{"capacity", Type::whole, false, "Bytes that the device has for this allocator"},
    ToolArgument{"without", Type::texts, false, "Filters whose blocks are left out, such as stack:attention"},
    ToolArgument{"scale", Type::texts, false, "Blocks of other sizes, such as size>1GiB=0.5"},
    ToolArgument{"smallest", Type::flag, false, "Also the smallest device on which it fits"},
    ToolArgument{"search", Type::flag, false, "Try settings that may help, and rank them"},
    kDevice,
    kJson,
    kFrom};
constexpr std::array kFit{
    ToolArgument{"files", Type::texts, true,
                 "Paths, each with a colon and what it was recorded with, such as small.pickle:batch=4 and "
                 "large.pickle:batch=8; with `scale` one path alone"},
    ToolArgument{"at", Type::texts, false, "What is foretold, such as batch=16; all parameters are named"},
    ToolArgument{"capacity", Type::whole, false,
                 "Bytes that the device has for this allocator: the largest value that fits is found"},
    ToolArgument{"conf", Type::text, false,
                 "Settings as in PYTORCH_CUDA_ALLOC_CONF, such as expandable_segments:True"},
    ToolArgument{"scale", Type::text, false,
                 "A guess from one path: what it was recorded with, such as batch=8"},
    kDevice,
    kJson,
    kFrom};
constexpr std::array kOps{
    ToolArgument{"file", Type::text, true, "Path of a trace of torch.profiler with memory records"},
    ToolArgument{"by", Type::text, false, "What ops are grouped by: op, path, shape, module or stack"},
    ToolArgument{"sort", Type::text, false,
                 "What comes first: net, self, gross, freed, peak, at-peak or at-return"},
    kRows,
    kDevice,
    kJson,
    kFrom};

const std::array kTools{
    Tool{
        "report", "Why memory ran out, what leaks, what fragments",
        "Answers about a memory snapshot of PyTorch's CUDA allocator: why it ran out of memory and what helps, what "
        "leaks in every step, what the peak is made of, what pins fragmented segments. Ask this first.",
        kReport},
    Tool{
        "summary", "Peaks, sizes and events of each device",
        "The numbers of a snapshot: peak and when, reserved and allocated bytes, events, stacks, what was lost.",
        kSummary},
    Tool{"top", "What is alive at a moment, and who asked for it",
         "Live memory at the peak or any event, grouped by stack, line, function or file, the largest first.",
         kTop},
    Tool{"state", "Segments and blocks of the allocator after an event",
         "The layout of the caching allocator: every segment with its blocks, used, pending or free.",
         kState},
    Tool{
        "owner", "Who holds an address, and who had it before",
        "For an illegal memory access: the segment, pool and block that hold an address, who allocated and freed it, "
        "its holders before and after; where nobody holds it, what is nearest.",
        kOwner},
    Tool{"compare", "What grew between two snapshots",
         "Bytes by stack in both of two snapshots, the greatest growth first: a leak shows here.", kCompare},
    Tool{
        "what_if", "The same requests under other settings",
        "Runs the recorded requests through PyTorch's allocator again: other settings, another capacity, without some "
        "blocks. Says first how exactly it repeats the recording.",
        kWhatIf},
    Tool{
        "fit", "Memory at other batches or lengths, and the largest that fits",
        "Foretells peaks of a program at other sizes from two or three recordings of small ones, finds the largest "
        "that fits a device, and says what grows how and how sure that is.",
        kFit},
    Tool{
        "ops", "Memory of the ops of a profiler's trace",
        "What every op of a torch.profiler trace did with memory: true peaks, what is alive at the device's peak.",
        kOps}};

[[nodiscard]] bool is_of(const JsonValue& value, Type type) {
  using Kind = JsonValue::Kind;
  switch (type) {
    case Type::text:
      return value.kind == Kind::text;
    case Type::flag:
      return value.kind == Kind::flag;
    case Type::whole:
      return value.kind == Kind::number && value.number >= 0 && value.number == std::floor(value.number) &&
             value.number <= 9007199254740992.0;
    case Type::texts:
      return value.kind == Kind::list &&
             std::all_of(value.items.begin(), value.items.end(),
                         [](const auto& item) { return item.kind == Kind::text; });
  }
  return false;
}

// A path that begins with a dash is no option, and - is not standard input, over which the agent speaks.
[[nodiscard]] std::string path_of(const std::string& text) {
  return text.starts_with('-') ? "./" + text : text;
}

// What a path names may never end: pipes, devices, standard input by another name. What is not there the command says.
[[nodiscard]] bool may_hang(const std::string& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

// A path, or a list of them, each with or without what stands behind its last colon.
[[nodiscard]] bool any_may_hang(const JsonValue& value) {
  if (value.kind == JsonValue::Kind::text) return may_hang(path_of(value.text));
  return std::any_of(value.items.begin(), value.items.end(), [](const auto& item) {
    const std::string path = path_of(item.text);
    return may_hang(path) || may_hang(path.substr(0, path.rfind(':')));
  });
}

void add(std::vector<std::string>& arguments, const ToolArgument& argument, const JsonValue& value) {
  const std::string option = argument.name == "rows" ? "-n" : "--" + std::string(argument.name);
  switch (argument.type) {
    case Type::text:
      arguments.push_back(argument.is_required ? path_of(value.text) : option + "=" + value.text);
      break;
    case Type::flag:
      if (value.flag) arguments.push_back(option);
      break;
    case Type::whole:
      arguments.push_back(option);
      arguments.push_back(std::to_string(static_cast<int64_t>(value.number)));
      break;
    case Type::texts:
      for (const JsonValue& item : value.items)
        arguments.push_back(argument.is_required ? path_of(item.text) : option + "=" + item.text);
      break;
  }
}

}  // namespace

std::span<const Tool> agent_tools() { return kTools; }

Result<ToolCall> tool_call(std::string_view name, const JsonValue* given) {
  const auto tool =
      std::find_if(kTools.begin(), kTools.end(), [name](const Tool& one) { return one.name == name; });
  if (tool == kTools.end())
    return fail(ErrorCode::wrong_usage, -1, "There is no tool \"{}\".", name.substr(0, 100));
  if (given != nullptr && given->kind != JsonValue::Kind::object)
    return fail(ErrorCode::wrong_usage, -1, "`arguments` must be an object.");
  ToolCall call;
  call.arguments.emplace_back(name == "what_if" ? "whatif" : name);
  size_t known = 0;
  for (const ToolArgument& argument : tool->arguments) {
    const JsonValue* const value = given == nullptr ? nullptr : given->find(argument.name);
    if (value == nullptr) {
      if (argument.is_required)
        return fail(ErrorCode::wrong_usage, -1, "`{}` is missing: {}.", argument.name, argument.about);
      continue;
    }
    ++known;
    if (!is_of(*value, argument.type))
      return fail(ErrorCode::wrong_usage, -1, "`{}` is of another type: {}.", argument.name, argument.about);
    if (argument.is_required && any_may_hang(*value))
      return fail(ErrorCode::wrong_usage, -1, "`{}` is a pipe or a device: only files are read.",
                  argument.name);
    if (argument.name == kFrom.name) {
      call.from = static_cast<size_t>(value->number);
    } else {
      if (argument.name == kJson.name) call.is_json = value->flag;
      add(call.arguments, argument, *value);
    }
  }
  if (given != nullptr && known != given->members.size())
    return fail(ErrorCode::wrong_usage, -1, "There is an argument that `{}` does not have.", name);
  return call;
}

}  // namespace gpustrata::cli
