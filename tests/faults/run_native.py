"""Runs the C++ and command tests with one fault after the other, each only the tests that pass the fault's place."""
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from build_native import BUILD
from tree import FOLDER

SUITES = ("unit", "property")  # of which many run in one process
LABELS_LEFT_OUT = {"layers", "bench", "gpu", "fuzz"}
MEMORY, DISK = 4 << 30, 32 << 30  # of a test gone wild; tests make files of zeros that take no space


@dataclass
class Test:
    name: str
    command: list
    environment: dict = field(default_factory=dict)
    folder: str = str(BUILD)
    skip_code: int = 77
    seconds: float = 0
    reached: list = field(default_factory=list)
    usable: bool = True


def _limits():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (DISK, DISK))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, environment=None, folder=None, seconds=600):
    """(exit status or None when out of time, output)"""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=folder, env={**os.environ, **(environment or {})}, stdout=output,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_limits)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, signal.SIGKILL)  # whatever it has started
        except ProcessLookupError:
            pass
        process.wait()
        output.seek(0)
        return status, output.read().decode(errors="replace")


def _program(suite):
    return str(BUILD / f"tests/{suite}_tests")


def _from_ctest():
    """The tests that are processes of their own."""
    listed = json.loads(subprocess.run(["ctest", "--show-only=json-v1"], cwd=BUILD, capture_output=True, check=True).stdout)
    for entry in listed["tests"]:
        properties = {one["name"]: one["value"] for one in entry.get("properties", [])}
        labels = set(properties.get("LABELS", []))
        if labels & LABELS_LEFT_OUT or labels & set(SUITES) or "command" not in entry or "NOT_BUILT" in entry["name"]:
            continue
        yield Test(entry["name"], entry["command"],
                   dict(one.split("=", 1) for one in properties.get("ENVIRONMENT", [])),
                   properties.get("WORKING_DIRECTORY", str(BUILD)), properties.get("SKIP_RETURN_CODE", 77))


def suites():
    """Every unit and property test once without a fault: is it green, how long does it take, which places does it pass?"""
    tests = []
    reached = FOLDER / "reached_by_suites"
    told = Path(f"{reached}.tests")
    for suite in SUITES:
        reached.write_bytes(bytes(4096))
        told.unlink(missing_ok=True)
        run([_program(suite)], {"GPUSTRATA_FAULT_REACHED": str(reached)}, seconds=1800)
        for line in told.read_text().splitlines():
            name, milliseconds, *rest = line.split()
            tests.append(Test(f"{suite}.{name}", [], seconds=int(milliseconds) / 1000, usable="red" not in rest,
                              reached=[int(number) for number in rest if number != "red"]))
    return tests


def processes():
    """The same for CTest's other tests."""
    tests = []
    reached = FOLDER / "reached"
    for test in _from_ctest():
        reached.write_bytes(bytes(4096))
        begun = time.monotonic()
        status, _ = run(test.command, {**test.environment, "GPUSTRATA_FAULT_REACHED": str(reached)}, test.folder, 1800)
        test.seconds = time.monotonic() - begun
        test.usable = status == 0
        test.reached = [number for number, passed in enumerate(reached.read_bytes()) if passed and number]
        tests.append(test)
        if not test.usable:
            print(f"not green or skipped without a fault, left out: {test.name}", flush=True)
    (FOLDER / "baseline.json").write_text(json.dumps([vars(test) for test in tests], indent=0))
    return tests


def _gtest(suite, tests, fault):
    """The first red test of these, or None."""
    with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
        names = ":".join(test.name.removeprefix(f"{suite}.") for test in tests)
        flags.write(f"--gtest_filter={names}\n--gtest_fail_fast\n")
        flags.flush()
        normal = sum(test.seconds for test in tests)
        status, output = run([_program(suite), f"--gtest_flagfile={flags.name}"], {"GPUSTRATA_FAULT": str(fault)},
                             seconds=10 * normal + 20)
    if status == 0:
        return None
    failed = re.findall(r"^\[  FAILED  \] (\S+?),? ", output, re.M) or re.findall(r"^\[  FAILED  \] (\S+)", output, re.M)
    begun = re.findall(r"^\[ RUN      \] (\S+)", output, re.M)
    how = "" if failed else " (out of time)" if status is None else f" (ends with {status})"
    return f"{suite}.{(failed or begun or ['?'])[0].rstrip(',')}", how


def killer(fault, tests):
    """(name of the first test that goes red, how) with this fault, or None."""
    usable = [test for test in tests if test.usable and fault in test.reached]
    for suite in SUITES:
        here = sorted((test for test in usable if test.name.startswith(f"{suite}.")), key=lambda test: test.seconds)
        while here:
            red = _gtest(suite, here, fault)
            if red is None:
                break
            name, how = red
            alone = [test for test in here if test.name == name]
            if not alone or _gtest(suite, alone, 0) is None:
                return red
            here = [test for test in here if test.name != name]  # red without the fault: says nothing
    for test in sorted((test for test in usable if test.command), key=lambda test: test.seconds):
        limit = 10 * test.seconds + 20
        status, output = run(test.command, {**test.environment, "GPUSTRATA_FAULT": str(fault)}, test.folder, limit)
        if status == 0 or status == test.skip_code and test.skip_code != 0:
            continue
        if any(run(test.command, {**test.environment, "GPUSTRATA_FAULT": "0"}, test.folder, limit)[0] == 0 for _ in range(2)):
            inner = re.search(r"^(?:FAIL|ERROR): (\w+)", output, re.M) or re.search(r"^\[  FAILED  \] (\S+)", output, re.M)
            return test.name + (f" {inner[1]}" if inner and inner[1] not in test.name else ""), (
                " (out of time)" if status is None else "")
    return None
