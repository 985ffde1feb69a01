#!/usr/bin/env python3
"""gpustrata.open() against pickle.load on one large generated snapshot: time, processor time (others may use the machine) and
highest memory of a process each.

  bench.py FILE     a snapshot, as of ../shared/tools/gen_snapshot.py

Checks that both found the same number of events, then prints.
"""
import os
import subprocess
import sys
import time

RUNS = 3
CODE = {
    "pickle.load": "import pickle; d = pickle.load(open(PATH, 'rb')); n = sum(map(len, d['device_traces']))",
    "gpustrata.open": "import gpustrata; n = gpustrata.open(PATH).events().num_rows",
    "gpustrata.open, events() and stacks() to lists": "import gpustrata; f = gpustrata.open(PATH); e = f.events()."
                                                      "to_pydict(); s = f.stacks().to_pydict(); n = len(e['size'])",
}
MEASURE = """
import resource, sys, time
PATH = sys.argv[1]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
a, c = time.perf_counter(), time.process_time()
{code}
took, cpu = time.perf_counter() - a, time.process_time() - c
print(n, took, cpu, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def main():
    path = sys.argv[1]
    mib = os.path.getsize(path) / (1 << 20)
    found, reference = set(), None
    for name, code in CODE.items():
        best = cpu = memory = None
        for _ in range(RUNS):
            told = subprocess.run([sys.executable, "-c", MEASURE.format(code=code), path], check=True, text=True,
                                  capture_output=True).stdout.split()
            found.add(int(told[0]))
            best = min(float(told[1]), best or 1e9)
            cpu = min(float(told[2]), cpu or 1e9)
            memory = min(float(told[3]), memory or 1e9)
            time.sleep(0.5)
        reference = reference or (best, cpu)
        print(f"{name:48} {best:7.2f} s  {reference[0] / best:5.1f} x   {cpu:7.2f} s of the processor "
              f"{reference[1] / cpu:5.1f} x   {memory:7,.0f} MiB more, "
              f"{memory / mib:4.2f} of the file")
    assert len(found) == 1, found
    print(f"{mib:,.0f} MiB, {found.pop():,} events, best of {RUNS}")


if __name__ == "__main__":
    main()
