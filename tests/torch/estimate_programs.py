#!/usr/bin/env python3
"""Random programs under gpustrata.estimate, in a process that has neither a GPU nor a made-up runtime.

  estimate_programs.py      reads jobs from standard input, one JSON object a line; answers each in a line

A job: {"program": "claim" (claim_programs.py) or "operator" (operator_programs.py), "seed", "settings"}. The answer: {"peak_requested", "peak_reserved", "peak_allocated", "made": how many
allocations}.
"""
import json
import os
import sys
import traceback

import torch
import torch._dynamo

import gpustrata
import claim_programs
import operator_programs

PROGRAMS = {"claim": lambda seed: claim_programs.Program(seed).run(lambda step: None),
            "operator": lambda seed: operator_programs.Program(seed).run()}


def run(job):
    with gpustrata.estimate(device="1TiB", conf=job["settings"], margin=0) as estimate:
        PROGRAMS[job["program"]](job["seed"])
    told = estimate.summary()
    if job.get("snapshot"):
        estimate.save(job["snapshot"])
    return {"peak_requested": told["requested_peak_bytes"], "peak_reserved": told["reserved_peak_bytes"],
            "peak_allocated": told["allocated_peak_bytes"], "made": sum(line[0] == "m" for line in estimate.requests.lines)}


def main():
    for line in sys.stdin:
        try:
            answer = run(json.loads(line))
        except BaseException:
            traceback.print_exc()
            answer = None
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
