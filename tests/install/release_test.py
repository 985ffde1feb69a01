#!/usr/bin/env python3
"""The files of a release as others get them: each in an empty folder, and used there.

  python3 tests/install/release_test.py build/release [CXX]

Needs what site/release.sh needs; no network (npm and pip install single files).
"""
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "site" / "samples" / "training_run.pickle"
PEAK = 2_814_816_256  # what the README says of the sample
USE = """
import { openSnapshot } from 'memstrata/engine';
const snapshot = await openSnapshot(process.argv[2]);
console.log(JSON.stringify(await snapshot.summary(process.argv[2])));
snapshot.close();
"""


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def unpack(archive, folder):
    with tarfile.open(archive) as tar:
        tar.extractall(folder)  # made by ourselves
    (made,) = Path(folder).iterdir()
    return made


def peak_of(summary):
    return summary["snapshots"][0]["devices"][0]["peak"]["requested_bytes"]


def main(release, compiler="g++"):
    release = Path(release).resolve()
    sums = dict(reversed(line.split()) for line in (release / "SHA256SUMS").read_text().splitlines())
    assert sorted(sums) == sorted(path.name for path in release.iterdir() if path.name != "SHA256SUMS"), sums
    for name, digest in sums.items():
        assert hashlib.sha256((release / name).read_bytes()).hexdigest() == digest, name

    def one(pattern):
        (found,) = release.glob(pattern)
        return found

    clean = {"PATH": os.environ["PATH"], "HOME": "/nowhere"}
    with tempfile.TemporaryDirectory() as folder:
        command = unpack(one("memstrata-[0-9.]*[0-9]-linux-*.tar.gz"), Path(folder, "command"))
        assert peak_of(json.loads(run(command / "bin" / "memstrata", "summary", "--json", SAMPLE, env=clean))) == PEAK
        html = Path(folder, "sample.html")
        run(command / "bin" / "memstrata", "html", SAMPLE, "-o", html, env=clean)  # the viewer lies beside
        print("command: ok")

        library = unpack(one("memstrata-*-library-*.tar.gz"), Path(folder, "library"))
        outside = Path(folder, "outside")
        run("cmake", "-S", Path(__file__).parent, "-B", outside, f"-DCMAKE_PREFIX_PATH={library}",
            f"-DCMAKE_CXX_COMPILER={compiler}")
        run("cmake", "--build", outside)
        assert int(run(outside / "peak", SAMPLE)) == PEAK
        print("library: ok")

        run(sys.executable, "-m", "venv", Path(folder, "venv"))
        python = Path(folder, "venv", "bin", "python")
        run(python, "-m", "pip", "install", "-q", "--no-index", one("*.whl"))
        code = "import json, memstrata, sys; print(json.dumps(memstrata.open(sys.argv[1]).summary()))"
        assert peak_of(json.loads(run(python, "-c", code, SAMPLE, cwd=folder, env=clean))) == PEAK
        assert peak_of(json.loads(run(python.parent / "memstrata", "summary", "--json", SAMPLE, env=clean))) == PEAK
        print("wheel: ok")

        package = Path(folder, "npm")
        package.mkdir()
        (package / "package.json").write_text('{"name":"user","private":true,"type":"module"}')
        run("npm", "install", "--offline", "--no-audit", "--no-fund", one("*-npm.tgz"), cwd=package)
        (package / "use.mjs").write_text(USE)
        assert peak_of(json.loads(run("node", "use.mjs", SAMPLE, cwd=package))) == PEAK
        print("npm package: ok")

        site = unpack(one("*-site.tar.gz"), Path(folder, "site"))
        for name in ("index.html", "memstrata.html", "guide/index.html", "engine.wasm"):
            assert (site / name).stat().st_size > 0, name
        named = {package["name"] for package in json.loads(one("*.spdx.json").read_text())["packages"]}
        assert {"memstrata", "zlib", "nanoarrow", "SQLite"} <= named, named
        print("site and what is inside: ok")


if __name__ == "__main__":
    main(*sys.argv[1:])
