#include "capture/stacks/unlocked_python.h"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "capture/pointers.h"
#include "capture/stacks/python_stack.h"

namespace gpustrata::capture {

namespace {

using Word = uint64_t;
using Object = void;

// Tags of references lie in the lowest bits (3.14); objects are aligned to more.
constexpr Word kTags = 7;
// The first word of a `struct _frame` behind its head and f_back.
constexpr size_t kInterpreterFrame = 24;
constexpr size_t kMostShims = 8;
// Of a text, in every version: its length in characters; below it the bits of its kind, compact and ascii.
constexpr size_t kTextLength = 16, kTextState = 32;
constexpr uint32_t kTextCompact = 1U << 5, kTextAscii = 1U << 6;
// Of a type: its name, and what ends its objects.
constexpr size_t kTypeName = 24, kTypeEnd = 48;

struct Api {
  void* (*this_thread_state)();
  Object* (*current_frame)();
  Object* (*frame_back)(Object* frame);
  Object* (*frame_code)(Object* frame);
  int (*frame_instruction)(Object* frame);
  int (*code_line)(Object* code, int instruction);
  Object* (*get_attribute)(Object* object, const char* name);
  Object* (*text_of)(const char* utf8);
  const char* (*text)(Object* unicode, std::ptrdiff_t* length);
  void (*increment)(Object* object);
  void (*decrement)(Object* object);
  void (*clear_error)();
  char* code_type;
  bool usable;
};

template <typename Function>
[[nodiscard]] bool find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

[[nodiscard]] const Api& api() {
  static const Api found = [] {
    Api it{};
    it.usable = find(it.this_thread_state, "PyGILState_GetThisThreadState") &&
                find(it.current_frame, "PyEval_GetFrame") && find(it.frame_back, "PyFrame_GetBack") &&
                find(it.frame_code, "PyFrame_GetCode") && find(it.frame_instruction, "PyFrame_GetLasti") &&
                find(it.code_line, "PyCode_Addr2Line") && find(it.get_attribute, "PyObject_GetAttrString") &&
                find(it.text_of, "PyUnicode_FromString") && find(it.text, "PyUnicode_AsUTF8AndSize") &&
                find(it.increment, "Py_IncRef") && find(it.decrement, "Py_DecRef") &&
                find(it.clear_error, "PyErr_Clear") && find(it.code_type, "PyCode_Type");
    return it;
  }();
  return found;
}

// Where things are, in bytes from the start of what holds them.
struct Layout {
  size_t thread_frame = 0;                         // of a thread state: the innermost frame, or what holds it
  std::optional<size_t> held_frame;                // of that
  size_t code = 0, previous = 0, instruction = 0;  // of a frame
  Word first_instruction = 0;                      // of a code object
  size_t name = 0, filename = 0;                   // of a code object
  size_t ascii = 0, wide = 0;                      // of a text: its characters
  std::array<Word, kMostShims> shims{};  // code of frames that stand for C, and are no frames of Python's
  size_t shim_count = 0;

  [[nodiscard]] bool is_shim(Word code_object) const {
    return std::find(shims.begin(), shims.begin() + shim_count, code_object) != shims.begin() + shim_count;
  }
};

Layout g_layout;  // written once, before g_known
std::atomic<bool> g_known{false};
std::mutex g_learning;

[[nodiscard]] Word word_at(Word address) {
  Word word = 0;
  std::memcpy(&word, pointer_of(address), sizeof word);
  return word;
}

// Of addresses that may be none.
template <size_t N>
[[nodiscard]] std::optional<std::array<Word, N>> words_at(Word address) {
  std::array<Word, N> words;
  iovec here{words.data(), sizeof words};
  iovec there{pointer_of(address), sizeof words};
  const ssize_t count = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
  if (count != static_cast<ssize_t>(sizeof words)) return std::nullopt;
  return words;
}

// A frame as the public functions tell it.
struct Known {
  Word frame = 0, code = 0, instruction = 0, name = 0, filename = 0;
};

[[nodiscard]] Word attribute(Object* object, const char* name) {
  Object* const value = api().get_attribute(object, name);
  if (value == nullptr) {
    api().clear_error();
    return 0;
  }
  api().decrement(value);  // what has it keeps it
  return address_of(value);
}

// Innermost first; under the interpreter's lock.
[[nodiscard]] std::vector<Known> known_frames() {
  std::vector<Known> known;
  Object* frame = api().current_frame();
  if (frame != nullptr) api().increment(frame);
  while (frame != nullptr) {
    Object* const code = api().frame_code(frame);
    known.push_back({word_at(address_of(frame) + kInterpreterFrame), address_of(code),
                     static_cast<Word>(std::max(api().frame_instruction(frame), 0)),
                     attribute(code, "co_name"), attribute(code, "co_filename")});
    api().decrement(code);  // the frame keeps it
    Object* const back = api().frame_back(frame);
    api().decrement(frame);
    frame = back;
  }
  return known;
}

// The first of `count` words for which all known frames say yes.
template <typename Holds>
[[nodiscard]] std::optional<size_t> place(size_t count, const std::vector<Known>& known, Holds&& holds) {
  for (size_t offset = 0; offset < count * sizeof(Word); offset += sizeof(Word)) {
    if (std::all_of(known.begin(), known.end(), [&](const Known& one) { return holds(one, offset); }))
      return offset;
  }
  return std::nullopt;
}

[[nodiscard]] std::string cannot(std::string_view what) {
  return "this Python keeps " + std::string(what) + " where it is not expected";
}

constexpr size_t kFrameWords = 9;  // of any version; behind them come its variables
constexpr size_t kCodeWords = 20;
constexpr size_t kThreadWords = 48;

// From each known frame the next one is reached, at most over frames that stand for C.
[[nodiscard]] bool previous_is_at(size_t offset, const std::vector<Known>& known, Layout& layout) {
  layout.shim_count = 0;
  for (size_t i = 0; i + 1 < known.size(); ++i) {
    Word at = known[i].frame;
    for (int hops = 0;; ++hops) {
      const auto frame = words_at<kFrameWords>(at);
      if (!frame || hops > 2) return false;
      if (hops > 0) {
        const Word code = (*frame)[layout.code / sizeof(Word)] & ~kTags;
        if (!layout.is_shim(code)) {
          if (layout.shim_count == kMostShims) return false;
          layout.shims[layout.shim_count++] = code;
        }
      }
      at = (*frame)[offset / sizeof(Word)];
      if (at == known[i + 1].frame) break;
      if (at == 0) return false;
    }
  }
  return true;
}

[[nodiscard]] std::string learn_frames(const std::vector<Known>& known, Layout& layout) {
  const auto code = place(kFrameWords, known, [](const Known& one, size_t offset) {
    return (word_at(one.frame + offset) & ~kTags) == one.code;
  });
  if (!code) return cannot("the code of a frame");
  layout.code = *code;
  const auto instruction = place(kFrameWords, known, [&](const Known& one, size_t offset) {
    if (offset == layout.code) return false;
    const Word first = word_at(known[0].frame + offset) - known[0].code - known[0].instruction;
    return first < 1024 && word_at(one.frame + offset) == one.code + one.instruction + first;
  });
  if (!instruction) return cannot("the instruction of a frame");
  layout.instruction = *instruction;
  layout.first_instruction = word_at(known[0].frame + *instruction) - known[0].code - known[0].instruction;
  for (size_t offset = 0; offset < kFrameWords * sizeof(Word); offset += sizeof(Word)) {
    if (previous_is_at(offset, known, layout)) {
      layout.previous = offset;
      return {};
    }
  }
  return cannot("what called a frame");
}

[[nodiscard]] std::string learn_thread(Word thread, Word innermost, Layout& layout) {
  const auto state = words_at<kThreadWords>(thread);
  if (!state) return cannot("the state of a thread");
  for (size_t i = 0; i < kThreadWords; ++i) {
    if ((*state)[i] != innermost) continue;
    layout.thread_frame = i * sizeof(Word);
    return {};
  }
  for (size_t i = 0; i < kThreadWords; ++i) {
    const auto held = words_at<2>((*state)[i]);
    for (size_t j = 0; held && j < 2; ++j) {
      if ((*held)[j] != innermost) continue;
      layout.thread_frame = i * sizeof(Word);
      layout.held_frame = j * sizeof(Word);
      return {};
    }
  }
  return cannot("the innermost frame of a thread");
}

// The characters of `text`, of whose state the bits are `wanted`; 0 = they are not.
[[nodiscard]] size_t characters_of(const char* utf8, std::string_view characters, uint32_t kind, bool ascii) {
  Object* const text = api().text_of(utf8);
  if (text == nullptr) {
    api().clear_error();
    return 0;
  }
  uint32_t state = 0;
  std::memcpy(&state, static_cast<const char*>(text) + kTextState, sizeof state);
  size_t found = 0;
  const bool expected = (state >> 2 & 7) == kind && (state & kTextCompact) != 0 &&
                        ((state & kTextAscii) != 0) == ascii &&
                        word_at(address_of(text) + kTextLength) == characters.size() / kind;
  for (size_t offset = 40; expected && offset <= 72; offset += 8) {
    if (found == 0 &&
        std::memcmp(static_cast<const char*>(text) + offset, characters.data(), characters.size()) == 0)
      found = offset;
  }
  api().decrement(text);
  return found;
}

[[nodiscard]] std::string learn_texts(const std::vector<Known>& known, Layout& layout) {
  const auto holds = [](Word Known::*value) {
    return [value](const Known& one, size_t offset) { return word_at(one.code + offset) == one.*value; };
  };
  const auto name = place(kCodeWords, known, holds(&Known::name));
  const auto filename = place(kCodeWords, known, holds(&Known::filename));
  if (!name || !filename) return cannot("the name of a code object");
  layout.name = *name;
  layout.filename = *filename;
  layout.ascii = characters_of("gpustrata 2025", "gpustrata 2025", 1, true);
  layout.wide = characters_of("\xc3\xa9t\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
                              "\xe9t\xe9\xe9\xe9\xe9\xe9", 1, false);
  const size_t two = characters_of("\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac",
                                   std::string_view("\xe5\x65\x2c\x67\xe5\x65\x2c\x67", 8), 2, false);
  const size_t four = characters_of("\xf0\x9f\x98\x80\xf0\x9f\x98\x80",
                                    std::string_view("\x00\xf6\x01\x00\x00\xf6\x01\x00", 8), 4, false);
  if (layout.ascii == 0 || layout.wide == 0 || two != layout.wide || four != layout.wide)
    return cannot("the characters of a text");
  return {};
}

[[nodiscard]] std::string compared(const std::vector<Known>& known) {
  std::vector<PythonFrame> read(known.size() + 1);
  uint64_t hash = 0;
  read.resize(gather_python_frames(read, hash));
  const bool same = std::equal(
      read.begin(), read.end(), known.begin(), known.end(), [](const PythonFrame& one, const Known& other) {
        return address_of(one.code) == other.code && static_cast<Word>(one.instruction) == other.instruction;
      });
  if (!same) return "what is read of this Python's frames is not what it says of them";
  for (size_t i = 0; i < known.size(); ++i) {
    const PythonFrameText text = name_python_frame_unlocked(read[i]);
    for (const auto& [object, own] :
         {std::pair(known[i].name, text.name), std::pair(known[i].filename, text.filename)}) {
      std::ptrdiff_t length = 0;
      const char* const theirs = api().text(pointer_of(object), &length);
      if (theirs == nullptr) {
        api().clear_error();  // a half of a pair of surrogates, say
      } else if (own != std::string_view(theirs, static_cast<size_t>(length))) {
        return "what is read of this Python's names is not what it says of them";
      }
    }
  }
  return {};
}

void append_utf8(std::string& text, uint32_t character) {
  const auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (character < 0x80) return add(character);
  if (character < 0x800) {
    add(0xc0 | character >> 6);
  } else {
    if (character < 0x10000) {
      add(0xe0 | character >> 12);
    } else {
      add(0xf0 | character >> 18);
      add(0x80 | (character >> 12 & 0x3f));
    }
    add(0x80 | (character >> 6 & 0x3f));
  }
  add(0x80 | (character & 0x3f));
}

// `kept` holds what is not there as it is asked for.
[[nodiscard]] std::string_view text_of(Word object, std::string& kept) {
  const auto* const text = static_cast<const char*>(pointer_of(object));
  uint32_t state = 0;
  std::memcpy(&state, text + kTextState, sizeof state);
  const Word length = word_at(object + kTextLength);
  if ((state & kTextCompact) == 0) return "??";
  if ((state & kTextAscii) != 0) return {text + g_layout.ascii, length};
  const uint32_t width = state >> 2 & 7;
  kept.clear();
  for (Word i = 0; i < length; ++i) {
    uint32_t character = 0;
    std::memcpy(&character, text + g_layout.wide + i * width, width);
    append_utf8(kept, character);
  }
  return kept;
}

void (*g_forget)(void* code) = nullptr;
void (*g_end_of_code)(void* code) = nullptr;

void end_of_code(void* code) {
  g_forget(code);
  g_end_of_code(code);
}

}  // namespace

bool knows_python_frames() { return g_known.load(std::memory_order_acquire); }

std::string learn_python_frames() {
  const std::lock_guard guard(g_learning);
  if (!api().usable) return "this Python is older than 3.11, or does not export its functions";
  if (dlsym(RTLD_DEFAULT, "_Py_IncRefShared") != nullptr ||
      dlsym(RTLD_DEFAULT, "_Py_MergeZeroLocalRefcount") != nullptr)
    return "this Python runs without the interpreter's lock";
  const PythonLock lock;
  if (!lock.held()) return "the thread is none of the main interpreter";
  const std::vector<Known> known = known_frames();
  if (known.size() < 2) return "there are too few frames to learn from";
  if (g_known) return compared(known);
  Layout layout;
  std::string why = learn_frames(known, layout);
  if (why.empty()) why = learn_thread(address_of(api().this_thread_state()), known[0].frame, layout);
  if (why.empty()) why = learn_texts(known, layout);
  const char* type_name = nullptr;
  std::memcpy(&type_name, api().code_type + kTypeName, sizeof type_name);
  if (why.empty() && (type_name == nullptr || std::string_view(type_name) != "code"))
    why = cannot("the type of code objects");
  if (!why.empty()) return why;
  g_layout = layout;
  why = compared(known);
  if (why.empty()) g_known.store(true, std::memory_order_release);
  return why;
}

size_t gather_python_frames(std::span<PythonFrame> frames, uint64_t& hash) {
  const void* const thread = api().this_thread_state();
  if (thread == nullptr) return 0;
  // Copies: what is written to `frames` might be the layout, as far as the compiler knows.
  const size_t code_at = g_layout.code, previous_at = g_layout.previous,
               instruction_at = g_layout.instruction;
  const Word first_instruction = g_layout.first_instruction;
  const Word usual_shim = g_layout.shim_count > 0 ? g_layout.shims[0] : 0;
  Word frame = word_at(address_of(thread) + g_layout.thread_frame);
  if (g_layout.held_frame) {
    if (frame == 0) return 0;
    frame = word_at(frame + *g_layout.held_frame);
  }
  uint64_t sum = hash;
  size_t count = 0;
  for (; frame != 0 && count < frames.size(); frame = word_at(frame + previous_at)) {
    const Word code = word_at(frame + code_at) & ~kTags;
    if (code == usual_shim || (g_layout.shim_count > 1 && g_layout.is_shim(code))) continue;
    const auto instruction = static_cast<int64_t>(word_at(frame + instruction_at) - code - first_instruction);
    PythonFrame& kept = frames[count++];
    kept = {pointer_of(code), std::max<int64_t>(instruction, 0)};
    sum = RawStacks::add(sum, kept);
  }
  hash = sum;
  return count;
}

PythonFrameText name_python_frame_unlocked(const PythonFrame& frame) {
  thread_local std::string name, filename;
  PythonFrameText text;
  const Word code = address_of(frame.code);
  text.name = text_of(word_at(code + g_layout.name), name);
  text.filename = text_of(word_at(code + g_layout.filename), filename);
  const int line = api().code_line(frame.code, static_cast<int>(frame.instruction));
  text.line = std::max(line, 0);
  return text;
}

void tell_of_ended_code(void (*forget)(void* code)) {
  if (g_forget != nullptr) return;
  const PythonLock lock;
  if (!lock.held()) return;
  g_forget = forget;
  char* const place = api().code_type + kTypeEnd;
  std::memcpy(&g_end_of_code, place, sizeof g_end_of_code);
  auto* const own = &end_of_code;
  std::memcpy(place, &own, sizeof own);
}

}  // namespace gpustrata::capture
