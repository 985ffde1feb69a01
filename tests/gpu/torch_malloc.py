#!/usr/bin/env python3
"""Nanoseconds of a malloc and free from the cache, PyTorch's allocator and gpustrata's in one process, both called
from C++: a child of proof.py. GPUSTRATA_CAPTURE: the library.

Needs a C++ compiler, ninja and CUDA's headers. The last line is {"pytorch": [ns, ...], "gpustrata": [ns, ...]}: one
figure a run, the runs alternate.
"""
import json
import os
import sys

SOURCE = r"""
#include <c10/cuda/CUDACachingAllocator.h>
#include <chrono>
#include <dlfcn.h>
#include <stdexcept>
#include <vector>
namespace native = c10::cuda::CUDACachingAllocator;
template <typename Work> double nanoseconds(Work work) {
  constexpr int kRounds = 100000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kRounds; ++i) work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / kRounds;
}
std::vector<std::vector<double>> compare(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW);
  if (library == nullptr) throw std::runtime_error(dlerror());
  const auto alloc = (void* (*)(size_t, int, void*))dlsym(library, "gpustrata_alloc");
  const auto release = (void (*)(void*, size_t, int, void*))dlsym(library, "gpustrata_free");
  for (int i = 0; i < 10000; ++i) {  // live blocks of both
    const size_t bytes = 512 * (1 + i * 7919 % 400);
    if (native::raw_alloc(bytes) == nullptr || alloc(bytes, 0, nullptr) == nullptr)
      throw std::runtime_error("no memory on the device");
  }
  const auto theirs = [] { native::raw_delete(native::raw_alloc(100000)); };
  const auto ours = [&] { release(alloc(100000, 0, nullptr), 100000, 0, nullptr); };
  nanoseconds(theirs), nanoseconds(ours);
  std::vector<std::vector<double>> times(2);
  for (int run = 0; run < 15; ++run) {
    times[0].push_back(nanoseconds(theirs));
    times[1].push_back(nanoseconds(ours));
  }
  return times;
}
"""


def main():
    import torch
    from torch.utils.cpp_extension import load_inline

    torch.zeros(1, device="cuda")
    module = load_inline("gpustrata_compare", SOURCE, functions=["compare"], with_cuda=True)
    theirs, ours = module.compare(os.environ["GPUSTRATA_CAPTURE"])
    print(json.dumps({"pytorch": theirs, "gpustrata": ours}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
