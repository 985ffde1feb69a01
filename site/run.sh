#!/usr/bin/env bash
# Installs what is missing, builds the page and serves it on this machine.
#
#   bash site/run.sh [SNAPSHOT]     opens SNAPSHOT, else a bundled sample
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

arguments=()
if (($#)); then
  [[ -r $1 ]] || { echo "cannot read $1" >&2; exit 1; }
  arguments=(--snapshot "$(realpath "$1")")
fi
cd "$root"

need_for_wasm
install_needed
setup_node
mkdir -p build
cmake --preset wasm >build/wasm-configure.log 2>&1 || { cat build/wasm-configure.log; exit 1; }
cmake --build --preset wasm

if ((${#arguments[@]} == 0)); then
  sample=$(find build/site/samples -type f -name '*.pickle' -printf '%f\n' 2>/dev/null | sort | head -1)
  [[ -z $sample ]] || arguments=(--sample "$sample")
fi
exec node site/serve.mjs "${arguments[@]}"
