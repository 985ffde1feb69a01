// recorder_api.h: no exception leaves; where memory is short the rest is not recorded.
#include <exception>

#include "capture/driver/driver_recorder.h"

using gpustrata::capture::DriverRecorder;

namespace {

template <typename Value, typename Action>
[[nodiscard]] Value without_exceptions(Value otherwise, Action&& action) {
  try {
    return action(DriverRecorder::instance());
  } catch (const std::exception&) {
    return otherwise;
  }
}
template <typename Action>
void without_exceptions(Action&& action) {
  (void)without_exceptions(0, [&](DriverRecorder& recorder) {
    action(recorder);
    return 0;
  });
}

}  // namespace

int gpustrata_driver_begin(const gpustrata_driver_options* options) {
  return without_exceptions(1, [&](DriverRecorder& recorder) {
    recorder.begin(*options);
    return 0;
  });
}
void gpustrata_driver_allocated(const gpustrata_driver_block* block, const void* caller) {
  without_exceptions([&](DriverRecorder& recorder) { recorder.allocated(*block, caller); });
}
int gpustrata_driver_freeing(uint64_t address, gpustrata_driver_block* block) {
  return without_exceptions(
      0, [&](DriverRecorder& recorder) { return recorder.freeing(address, *block) ? 1 : 0; });
}
void gpustrata_driver_kept(const gpustrata_driver_block* block) {
  without_exceptions([&](DriverRecorder& recorder) { recorder.kept(*block); });
}
void gpustrata_driver_refused(const gpustrata_driver_block* block, int64_t free_bytes) {
  without_exceptions([&](DriverRecorder& recorder) { recorder.refused(*block, free_bytes); });
}
void gpustrata_driver_ending(int device, uint64_t context) {
  without_exceptions([&](DriverRecorder& recorder) { recorder.ending(device, context); });
}
void gpustrata_driver_not_ended() {
  without_exceptions([](DriverRecorder& recorder) { recorder.not_ended(); });
}
void gpustrata_driver_created(uint64_t handle, const gpustrata_driver_block* block) {
  without_exceptions([&](DriverRecorder& recorder) { recorder.created(handle, *block); });
}
int gpustrata_driver_releasing(uint64_t handle, gpustrata_driver_block* block) {
  return without_exceptions(
      0, [&](DriverRecorder& recorder) { return recorder.releasing(handle, *block) ? 1 : 0; });
}
void gpustrata_driver_mapped(uint64_t address, int64_t size, uint64_t handle, const void* caller) {
  without_exceptions([&](DriverRecorder& recorder) { recorder.mapped(address, size, handle, caller); });
}
void gpustrata_driver_unmapped(uint64_t address, int64_t size) {
  without_exceptions([&](DriverRecorder& recorder) { recorder.unmapped(address, size); });
}
void gpustrata_driver_found(int device, int64_t used_bytes, int64_t total_bytes) {
  without_exceptions([&](DriverRecorder& recorder) { recorder.found(device, used_bytes, total_bytes); });
}
int gpustrata_driver_region(const char* name, int device) {
  return without_exceptions(-1, [&](DriverRecorder& recorder) { return recorder.region(name, device); });
}
int gpustrata_driver_end() {
  return without_exceptions(0, [](DriverRecorder& recorder) { return recorder.end() ? 1 : 0; });
}
