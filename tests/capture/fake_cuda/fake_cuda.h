// What tests say to the fake driver; see fake_cuda.cpp.
#pragma once

#include <cstdint>

extern "C" {
void fake_cuda_hold(void* stream);
void fake_cuda_finish(void* stream);
void fake_cuda_capture(void* stream, int on);
int fake_cuda_reaches(int device, void* pointer);
int fake_cuda_owner(void* pointer);
void fake_cuda_fail(int n, int error);
void fake_cuda_fail_queries(int error);
int64_t fake_cuda_used(int device);
int64_t fake_cuda_misuses();
int64_t fake_cuda_events();
}
