"""The files of a release as others get them: each in an empty folder, and used there.

  bash site/release.sh && build/python-env/bin/pytest tests/release/release_test.py

GPUSTRATA_RELEASE: their folder (build/release). Needs what site/release.sh needs; no network (npm and pip install single
files), but for the build tools of the source distribution.
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from support.paths import ROOT, SAMPLE

PEAK = 2_814_816_256  # what the README says of the sample
RELEASE = Path(os.environ.get("GPUSTRATA_RELEASE", ROOT / "build" / "release")).resolve()
CLEAN = {"PATH": os.environ["PATH"], "HOME": "/nowhere"}
USE = """
import { openSnapshot } from 'gpustrata/engine';
const snapshot = await openSnapshot(process.argv[2]);
console.log(JSON.stringify(await snapshot.summary(process.argv[2])));
snapshot.close();
"""


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=2400, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def one(pattern):
    found = list(RELEASE.glob(pattern))
    assert len(found) == 1, f"{RELEASE} has {len(found)} of {pattern}; bash site/release.sh makes them"
    return found[0]


def unpacked(pattern, folder):
    with tarfile.open(one(pattern)) as tar:
        tar.extractall(folder)  # made by ourselves
    (made,) = folder.iterdir()
    return made


def peak_of(summary):
    return json.loads(summary)["snapshots"][0]["devices"][0]["peak"]["requested_bytes"]


def test_checksums():
    sums = dict(reversed(line.split()) for line in one("SHA256SUMS").read_text().splitlines())
    assert sorted(sums) == sorted(path.name for path in RELEASE.iterdir() if path.name != "SHA256SUMS")
    for name, digest in sums.items():
        assert hashlib.sha256((RELEASE / name).read_bytes()).hexdigest() == digest, name


def test_the_command_and_the_viewer_beside_it(tmp_path):
    command = unpacked("gpustrata-[0-9.]*[0-9]-linux-*.tar.gz", tmp_path / "command") / "bin" / "gpustrata"
    assert peak_of(run(command, "summary", "--json", SAMPLE, env=CLEAN)) == PEAK
    run(command, "html", SAMPLE, "-o", tmp_path / "sample.html", env=CLEAN)


def test_the_library(tmp_path):
    library = unpacked("gpustrata-*-library-*.tar.gz", tmp_path / "library")
    run("cmake", "-S", ROOT / "tests" / "install" / "outside", "-B", tmp_path / "outside", f"-DCMAKE_PREFIX_PATH={library}",
        f"-DCMAKE_CXX_COMPILER={os.environ.get('CXX', 'g++')}")
    run("cmake", "--build", tmp_path / "outside")
    assert int(run(tmp_path / "outside" / "peak", SAMPLE)) == PEAK


def test_the_wheel(tmp_path):
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--no-index", one("*_x86_64.whl"))
    code = "import json, gpustrata, sys; print(json.dumps(gpustrata.open(sys.argv[1]).summary()))"
    assert peak_of(run(python, "-c", code, SAMPLE, cwd=tmp_path, env=CLEAN)) == PEAK
    assert peak_of(run(python.parent / "gpustrata", "summary", "--json", SAMPLE, env=CLEAN)) == PEAK


def test_the_wheels_are_small():
    """Below 8 MB each, with the page: the engine is in it once for the command and the reader, and once in the recorder."""
    wheels = list(RELEASE.glob("*.whl"))
    assert sorted(wheel.name.rpartition("_28_")[2] for wheel in wheels) == ["aarch64.whl", "x86_64.whl"]
    for wheel in wheels:
        assert wheel.stat().st_size < 8_000_000, wheel.name
        with zipfile.ZipFile(wheel) as files:
            assert "gpustrata/gpustrata.html" in files.namelist()
            (command,) = (one for one in files.infolist() if one.filename.endswith("/scripts/gpustrata"))
            assert command.file_size < 100_000


def test_the_source_distribution(tmp_path):
    """A compiler and what pip brings (its build tools come from the network): no Debian package of headers, no npm."""
    tools, build = tmp_path / "tools", tmp_path / "build"
    tools.mkdir()
    for name in ("gcc", "g++", "cc", "c++", "ld", "as", "ar", "ranlib", "strip", "objcopy", "sh", "uname"):
        (tools / name).symlink_to(shutil.which(name))
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    binaries = tmp_path / "venv" / "bin"
    environment = {"PATH": f"{binaries}:{tools}", "HOME": str(tmp_path)}
    run(binaries / "pip", "install", "-q", f"--config-settings=build-dir={build}", one("gpustrata-[0-9.]*[0-9].tar.gz"), env=environment)
    headers = [line for line in (build / "CMakeCache.txt").read_text().splitlines() if line.startswith("parent_of_")]
    assert len(headers) == 4
    assert not [line for line in headers if "=/usr" in line]
    assert "GPUSTRATA_NODE" not in (build / "CMakeCache.txt").read_text()
    assert peak_of(run(binaries / "gpustrata", "summary", "--json", SAMPLE, env=CLEAN)) == PEAK


def test_the_npm_package(tmp_path):
    (tmp_path / "package.json").write_text('{"name":"user","private":true,"type":"module"}')
    run("npm", "install", "--offline", "--no-audit", "--no-fund", one("*-npm.tgz"), cwd=tmp_path)
    (tmp_path / "use.mjs").write_text(USE)
    assert peak_of(run("node", "use.mjs", SAMPLE, cwd=tmp_path)) == PEAK


@pytest.mark.parametrize("name", ["index.html", "gpustrata.html", "guide/index.html", "engine.wasm"])
def test_the_site(name, tmp_path):
    assert (unpacked("*-site.tar.gz", tmp_path / "site") / name).stat().st_size > 0


def test_what_is_inside_is_named():
    named = {package["name"] for package in json.loads(one("*.spdx.json").read_text())["packages"]}
    assert {"gpustrata", "zlib", "nanoarrow", "SQLite"} <= named
