// dlsym, through which runtimes and programs that load the driver themselves come to its functions.
//
// RTLD_NEXT and RTLD_DEFAULT mean something that depends on where dlsym is called from, so whatever is not ours goes on to the
// plain dlsym by a jump, which leaves the caller as it was. The compiler cannot be held to a jump, hence the few instructions.
#include <dlfcn.h>

#include <cstdlib>

#include "capture/preload/say.h"
#include "capture/preload/watched.h"

namespace gpustrata::preload {

using Dlsym = void* (*)(void* handle, const char* symbol);

extern "C" {
// Read by the instructions below.
[[gnu::visibility("hidden")]] Dlsym gpustrata_preload_plain_dlsym = nullptr;
// In two registers.
struct Choice {
  void* function;
  intptr_t is_made;  // 0: it is for the plain one to say
};
[[gnu::visibility("hidden")]] Choice gpustrata_preload_choose(void* handle, const char* symbol);
}

namespace {

#if defined(__x86_64__)
constexpr const char* kVersions[] = {"GLIBC_2.2.5", "GLIBC_2.34"};
#else
constexpr const char* kVersions[] = {"GLIBC_2.17", "GLIBC_2.34"};
#endif

void find_plain_dlsym() {
  void* found = nullptr;
  for (const char* const version : kVersions) {
    if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", version);
  }
  if (found == nullptr) {
    constexpr char kLine[] = "gpustrata: this C library has no dlsym: without LD_PRELOAD the program runs\n";
    say(kLine, sizeof kLine - 1);
    std::abort();
  }
  // Another library of LD_PRELOAD may have one, which comes next.
  void* const next = reinterpret_cast<Dlsym>(found)(RTLD_NEXT, "dlsym");
  __atomic_store_n(&gpustrata_preload_plain_dlsym, reinterpret_cast<Dlsym>(next != nullptr ? next : found),
                   __ATOMIC_RELEASE);
}

}  // namespace

void* plain_dlsym(void* handle, const char* symbol) {
  if (__atomic_load_n(&gpustrata_preload_plain_dlsym, __ATOMIC_ACQUIRE) == nullptr) find_plain_dlsym();
  return gpustrata_preload_plain_dlsym(handle, symbol);
}

Choice gpustrata_preload_choose(void* handle, const char* symbol) {
  if (__atomic_load_n(&gpustrata_preload_plain_dlsym, __ATOMIC_ACQUIRE) == nullptr) find_plain_dlsym();
  if (handle == RTLD_NEXT || symbol == nullptr) return {nullptr, 0};
  Watched which{};
  void* const ours = ours_of_symbol(symbol, &which);
  if (ours == nullptr) return {nullptr, 0};
  // By RTLD_DEFAULT ours would be found where there is no driver.
  void* const found =
      handle == RTLD_DEFAULT ? of_driver(symbol) : gpustrata_preload_plain_dlsym(handle, symbol);
  if (found == nullptr) return {nullptr, 1};
  learn_theirs(which, found);
  return {ours, 1};
}

}  // namespace gpustrata::preload

// Arguments are kept over the choice; the stack stays aligned to 16.
#if defined(__x86_64__)
asm(R"(
  .text
  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call gpustrata_preload_choose
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  testq %rdx, %rdx
  je 1f
  ret
1:
  jmpq *gpustrata_preload_plain_dlsym(%rip)
  .cfi_endproc
  .size dlsym, .-dlsym
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .globl dlsym
  .type dlsym, %function
dlsym:
  .cfi_startproc
  stp x29, x30, [sp, #-32]!
  .cfi_def_cfa_offset 32
  .cfi_offset 29, -32
  .cfi_offset 30, -24
  stp x0, x1, [sp, #16]
  mov x29, sp
  bl gpustrata_preload_choose
  mov x16, x0
  mov x17, x1
  ldp x0, x1, [sp, #16]
  ldp x29, x30, [sp], #32
  .cfi_def_cfa_offset 0
  .cfi_restore 29
  .cfi_restore 30
  cbz x17, 1f
  mov x0, x16
  ret
1:
  adrp x16, gpustrata_preload_plain_dlsym
  ldr x16, [x16, :lo12:gpustrata_preload_plain_dlsym]
  br x16
  .cfi_endproc
  .size dlsym, .-dlsym
)");
#else
#error "dlsym has its instructions for x86-64 and aarch64"
#endif
