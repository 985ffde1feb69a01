#!/usr/bin/env bash
# Everything that only a GPU can prove; prints one table. Without a CUDA device it says so and exits with 77.
#
#   bash tests/gpu/run.sh [OPERATIONS]      random operations of each mode (1000000)
#
# MEMSTRATA_BUILD: a build folder made elsewhere (for machines without CMake); default build/native-release.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 1
operations=${1:-1000000}
build=${MEMSTRATA_BUILD:-$root/build/native-release}

if ! nvidia-smi -L >/dev/null 2>&1; then
  echo "No CUDA device here (nvidia-smi finds none): nothing was proven on a GPU."
  exit 77
fi
if [[ -z ${MEMSTRATA_BUILD:-} ]]; then
  cmake --preset native-release >/dev/null &&
    cmake --build --preset native-release -j --target memstrata memstrata_capture gpu_random capture_bench || exit 1
fi
find_built() { find "$build" -type f -name "$1" -perm -u+x | head -1; }
export MEMSTRATA_CAPTURE
MEMSTRATA_CAPTURE=$(find "$build" -name libmemstrata_capture.so | head -1)
export LD_LIBRARY_PATH=$(dirname "$MEMSTRATA_CAPTURE")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

status=0
note() { # note WHAT COMMAND...: its last line becomes a row
  local what=$1 text code
  shift
  text=$("$@" 2>&1)
  code=$?
  case $code in
    0) echo "| $what | $(tail -1 <<<"$text") | ok |" ;;
    77) echo "| $what | $(tail -1 <<<"$text") | skipped |" ;;
    *) echo "| $what | $(tail -3 <<<"$text" | tr '\n' ' ') | FAILED |"; status=1 ;;
  esac
}

echo "$(date -u +%F), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)"
echo
echo "| proof | result | |"
echo "|---|---|---|"
note "random operations, segments" "$(find_built gpu_random)" "$operations" segments
note "random operations, expandable segments" "$(find_built gpu_random)" "$operations" expandable
note "Python stack" python3 tests/bench/python_stack_bench.py "$MEMSTRATA_CAPTURE"
echo
echo '```'
"$(find_built capture_bench)" || status=1
echo '```'
echo
python3 tests/gpu/torch_compare.py "$(find_built memstrata)"
code=$?
[[ $code == 0 || $code == 77 ]] || status=1
exit $status
