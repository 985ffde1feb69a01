"""The stored cases are those that make_cases.py makes: numbers worked out by hand and reference.py agree."""
import make_cases
import pytest
from cases.parts import CASES


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_a_stored_case_is_what_its_function_makes(function):
    for path, content in make_cases.files_of(function):
        assert path.read_bytes() == content, f"python3 tests/golden/make_cases.py writes {path.name} anew"


def test_no_case_is_left_whose_function_is_gone():
    made = {path for function in CASES for path, _ in make_cases.files_of(function)}
    assert sorted(set(make_cases.FOLDER.glob("*/*")) - made) == []
