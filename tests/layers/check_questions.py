#!/usr/bin/env python3
"""Fails on a question of engine/session/replies_of_*.cpp that no C++ test below tests/unit asks, so that only the page and the
parity of native and WebAssembly would hold its answer.

  check_questions.py ROOT         check the table of ROOT against its tests
  check_questions.py --self-test  prove on planted files that it can fail
"""
import re
import sys
import tempfile
from pathlib import Path

TABLES = "engine/session"
ROW = re.compile(r'^\s*\{"(\w+)", Of::', re.MULTILINE)
COMMENT = re.compile(r"^\s*//.*", re.MULTILINE)
# In a frame, or by a helper of the tests; what is refused counts as not asked.
IN_FRAME = r'"ask":"{name}"'
BY_HELPER = r'\b(?:ask|asked|answer|frame_of|number)\([^;()]*"{name}"'


def is_asked(name, texts):
    asked = re.compile("|".join(pattern.replace("{name}", name) for pattern in (IN_FRAME, BY_HELPER)))
    return any(asked.search(text) for text in texts)


def check(root):
    """The number of questions, and those that nothing asks."""
    names = [name for table in sorted((root / TABLES).glob("replies_of_*.cpp")) for name in ROW.findall(table.read_text())]
    tests = [path for path in sorted((root / "tests/unit").rglob("*")) if path.suffix in (".cpp", ".h")]
    texts = [COMMENT.sub("", path.read_text()) for path in tests]
    return len(names), [name for name in names if not is_asked(name, texts)]


CASES = [
    ('asked(session, "peaks");', True),
    ('ask("peaks", R"({"part":0})");', True),
    ('return ask(\n      "peaks", view, args);', True),
    ('frame_of(is_first ? "peaks" : "other", args);', True),
    ('question_frame(R"({"ask":"peaks","args":{}})");', True),
    ('refused("peaks", "{}");', False),
    ('ask("allPeaks");', False),
    ('ask("holders", R"({"by":"peaks"})");', False),
    ('  // ask("peaks")', False),
    ('EXPECT_EQ(name, "peaks");', False),
]


def self_test():
    failures = []
    for line, is_found in CASES:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for file, text in ((f"{TABLES}/replies_of_files.cpp", '    {"peaks", Of::file, "", "Text", peaks},\n'),
                               ("tests/unit/session/a_test.cpp", line + "\n")):
                (root / file).parent.mkdir(parents=True)
                (root / file).write_text(text)
            count, missing = check(root)
            if count != 1 or missing != ([] if is_found else ["peaks"]):
                failures.append(f"{line}: {count} questions, not asked: {missing}")
    print("\n".join(failures) or f"all {len(CASES)} planted lines judged as expected")
    return not failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    count, missing = check(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    if count == 0:
        print(f"{TABLES} has no question that can be read")
        return 1
    for name in missing:
        print(f"{TABLES}: \"{name}\" is asked by no test below tests/unit")
    if not missing:
        print(f"{count} questions, each asked by a C++ test")
    return 1 if missing else 0


sys.exit(main())
