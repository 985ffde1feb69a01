// The pieces of a snapshot as Python values.
#pragma once

#include <utility>
#include <vector>

#include "tests/unit/io/py.h"

namespace gpustrata::tests {

inline Py frame(const char* name, const char* filename, Py line) {
  return Py::dict({{"name", name}, {"filename", filename}, {"line", std::move(line)}});
}

inline Py event(const char* action, Py addr, Py size) {
  return Py::dict({{"action", action}, {"addr", std::move(addr)}, {"size", std::move(size)}, {"stream", 0}});
}

inline Py block(Py size, const char* state) {
  return Py::dict({{"size", std::move(size)}, {"state", state}});
}

inline Py segment(Py address, Py total, std::vector<Py> blocks) {
  return Py::dict({{"device", 0},
                   {"address", std::move(address)},
                   {"total_size", std::move(total)},
                   {"stream", 0},
                   {"blocks", Py::list(std::move(blocks))}});
}

inline Py snapshot(std::vector<Py> segments, std::vector<Py> traces) {
  return Py::dict(
      {{"segments", Py::list(std::move(segments))}, {"device_traces", Py::list(std::move(traces))}});
}

inline Py snapshot_of(std::vector<Py> events) { return snapshot({}, {Py::list(std::move(events))}); }

}  // namespace gpustrata::tests
