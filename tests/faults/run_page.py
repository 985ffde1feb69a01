"""The faults of the page: one bundle that holds them all, tried by the tests of web/ and the browser's."""
import http.server
import json
import os
import re
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from rooms import ROOT
from run_native import run
from schemata import planted
from tree import FOLDER, TREE, put

HERE = Path(__file__).resolve().parent
PLAYWRIGHT = "tests/node_modules/.bin/playwright"
SERVER = ("127.0.0.1", 4799)  # planted.ts knows it, too
SIDE = 3  # seconds that Playwright takes to start


def changed(faults):
    """The files of the copy that differ: the page with these faults, a browser that says which one is on."""
    files = {"web/planted.ts": (HERE / "planted.ts").read_bytes()}
    for name in {fault.place.file for fault in faults}:
        here = [fault for fault in faults if fault.place.file == name]
        up = os.path.relpath("web/planted.ts", os.path.dirname(name))
        up = up if up.startswith(".") else f"./{up}"
        text = planted((ROOT / name).read_text(), here, "planted")
        files[name] = f"import {{ planted }} from '{up}'; {text}".encode()
    config = "tests/browser/playwright.config.ts"
    text = (ROOT / config).read_text()
    by_name = "...(process.env.GPUSTRATA_FAULT ? [`--user-agent=planted/${process.env.GPUSTRATA_FAULT}`] : []),"
    assert "'--no-sandbox'," in text
    files[config] = text.replace("'--no-sandbox',", f"'--no-sandbox', {by_name}").encode()
    return files


def build(faults, engine):
    """Builds the page with these faults; returns those that compile, and the others."""
    dropped = []
    while True:
        for name, data in changed(faults).items():
            put(TREE / name, data)
        done = subprocess.run(["nice", "-n", "10", "node", "site/build.mjs", "--no-types", "--engine", engine, "--connect",
                               "http://%s:%d" % SERVER], cwd=TREE, capture_output=True, text=True)
        if done.returncode == 0:
            return faults, dropped
        wrong = set()
        for name, line in re.findall(r"(web/\S+\.ts):(\d+):\d+", done.stderr):
            near = [fault for fault in faults if fault.place.file == name and abs(fault.place.line - int(line)) < 3]
            wrong.update(fault.number for fault in near)
        print(f"do not compile: {sorted(wrong)}", flush=True)
        if not wrong:
            raise SystemExit(f"the page does not build, and no fault is to blame:\n{done.stderr[-3000:]}")
        dropped += [fault for fault in faults if fault.number in wrong]
        for fault in dropped:
            put(TREE / fault.place.file, (ROOT / fault.place.file).read_bytes())
        faults = [fault for fault in faults if fault.number not in wrong]


class _Passed(http.server.BaseHTTPRequestHandler):
    seen = []  # (time, fault)

    def do_GET(self):
        self.seen.append((time.time(), int(self.path[1:]) if self.path[1:].isdigit() else 0))
        self.send_response(204)
        self.send_header("access-control-allow-origin", "*")
        self.end_headers()

    def log_message(self, *_):
        pass


def _tests_in(suite, file=""):
    file = suite.get("file", file)
    for spec in suite.get("specs", []):
        for test in spec["tests"]:
            for result in test["results"][:1]:
                yield f"{spec['file']}:{spec['line']}", spec["title"], spec["ok"], result
    for inner in suite.get("suites", []):
        yield from _tests_in(inner, file)


def _playwright(where, fault, limit, *more):
    """(all passed?, tests) of a run of Playwright; None instead of `passed` when out of time."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        status, output = run(["node", PLAYWRIGHT, "test", "-c", "tests/browser/playwright.config.ts", "--retries=0",
                              "--reporter=json", *more, *where],
                             {"GPUSTRATA_FAULT": str(fault), "PLAYWRIGHT_JSON_OUTPUT_NAME": report.name}, str(TREE), limit)
        text = Path(report.name).read_text()
    told = json.loads(text) if text else {"suites": []}
    tests = [test for suite in told["suites"] for test in _tests_in(suite)]
    if status and not tests:
        print(output[-800:], flush=True)
    return (None if status is None else status == 0), tests


def node_tests():
    return sorted(path.name.removesuffix(".test.ts") for path in (TREE / "tests/web").glob("*.test.ts"))


def _node(name, fault, limit=120):
    """The tests of a file of tests/web, without a browser."""
    status, output = run(["node", "tests/web/run.mjs", name], {"GPUSTRATA_FAULT": str(fault)}, str(TREE), limit)
    red = re.findall(r"^\s*✖ (.*?) \([\d.]+m?s\)", output, re.M)
    return status, red[0] if red else ""


def baseline():
    """Which tests pass which places, and how long they take; with one worker, so that it is clear who passed."""
    server = http.server.ThreadingHTTPServer(SERVER, _Passed)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tests = []
    for name in node_tests():
        _Passed.seen.clear()
        begun = time.time()
        status, _ = _node(name, "reach")
        tests.append({"at": name, "title": "", "node": True, "seconds": time.time() - begun, "usable": status == 0,
                      "reached": sorted({fault for _, fault in _Passed.seen})})
    _Passed.seen.clear()
    _, told = _playwright([], "reach", 5400, "--workers=1")
    for at, title, ok, result in told:
        begun = time.mktime(time.strptime(result["startTime"][:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
        begun += float(result["startTime"][19:23])
        end = begun + result["duration"] / 1000
        tests.append({"at": at, "title": title, "node": False, "seconds": result["duration"] / 1000,
                      "usable": result["status"] != "skipped",
                      "reached": sorted({fault for when, fault in _Passed.seen if begun - 0.05 <= when <= end + 0.5})})
    server.shutdown()
    (FOLDER / "baseline_page.json").write_text(json.dumps(tests, indent=0))
    return tests


def _batches(tests):
    """By file, the quickest first; at first alone, later many at once."""
    files = {}
    for test in tests:
        files.setdefault(test["at"].rsplit(":", 1)[0], []).append(test)
    ordered = sorted(files.values(), key=lambda here: sum(test["seconds"] for test in here))
    size = 1
    while ordered:
        yield [test for here in ordered[:size] for test in here]
        ordered = ordered[size:]
        size *= 3


def killer(fault, tests):
    passing = [test for test in tests if test["usable"] and fault in test["reached"]]
    for test in (test for test in passing if test["node"]):
        status, red = _node(test["at"], fault)
        if status != 0 and _node(test["at"], 0)[0] == 0:
            return f"web {test['at']} {red}", "" if status is not None else " (out of time)"
    left = [test for test in passing if not test["node"]]
    for batch in _batches(left):
        names = sorted({test["at"] for test in batch})
        limit = 10 * sum(test["seconds"] for test in batch) + 120
        while names:
            passed, told = _playwright(names, fault, limit, "-x")
            if passed:
                break
            red = [(at, title) for at, title, ok, _ in told if not ok]
            if not red:  # nothing is told, as of a page without an end
                if any(_playwright(names, 0, limit)[0] for _ in range(2)):
                    return f"browser {names[0]}", " (out of time)" if passed is None else " (ended)"
                break
            at, title = red[0]
            if any(_playwright([at], 0, limit)[0] for _ in range(2)):  # on a busy machine one may be late
                return f"browser {at.rsplit(':', 1)[0]} {title}", ""
            names.remove(at) if at in names else names.clear()
    return None
