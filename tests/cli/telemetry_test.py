"""`gpustrata telemetry` against a second computation on made-up exports of gpumemprof and Stormlog, of every form."""
import csv
import io
import json
import random
from pathlib import Path

from support.folders import InAFolder
from support.snapshots import GIB, MIB
from support.tool import run

DAY = 1_760_000_000  # seconds


def snapshot(time, operation, allocated, reserved=None, device=0):
    return {
        "timestamp": time,
        "allocated_memory": allocated,
        "reserved_memory": reserved if reserved is not None else allocated,
        "max_memory_allocated": allocated,
        "max_memory_reserved": reserved,
        "active_memory": allocated,
        "inactive_memory": 0,
        "cpu_memory": 1 << 33,
        "device_id": device,
        "operation": operation,
        "stack_trace": None,
    }


def result(name, time, seconds, before, peak, after, device=0):
    return {
        "function_name": name,
        "execution_time": seconds,
        "memory_before": snapshot(time, f"before_{name}", before, device=device),
        "memory_after": snapshot(time + seconds, f"after_{name}", after, device=device),
        "memory_peak": snapshot(time + seconds, f"peak_{name}", peak, device=device),
        "memory_allocated": max(0, after - before),
        "memory_freed": max(0, before - after),
        "tensors_created": 0,
        "tensors_deleted": 0,
        "call_count": 1,
        "memory_diff": after - before,
        "peak_memory_usage": peak,
    }


def profile(results, snapshots):
    return {
        "metadata": {"export_time": DAY, "num_results": len(results), "num_snapshots": len(snapshots)},
        "results": results,
        "snapshots": snapshots,
    }


def record(ns, kind, allocated, reserved, change=0, used=None, total=24 * GIB, device=0):
    used = max(allocated, reserved) if used is None else used
    return {
        "schema_version": 2,
        "timestamp_ns": ns,
        "event_type": kind,
        "collector": "gpumemprof.cuda_tracker",
        "sampling_interval_ms": 100,
        "pid": -1,
        "host": "h",
        "device_id": device,
        "allocator_allocated_bytes": allocated,
        "allocator_reserved_bytes": reserved,
        "allocator_active_bytes": allocated,
        "allocator_inactive_bytes": None,
        "allocator_change_bytes": change,
        "device_used_bytes": used,
        "device_free_bytes": total - used,
        "device_total_bytes": total,
        "context": None,
        "metadata": {"backend": "cuda"},
    }


def as_csv(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)  # None is an empty cell, a dict a Python literal
    return out.getvalue().encode()


class Telemetry(InAFolder):
    def answer(self, content, name="export.json"):
        path = content if isinstance(content, Path) else self.file(content, name)
        ran = run("telemetry", path, "--json")
        got = json.loads(ran.stdout)
        self.assertEqual(ran.returncode, 0, got)
        self.assertEqual(got["file"], str(path))
        return got

    def names(self, got, by=None):
        return [f["name"] for f in got["findings"] if by in (None, f["by"])]

    def text(self, got, name):
        return next(f["text"] for f in got["findings"] if f["name"] == name)

    def devices(self, got):
        return [(d["device"], d["peak_allocated_bytes"], d["peak_reserved_bytes"]) for d in got["devices"]]

    # e.6.1: before 100 MiB, inside at most 180, after 140.
    def test_a_profiled_function(self):
        got = self.answer(profile([result("f", DAY, 0.25, 100 * MIB, 180 * MIB, 140 * MIB)], []))
        self.assertEqual(
            got["functions"],
            [
                {
                    "name": "f",
                    "calls": 1,
                    "total_time_s": 0.25,
                    "net_bytes": 40 * MIB,
                    "peak_bytes": 180 * MIB,
                    "peak_over_entry_bytes": 80 * MIB,
                }
            ],
        )
        self.assertEqual(got["samples"], 0)  # a call's own snapshots are none

    def test_a_function_that_gives_all_back(self):
        got = self.answer(profile([result("f", DAY, 1.0, 0, 500 * MIB, 0)], []))
        self.assertEqual((got["functions"][0]["net_bytes"], got["functions"][0]["peak_bytes"]), (0, 500 * MIB))

    # e.6.2: ten events, three alerts; 100 MiB exactly is no large allocation.
    def test_tracker_events(self):
        levels = [("start", 0), ("peak", 100), ("allocation", 100), ("warning", 100), ("peak", 300)]
        levels += [("allocation", 300), ("warning", 300), ("deallocation", 150), ("warning", 150), ("stop", 150)]
        rows = [record(DAY * 10**9 + i, kind, mib * MIB, 400 * MIB) for i, (kind, mib) in enumerate(levels)]
        for got in (self.answer(rows), self.answer({"events": rows}), self.answer(as_csv(rows), "export.csv")):
            self.assertEqual(got["samples"], 10)
            self.assertEqual(self.devices(got), [(0, 300 * MIB, 400 * MIB)])
            self.assertIn("3 samples as warning and 0 samples as critical", self.text(got, "alerts"))
            # its "used" is what the allocator holds: nothing can be said of the rest
            self.assertIn("gap_unknown", self.names(got))
            self.assertEqual(self.names(got, "gpumemprof"), [])

    def test_gap(self):
        used = [5, 5, 5, 5, 5, 9]
        got = self.answer([record(i * 10**9, "sample", 4 * GIB, 4 * GIB, used=gib * GIB) for i, gib in enumerate(used)])
        self.assertEqual(self.names(got), ["gap"])
        self.assertIn("5.0 GiB (20.8% of the device)", self.text(got, "gap"))  # 5 of 24

    def test_unused(self):
        # In the mean 75 % of what is reserved, 3 GiB; of 32 MiB it is not worth a word.
        for unit, found in ((GIB, ["fragmentation"]), (8 * MIB, [])):
            rows = [record(i * 10**9, "sample", unit, 4 * unit, used=5 * unit) for i in range(6)]
            self.assertEqual([name for name in self.names(self.answer(rows)) if name != "gap"], found)
        rows = [record(0, "sample", GIB, 4 * GIB, used=5 * GIB)]
        self.assertIn("75.0%", self.text(self.answer(rows), "fragmentation"))

    def test_leak_and_growth(self):
        calls = [result("leaks", DAY + i, 0.5, i * 50 * MIB, (i + 2) * 50 * MIB, (i + 1) * 50 * MIB) for i in range(12)]
        steady = [result("steady", DAY + i + 0.5, 0.125, 0, MIB, 0) for i in range(4)]
        got = self.answer(profile(calls + steady, []))
        self.assertIn("leaks kept memory in 12 of 12 calls, 600.0 MiB in sum", self.text(got, "leak"))
        self.assertEqual(self.names(got), ["leak"])
        rows = [record(i * 10**9, "sample", (100 + i) * MIB, 200 * MIB) for i in range(16)]
        # lowest of each quarter: 100, 104, 108, 112 MiB
        self.assertIn("by 12.0 MiB", self.text(self.answer(rows), "growth"))
        wave = [record(i * 10**9, "sample", (100 + 50 * (i % 4)) * MIB, 300 * MIB) for i in range(16)]
        self.assertNotIn("growth", self.names(self.answer(wave)))

    def test_random_profiles(self):
        for seed in range(5):
            rng = random.Random(seed)
            results, snapshots = [], []
            for i in range(60):
                before, after = rng.randrange(GIB), rng.randrange(GIB)
                peak = max(before, after) + rng.randrange(GIB)
                name = rng.choice(["step", "load \u00e9", "eval,\"x\""])
                results.append(result(name, DAY + i, rng.random(), before, peak, after, rng.randrange(2)))
                held = rng.randrange(GIB)
                snapshots.append(snapshot(DAY + i + rng.random(), "monitor", held, held + rng.randrange(GIB), rng.randrange(2)))
            got = self.answer(profile(results, snapshots))
            want = {}
            for row in results:
                of = want.setdefault(row["function_name"], [0, 0.0, 0, 0])
                of[0] += 1
                of[1] += row["execution_time"]
                of[2] += row["memory_diff"]
                of[3] = max(of[3], row["peak_memory_usage"])
            functions = {f["name"]: [f["calls"], f["total_time_s"], f["net_bytes"], f["peak_bytes"]] for f in got["functions"]}
            for name, (calls, seconds, net, peak) in want.items():
                self.assertEqual([functions[name][i] for i in (0, 2, 3)], [calls, net, peak])
                self.assertAlmostEqual(functions[name][1], seconds, 9)
            self.assertEqual(functions.keys(), want.keys())
            devices = {}
            for shot in snapshots + [r[k] for r in results for k in ("memory_before", "memory_after", "memory_peak")]:
                of = devices.setdefault(shot["device_id"], [0, 0])
                of[0] = max(of[0], shot["allocated_memory"])
                of[1] = max(of[1], shot["reserved_memory"])
            self.assertEqual(self.devices(got), [(d, *peaks) for d, peaks in sorted(devices.items())])
            self.assertEqual(got["samples"], len(snapshots))
            self.assertEqual(got["diagnostics"], [])

    def test_csv_pair_in_a_folder(self):
        results = [result("f", DAY + i, 0.5, 0, 10, 5) for i in range(3)]
        columns = "function_name execution_time memory_allocated memory_freed memory_diff tensors_created".split()
        table = [{**{c: r[c] for c in columns}, "peak_memory": r["peak_memory_usage"]} for r in results]
        self.file(as_csv(table), "base_results_1.csv")
        shots = [snapshot(DAY + i, "monitor", 100 + i, 200) for i in range(4)]
        columns = "timestamp operation allocated_memory reserved_memory active_memory inactive_memory device_id".split()
        self.file(as_csv([{c: s[c] for c in columns} for s in shots]), "base_snapshots_1.csv")
        self.file(b"not a table", "notes.txt")
        got = self.answer(self.folder)
        self.assertEqual((got["samples"], got["format"]), (4, "csv in folder"))
        self.assertEqual([(f["calls"], f["net_bytes"], f["peak_bytes"]) for f in got["functions"]], [(3, 15, 10)])
        self.assertEqual([d["name"] for d in got["diagnostics"]], ["not_a_snapshot"])

    def test_legacy_records(self):
        rows = [
            {"timestamp": DAY + 0.5, "type": "allocation", "memory_allocated": 10, "device": "cuda:1", "message": "m"},
            {"timestamp": DAY + 1.5, "type": "peak", "memory_mb": 1.5, "device": "cpu", "metadata_rank": 3},
            {"timestamp": DAY + 2.5, "event_type": "x", "memory_allocated": 7, "memory_reserved": 9, "device": "/GPU:0"},
        ]
        got = self.answer(rows)
        # reserved is allocated where it is absent
        self.assertEqual(self.devices(got), [(-1, 1572864, 1572864), (0, 7, 9), (1, 10, 10)])
        self.assertEqual(self.answer(rows[0])["samples"], 1)  # a single record

    def test_bundles(self):
        events = [
            {"timestamp": DAY + i, "event_type": "allocation", "memory_allocated": i * MIB, "memory_reserved": 9 * MIB,
             "memory_change": MIB, "device_id": 0, "context": None, "metadata": {}, "device_used": 9 * MIB,
             "device_free": MIB, "device_total": 10 * MIB, "backend": "cuda"}
            for i in range(5)
        ]  # fmt: skip
        self.file(events, "events.json")
        self.file({"schema_version": 1, "bundle_name": "oom_dump_x", "reason": "oom", "event_count": 5}, "manifest.json")
        message = "CUDA out of memory. Tried to allocate 2.00 GiB"
        self.file({"reason": "oom", "exception_type": "OutOfMemoryError", "exception_message": message,
                   "captured_event_count": 5, "custom_metadata": {}}, "metadata.json")  # fmt: skip
        self.file({"pid": 1, "cwd": "/tmp", "system": {"python": "3.11"}}, "environment.json")
        got = self.answer(self.folder)
        self.assertEqual(got["samples"], 5)
        self.assertIn(message, self.text(got, "out_of_memory"))
        self.assertEqual([d for d in got["diagnostics"] if d["severity"] != "info"], [])

    def test_diagnose_bundle(self):
        self.file({"timestamps": [DAY, DAY + 0.5], "allocated": [10, 30], "reserved": [40, 50]}, "telemetry_timeline.json")
        self.file({"backend": "cuda", "num_ooms": 0, "risk_flags": {"oom_occurred": False}}, "diagnostic_summary.json")
        self.file({"version": 1, "exit_code": 0, "risk_detected": False}, "manifest.json")
        self.file({"system": {}, "gpu": {}, "fragmentation": {}}, "environment.json")
        got = self.answer(self.folder)
        self.assertEqual((got["samples"], self.devices(got)), (2, [(None, 30, 50)]))

    def test_flags_of_a_diagnose_bundle_stand_beside_our_findings(self):
        self.file({"timestamps": [DAY, DAY + 0.5], "allocated": [10, 30], "reserved": [40, 50]}, "telemetry_timeline.json")
        flags = {"oom_occurred": True, "high_utilization": True, "fragmentation_warning": True}
        self.file({"backend": "cuda", "num_ooms": 3, "utilization_ratio": 0.9, "fragmentation_ratio": 0.5,
                   "risk_flags": flags}, "diagnostic_summary.json")  # fmt: skip
        manifest = self.file({"version": 1, "exit_code": 2, "risk_detected": True}, "manifest.json")
        got = self.answer(self.folder)
        self.assertIn("out_of_memory", self.names(got, "gpustrata"))
        self.assertIn("ran out 3 times", self.text(got, "out_of_memory"))
        self.assertEqual([name for name in self.names(got, "gpumemprof") if name in flags], list(flags))
        self.assertNotIn("risk_detected", self.names(got))  # the flags say it
        self.assertIn("3 counted", self.text(got, "oom_occurred"))
        self.assertIn("90.0%", self.text(got, "high_utilization"))
        self.assertIn("50.0%", self.text(got, "fragmentation_warning"))
        (self.folder / "diagnostic_summary.json").unlink()
        self.assertTrue(manifest.exists())
        self.assertEqual(self.names(self.answer(self.folder), "gpumemprof"), ["risk_detected"])

    def test_reserved_memory_of_calls(self):
        call = result("f", DAY, 0.5, 100 * MIB, 180 * MIB, 140 * MIB)
        for key, held in (("memory_before", 200), ("memory_peak", 400), ("memory_after", 300)):
            call[key]["reserved_memory"] = held * MIB
        got = self.answer(profile([call], [snapshot(DAY, "monitor", MIB, 9 * MIB)]))
        self.assertEqual(self.devices(got), [(0, 180 * MIB, 400 * MIB)])

    def test_what_a_table_of_results_does_not_say_is_unknown(self):
        table = [{"function_name": "f", "execution_time": 0.5, "memory_allocated": 100, "memory_freed": 0,
                  "peak_memory": 500, "memory_diff": 100}]  # fmt: skip
        path = self.file(as_csv(table), "x_results_1.csv")
        got = self.answer(path)
        self.assertEqual(self.devices(got), [(None, 500, None)])
        self.assertEqual([(f["peak_bytes"], f["peak_over_entry_bytes"]) for f in got["functions"]], [(500, None)])
        text = run("telemetry", path).stdout.decode()
        self.assertNotIn("reserved", text)
        self.assertRegex(text, r"500 B +- +f\n")

    def test_times_are_shown_as_times(self):
        path = self.file(profile([result("f", DAY, 0.5, MIB, 2 * MIB, MIB)], []))
        self.assertRegex(run("summary", path).stdout.decode(), r"call_time, device 0 +500\.0 ms at most; 1 point\n")
        (part,) = json.loads(run("summary", path, "--json").stdout)["series"]
        units = {one["name"]: (one["unit"], one["highest"]) for one in part["series"]}
        self.assertEqual(units["call_time"], ("ns", 500_000_000))
        self.assertEqual(units["call_peak"], ("bytes", 2 * MIB))

    def counts(self, got):
        return {d["name"]: d["count"] for d in got["diagnostics"]}

    def test_bad_values_are_counted(self):
        rows = [record(i, "sample", 100, 200) for i in range(8)]
        rows[0]["allocator_allocated_bytes"] = -5
        rows[1]["allocator_allocated_bytes"] = "many"
        rows[2]["allocator_reserved_bytes"] = float("nan")
        rows[3]["allocator_reserved_bytes"] = 1 << 80
        rows[4]["timestamp_ns"] = None
        rows[5]["device_id"] = 1.5e300
        del rows[6]["allocator_allocated_bytes"]
        got = self.answer(rows)
        found = self.counts(got)
        self.assertEqual(got["samples"], 5)  # 0, 2, 3, 5, 7
        self.assertEqual(found["negative_size"], 1)
        self.assertEqual(found["sample_incomplete"], 3)  # 1, 4, 6
        self.assertEqual(found["wrong_type"], 1)
        self.assertEqual(found["not_finite"], 1)
        self.assertEqual(found["integer_out_of_range"], 2)
