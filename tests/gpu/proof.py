#!/usr/bin/env python3
"""Everything that only a GPU can prove, as one table. Called by run.sh, which looks for the device and builds.

  proof.py [OPERATIONS]      random operations of each mode (1000000)

GPUSTRATA_BUILD: the build folder. Exit code 0 only if every row is ok; what could not be measured is not.
"""
import json
import os
import pathlib
import re
import shutil
import statistics
import sys
import tempfile
import time

from proof_cases import cases
from proof_table import FAILED, NOT_MEASURED, OK, Table, not_slower, percent, run_child, within

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TRAINING_RUNS = 3  # of each allocator, alternating
LIBRARY = "libgpustrata_capture.so"


def find_built(build, name):
    """The file of this name in the build folder, or None."""
    found = [path for path in pathlib.Path(build).rglob(name) if path.is_file()]
    return found[0] if found else None


def child_json(answer):
    """(the object of the last line, "") or (None, why there is none)."""
    if answer.why:
        return None, answer.why
    try:
        return json.loads(answer.last_line()), ""
    except ValueError:
        return None, f"it said {answer.last_line()[:100]!r}"


# --- (a) Random operations

def random_operations(table, build, operations):
    program = find_built(build, "gpu_random")
    for mode in ("segments", "expandable"):
        what = f"random operations ({mode}), every block checked"
        if program is None:
            table.add(what, "", "", NOT_MEASURED, f"gpu_random is not in {build}")
            continue
        answer = run_child([program, operations, mode], 1800)
        verdict = {0: OK, 77: NOT_MEASURED}.get(answer.code, FAILED)
        table.add(what, "", answer.last_line(), verdict, answer.why)


# --- (b) Training

def training_runs(table, seconds=900):
    """{"pytorch": [object, ...], "gpustrata": [...]}, or None after a row that says what failed."""
    runs = {"pytorch": [], "gpustrata": []}
    for i in range(TRAINING_RUNS):
        for mode, done in runs.items():
            folder = tempfile.mkdtemp(prefix="gpustrata-proof-", dir=table.folder)
            found, why = child_json(run_child([sys.executable, HERE / "torch_train.py", mode, folder], seconds))
            if found is None:
                table.add(f"training run {i + 1} under {mode}", "", "", FAILED, why)
                return None
            done.append(found)
    return runs


def judge_training(table, theirs, ours):
    """Rows of two lists of what torch_train.py measured."""
    def same(key, runs):
        return all(run[key] == theirs[0][key] for run in runs)

    def middle(key, runs):
        return statistics.median(run[key] for run in runs)

    steps = len(theirs[0]["losses"])
    table.add(f"losses of {steps} steps, PyTorch against itself", theirs[0]["losses"][-1], "", same("losses", theirs))
    table.add(f"losses of {steps} steps", theirs[0]["losses"][-1], ours[0]["losses"][-1], same("losses", ours))
    peak, own_peak = middle("peak_reserved", theirs), middle("peak_reserved", ours)
    table.add("peak reserved, bytes, within 1 %", peak, f"{own_peak} ({percent(own_peak, peak)})",
              within(own_peak, peak))
    figures = [run["step"] for run in theirs]
    table.add("step time, PyTorch against itself, within 1 %", " / ".join(f"{it * 1e3:.2f} ms" for it in figures), "",
              within(max(figures), min(figures)))
    step, own_step = middle("step", theirs), middle("step", ours)
    table.add(f"step time, median of {len(ours)} runs, not 1 % slower", f"{step * 1e3:.2f} ms",
              f"{own_step * 1e3:.2f} ms ({percent(own_step, step)})", not_slower(own_step, step))
    table.add("requests and frees of three steps, PyTorch against itself", len(theirs[0]["sizes"]), "",
              bool(theirs[0]["sizes"]) and same("sizes", theirs))
    table.add("requests and frees of three steps, sizes in order", len(theirs[0]["sizes"]), len(ours[0]["sizes"]),
              bool(ours[0]["sizes"]) and same("sizes", ours))
    for key, what in (("dump_first", "the first"), ("dump_again", "again")):
        dump, own_dump = middle(key, theirs), middle(key, ours)
        table.add(f"dump of 100,000 events, {what}", f"{dump:.3f} s", f"{own_dump:.3f} s", not_slower(own_dump, dump))


# --- (c) malloc and free

def missing_for_extension():
    """What a C++ extension of PyTorch needs and is not here, in words."""
    missing = [] if shutil.which("ninja") else ["ninja"]
    if not any(shutil.which(name) for name in (os.environ.get("CXX", "c++"), "g++", "clang++")):
        missing.append("a C++ compiler")
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    if shutil.which("nvcc"):
        homes.append(pathlib.Path(shutil.which("nvcc")).resolve().parents[1])
    if not any(home and (pathlib.Path(home) / "include/cuda_runtime.h").exists() for home in homes):
        missing.append("CUDA's headers (set CUDA_HOME)")
    return ", ".join(missing)


def malloc_times(table):
    what = "malloc + free from the cache, median of 15 alternating runs, not 1 % slower"
    if missing := missing_for_extension():
        return table.add(what, "", "", NOT_MEASURED, f"missing: {missing}")
    found, why = child_json(run_child([sys.executable, HERE / "torch_malloc.py"], 900))
    if found is None:
        return table.add(what, "", "", FAILED, why)
    theirs, ours = statistics.median(found["pytorch"]), statistics.median(found["gpustrata"])
    table.add(what, f"{theirs:.0f} ns", f"{ours:.0f} ns ({percent(ours, theirs)})", not_slower(ours, theirs))


# --- (d) Stacks

CPP_FIGURE = r"C\+\+ stack of +(?P<frames>\d+) frames .*?(?P<figure>[\d.]+) ns a frame"
PYTHON_FIGURE = r"stack of (?P<frames>\d+) frames: (?P<figure>[\d.]+) us"


def judge_figures(table, what, unit, goal, pattern, answer):
    """A row for each figure that `pattern` finds (groups `frames`, `figure`) in what a bench printed."""
    found = [] if answer.why else list(re.finditer(pattern, answer.out))
    if not found:
        table.add(what, "", "", FAILED, answer.why or "no figure in what it printed")
    for one in found:
        table.add(f"{what}, stack of {one['frames']} frames", f"goal {goal:g} {unit}", f"{one['figure']} {unit}",
                  float(one["figure"]) <= goal)


def stacks(table, build, library):
    bench = find_built(build, "capture_bench")
    if bench is None:
        table.add("C++ frame", "", "", NOT_MEASURED, f"capture_bench is not in {build}")
    else:
        judge_figures(table, "C++ frame", "ns", 50, CPP_FIGURE, run_child([bench], 600))
    judge_figures(table, "Python stack", "us", 2, PYTHON_FIGURE,
                  run_child([sys.executable, ROOT / "tests/bench/python_stack_bench.py", library], 600))


# --- (e) The page

def chromium():
    candidates = [os.environ.get("GPUSTRATA_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    return next((path for path in map(shutil.which, filter(None, candidates)) if path), None)


def page(table, build, snapshot):
    """Our snapshot in the tool and in the page."""
    tool = find_built(build, "gpustrata")
    what = "`gpustrata summary` of our dump"
    if tool is None:
        table.add(what, "", "", NOT_MEASURED, f"gpustrata is not in {build}")
        return table.add("our dump in the page", "", "", NOT_MEASURED, f"gpustrata is not in {build}")
    opened = run_child([tool, "summary", snapshot], 300)
    table.add(what, "", f"exit code {opened.code}", OK if not opened.why else FAILED, opened.why)

    what = "our dump in the page (Chromium)"
    viewer = ROOT / "build/site/gpustrata.html"
    missing = [name for name, there in (
        ("node", shutil.which("node")), ("Chromium", chromium()),
        ("tests/node_modules (npm ci in tests/)", (ROOT / "tests/node_modules/playwright-core").exists()),
        ("build/site/gpustrata.html (cmake --build --preset wasm)", viewer.exists())) if not there]
    if missing:
        return table.add(what, "", "", NOT_MEASURED, f"missing: {', '.join(missing)}")
    html = pathlib.Path(table.folder) / "snapshot.html"
    made = run_child([tool, "html", snapshot, "-o", html, "--viewer", viewer], 300)
    if made.why:
        return table.add(what, "", "", FAILED, made.why)
    opened = run_child(["node", HERE / "open_page.mjs", html, chromium()], 300)
    table.add(what, "", opened.last_line(), OK if not opened.why else FAILED, opened.why)


# --- All

TORCH = """import json, sys, torch
print(json.dumps({"device": torch.cuda.is_available() and torch.cuda.get_device_name(),
                  "text": f"PyTorch {torch.__version__}, Python {sys.version.split()[0]}"}))"""


def attempt(table, what, part, *arguments):
    """Calls a part of the proof; an answer that it does not understand is a row, too."""
    try:
        return part(table, *arguments)
    except Exception as error:
        return table.add(what, "", "", FAILED, f"{type(error).__name__}: {error}")


def prove(operations, build):
    gpu = run_child(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], 60)
    torch, why = child_json(run_child([sys.executable, "-c", TORCH], 300))
    if torch is not None and not torch["device"]:
        torch, why = None, "PyTorch sees no CUDA device"
    print(f"{time.strftime('%Y-%m-%d', time.gmtime())}, {gpu.last_line() or gpu.why}, "
          f"{torch['text'] if torch else 'no PyTorch'}\n")
    library = find_built(build, LIBRARY)
    with tempfile.TemporaryDirectory() as folder:
        table = Table()
        table.folder = folder
        if library is None:
            table.add(LIBRARY, "", "", FAILED, f"it is not in {build}")
            return table
        os.environ["GPUSTRATA_CAPTURE"] = str(library)
        os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, (str(library.parent), os.environ.get("LD_LIBRARY_PATH"))))
        attempt(table, "random operations", random_operations, build, operations)
        attempt(table, "stacks", stacks, build, library)
        runs = None
        if torch is None:
            for what in ("training under both allocators", "malloc + free from the cache", "what programs do"):
                table.add(what, "", "", NOT_MEASURED, why)
        else:
            runs = attempt(table, "training", training_runs)
            if runs is not None:
                attempt(table, "training", judge_training, runs["pytorch"], runs["gpustrata"])
            attempt(table, "malloc + free from the cache", malloc_times)
            attempt(table, "what programs do", cases)
        if runs is None:
            table.add("our dump in the page (Chromium)", "", "", NOT_MEASURED, "there is no dump of a training run")
        else:
            attempt(table, "our dump in the page (Chromium)",
                    lambda table: page(table, build, runs["gpustrata"][-1]["snapshot"]))
    return table


def main(arguments):
    operations = int(arguments[0]) if arguments else 1_000_000
    build = os.environ.get("GPUSTRATA_BUILD") or ROOT / "build/native-checked"
    table = prove(operations, build)
    print(f"\n{table.counts()}")
    return table.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
