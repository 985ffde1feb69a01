"""What `report` says of every real snapshot, in its own words: real_sentences.txt, each of which was read against its file.

A sentence that changes is read again, then `GPUSTRATA_WRITE_SENTENCES=1` writes the file anew. The files lie in ../shared/data and
are no part of the project.
"""
import difflib
import os
from pathlib import Path

from support.paths import needs_shared_data, real_snapshots
from support.tool import out_of

SENTENCES = Path(__file__).with_name("real_sentences.txt")


def said():
    parts = []
    for path in real_snapshots():
        lines = out_of("report", path).splitlines()[1:]  # without the path
        parts.append(f"== {path.name}\n" + "\n".join(lines).rstrip() + "\n")
    return "\n".join(parts)


@needs_shared_data
def test_every_sentence_is_one_that_was_read():
    now = said()
    if os.environ.get("GPUSTRATA_WRITE_SENTENCES"):
        SENTENCES.write_text(now)
    kept = SENTENCES.read_text()
    assert now == kept, "\n".join(difflib.unified_diff(kept.splitlines(), now.splitlines(), "read", "said now", lineterm="", n=2))


@needs_shared_data
def test_all_files_are_in_it():
    names = [line[3:] for line in SENTENCES.read_text().splitlines() if line.startswith("== ")]
    assert names == [path.name for path in real_snapshots()]
    assert len(names) > 40
