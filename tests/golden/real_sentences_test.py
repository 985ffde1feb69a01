"""What the command says of every real file, in its own words: real_sentences.txt, each of which was read against its file.

`report` of snapshots and traces, `compare` of a few pairs. A sentence that changes is read again, then `GPUSTRATA_WRITE_SENTENCES=1`
writes the file anew. The files lie in ../shared/data and are no part of the project.
"""
import difflib
import os
from pathlib import Path

from support.paths import SNAPSHOTS, TRACES, needs_shared_data, real_snapshots
from support.tool import out_of

SENTENCES = Path(__file__).with_name("real_sentences.txt")
PAIRS = [("cs336_ctx128_forward", "cs336_ctx512_forward_mixed"), ("nanobatch_vanilla_physical_mappings", "nanobatch_ckpt_physical_mappings"),
         ("torchtitan_fsdp_oom_rank0", "torchtitan_fsdp_oom_rank1"), ("cs336_medium_128_inference", "cs336_medium_1024_training")]


def parts():
    """Name and lines of each: without the paths."""
    for path in [*real_snapshots(), *sorted(TRACES.glob("*.gz"))]:
        yield path.name, out_of("report", path).splitlines()[1:]
    for before, after in PAIRS:
        files = [SNAPSHOTS / f"{name}.pickle" for name in (before, after)]
        yield f"{before} -> {after}", out_of("compare", *files, "--by", "line", "-n", "5").splitlines()[2:]


def said():
    return "\n".join(f"== {name}\n" + "\n".join(lines).rstrip() + "\n" for name, lines in parts())


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
    assert names == [name for name, _ in parts()]
    assert len(names) > 55
