#!/usr/bin/env bash
# Real Spark and Ray in an environment of their own (1.2 GB are downloaded), against DuckDB and a plain loop.
#
#   bash tests/spark/run.sh BUILD     BUILD: with bin/gpustrata and lib/libgpustrata_file.so
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1:?name a build folder}" && pwd)
environment=$root/build/spark
python=$environment/bin/python
if [[ ! -e $environment/.installed ]] || ! cmp -s "$root/tests/spark/requirements.txt" "$environment/.installed"; then
  echo "Installing Spark, Ray and DuckDB into ${environment#"$root"/}"
  python3 -m venv "$environment" && "$python" -m pip install -q -r "$root/tests/spark/requirements.txt" &&
    cp "$root/tests/spark/requirements.txt" "$environment/.installed" || exit 1
fi
export PYTHONPATH=$root/capture/python:$root/tests:$root/tests/fleet PYTHONDONTWRITEBYTECODE=1 \
  GPUSTRATA_TOOL=$build/bin/gpustrata GPUSTRATA_FILE=$build/lib/libgpustrata_file.so PYSPARK_PYTHON=$python \
  RAY_USAGE_STATS_ENABLED=0
exec "$python" -W ignore -m pytest -s -v "$root/tests/fleet"
