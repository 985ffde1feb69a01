// The C++ face of gpustrata.h: the same functions, with errors as exceptions and scopes as objects.
#pragma once

#include <gpustrata.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace gpustrata {

struct CaptureError : std::runtime_error {
  CaptureError(gpustrata_status what, const char* text) : std::runtime_error(text), status(what) {}
  gpustrata_status status;
};

inline void check(gpustrata_status status) {
  if (status != GPUSTRATA_OK) throw CaptureError(status, gpustrata_last_error());
}

// Device memory that is given back with its owner.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(size_t bytes, int device = 0, void* stream = nullptr) : size_(bytes) {
    check(gpustrata_malloc(&pointer_, bytes, device, stream));
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : pointer_(std::exchange(other.pointer_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(pointer_, other.pointer_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceBuffer() { (void)gpustrata_release(pointer_); }

  [[nodiscard]] void* get() const { return pointer_; }
  [[nodiscard]] size_t size() const { return size_; }
  void use_on_stream(void* stream) const { check(gpustrata_use_on_stream(pointer_, stream)); }

 private:
  void* pointer_ = nullptr;
  size_t size_ = 0;
};

// A named part of the program.
class Region {
 public:
  explicit Region(const std::string& name, int device = 0) : device_(device) {
    check(gpustrata_region_begin(name.c_str(), device));
  }
  ~Region() { (void)gpustrata_region_end(device_); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 private:
  int device_;
};

}  // namespace gpustrata
