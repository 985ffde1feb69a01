#!/usr/bin/env python3
"""`cmake --install` into an empty folder, and what is there used from outside.

  python3 tests/install/install_test.py BUILD_FOLDER CXX
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "site" / "samples" / "training_run.pickle"
PEAK = 2_814_816_256  # what the README says of the sample


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def main(build, compiler):
    with tempfile.TemporaryDirectory() as folder:
        prefix, outside = Path(folder, "prefix"), Path(folder, "outside")
        for component in ("command", "library"):
            run("cmake", "--install", build, "--prefix", prefix, "--component", component)
        # Moved, as an unpacked archive is.
        moved = Path(folder, "moved")
        prefix.rename(moved)

        command = moved / "bin" / "memstrata"
        said = json.loads(run(command, "summary", "--json", SAMPLE, cwd=folder, env={"PATH": os.environ["PATH"]}))
        assert said["snapshots"][0]["devices"][0]["peak"]["requested_bytes"] == PEAK, said
        page = (moved / "share/man/man1/memstrata.1").read_text()
        assert page.startswith(".TH MEMSTRATA 1") and "anonymize" in page, page[:200]
        for name in ("bash-completion/completions/memstrata", "zsh/site-functions/_memstrata",
                     "fish/vendor_completions.d/memstrata.fish"):
            assert "summary" in (moved / "share" / name).read_text(), name

        run("cmake", "-S", Path(__file__).parent, "-B", outside, f"-DCMAKE_PREFIX_PATH={moved}",
            f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_CXX_FLAGS={os.environ.get('CXXFLAGS', '')}")
        run("cmake", "--build", outside)
        printed = run(outside / "peak", SAMPLE)
        assert int(printed) == PEAK, printed
        # Nothing names where it was built.
        for path in moved.rglob("*.cmake"):
            assert str(ROOT) not in path.read_text(), path
    print("installed, and used from outside: ok")


if __name__ == "__main__":
    main(*sys.argv[1:])
