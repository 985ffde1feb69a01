// NVIDIA's management library without a device, for tests: PyTorch asks it about fabrics and other processes before it
// makes an expandable segment. There are devices; nothing is known of them.
namespace {
constexpr int kSuccess = 0;
constexpr int kNotSupported = 3;
}  // namespace

extern "C" {
int nvmlInit_v2() { return kSuccess; }
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13020;
  return kSuccess;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** device) {
  *device = nullptr;
  return kSuccess;
}
int nvmlDeviceGetGpuFabricInfoV(void*, void*) { return kNotSupported; }
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*) { return kNotSupported; }
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*) { return kNotSupported; }
// No process uses the device.
int nvmlDeviceGetComputeRunningProcesses(void*, unsigned* count, void*) {
  *count = 0;
  return kSuccess;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void*) {
  *count = 0;
  return kSuccess;
}
}
