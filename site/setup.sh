# Sourced by site/run.sh and tests/run.sh: installs what is missing on a Debian 12 machine and sets the
# environment. Looks before it installs, so that a second run is quick and needs no network.
#
#   need THING PACKAGE...   THING: a command, or an absolute path that PACKAGE brings
#   install_needed          one apt-get for all that is missing
#   setup_node              Node 20.19 or newer: the system's, else the npm package `node` in build/node

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
missing_packages=()

need() {
  local thing=$1
  shift
  if [[ $thing == /* ]]; then [[ -e $thing ]]; else command -v "$thing" >/dev/null; fi ||
    missing_packages+=("$@")
}

install_needed() {
  ((${#missing_packages[@]})) || return 0
  echo "Installing: ${missing_packages[*]}"
  if ! command -v apt-get >/dev/null; then
    echo "This is not a Debian machine: please install the equivalents of these packages." >&2
    return 1
  fi
  local as_root=()
  ((EUID == 0)) || as_root=(sudo)
  # The package lists may be absent or old.
  "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -qq -y --no-install-recommends "${missing_packages[@]}" >/dev/null || return 1
  missing_packages=()
  hash -r
}

node_is_new() {
  command -v node >/dev/null &&
    node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)'
}

setup_node() {
  local kept=$root/build/node
  export PATH=$kept/node_modules/node/bin:$kept/node_modules/.bin:$PATH
  node_is_new && return 0
  echo "Installing Node into build/node"
  mkdir -p "$kept"
  npm install --prefix "$kept" --no-save --no-audit --no-fund --loglevel=error node@22 npm@10 || return 1
  hash -r
  node_is_new
}

# Debian's Emscripten finds its `acorn` there whichever Node runs it.
export NODE_PATH=/usr/share/nodejs

need_for_wasm() {
  need cmake cmake
  need ninja ninja-build
  need em++ emscripten
  need python3 python3
  need /usr/include/fmt/core.h libfmt-dev
  need /usr/include/tl/expected.hpp libexpected-dev
  need node nodejs
  need npm npm
  need /etc/ssl/certs/ca-certificates.crt ca-certificates
}

need_for_native() {
  need cmake cmake
  need pip3 python3-pip
  need npm npm
  need /etc/ssl/certs/ca-certificates.crt ca-certificates
  need ninja ninja-build
  need g++ g++
  need python3 python3
  need /usr/include/fmt/core.h libfmt-dev
  need /usr/include/tl/expected.hpp libexpected-dev
  need /usr/include/CLI/CLI.hpp libcli11-dev
  need /usr/include/microhttpd.h libmicrohttpd-dev
  need /usr/include/elfutils/libdw.h libdw-dev
  need /usr/lib/x86_64-linux-gnu/libunwind.so.8 libunwind8
}

# Of the other processor; those of this one come with g++.
need_for_wheels() {
  need /usr/aarch64-linux-gnu/include/c++/12/new libstdc++-12-dev-arm64-cross
}

need_for_tests() {
  need groff groff-base
  need zsh zsh
  need fish fish
  need zstd zstd
  need setpriv util-linux
  need node nodejs
  need /usr/include/gtest/gtest.h libgtest-dev
  need /usr/include/gmock/gmock.h libgmock-dev
  python3 -c 'import ensurepip' 2>/dev/null || missing_packages+=(python3-venv)
}

need_for_browser() {
  # Chromium without its own windows: the tests take half the time.
  [[ -n ${GPUSTRATA_CHROMIUM:-} ]] || need chromium-headless-shell chromium-headless-shell
  need /usr/share/fonts/truetype fonts-dejavu-core
}

need_for_firefox() {
  [[ -n ${GPUSTRATA_FIREFOX:-} ]] || need firefox-esr firefox-esr
  need /usr/share/fonts/truetype fonts-dejavu-core
}

need_for_lint() {
  need clang-format clang-format
  need run-clang-tidy clang-tidy
}

need_for_fuzz() {
  need clang++-14 clang-14
  need /usr/lib/llvm-14/lib/clang/14.0.6/lib/linux libclang-rt-14-dev
}

# npm_ci FOLDER: `npm ci` unless what the lock says is installed already.
npm_ci() {
  cmp -s "$1/package-lock.json" "$1/node_modules/.installed-lock.json" && return 0
  echo "npm ci in ${1#"$root"/}/"
  (cd "$1" && npm ci --no-audit --no-fund --loglevel=error) || return 1
  cp "$1/package-lock.json" "$1/node_modules/.installed-lock.json"
}
