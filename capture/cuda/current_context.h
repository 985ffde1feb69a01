// A scope in which the device's context is current.
#pragma once

#include "capture/cuda/cuda_device.h"

namespace gpustrata::capture::cuda {

// Also, calls that a graph capture of this thread forbids are allowed while it lives.
class CudaDevice::Context {
 public:
  explicit Context(const CudaDevice& device) : Context(device, device.context_) {}
  // That of another device, for its streams.
  Context(const CudaDevice& device, CuContext context) : api_(device.api_) {
    pushed_ = api_.context_push(context) == kSuccess;
    relaxed_ = api_.thread_exchange_capture_mode(&mode_) == kSuccess;
  }
  ~Context() {
    if (relaxed_) (void)api_.thread_exchange_capture_mode(&mode_);
    CuContext popped = nullptr;
    if (pushed_) (void)api_.context_pop(&popped);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

 private:
  const DriverApi& api_;
  int mode_ = kCaptureRelaxed;
  bool pushed_ = false;
  bool relaxed_ = false;
};

}  // namespace gpustrata::capture::cuda
