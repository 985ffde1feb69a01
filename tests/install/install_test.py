"""`cmake --install` into an empty folder, and what is there used from outside.

Environment: GPUSTRATA_BUILD, the build folder; CXX, its compiler.
"""
import json
import os
import subprocess
from pathlib import Path

from support.paths import ROOT, SAMPLE

PEAK = 2_814_816_256  # what the README says of the sample


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_what_is_installed_is_used_from_outside(tmp_path):
    prefix, outside = tmp_path / "prefix", tmp_path / "outside"
    for component in ("command", "library"):
        run("cmake", "--install", os.environ["GPUSTRATA_BUILD"], "--prefix", prefix, "--component", component)
    # Moved, as an unpacked archive is.
    moved = prefix.rename(tmp_path / "moved")

    command = moved / "bin" / "gpustrata"
    said = json.loads(run(command, "summary", "--json", SAMPLE, cwd=tmp_path, env={"PATH": os.environ["PATH"]}))
    assert said["snapshots"][0]["devices"][0]["peak"]["requested_bytes"] == PEAK
    page = (moved / "share/man/man1/gpustrata.1").read_text()
    assert page.startswith(".TH GPUSTRATA 1") and "anonymize" in page
    for name in ("bash-completion/completions/gpustrata", "zsh/site-functions/_gpustrata",
                 "fish/vendor_completions.d/gpustrata.fish"):
        assert "summary" in (moved / "share" / name).read_text(), name

    run("cmake", "-S", Path(__file__).parent / "outside", "-B", outside, f"-DCMAKE_PREFIX_PATH={moved}",
        f"-DCMAKE_CXX_COMPILER={os.environ['CXX']}", f"-DCMAKE_CXX_FLAGS={os.environ.get('CXXFLAGS', '')}")
    run("cmake", "--build", outside)
    assert int(run(outside / "peak", SAMPLE)) == PEAK
    # Nothing names where it was built.
    for path in moved.rglob("*.cmake"):
        assert str(ROOT) not in path.read_text(), path
