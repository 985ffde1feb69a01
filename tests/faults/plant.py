#!/usr/bin/env python3
"""Plants faults, one at a time, in a copy of the tree (build/faults/tree), and sees which tests go red.

  plant.py [--seed 1] [--room NAME]... [--fault NUMBER]... [--jobs 2] [--again]

Without --room all rooms; --fault tries one fault or a few of those drawn. Results go into build/faults/faults.tsv and end
in a table; what has a verdict there is not tried again without --again. See README.md.
"""
import argparse
import concurrent.futures
import json
import subprocess
import sys
import threading
import time

import build_native
import run_native
import run_page
import run_scripts
import tree
from draw import draw, one_line
from rooms import NATIVE, ROOMS, ROOT

RESULTS = tree.FOLDER / "faults.tsv"
COLUMNS = ("number", "room", "at", "kind", "before", "after", "verdict")
writing = threading.Lock()


def read_results(path):
    if not path.exists():
        return {}
    lines = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    return {int(line[0]): dict(zip(COLUMNS, line)) for line in lines}


def write_results(path, results):
    lines = ["\t".join(COLUMNS)] + ["\t".join(str(row[name]) for name in COLUMNS) for _, row in sorted(results.items())]
    path.write_text("\n".join(lines) + "\n")


def keep(results, fault, verdict):
    place = fault.place
    with writing:
        results[fault.number] = dict(number=fault.number, room=fault.room, at=fault.at, kind=place.kind,
                                     before=one_line(place.before), after=one_line(place.after), verdict=verdict)
        write_results(RESULTS, results)
        print(f"{time.strftime('%H:%M:%S')} {fault.number} {fault.at} {place.kind}: {verdict}", flush=True)


def tried(results, fault, look):
    begun = time.monotonic()
    red = look()
    keep(results, fault, f"red: {red[0]}{red[1]}" if red else "lived")
    return time.monotonic() - begun


def table(results):
    print(f"\n| room | planted | red | changes nothing | lived |\n|---|---|---|---|---|")
    sums = [0] * 4
    for room in ROOMS:
        verdicts = [row["verdict"] for row in results.values() if row["room"] == room and row["verdict"] != "does not compile"]
        counts = [len(verdicts)] + [sum(verdict.startswith(word) for verdict in verdicts)
                                    for word in ("red", "changes nothing", "lived")]
        sums = [a + b for a, b in zip(sums, counts)]
        print(f"| {room} | " + " | ".join(map(str, counts)) + " |")
    print("| **all** | " + " | ".join(map(str, sums)) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--room", action="append", choices=ROOMS, default=[])
    parser.add_argument("--fault", action="append", type=int, default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--engine", default=str(ROOT / "build/wasm/bin"), help="folder of engine.js and engine.wasm")
    options = parser.parse_args()
    rooms = options.room or list(ROOMS)
    if options.fault:
        rooms = [room for i, room in enumerate(ROOMS) if any(fault // 100 == i + 1 for fault in options.fault)]

    results = read_results(RESULTS)
    # What did not compile in an earlier run is left out at once.
    drawn = {room: [fault for fault in draw(room, options.seed)
                    if results.get(fault.number, {}).get("verdict") != "does not compile"] for room in ROOMS}
    native_faults = [fault for room in NATIVE for fault in drawn[room]]
    tree.copy({**build_native.changed(native_faults), **run_page.changed(drawn["page"])})

    def chosen(room, faults):
        wanted = [fault for fault in faults if fault.room == room][:ROOMS[room][0]]
        return [fault for fault in wanted if (not options.fault or fault.number in options.fault)
                and (options.again or results.get(fault.number, {}).get("verdict", "lived") == "lived")]

    native = [room for room in rooms if room in NATIVE]
    tests = []
    if native or "python" in rooms:
        # All rooms at once, so that another room later needs no other build.
        faults, dropped = build_native.build(native_faults, options.jobs)
        for fault in dropped:
            keep(results, fault, "does not compile")
        here = [fault for room in native for fault in chosen(room, faults)]

        def all_of(faults, tests):
            """In the background: each is tried with these tests."""
            return [pool.submit(tried, results, fault, lambda fault=fault: run_native.killer(fault.number, tests))
                    for fault in faults]

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            begun = all_of(here, run_native.suites()) if here else []
            tests = run_native.processes()
            for one in begun:
                one.result()
            for one in all_of([fault for fault in here if results[fault.number]["verdict"] == "lived"], tests):
                one.result()
    if "python" in rooms:
        for fault in chosen("python", drawn["python"]):
            tried(results, fault, lambda: run_scripts.python_killer(fault, tests))
    if "page" in rooms:
        faults, dropped = run_page.build(drawn["page"], options.engine)
        for fault in dropped:
            keep(results, fault, "does not compile")
        page_tests = run_page.baseline()
        for fault in chosen("page", faults):
            tried(results, fault, lambda: run_page.killer(fault.number, page_tests))
    if "site" in rooms:
        for fault in chosen("site", drawn["site"]):
            tried(results, fault, lambda: run_scripts.site_killer(fault))
    table(results)
    return 1 if any(one["verdict"] == "lived" for one in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
