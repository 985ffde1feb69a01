// Classes and instances. Nothing is looked up, called or created: a class is its name, an instance the name
// of its class. Only what a snapshot may sit in is seen through: dicts by another name, arguments and states.
#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "engine/base/utf8.h"
#include "engine/io/encodings/pickle/machine.h"

namespace gpustrata::io::pickle {

using model::Diag;

namespace {

constexpr size_t kNamedBytes = 200;  // of a class, in a message

// Things worth keeping when they are found inside an object.
[[nodiscard]] bool is_found(Tag tag) { return is_always_kept(tag); }

template <size_t N>
[[nodiscard]] bool is_one_of(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

constexpr std::string_view kDicts[] = {"collections.OrderedDict", "collections.defaultdict"};
constexpr std::string_view kFirstArgument[] = {"torch.Size",
                                               "torch.jit._pickle.build_intlist",
                                               "torch.jit._pickle.build_doublelist",
                                               "torch.jit._pickle.build_boollist",
                                               "torch.jit._pickle.build_tensorlist",
                                               "torch.jit._pickle.restore_type_tag",
                                               "_codecs.encode"};
constexpr std::string_view kBuiltins[] = {"builtins.", "__builtin__."};
constexpr std::string_view kBuiltinContainers[] = {"set",  "frozenset", "list",  "tuple",
                                                   "dict", "bytearray", "bytes", "str"};
constexpr std::string_view kBuiltinTypes[] = {"int", "float", "bool", "complex", "long", "unicode", "object"};

}  // namespace

void Machine::note_foreign(StringId name) {
  if (first_global_.is_none()) {
    first_global_ = name;
    first_global_offset_ = offset_;
  }
  diagnostics_.add(Diag::foreign_object, offset_, strings_.view(name));
}

bool Machine::refuse_class(std::string_view name) {
  return halt_at(Halt::unsupported,
                 fmt::format("the pickle refers to {}, which no file of this kind does; nothing of it is run",
                             utf8::cut(utf8::sanitized(name), kNamedBytes)));
}

bool Machine::push_global(std::string_view module, std::string_view name) {
  std::string full(module);
  full += '.';
  full += name;
  const StringId id = strings_.intern(full);
  if (id.is_none()) return out_of_budget();
  if (!allowed_.empty() && std::find(allowed_.begin(), allowed_.end(), full) == allowed_.end())
    return refuse_class(full);
  Callable callable = Callable::foreign;
  if (is_one_of(full, kDicts)) callable = Callable::makes_dict;
  if (is_one_of(full, kFirstArgument)) callable = Callable::first_argument;
  for (const std::string_view prefix : kBuiltins) {
    if (!std::string_view(full).starts_with(prefix)) continue;
    const std::string_view type = std::string_view(full).substr(prefix.size());
    if (is_one_of(type, kBuiltinContainers)) callable = Callable::first_argument;
    if (is_one_of(type, kBuiltinTypes)) callable = Callable::harmless;
  }
  if (callable == Callable::foreign) note_foreign(id);
  return push({Tag::global, static_cast<uint32_t>(id.value), static_cast<uint64_t>(callable)});
}

bool Machine::global_from_stack() {
  if (size() < floor() + 2) return damaged("a class without a name");
  if (!close_from(size() - 2)) return false;
  const Value module = top_[-2];
  const Value name = top_[-1];
  if (!is_text(module.tag) || !is_text(name.tag)) return damaged("a class whose name is no text");
  top_ -= 2;
  const auto view = [this](const Value& text) {
    return strings_.view(StringId{static_cast<size_t>(text.id)});
  };
  return push_global(view(module), view(name));
}

bool Machine::push_foreign(std::string_view what) {
  if (!allowed_.empty()) return refuse_class(what);
  const StringId id = strings_.intern(what);
  if (id.is_none()) return out_of_budget();
  note_foreign(id);
  return push({Tag::object, static_cast<uint32_t>(id.value), 0});
}

// REDUCE, NEWOBJ, NEWOBJ_EX: the class and its arguments.
bool Machine::reduce(size_t arguments) {
  if (size() < floor() + arguments + 1) return damaged("an object without its class");
  const size_t at = size() - arguments - 1;
  if (!close_from(at)) return false;
  const Value callable = base_[at];
  const Value given = base_[at + 1];
  top_ = base_ + at;
  Value made{Tag::object, callable.id, 0};
  if (callable.tag != Tag::global && callable.tag != Tag::object) {
    const StringId id = strings_.intern("object");
    if (id.is_none()) return out_of_budget();
    made.id = static_cast<uint32_t>(id.value);
  } else if (callable.tag == Tag::global) {
    const auto kind = static_cast<Callable>(callable.num);
    if (kind == Callable::makes_dict) return push_open(true);
    const bool is_last_tuple = given.tag == tuple_.tag && given.id == tuple_.id && given.num == tuple_.num;
    if (kind == Callable::first_argument && is_last_tuple && tuple_first_.tag != Tag::undefined) {
      return push(tuple_first_);
    }
  }
  return push(is_found(given.tag) ? last_of(given) : made);
}

// BUILD: an object and its state.
bool Machine::build() {
  if (size() < floor() + 2) return damaged("a state without its object");
  if (!close_from(size() - 1)) return false;
  const Value state = last_of(top_[-1]);
  --top_;
  if (top_[-1].tag == Tag::object && is_found(state.tag)) top_[-1] = state;
  return true;
}

// OBJ: mark, class, arguments. INST: mark, arguments, and the class just pushed.
bool Machine::object_from_mark(Op op) {
  size_t first = 0;
  if (!take_mark(first) || !close_from(first)) return false;
  if (size() == first) return damaged("an object without its class");
  const Value callable = op == Op::inst ? top_[-1] : base_[first];
  Value made{Tag::object, callable.id, 0};
  if (callable.tag != Tag::global && callable.tag != Tag::object)
    return damaged("an object without its class");
  for (const Value* value = base_ + first; value != top_; ++value) {
    if (is_found(value->tag)) made = last_of(*value);
  }
  top_ = base_ + first;
  return push(made);
}

}  // namespace gpustrata::io::pickle
