#!/usr/bin/env bash
# capture/cuda/driver_abi.h against the real <cuda.h> of CUDA 12 and 13, from the Python registry (6 MB).
#
#   bash tests/capture/cuda_headers.sh FOLDER     keeps the packages in FOLDER; needs python3 with pip, and g++
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1:?name a folder}
mkdir -p "$folder"
same() { # same SOURCES INCLUDE: 0 if the declarations of the checkout below SOURCES agree
  g++ -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I"$1" -isystem "$2" "$1/capture/cuda/driver_abi_check.cpp"
}
# What must not agree: one constant is changed.
planted=$folder/planted
rm -rf "$planted"
mkdir -p "$planted/capture/cuda" "$planted/capture/preload"
cp "$root"/capture/preload/watched_list.h "$planted/capture/preload/"
cp "$root"/capture/cuda/driver_abi_check.cpp "$planted/capture/cuda/"
sed -e 's/kOutOfMemory = 2/kOutOfMemory = 3/' "$root"/capture/cuda/driver_abi.h >"$planted/capture/cuda/driver_abi.h"
cmp -s "$root/capture/cuda/driver_abi.h" "$planted/capture/cuda/driver_abi.h" && { echo "nothing was planted"; exit 1; }

failed=0
for package in nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-runtime==13.5.37; do
  into=$folder/$package
  if [[ ! -d $into ]]; then
    python3 -m pip download -q --no-deps --only-binary=:all: -d "$into.wheel" "$package" &&
      python3 -m zipfile -e "$into.wheel"/*.whl "$into" || { echo "$package cannot be had"; failed=1; continue; }
  fi
  header=$(find "$into" -name cuda.h | head -1)
  if [[ -z $header ]]; then
    echo "$package has no cuda.h"
    failed=1
  elif ! same "$root" "$(dirname "$header")"; then
    echo "$package: the declarations differ"
    failed=1
  elif same "$planted" "$(dirname "$header")" 2>/dev/null; then
    echo "$package: a planted difference was not found"
    failed=1
  else
    echo "$package: the driver's declarations agree"
  fi
done
exit $failed
