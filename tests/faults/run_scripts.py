"""The faults of the Python package and of the site's scripts: the file is changed, and what uses it is run."""
import json
import re
import shutil
import subprocess

import run_page
from rooms import ROOT
from run_native import run
from tree import FOLDER, TREE, put

# Which tests know a file best; the others of the package follow.
FIRST = {"profiler": ["python.profiler"], "tracker": ["python.tracker"], "fleet": ["python.fleet", "fleet."],
         "_facts": ["python.fleet", "fleet."], "_arrow": ["python.arrow"], "_parquet": ["python.arrow", "python.fleet"],
         "_recorder": ["capture.python"], "gpustrata_torch": ["capture.python"], "_notebook": ["python.bad_input", "python.data"],
         "_counters": ["python.profiler", "python.tracker"]}
OF_PYTHON = re.compile(r"(python|fleet)\.|capture\.(python|proof)$|cli\.fleet$")


def changed(fault):
    text, place = (ROOT / fault.place.file).read_text(), fault.place
    assert text[place.start:place.end] == place.before
    return (text[:place.start] + place.after + text[place.end:]).encode()


def python_killer(fault, tests):
    stem = fault.place.file.rsplit("/", 1)[-1].removesuffix(".py")
    best = FIRST.get(stem, [])
    usable = [test for test in tests if test.usable and test.command and OF_PYTHON.match(test.name)]
    usable.sort(key=lambda test: (not any(test.name.startswith(name) for name in best), test.seconds))
    path = TREE / fault.place.file
    for test in usable:
        path.write_bytes(changed(fault))
        try:
            limit = 10 * test.seconds + 20
            status, output = run(test.command, test.environment, test.folder, limit)
        finally:
            path.write_bytes((ROOT / fault.place.file).read_bytes())
        if status != 0 and run(test.command, test.environment, test.folder, limit)[0] == 0:
            inner = re.search(r"^(?:FAIL|ERROR): (\w+)|^FAILED \S+::(\w+)", output, re.M)
            return test.name + (f" {inner[1] or inner[2]}" if inner else ""), " (out of time)" if status is None else ""
    return None


# What is done with the site's scripts in a test run: built, packed, and looked at.
STEPS = [
    ("site/build.mjs", ["node", "site/build.mjs", "--no-types"], 180),
    ("site/package.mjs", ["node", "site/package.mjs"], 180),
    ("tests/wasm", ["bash", "-c", "node --test --test-reporter=tap tests/wasm/*.test.mjs"], 600),
    ("tests/package", ["bash", "-c", "node --test --test-reporter=tap tests/package/*.test.mjs"], 600),
]
SPECS = ["smoke", "offline", "guide", "examples", "embed", "samples", "open", "only", "files", "link"]


def _site_steps(fault):
    for name, command, limit in STEPS:
        status, output = run(command, None, str(TREE), limit)
        if status != 0:
            red = re.findall(r"^\s*not ok \d+ - (.*)$", output, re.M)
            return f"{name} {red[0] if red else ''}".strip(), " (out of time)" if status is None else ""
    names = [f"tests/browser/{name}.spec.ts" for name in SPECS if (TREE / f"tests/browser/{name}.spec.ts").exists()]
    passed, told = run_page._playwright(names, 0, 900, "-x")
    if not passed:
        red = [(at, title) for at, title, ok, _ in told if not ok]
        return ("browser " + " ".join(red[0]) if red else "browser"), " (out of time)" if passed is None else ""
    return None


def site_killer(fault):
    path = TREE / fault.place.file
    path.write_bytes(changed(fault))
    try:
        return _site_steps(fault)
    finally:
        path.write_bytes((ROOT / fault.place.file).read_bytes())
