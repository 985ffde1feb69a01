"""The tables of gpustrata.open() against Python's own pickle, on every real file; answers against the command.

`gpustrata` must be importable (PYTHONPATH or an installed wheel). The tables are also taken through Arrow, by duckdb; by pandas
and polars in libraries_test.py.
"""
import json
import pickle
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import duckdb
import gpustrata
import pyarrow
import reference
from support.folders import write
from support.paths import ROOT, SAMPLE, SNAPSHOTS, TRACES, needs_shared_data, real_snapshots
from support.snapshots import event, snapshot
from support.tool import SUCCESS, answer, run

U64 = 1 << 64


def rows(table):
    """A list of dicts, the same through Arrow."""
    columns = table.to_pydict()
    taken = pyarrow.table(table)
    taken.validate(full=True)
    assert taken.to_pydict() == columns
    assert list(columns) == table.column_names
    assert all(len(values) == table.num_rows == len(table) for values in columns.values())
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def frames_of(entry):
    """As the engine keeps frames: lines of 32 bits, texts that are there."""
    return [{"filename": frame.get("filename", ""), "line": signed(frame.get("line", 0)), "name": frame.get("name", "")}
            for frame in entry["frames"] if isinstance(frame, dict)]


def signed(line):
    return line - U64 if line >= U64 >> 1 else line


@needs_shared_data
class RealFiles(unittest.TestCase):
    """Event for event, block for block: what pickle.load gives, computed in plain Python."""

    def each(self, look):
        looked = 0
        for path in real_snapshots():
            wanted = reference.snapshots_in(reference.load(path.read_bytes()))
            with self.subTest(path.name), gpustrata.open(path) as file:
                self.assertEqual([one.name for one in file.snapshots], [name for name, _ in wanted])
                stacks = rows(file.stacks())
                for snapshot, (_, plain) in zip(file.snapshots, wanted):
                    look(snapshot, plain, stacks)
                looked += 1
        self.assertGreater(looked, 40)

    def check_stack(self, row, entry, stacks):
        if "frames" in entry:
            self.assertEqual(stacks[row["stack"]]["frames"], frames_of(entry))
        elif "history" not in entry:
            self.assertIsNone(row["stack"])

    def test_events(self):
        def look(snapshot, plain, stacks):
            traces = plain.get("device_traces") or []
            self.assertEqual(snapshot.events().num_rows,
                             sum(len(reference.usable_events(trace)) for trace in traces))
            for device, trace in enumerate(traces):
                wanted = reference.usable_events(trace)
                if not wanted:
                    continue
                found = rows(snapshot.events(device))
                self.assertEqual(len(found), len(wanted))
                for row, event in zip(found, wanted):
                    self.assertEqual(
                        (row["action"], row["address"], row["size"], row["time_us"], row["stream"], row["device"]),
                        (event["action"], reference.address_of(event), event["size"], event.get("time_us"),
                         event.get("stream", 0), device))
                    self.check_stack(row, event, stacks)

        self.each(look)

    def test_segments_and_blocks(self):
        def look(snapshot, plain, stacks):
            segments = reference.usable_segments(plain)
            segments.sort(key=lambda segment: segment.get("device", 0))
            found = rows(snapshot.segments())
            self.assertEqual(len(found), len(segments))
            for row, segment in zip(found, segments):
                self.assertEqual(
                    (row["address"], row["total_size"], row["stream"], row["device"], row["allocated_size"],
                     row["segment_type"], row["is_expandable"]),
                    (segment["address"], segment["total_size"], segment.get("stream", 0), segment.get("device", 0),
                     segment.get("allocated_size"), segment.get("segment_type"), segment.get("is_expandable")))
                self.check_stack(row, segment, stacks)
            wanted = [(index, block, raw) for index, segment in enumerate(segments)
                      for block, raw in zip(reference.blocks_of(segment), segment["blocks"])]
            found = rows(snapshot.blocks())
            self.assertEqual(len(found), len(wanted))
            for row, (index, (address, size, state, _), raw) in zip(found, wanted):
                state = "active_pending_free" if state == "active_awaiting_free" else state
                self.assertEqual((row["segment"], row["address"], row["size"], row["state"]),
                                 (index, address, size, state))
                if "requested_size" in raw:
                    self.assertEqual(row["requested_size"], raw["requested_size"])
                self.check_stack(row, raw, stacks)

        self.each(look)

    def test_lives_add_up_to_the_levels_of_a_second_computation(self):
        def look(snapshot, plain, _):
            segments = reference.usable_segments(plain)
            traces = plain.get("device_traces") or []
            for device in snapshot.devices:
                events = reference.usable_events(traces[device]) if device < len(traces) else []
                initial, after = reference.levels(events, [s for s in segments if s.get("device", 0) == device])
                change = [0] * (len(events) + 1)
                level = 0
                for row in rows(snapshot.lives(device)):
                    if row["alloc_event"] is None:
                        level += row["size"]
                        self.assertIsNone(row["alloc_time_us"])
                    else:
                        change[row["alloc_event"]] += row["size"]
                        self.assertEqual(row["address"], reference.address_of(events[row["alloc_event"]]))
                        self.assertEqual(row["alloc_time_us"], events[row["alloc_event"]].get("time_us"))
                    if row["free_event"] is not None:
                        change[row["free_event"]] -= row["size"]
                        self.assertEqual(row["free_time_us"], events[row["free_event"]].get("time_us"))
                self.assertEqual(level, initial)
                for event in range(len(events)):
                    level += change[event]
                    self.assertEqual(level, after[event])

        self.each(look)

    def test_answers_are_those_of_the_command(self):
        for name in ["cs336_bcrafton.pickle", "torchtitan_fsdp_oom_rank0.pickle", "memoryviz_adam.json"]:
            path = str(SNAPSHOTS / name)

            with self.subTest(name), gpustrata.open(path) as file:
                self.assertEqual(file.summary(), answer("summary", path))
                self.assertEqual(file.top(), answer("top", path))
                self.assertEqual(file.top("end", by="line", rows=3, device="cuda:0"),
                                 answer("top", path, "--at", "end", "--by", "line", "-n", "3", "--device", "0"))
                self.assertEqual(file.report(), answer("report", path))
                self.assertEqual(file.state(5), answer("state", path, "--at", "5"))
                self.assertEqual(file.state([-1, "end"])[1], answer("state", path, "--at", "end"))
                self.assertEqual(file.compare(path), answer("compare", path, path))
                self.assertEqual(file.whatif(conf="expandable_segments:True"),
                                 answer("whatif", path, "--conf", "expandable_segments:True"))


class Fit(unittest.TestCase):
    """What fits, as the command has it."""

    def test_files_and_paths(self):
        two, four = (str(ROOT / "tests/data/fit" / f"batch{batch}.pickle.gz") for batch in (2, 4))
        told = answer("fit", two + ":batch=2", four + ":batch=4", "--at", "batch=16", "--capacity", str(1 << 30))
        self.assertEqual(told["largest"], 178)
        with gpustrata.open(four) as file:
            self.assertEqual(gpustrata.fit({two: {"batch": 2}, file: {"batch": 4}}, {"batch": 16}, capacity=1 << 30), told)
            with self.assertRaisesRegex(ValueError, "two recordings are of batch=4"):
                gpustrata.fit({two: {"batch": 4}, file: {"batch": 4}}, [{"batch": 16}])
            guessed = answer("fit", four, "--scale", "batch=4", "--at", "batch=16")
            self.assertEqual(gpustrata.fit({file: {"batch": 4}}, {"batch": 16}, scale=True), guessed)


OP_COLUMNS = ["name", "device", "calls", "net", "self", "gross", "peak", "abs_peak", "at_peak",
              "freed", "at_return"]


class Ops(unittest.TestCase):
    """The ops of profilers' traces, as the command has them; and by hand."""

    @needs_shared_data
    def test_they_are_those_of_the_command_on_every_real_trace(self):
        compared = 0
        for path in sorted(TRACES.glob("*.gz")):
            for mode in ("thread", "span"):
                done = run("ops", path, "--mode", mode, "--json", text=True)
                with self.subTest(path.name, mode=mode):
                    if done.returncode != SUCCESS:  # the timeline of a profiler: no trace
                        self.assertIn("names no ops", done.stdout + done.stderr)
                        with gpustrata.open(path) as file, self.assertRaisesRegex(gpustrata.FileError, "names no ops"):
                            file.ops()
                        continue
                    told = json.loads(done.stdout)
                    with gpustrata.open(path) as file:
                        table = file.ops(mode=mode)
                        self.assertEqual(table.column_names, OP_COLUMNS)
                        self.assertEqual(rows(table), told["ops"])
                        for one in told["devices"]:
                            wanted = [row for row in told["ops"] if row["device"] == one["device"]]
                            self.assertEqual(rows(file.ops(one["device"], mode=mode)), wanted)
                            compared += len(wanted)
        self.assertGreater(compared, 100)

    def trace(self, folder):
        def op(name, start, duration):
            return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration}

        def memory(time, change, total, device):
            return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": time, "s": "t",
                    "args": {"Bytes": change, "Addr": 4096, "Device Type": 0 if device is None else 1,
                             "Device Id": -1 if device is None else device, "Total Allocated": total}}

        return write(Path(folder, "hand.json"), {"schemaVersion": 1, "traceEvents": [
            op("outer", 10, 50), op("inner", 20, 20),
            memory(25, 8192, 8192 + 1000, 0), memory(30, -8192, 1000, 0),  # both in inner: net 0, peak 8192
            memory(45, 512, 1512, 0),                                      # in outer alone
            memory(50, 64, 64, None)]})

    def test_by_hand(self):
        with tempfile.TemporaryDirectory() as folder, gpustrata.open(self.trace(folder)) as file:
            found = {(row["device"], row["name"]): tuple(row[one] for one in OP_COLUMNS[2:]) for row in rows(file.ops())}
            # calls, net, self, gross, peak over the beginning, the device's highest level, alive at the device's peak (of inner,
            # where the 512 are not there yet), freed inside, left when the call returned: the 8192 of inner come and go in it,
            # the 512 of outer stay.
            self.assertEqual(found, {("cuda:0", "outer"): (1, 512, 512, 8704, 8192, 9192, 8192, 8192, 512),
                                     ("cuda:0", "inner"): (1, 0, 0, 8192, 8192, 9192, 8192, 8192, 0),
                                     ("cpu", "outer"): (1, 64, 64, 64, 64, 64, 64, 0, 64)})
            for device, count in (("cpu", 1), ("host", 1), ("cuda", 2), ("cuda:0", 2), (0, 2), ("0", 2)):
                self.assertEqual(file.ops(device).num_rows, count)
            self.assertEqual(sum(one.ops().num_rows for one in file.snapshots), 3)
            self.assertIn("ops of cuda:0: 2 rows of name, device", repr(file.ops("cuda")))
            kept = file.ops()
            for device in ("cuda:1", 7, "xpu:0", "nonsense"):
                with self.assertRaisesRegex(ValueError, "There is no device .* Devices: c"):
                    file.ops(device)
            for wrong in (-1, True, "", "a\0b"):
                with self.assertRaises(ValueError):
                    file.ops(wrong)
            with self.assertRaisesRegex(ValueError, "mode is one of thread, span"):
                file.ops(mode="pytorch")
        self.assertEqual(kept.num_rows, 3)
        with self.assertRaisesRegex(ValueError, "is closed"):
            file.ops()

    def test_of_what_is_no_trace(self):
        with gpustrata.open(SAMPLE) as file:
            for one in (file, file.snapshots[0]):
                with self.assertRaisesRegex(gpustrata.FileError, "names no ops") as caught:
                    one.ops()
                self.assertEqual(caught.exception.code, "unsupported")


class Sample(unittest.TestCase):
    """On a file of the project."""

    def setUp(self):
        self.file = gpustrata.open(SAMPLE)
        self.addCleanup(self.file.close)

    def test_what_was_promised(self):
        file = self.file
        self.assertEqual(file.devices, [0])
        self.assertEqual(file.format, "pickle")
        self.assertEqual(len(file.snapshots), 1)
        self.assertEqual(file.snapshots[0].events().to_pydict(), file.events().to_pydict())
        self.assertEqual(file.events().column_names[:6], ["action", "address", "size", "time_us", "stream", "stack"])
        self.assertEqual(file.summary()["snapshots"][0]["devices"][0]["events"], file.events(0).num_rows)
        self.assertIn("events of device 0: 3,168 rows", repr(file.events("cuda:0")))

    def test_a_stack_says_who(self):
        lives, stacks = rows(self.file.lives()), rows(self.file.stacks())
        largest = max(lives, key=lambda row: row["size"])
        self.assertIn(stacks[largest["stack"]]["who"].split(" ")[-1],
                      [frame["name"] for frame in stacks[largest["stack"]]["frames"]])

    def test_tables_outlive_the_file(self):
        events = self.file.events()
        before = events.to_pydict()
        self.file.close()
        self.assertEqual(events.to_pydict(), before)
        with self.assertRaisesRegex(ValueError, "is closed"):
            self.file.events()
        with self.assertRaisesRegex(ValueError, "is closed"):
            self.file.summary()
        self.file.close()

    def test_what_is_closed_leaves_no_memory_behind(self):
        # A table that kept what it reads from would leave half a megabyte a round, answers 800 KB.
        done = subprocess.run([sys.executable, "-c", textwrap.dedent("""
            import os, sys, gpustrata
            def taken(rounds):
                for _ in range(rounds):
                    with gpustrata.open(sys.argv[1]) as file:
                        file.events().to_pydict()
                        for _ in range(40):
                            file.state()
                with open("/proc/self/statm") as told:
                    return int(told.read().split()[1]) * os.sysconf("SC_PAGESIZE")
            before = taken(5)
            print(taken(20) - before)
        """), str(SAMPLE)], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(int(done.stdout), 4_000_000)

    def test_several_snapshots(self):
        one = pickle.loads(SAMPLE.read_bytes())
        other = snapshot([], [event("alloc", 4096, 10, frames=[])])
        with tempfile.TemporaryDirectory() as folder:
            path = write(Path(folder, "two.pickle"), {"1": one, "0": other})
            with gpustrata.open(path) as file:
                self.assertEqual([snapshot.name for snapshot in file.snapshots], ["1", "0"])
                self.assertEqual(file.events().num_rows, 3168)
                self.assertEqual(file.snapshots[1].events().to_pydict()["size"], [10])
                # By name, which looks like the number of the other.
                self.assertEqual(file.snapshots[1].state("end")["event"], 0)
                self.assertEqual([len(snapshot.summary()["snapshots"]) for snapshot in file.snapshots], [1, 1])
                self.assertEqual(file.snapshots[1].top()["tops"][0]["requested_bytes"], 10)
                self.assertEqual(len(file.summary()["snapshots"]), 2)
                grown = file.snapshots[1].compare(file.snapshots[0])
                self.assertEqual(grown, file.snapshots[1].compare(file))

    def test_nothing_is_copied_where_arrow_fits(self):
        def places(table):
            return {name: table.column(name).chunk(0).buffers()[1].address for name in ("address", "size", "time_us")}

        events = self.file.events()
        self.assertEqual(places(pyarrow.table(events)), places(pyarrow.table(events)))
        # Sizes and times lie packed in the engine; addresses are those of the file, whichever table shows them.
        self.assertEqual(places(pyarrow.table(events))["address"], places(pyarrow.table(self.file.events()))["address"])

    def test_duckdb_takes_them(self):
        events, stacks = self.file.events(), self.file.stacks()
        self.assertEqual(duckdb.sql("select sum(size) from events").fetchall()[0][0], sum(events.to_pydict()["size"]))
        self.assertEqual(len(duckdb.sql("select frames[1].name from stacks").fetchall()), stacks.num_rows)
