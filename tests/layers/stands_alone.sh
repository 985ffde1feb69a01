#!/usr/bin/env bash
# Every source and header of engine/ and capture/ compiles alone: the builds compile several files as one, in which one can lean
# on the includes of another. Headers of the standard library and of {fmt} are read once, for all (a missing one of those is
# not found); ours each file includes itself.
#
#   bash tests/layers/stands_alone.sh BUILD    BUILD: a configured native build (build/native-debug), for the folders of headers
#   bash tests/layers/stands_alone.sh BUILD --self-test
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
build=${1:?name a build}
[[ -r $build/compile_commands.json ]] || { echo "$build has no compile_commands.json"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

mapfile -t flags < <(grep -oE -- '-isystem [^ "]+' "$build/compile_commands.json" | sort -u | tr ' ' '\n')
flags+=(-std=c++20 -I. -DFMT_EXCEPTIONS=0 -DSIMDJSON_EXCEPTIONS=0 '-DGPUSTRATA_VERSION=""' -w)
printf '#include <%s>\n' fmt/core.h tl/expected.hpp algorithm array atomic bit charconv chrono cmath condition_variable cstddef \
  cstdint cstdio cstdlib cstring filesystem functional initializer_list iterator limits map memory mutex numeric optional \
  set span string string_view thread tuple type_traits unordered_map unordered_set utility variant vector >"$scratch/standard.h"
g++ "${flags[@]}" -x c++-header "$scratch/standard.h" -o "$scratch/standard.h.gch" || exit 1
compile() { g++ "${flags[@]}" -Winvalid-pch -include "$scratch/standard.h" -fsyntax-only -x c++ "$1"; }

if [[ ${2:-} == --self-test ]]; then
  printf 'namespace gpustrata { Status nobody_declared_it(); }\n' >"$scratch/leans.h"
  ! compile "$scratch/leans.h" 2>/dev/null || { echo "a file that leans on another was not found"; exit 1; }
  exit 0
fi

one() {
  local text
  text=$(compile "$1" 2>&1) && return
  printf '%s does not compile alone:\n%s\n' "$1" "$(head -4 <<<"$text")"
  return 1
}
export -f compile one
export scratch
# Arrays are not exported: the flags go as one line.
printf '%q ' "${flags[@]}" >"$scratch/flags"
# A source begins with its own header, which stands alone then, too.
{
  # Those need CUDA's and PyTorch's headers, and a simdjson that is read for WebAssembly.
  find engine capture -name '*.cpp' ! -name driver_abi_check.cpp ! -path 'capture/python/gpustrata/*' ! -name simdjson_ondemand.cpp
  find engine capture -name '*.h' | while read -r header; do [[ -e ${header%.h}.cpp ]] || echo "$header"; done
} | sort | xargs -P "$(nproc)" -I{} bash -c 'eval "flags=($(cat "$scratch/flags"))"; one {}'
