"""Where things are, and what to do without the real files, which are no part of the project."""
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
CASES = TESTS / "golden" / "torch_snapshot"
PROFILERS = TESTS / "data" / "profilers"
SAMPLES = ROOT / "site" / "samples"
SAMPLE = SAMPLES / "training_run.pickle"
SHARED = ROOT.parent / "shared" / "data"
SNAPSHOTS = SHARED / "snapshots"
TRACES = SHARED / "traces"

needs_shared_data = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not here")


def case(name):
    """The file of a golden case."""
    return CASES / name / "input.pickle"


def real_snapshots():
    """The real files that are snapshots; none without ../shared/data."""
    return sorted(path for path in SNAPSHOTS.glob("*.pickle") if not path.name.startswith("NOT_"))
