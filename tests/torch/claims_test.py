#!/usr/bin/env python3
"""What `report` and `whatif` claim of a program, and what comes of it when that program runs again so (claim_programs.py).

  claims_test.py GPUSTRATA [COUNT [FIRST_SEED]]     over the made-up runtime, with MADE_UP_KERNELS=nothing

Each program runs on a device with room for all, and on one that is too small or with a limit; both are recorded, both
recordings are asked, and for every answer the program runs for real with that device or setting. Prints a table: right,
wrong, not said. What the answer itself calls inexact counts as not said where it is off.
"""
import collections
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from processes import PyTorch

MIB = 1 << 20
STEP = 2 * MIB
ROOMY = 16 << 30
ADDRESSES = ("ascending", "shuffled", "descending")
SETTINGS = ("expandable_segments:True", "max_split_size_mb:24", "max_split_size_mb:64", "roundup_power2_divisions:4",
            "expandable_segments:True,roundup_power2_divisions:2", "max_split_size_mb:128,roundup_power2_divisions:8")


class Claims:
    """Of one program."""

    def __init__(self, command, pytorch, table, seed, folder):
        self.command, self.table, self.seed, self.folder = command, table, seed, folder
        self.random = random.Random(seed)
        self.addresses = ADDRESSES[seed % len(ADDRESSES)]
        from_step = 1 if seed % 4 == 3 else -1  # what was there before is left as it was, and said so
        self.pytorch = lambda **job: pytorch(seed=seed, addresses=self.addresses, from_step=from_step, **job)

    def ask(self, *arguments):
        done = subprocess.run([self.command, *map(str, arguments), "--json"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def count(self, claim, right, *details, hedged=False):
        verdict = "right" if right else "not said" if hedged else "wrong"
        self.table[claim][verdict] += 1
        if not right:
            print(f"{self.seed} {self.addresses}: {claim}: {verdict}", *details, flush=True)

    def not_said(self, claim):
        self.table[claim]["not said"] += 1

    def smallest(self, claim, recorded, path, reached, conf=None, begins=0):
        """`reached(run)`: it came as far as the recorded requests do."""
        changed = [] if conf is None else ["--conf", conf]
        told = self.ask("whatif", path, "--smallest", *changed)
        capacity = told["smallest_capacity_bytes"]
        fits = self.pytorch(memory=capacity, conf=conf or "")
        fails = self.pytorch(memory=capacity - STEP, conf=conf or "")
        hedged = is_hedged(told)
        self.count(claim, reached(fits) and not reached(fails), conf, capacity, fits, fails, recorded, hedged=hedged)
        return capacity

    def whole(self):
        path = self.folder / "whole.pickle"
        run = self.pytorch(memory=ROOMY, snapshot=str(path))
        assert run["finished"]

        def reached(other):
            return other["finished"]

        capacity = self.smallest("smallest device", run, path, reached)
        conf = self.random.choice(SETTINGS)
        self.smallest("smallest device with a setting", run, path, reached, conf)
        for claim, conf in (("fits on a device", ""), ("fits on a device with a setting", self.random.choice(SETTINGS))):
            memory = self.random.randrange(int(0.8 * run["peak_active"]), int(1.1 * capacity)) // STEP * STEP
            told = self.ask("whatif", path, "--capacity", memory, "--conf", conf)
            again = self.pytorch(memory=memory, conf=conf)
            failed = told["simulated"]["first_oom"]
            made = run["made"] if failed is None else run["before"] + allocations(path, failed["event"])
            hedged = is_hedged(told)
            self.count(claim, (again["finished"], again["made"]) == (failed is None, made), conf, memory, failed, made,
                       again, hedged=hedged)
        self.as_said(run, path)
        return run, capacity

    def as_said(self, run, path):
        """`fits` itself, also on devices smaller than what was reserved before the recording."""
        reserved = self.ask("whatif", path)["reserved_before_bytes"]
        highest = reserved if reserved > 0 else run["peak_reserved"]
        for claim, low, high in (("fits, as said", 0.7 * run["peak_active"], 1.1 * run["peak_reserved"]),
                                 ("fits on less than was reserved before, as said", 0.5 * highest, highest)):
            memory = self.random.randrange(int(low), int(high)) // STEP * STEP
            told = self.ask("whatif", path, "--capacity", memory)
            if told["fits"] is None:
                self.not_said(claim)
            else:
                again = self.pytorch(memory=memory)
                self.count(claim, again["finished"] == told["fits"], memory, reserved, told["fits"], again,
                           hedged=told["fits"] and is_hedged(told))

    def failed(self, whole, smallest):
        path = self.folder / "failed.pickle"
        limited = self.random.random() < 0.15
        memory = self.random.randrange(int(0.6 * whole["peak_active"]), smallest) // STEP * STEP
        job = {"memory": ROOMY, "fraction": memory / ROOMY} if limited else {"memory": memory}
        conf = self.random.choice(("", "", "", *SETTINGS))
        run = self.pytorch(**job, conf=conf, snapshot=str(path))
        if os.environ.get("GPUSTRATA_KEEP"):
            (Path(os.environ["GPUSTRATA_KEEP"]) / f"{self.seed}.pickle").write_bytes(path.read_bytes())
        if run["finished"] or (whole["before"] > 0 and run["before"] == 0):  # or failed before it was recorded
            return

        def reached(other):
            return other["finished"] or other["made"] > run["made"]

        told = self.ask("report", path)["devices"][0]
        self.count("the recording ends at the failure", told["complete"] is False and len(told["oom"]) == 1, told["oom"])
        one = told["oom"][-1]
        self.count("a limit was reached", (one["verdict"] == "limit") == limited, one["verdict"], conf, job, run)
        remedies = {remedy["name"]: remedy for remedy in one["remedies"]}
        needed = one.get("needed_at_least")
        if needed is None:
            self.not_said("needs at least, to the end")
        else:
            self.count("needs at least, to the end", needed["bytes"] <= whole["peak_requested"], needed, whole)
        if "use_less" in remedies:
            enough = memory + remedies["use_less"]["bytes"]
            more = self.pytorch(memory=(enough - 1) // STEP * STEP, conf=conf)
            came_through = more["finished"] if needed else reached(more)  # of the rest of the run, if that is told
            self.count("so much less, at least", not came_through, enough, more, run)
        if "expandable_segments" in remedies:
            confirmed = remedies["expandable_segments"]["confirmed"]
            joined = ",".join(filter(None, (conf, "expandable_segments:True")))
            if confirmed is None:
                self.not_said("expandable segments would have helped")
            else:
                again = self.pytorch(**job, conf=joined)
                self.count("expandable segments would have helped", reached(again) == confirmed, confirmed, joined, again,
                           run, hedged=is_hedged(self.ask("whatif", path)))
        if "smaller_request" in remedies:
            there = one["requested_bytes"] - remedies["smaller_request"]["bytes"]
            again = self.pytorch(**job, conf=conf, tries=[there])
            self.count("so much would have been there", again["tries"] == [True], conf, there, one["requested_bytes"], again)
        if "ask_again" in remedies:
            again = self.pytorch(**job, conf=conf, tries=[one["requested_bytes"]])
            self.count("the same request would be served now", again["tries"] == [True], again)
        if "raise_limit" in remedies and limited:
            self.count("without the limit it goes on", reached(self.pytorch(memory=ROOMY, conf=conf)), run)
        if limited:
            return
        self.smallest("smallest device for what was recorded", run, path, reached, conf)
        other = self.random.choice(SETTINGS)
        told = self.ask("whatif", path, "--conf", other)
        again = self.pytorch(memory=memory, conf=other)
        if told["fits"] is None:
            self.not_said("would have been saved by a setting")
            return
        hedged = is_hedged(told) or told["capacity"] is None
        self.count("would have been saved by a setting", reached(again) == told["fits"], conf, other, told["capacity"],
                   told["simulated"], again, run, hedged=hedged)


def is_hedged(told):
    """The answer itself says that it may be off."""
    return (told["fidelity"]["first_deviation"] is not None or told["reserved_before_bytes"] > 0
            or told["addresses_decide"])


def allocations(path, event):
    """Before an event."""
    trace = pickle.loads(path.read_bytes())["device_traces"][0]
    return sum(entry["action"] == "alloc" for entry in trace[:event])


def main(command, count, first):
    table, pytorch = collections.defaultdict(collections.Counter), PyTorch("claim_programs.py")
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            claims = Claims(command, pytorch, table, seed, Path(folder))
            claims.failed(*claims.whole())
    pytorch.end()
    print(f"{count} programs\n| claim | right | wrong | not said |\n|---|---|---|---|")
    for claim, counts in table.items():
        print(f"| {claim} | {counts['right']} | {counts['wrong']} | {counts['not said']} |")
    return sum(counts["wrong"] for counts in table.values()) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *(int(number) for number in (sys.argv[2:] + ["100", "1"][len(sys.argv) - 2:]))))
