"""One build of the C++ rooms with all their faults in it; those that do not compile are dropped."""
import os
import re
import subprocess
from pathlib import Path

from rooms import NATIVE, ROOT
from schemata import is_whole, planted
from tree import TREE, put

BUILD = TREE / "build/planted"
HERE = Path(__file__).resolve().parent
TARGETS = ("gpustrata", "unit_tests", "property_tests", "gpustrata_capture", "gpustrata_file", "fake_cuda", "capture_tests",
           "capture_unit_tests", "capture_python_tests", "stack_fixture", "gpu_random", "session_answers")


def changed(faults):
    """The files of the copy that differ: sources with these faults, and what tells which test passes them."""
    header = f'#include "{HERE}/planted.h"\n#line 1\n'
    listener = (header + (HERE / "planted_listener.cpp").read_text()).encode()
    files = {f"tests/{kind}/planted_listener.cpp": listener for kind in ("unit", "property")}
    for name in {fault.place.file for fault in faults}:
        here = [fault for fault in faults if fault.place.file == name]
        files[name] = (header + planted((ROOT / name).read_text(), here, "planted::on")).encode()
    return files


def guilty(log, faults):
    """Faults on the lines that the compiler complains about."""
    lines = {}
    for fault in faults:
        for line in range(fault.place.line - 4, fault.place.line + 5):
            lines.setdefault((str(TREE / fault.place.file), line), []).append(fault)
    found = set()
    for form in (r"^(\S+?):(\d+)(?::\d+)?: (?:fatal )?error:", r"^(\S+?):(\d+)(?::\d+)?:\s+(?:required|note)", r"from (\S+?):(\d+)"):
        for path, line in re.findall(form, log, re.M):
            near = lines.get((os.path.normpath(BUILD / path), int(line)), [])
            if near:
                nearest = min(abs(fault.place.line - int(line)) for fault in near)
                found.update(fault.number for fault in near if abs(fault.place.line - int(line)) == nearest)
        if found:
            break
    return found


def build(faults, jobs=2):
    """Builds; returns the faults that compile, and those that do not."""
    dropped = [fault for fault in faults if not is_whole(fault.place.before)]
    faults = [fault for fault in faults if fault not in dropped]
    subprocess.run(["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1",
                    "-DCMAKE_CXX_FLAGS=-w", "-DGPUSTRATA_UNITY=8", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache",
                    "-DCMAKE_C_COMPILER_LAUNCHER=ccache", f"-DPython3_EXECUTABLE={ROOT}/build/python-env/bin/python"], check=True, stdout=subprocess.DEVNULL)
    while True:
        for name, data in changed(faults).items():
            put(TREE / name, data)
        done = subprocess.run(["nice", "-n", "5", "ninja", "-C", BUILD, "-k", "0", f"-j{jobs}", *TARGETS], capture_output=True, text=True)
        (BUILD / "planted.log").write_text(done.stdout + done.stderr)
        if done.returncode == 0:
            return faults, dropped
        wrong = guilty(done.stdout, faults)
        print(f"do not compile: {sorted(wrong)}", flush=True)
        if not wrong:
            raise SystemExit(f"the copy does not build, and no fault is to blame: {BUILD}/planted.log")
        dropped += [fault for fault in faults if fault.number in wrong]
        for name in {fault.place.file for fault in dropped}:  # a file may be left without any
            put(TREE / name, (ROOT / name).read_bytes())
        faults = [fault for fault in faults if fault.number not in wrong]


def native(faults):
    return [fault for fault in faults if fault.room in NATIVE]
