#!/usr/bin/env bash
# A real PyTorch without a GPU, in an environment of its own: several GB are downloaded.
#
#   bash tests/torch/run.sh BUILD [TORCH...]     BUILD: with bin/gpustrata, lib/ and fake_cuda/; TORCH: versions
#                                                ("2.5.1"); default: the newest that pip finds
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1:?name a build folder}" && pwd)
shift
(($#)) || set -- newest
failed=0

# CUDA's headers that PyTorch's packages leave out; ninja compiles the companion; trainers that have callbacks.
install() { # install VERSION ENVIRONMENT
  local package=torch cuda
  [[ $1 == newest ]] || package=torch==$1
  python3 -m venv "$2" && "$2/bin/python" -m pip install -q "$package" numpy ninja setuptools wheel transformers accelerate lightning ipython || return 1
  cuda=$("$2/bin/python" -c 'import torch; print(torch.version.cuda)') || return 1
  if [[ ${cuda%%.*} -ge 13 ]]; then package=nvidia-cuda-crt==$cuda.*; else package=nvidia-cuda-nvcc-cu12==$cuda.*; fi
  "$2/bin/python" -m pip install -q "$package" && touch "$2/.installed"
}

for version; do
  environment=$root/build/torch/$version
  python=$environment/bin/python
  if [[ ! -e $environment/.installed ]]; then
    echo "Installing torch ($version) into ${environment#"$root"/}"
    install "$version" "$environment" || { failed=1; continue; }
  fi
  export PYTHONPATH=$root/capture/python PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH=$build/fake_cuda \
    GPUSTRATA_CAPTURE=$build/lib/libgpustrata_capture.so
  "$python" "$root/tests/torch/torch_test.py" "$build/bin/gpustrata" || failed=1

  echo "PyTorch's own allocator over a made-up CUDA runtime"
  site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  made=$root/build/torch/cudart-$version
  runtime=$(python3 "$root/tests/torch/cudart/build.py" "$site" "$build/fake_cuda" "$made") || { failed=1; continue; }
  over() { # over COMMAND...: with that runtime, and where PyTorch looks for ninja and keeps what it compiles
    PATH=$environment/bin:$PATH TORCH_EXTENSIONS_DIR=$root/build/torch/extensions-$version LD_PRELOAD=$runtime \
      LD_LIBRARY_PATH=$build/fake_cuda:$made FAKE_CUDA_ADDRESSES=ascending FAKE_CUDA_MEMORY=$((16 << 30)) "$@"
  }
  # Observers as a wheel brings them, of the versions that it has them for.
  plain=$("$python" -c 'import torch; print(torch.__version__.partition("+")[0])')
  if grep -q "\"$plain\"" "$root/site/torch_headers.py"; then
    python3 "$root/site/torch_headers.py" "$root/build/torch-headers" "$plain" && cmake --build "$build" --target gpustrata_observers &&
      export GPUSTRATA_OBSERVERS=$build/observers || failed=1
  fi
  over "$python" "$root/tests/torch/allocator_test.py" "$build/bin/gpustrata" || failed=1
  MADE_UP_KERNELS=nothing over "$python" "$root/tests/torch/run_test.py" "$build/bin/gpustrata" || failed=1
  MADE_UP_KERNELS=nothing over "$python" -W ignore "$root/tests/torch/observe_test.py" "$build/bin/gpustrata" || failed=1
  MADE_UP_KERNELS=nothing over "$python" "$root/tests/torch/leaks_test.py" "$build/bin/gpustrata" || failed=1
  MADE_UP_KERNELS=nothing over "$python" -W ignore "$root/tests/torch/claims_test.py" "$build/bin/gpustrata" || failed=1
  MADE_UP_KERNELS=nothing over "$python" -W ignore "$root/tests/torch/categories_test.py" "$build/bin/gpustrata" || failed=1
  MADE_UP_KERNELS=nothing over "$python" -W ignore "$root/tests/torch/fit_test.py" "$build/bin/gpustrata" || failed=1
  env -u LD_LIBRARY_PATH GPUSTRATA_FILE="$build/lib/libgpustrata_file.so" GPUSTRATA_TOOL="$build/bin/gpustrata" \
    "$python" -W ignore "$root/tests/torch/estimate_cases_test.py" || failed=1
  GPUSTRATA_FILE=$build/lib/libgpustrata_file.so MADE_UP_KERNELS=nothing over "$python" -W ignore "$root/tests/torch/estimate_test.py" || failed=1
  printf '\n| side by side | PyTorch %s | gpustrata | ratio |\n|---|---|---|---|\n' "$version"
  over "$python" "$root/tests/torch/timing.py" malloc || failed=1
  over "$python" "$root/tests/torch/timing.py" dump || failed=1
  printf '\nPyTorch %s under gpustrata run\n\n' "$version"
  over "$python" "$root/tests/torch/timing.py" run || failed=1
  over "$python" "$root/tests/torch/timing.py" observe || failed=1
done
exit $failed
