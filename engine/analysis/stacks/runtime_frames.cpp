#include "engine/analysis/stacks/runtime_frames.h"

#include <algorithm>
#include <array>
#include <span>

namespace gpustrata::analysis {

namespace {

// Of paths, with "/" between their parts: folders of the sources of glibc and libstdc++.
constexpr std::array<std::string_view, 6> kRuntimeFolders = {"/sysdeps/", "/nptl/",         "/csu/",
                                                             "/glibc-",   "/libstdc++-v3/", "/libgcc/"};
// Of CPython's, below a folder that is named after its version or its build.
constexpr std::array<std::string_view, 5> kPythonFolders = {"/Python/", "/Objects/", "/Modules/", "/Include/",
                                                            "/Parser/"};
constexpr std::array<std::string_view, 3> kRuntimeObjects = {"thread48.o", "libc.so.6", "libpthread.so.0"};

// What is static in CPython begins so,
constexpr std::array<std::string_view, 13> kPythonBegins = {
    "pymain_",           "pyrun_",      "slot_",    "run_eval", "builtin_",           "cfunction_",
    "method_vectorcall", "vectorcall_", "partial_", "context_", "infinite_lru_cache", "pythread_",
    "classmethod_"};
// or is one of these.
constexpr std::array<std::string_view, 34> kPythonSymbols = {"binary_op",
                                                             "binary_op1",
                                                             "ternary_op",
                                                             "unary_op",
                                                             "call_function",
                                                             "do_call_core",
                                                             "do_richcompare",
                                                             "run_mod",
                                                             "type_call",
                                                             "type_new",
                                                             "object_new",
                                                             "subtype_dealloc",
                                                             "dict_dealloc",
                                                             "frame_dealloc",
                                                             "list_dealloc",
                                                             "meth_dealloc",
                                                             "odict_dealloc",
                                                             "set_dealloc",
                                                             "tb_dealloc",
                                                             "tupledealloc",
                                                             "tuple_dealloc",
                                                             "func_dealloc",
                                                             "cell_dealloc",
                                                             "gen_dealloc",
                                                             "structseq_dealloc",
                                                             "BaseException_dealloc",
                                                             "gen_iternext",
                                                             "gen_send_ex",
                                                             "gen_send_ex2",
                                                             "task_step",
                                                             "task_step_impl",
                                                             "thread_run",
                                                             "delitem_knownhash_lock_held",
                                                             "main"};
constexpr std::array<std::string_view, 5> kLibcBegins = {"__libc_", "pthread_", "__pthread_", "__nptl_",
                                                         "__GI_"};
constexpr std::array<std::string_view, 9> kLibcSymbols = {
    "_start",     "clone",        "__clone",
    "clone3",     "__clone3",     "start_thread",
    "__xmknodat", "__restore_rt", "execute_native_thread_routine"};

[[nodiscard]] bool begins_with_any(std::string_view text, std::span<const std::string_view> all) {
  return std::any_of(all.begin(), all.end(), [&](std::string_view one) { return text.starts_with(one); });
}
[[nodiscard]] bool is_any(std::string_view text, std::span<const std::string_view> all) {
  return std::find(all.begin(), all.end(), text) != all.end();
}
[[nodiscard]] size_t place_of_any(std::string_view text, std::span<const std::string_view> all) {
  for (const std::string_view one : all) {
    if (const size_t at = text.find(one); at != std::string_view::npos) return at;
  }
  return std::string_view::npos;
}

// "Py" and "_Py" before a capital or a "_": "PyType_GetModule", "_Py_Dealloc", not "Pyramid" nor "__Pyx_".
[[nodiscard]] bool is_of_python_api(std::string_view symbol) {
  if (symbol.starts_with('_')) symbol.remove_prefix(1);
  return symbol.size() > 2 && symbol.starts_with("Py") &&
         ((symbol[2] >= 'A' && symbol[2] <= 'Z') || symbol[2] == '_');
}

[[nodiscard]] bool is_c_source(std::string_view file) {
  return file.ends_with(".c") || file.ends_with(".h") || file.ends_with(".cc") || file.ends_with(".S");
}

// Frames without names ("libcudart.so.12+0x1234") have the file that they lie in: the interpreter ("/usr/bin/python3.11", "libpython3.13t.so.1.0"), CUDA's
// driver and runtime ("libcuda.so.1", "libcudart.so.12", "libcudart-d0da41ae.so.11.0"), which everybody calls.
[[nodiscard]] bool is_object_of_runtime(std::string_view file) {
  std::string_view name = file.substr(file.find_last_of('/') + 1);
  if (name.starts_with("libcuda.so") || name.starts_with("libcudart.so") || name.starts_with("libcudart-"))
    return true;
  if (name.starts_with("libpython3")) {
    name = name.substr(std::string_view("lib").size());
    name = name.substr(0, name.find(".so"));
  }
  constexpr std::string_view kPython = "python3";
  return name.starts_with(kPython) &&
         name.substr(kPython.size()).find_first_not_of(".0123456789td") == std::string_view::npos;
}

[[nodiscard]] bool is_file_of_runtime(std::string_view file) {
  if (is_any(file, kRuntimeObjects)) return true;
  if (!is_c_source(file)) return false;
  if (place_of_any(file, kRuntimeFolders) != std::string_view::npos) return true;
  // ".../Python-3.11.8/Python/ceval.c", ".../python-split_1708/work/build-static/Python/bytecodes.c"
  const size_t folder = place_of_any(file, kPythonFolders);
  return folder != std::string_view::npos && file.substr(0, folder).find("ython-") != std::string_view::npos;
}

}  // namespace

bool is_of_runtime(std::string_view function, std::string_view file) {
  if (function.find("+0x") != std::string_view::npos && is_object_of_runtime(file)) return true;
  if (!file.empty() && file != "??") return is_file_of_runtime(file);
  const std::string_view symbol = function.substr(0, function.find('.'));
  if (symbol.find_first_of("(<: ") != std::string_view::npos) return false;  // C++
  return is_of_python_api(symbol) || begins_with_any(symbol, kLibcBegins) || is_any(symbol, kLibcSymbols) ||
         is_any(symbol, kPythonSymbols) || begins_with_any(symbol, kPythonBegins);
}

}  // namespace gpustrata::analysis
