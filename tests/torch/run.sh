#!/usr/bin/env bash
# A real PyTorch without a GPU, in an environment of its own: several GB are downloaded.
#
#   bash tests/torch/run.sh BUILD [TORCH...]     BUILD: with bin/memstrata, lib/ and fake_cuda/; TORCH: versions
#                                                ("2.5.1"); default: the newest that pip finds
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1:?name a build folder}" && pwd)
shift
(($#)) || set -- newest
failed=0
for version; do
  environment=$root/build/torch/$version
  python=$environment/bin/python
  if [[ ! -e $environment/.installed ]]; then
    echo "Installing torch ($version) into ${environment#"$root"/}"
    package=torch
    [[ $version == newest ]] || package=torch==$version
    python3 -m venv "$environment" && "$python" -m pip install -q "$package" numpy && touch "$environment/.installed" ||
      { failed=1; continue; }
  fi
  PYTHONPATH=$root/capture/python PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH=$build/fake_cuda \
    MEMSTRATA_CAPTURE=$build/lib/libmemstrata_capture.so \
    "$python" "$root/tests/torch/torch_test.py" "$build/bin/memstrata" || failed=1
done
exit $failed
