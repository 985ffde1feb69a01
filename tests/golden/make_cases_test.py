"""The stored cases are those that make_cases.py makes: numbers worked out by hand and reference.py agree."""
import sys

import make_cases
import pytest
from cases.parts import CASES


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_a_stored_case_is_what_its_function_makes(function):
    if function.__name__.startswith("zip64_") and sys.version_info < (3, 11, 4):
        pytest.skip("Python before 3.11.4 writes other zip64 headers")
    for path, content in make_cases.files_of(function):
        assert path.read_bytes() == content, f"python3 tests/golden/make_cases.py writes {path.name} anew"


def test_no_case_is_left_whose_function_is_gone():
    made = {path for function in CASES for path, _ in make_cases.files_of(function)}
    assert sorted(set(make_cases.FOLDER.glob("*/*")) - made) == []
