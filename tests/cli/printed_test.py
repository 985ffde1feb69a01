"""What the README and the guide print: every `$ gpustrata ...` of theirs is run, and says what the page shows.

A line "…" in a page stands for lines that are left out. The files have the names that the page gives them (FILES).
"""
import gzip
import re
import shlex

import pytest
from support.folders import write
from support.paths import PROFILERS, ROOT, SAMPLE, SAMPLES, SNAPSHOTS, needs_shared_data
from support.tool import SUCCESS, out_of, run

PAGES = [ROOT / "README.md", *sorted((ROOT / "site" / "guide").glob("*.md"))]
BROKEN_RULE = 3
# What a page's file is; "gunzip": as it is inside of its sample.
FILES = {
    "b2.pickle": ROOT / "tests/data/fit/batch2.pickle.gz",
    "b4.pickle": ROOT / "tests/data/fit/batch4.pickle.gz",
    "gan.json": PROFILERS / "gan.json",
    "leak.pickle.gz": SAMPLES / "leak.pickle.gz",
    "memory_snapshot.pickle": SNAPSHOTS / "code_location_3gpu_expandable_oom.pickle",
    "other.pickle": PROFILERS / "tracker.pickle",
    "out_of_memory.pickle": SAMPLES / "out_of_memory.pickle.gz",
    "rank0.pickle": SAMPLE,
    "rank0_memory_snapshot.pickle": SNAPSHOTS / "torchtitan_fsdp_oom_rank0.pickle",
    "rank3.pickle": SAMPLES / "out_of_memory.pickle.gz",
    "run.pickle": SAMPLE,
    "site/samples/leak.pickle.gz": SAMPLES / "leak.pickle.gz",
    "site/samples/out_of_memory.pickle.gz": SAMPLES / "out_of_memory.pickle.gz",
    "snapshot.pickle": SAMPLE,
    "stats.pickle": PROFILERS / "tracker.pickle",
    "step10.pickle": SAMPLE,
    "step50.pickle": SAMPLES / "out_of_memory.pickle.gz",
    "trace.json": PROFILERS / "trace.json",
    "track.json": PROFILERS / "telemetry.json",
    "training_run.pickle": SAMPLE,
}
NOT_HERE = {"html", "serve"}  # need the built page; serve does not end


def commands(page):
    """(arguments, the lines that the page shows, files that it shows with `cat`) of every command in its blocks."""
    files = {}
    for block in re.findall(r"^```\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        for said in re.split(r"^\S*\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, shown = said.partition("\n")
            program, *arguments = shlex.split(line, comments=True)
            if program == "cat":
                files[arguments[0]] = shown
            elif program == "gpustrata" and arguments[0] not in NOT_HERE:
                yield arguments, shown.rstrip("\n").splitlines(), dict(files)


ALL = [pytest.param(arguments, shown, files, id=f"{page.name}: {' '.join(arguments)}",
                    marks=[needs_shared_data] if any("memory_snapshot" in one for one in arguments) else [])
       for page in PAGES for arguments, shown, files in commands(page)]


def lay_out(folder, files):
    """The files of FILES, those that the page shows, and facts of two ranks."""
    for name, source in FILES.items():
        if source.exists():  # not without ../shared/data
            data = source.read_bytes()
            write(folder / name, gzip.decompress(data) if source.suffix == ".gz" and not name.endswith(".gz") else data)
    for name, content in files.items():
        write(folder / name, content)
    write(folder / "groups.csv", "run,rank,kind,name\na,0,host,left\na,3,host,right\n")
    for rank in (0, 3):
        out_of("facts", f"rank{rank}.pickle", "-o", f"facts/run=a/rank{rank}.facts.json", cwd=folder)


def differences(shown, printed):
    """Where the page and the command part; a line "…" is any lines."""
    at = 0
    for i, line in enumerate(shown):
        if line.strip() == "…":
            if i + 1 == len(shown):
                return None
            if shown[i + 1] not in printed[at:]:
                return f"not printed: {shown[i + 1]!r}"
            at = printed.index(shown[i + 1], at)
        elif at == len(printed) or printed[at] != line:
            return f"the page has {line!r}, printed is {printed[at] if at < len(printed) else 'nothing'!r}"
        else:
            at += 1
    return f"printed, too: {printed[at:]}" if at < len(printed) else None


@pytest.mark.parametrize("arguments, shown, files", ALL)
def test_a_command_says_what_its_page_shows(arguments, shown, files, tmp_path):
    lay_out(tmp_path, files)
    paths = [part for one in arguments for part in (sorted(p.name for p in tmp_path.glob(one)) if "*" in one else [one])]
    done = run(*paths, text=True, cwd=tmp_path)
    assert done.returncode in (SUCCESS, BROKEN_RULE), done.stderr
    if shown:
        printed = done.stdout.rstrip("\n").splitlines()
        assert differences(shown, printed) is None, done.stdout


def test_every_output_is_found():
    """At least those that the pages had on 2026-11-24; a page whose blocks are no longer understood would pass otherwise."""
    assert sum(bool(case.values[1]) for case in ALL) >= 7
    assert len(ALL) >= 25


def test_what_differs_is_seen():
    printed = ["a", "b", "c", "d"]
    for shown in (["a", "b", "c", "d"], ["a", "…", "d"], ["…", "c", "…"], ["a", "…"]):
        assert differences(shown, printed) is None, shown
    for shown in (["a", "b", "c"], ["a", "c", "d"], ["b", "c", "d"], ["a", "…", "x"], ["a", "…", "c"], ["…", "c"], printed + ["e"]):
        assert differences(shown, printed), shown
