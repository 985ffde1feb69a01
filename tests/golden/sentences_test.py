"""What the command says, in its own words, each of which was read against its file.

sample_sentences.txt: every command of words, of the samples and the golden cases, refusals too. real_sentences.txt: `report` of every
real snapshot and trace, `compare` of a few pairs; the files lie in ../shared/data and are no part of the project. A sentence that
changes is read again, then `GPUSTRATA_WRITE_SENTENCES=1` writes both anew. `gpustrata words` takes its examples from them.
"""
import difflib
import os
from pathlib import Path

from support.paths import CASES, PROFILERS, ROOT, SAMPLES, SNAPSHOTS, TRACES, needs_shared_data, real_snapshots
from support.tool import out_of, run

REAL = Path(__file__).with_name("real_sentences.txt")
SAMPLE = Path(__file__).with_name("sample_sentences.txt")
WHAT_IF = [[], ["--conf", "expandable_segments:True"], ["--conf", "max_split_size_mb:20"], ["--capacity", "80GiB"], ["--capacity", "400MiB"],
           ["--no-caching"], ["--smallest"], ["--search"], ["--without", "size>100MiB"], ["--scale", "size>10MiB=0.5"],
           ["--take", "1GiB@40..400"], ["--empty-cache", "40"]]
PAIRS = [("cs336_ctx128_forward", "cs336_ctx512_forward_mixed"), ("nanobatch_vanilla_physical_mappings", "nanobatch_ckpt_physical_mappings"),
         ("torchtitan_fsdp_oom_rank0", "torchtitan_fsdp_oom_rank1"), ("cs336_medium_128_inference", "cs336_medium_1024_training")]


def commands():
    """Of files of the project, so that everybody has them."""
    samples = {path.name.split(".")[0]: path for path in sorted(SAMPLES.glob("*.*")) if path.suffix != ".py"}
    odd = ("gzip_", "html_", "json_", "zip_", "zstd_", "not_", "no_", "truncated", "trailing", "unknown", "wrapped", "incomplete", "nested",
           "three_kinds", "negative", "pending", "times_missing", "more_traces", "settings_of", "two_rec", "total_above")
    cases = [path.parent.name for path in sorted(CASES.glob("*/input.pickle")) if path.parent.name.startswith(odd)]
    for path in [*samples.values(), *sorted(PROFILERS.glob("*.*"))]:
        if path.suffix != ".py":
            yield ["report", path]
    for name in cases:
        yield ["report", CASES / name / "input.pickle"]
    for name in ["out_of_memory", "leak", "expandable_segments"]:
        for options in WHAT_IF:
            yield ["whatif", samples[name], *options]
        yield ["check", samples[name], "--max-peak", "1GiB", "--max-reserved", "6GiB", "--no-oom", "--no-leak", "--max-fragmentation", "0.1"]
    yield ["compare", samples["training_run"], samples["leak"]]
    yield ["compare", samples["leak"], samples["leak"], "--by", "line"]
    yield ["compare", samples["training_run"], samples["out_of_memory"], "--at", "peak"]
    yield ["compare", CASES / "no_traces" / "input.pickle", samples["leak"]]
    yield ["ops", samples["profiler_trace"]]
    yield ["tracker", PROFILERS / "tracker.pickle"]
    yield ["telemetry", PROFILERS / "telemetry.json"]
    for address in ["0x0", "0x7f0000000000", "0x7f4000000000", "0x7fffffffffffff"]:
        yield ["owner", address, samples["leak"]]
    yield ["whatif", CASES / "no_traces" / "input.pickle"]
    small = [f"tests/data/fit/batch{batch}.pickle.gz:batch={batch}" for batch in (2, 4)]
    for options in (["--at", "batch=16", "--capacity", "1GiB"], ["--at", "batch=9", "--conf", "expandable_segments:True"],
                    ["--capacity", "20MiB"], ["--at", "batch=0"]):
        yield ["fit", *small, *options]
    tokens = [f"tests/data/fit/tokens{count}.pickle.gz:tokens={count}" for count in (6, 9, 13)]
    yield ["fit", *tokens, "--at", "tokens=60"]
    yield ["fit", *tokens[:2], "--capacity", "1GiB"]
    yield ["fit", small[0], tokens[0].replace("tokens=6", "batch=4"), "--at", "batch=9"]
    yield ["fit", "tests/data/fit/batch4.pickle.gz", "--scale", "batch=4", "--at", "batch=16", "--capacity", "1GiB"]
    yield ["fit", samples["out_of_memory"], "--scale", "batch=8", "--at", "batch=4", "--capacity", "6GiB"]
    yield ["top", samples["leak"], "--filter", "size>"]
    yield ["report", SAMPLES / "none.pickle"]


def of_samples():
    """Each paragraph where it is said first."""
    said = set()
    for command in commands():
        words = [str(word.relative_to(ROOT)) if isinstance(word, Path) else word for word in command]
        done = run(*words, text=True, cwd=ROOT)
        new = [one for one in dict.fromkeys(f"{done.stdout}\n{done.stderr}".split("\n\n")) if one.strip() and one not in said]
        said.update(new)
        yield " ".join(words), "\n\n".join(new).splitlines()


def of_real_files():
    """Name and lines of each: without the paths."""
    for path in [*real_snapshots(), *sorted(TRACES.glob("*.gz"))]:
        yield path.name, out_of("report", path).splitlines()[1:]
    for before, after in PAIRS:
        files = [SNAPSHOTS / f"{name}.pickle" for name in (before, after)]
        yield f"{before} -> {after}", out_of("compare", *files, "--by", "line", "-n", "5").splitlines()[2:]


def check(parts, kept):
    said = "\n".join(f"== {name}\n" + "\n".join(lines).rstrip() + "\n" for name, lines in parts)
    if os.environ.get("GPUSTRATA_WRITE_SENTENCES"):
        kept.write_text(said)
    read = kept.read_text()
    assert said == read, "\n".join(difflib.unified_diff(read.splitlines(), said.splitlines(), "read", "said now", lineterm="", n=2))


def test_every_sentence_about_samples_is_one_that_was_read():
    check(of_samples(), SAMPLE)


@needs_shared_data
def test_every_sentence_about_real_files_is_one_that_was_read():
    check(of_real_files(), REAL)


@needs_shared_data
def test_all_real_files_are_in_it():
    names = [line[3:] for line in REAL.read_text().splitlines() if line.startswith("== ")]
    assert names == [name for name, _ in of_real_files()]
    assert len(names) > 55
