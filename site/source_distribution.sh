#!/usr/bin/env bash
# The source distribution of the Python package: it builds with what pip brings and a compiler, nothing else. So it holds the libraries'
# archives as engine/libraries fetched them, the headers that are Debian's elsewhere, each with its licence, and the sentences of
# `gpustrata words`, which Node collects.
#
#   bash site/source_distribution.sh FOLDER VERSION     FOLDER becomes what the archive holds; of the commit, not of what is changed
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$1 version=$2
mkdir -p "$folder/build/libraries/include" "$folder/build/site"
git archive HEAD CMakeLists.txt LICENSE engine capture | tar -x -C "$folder"
cp build/libraries/*.t*gz "$folder/build/libraries/"
cp -r /usr/include/fmt /usr/include/tl /usr/include/CLI /usr/include/microhttpd.h "$folder/build/libraries/include/"
for package in libfmt-dev libexpected-dev libcli11-dev libmicrohttpd-dev; do
  cp "/usr/share/doc/$package/copyright" "$folder/build/libraries/include/$package.copyright"
done
whole=$(mktemp -d)
git archive HEAD README.md engine site/guide tests | tar -x -C "$whole"
node "$whole/engine/cli/words/collect.mjs" "$folder/build/libraries/sentences.cpp"
rm -r "$whole"
[[ ! -e build/site/gpustrata.html ]] || cp build/site/gpustrata.html "$folder/build/site/"
sed -e 's|^readme = .*|readme = "capture/python/README.md"|' -e 's|^cmake.source-dir = .*|cmake.source-dir = "."|' \
  -e 's|^wheel.packages = .*|wheel.packages = ["capture/python/gpustrata"]|' capture/python/pyproject.toml >"$folder/pyproject.toml"
rm "$folder/capture/python/pyproject.toml"
printf 'Metadata-Version: 2.1\nName: gpustrata\nVersion: %s\n' "$version" >"$folder/PKG-INFO"
