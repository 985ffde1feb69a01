#!/usr/bin/env bash
# Everything that only a GPU can prove; prints one table. Without a CUDA device it says so and exits with 77.
#
#   bash tests/gpu/run.sh [OPERATIONS]      random operations of each mode (1000000)
#
# GPUSTRATA_BUILD: a build folder made elsewhere (for machines without CMake); default build/native-checked.
# Exit code 0 only if every row is ok: a row that could not be measured is not.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 1

if ! timeout 60 nvidia-smi -L >/dev/null 2>&1; then
  echo "No CUDA device here (nvidia-smi finds none): nothing was proven on a GPU."
  exit 77
fi
if [[ -z ${GPUSTRATA_BUILD:-} ]]; then
  for tool in cmake ninja c++; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: install it, or name a build in GPUSTRATA_BUILD."; exit 1; }
  done
  cmake --preset native-checked >/dev/null &&
    cmake --build --preset native-checked -j --target gpustrata gpustrata_capture gpu_random capture_bench || exit 1
fi
exec python3 tests/gpu/proof.py "$@"
