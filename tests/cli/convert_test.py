"""`gpustrata convert` against Python's own reading of the original."""
import csv
import gzip
import io
import json
import os
import pickle
import resource
import stat
from pathlib import Path

import viewer_rules
from support.folders import InAFolder, limited_to
from support.paths import CASES, SNAPSHOTS, case, needs_shared_data
from support.snapshots import event, frame
from support.tool import SUCCESS, TOOL, UNREADABLE, USAGE, run


def signed(number):
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# None in one of these is as good as no key; elsewhere it is data.
COLUMNS = set(
    "time_us compile_context user_metadata pool_id segment_pool_id frames is_expandable requested_size allocated_size "
    "active_size segment_type stream device".split()
)


class Expected:
    """What Python must find in the converted pickle: the original but for what io/writers/torch_snapshot.h says."""

    def __init__(self):
        self.stacks, self.frames = {}, {}  # by id of the original: a million events may share one

    def snapshot(self, value):
        if isinstance(value, list):
            value = {"segments": value}
        rows = ("segments", "device_traces", "host_segments", "host_traces")
        made = {k: self.data(v) for k, v in value.items() if k not in rows}
        made["segments"] = [self.segment(s) for s in value.get("segments") or []]
        traces = value.get("device_traces") or []
        made["device_traces"] = [[self.event(e) for e in trace] for trace in traces]
        highest = max((s["device"] for s in made["segments"]), default=-1)
        made["device_traces"] += [[] for _ in range(highest + 1 - len(traces))]
        made["external_annotations"] = value.get("external_annotations") or []
        if "host_segments" in value or "host_traces" in value:
            made["host_segments"] = [self.segment(s) for s in value.get("host_segments") or []]
            made["host_traces"] = [self.event(e) for e in value.get("host_traces") or []]
        return made

    def data(self, value):
        """Data without a column comes back without the difference of tuple and list."""
        if isinstance(value, (list, tuple)):
            return [self.data(v) for v in value]
        return {k: self.data(v) for k, v in value.items()} if isinstance(value, dict) else value

    @staticmethod
    def counts(key, value):
        return key not in ("frames", "blocks", "history") and (value is not None or key not in COLUMNS)

    def event(self, event):
        made = {k: self.data(v) for k, v in event.items() if self.counts(k, v)}
        place = "device_free" if event["action"] == "oom" else "addr"
        at = made.pop("addr", made.pop("device_free", 0))
        made[place] = signed(at)
        made.setdefault("stream", 0)
        made.setdefault("size", 0)
        self.common(event, made)
        return made

    def common(self, original, made):
        for key in ("pool_id", "segment_pool_id"):
            if key in made:
                made[key] = tuple(signed(n) for n in original[key])
        if original.get("frames") is not None:
            made["frames"] = self.stack(original["frames"])
        if "forward_frames" in made:
            made["forward_frames"] = "".join(original["forward_frames"])
        if isinstance(made.get("user_metadata"), dict):
            made["user_metadata"] = compact(original["user_metadata"])

    def stack(self, frames):
        known = self.stacks.get(id(frames))
        if known is None:
            known = self.stacks[id(frames)] = [self.frame(f) for f in frames]
        return known

    def frame(self, frame):
        known = self.frames.get(id(frame))
        if known is None:
            known = self.frames[id(frame)] = self.new_frame(frame)
        return known

    @staticmethod
    def new_frame(frame):
        line = frame["line"]
        made = {"name": frame.get("name") or "", "filename": frame.get("filename") or "", "line": -1 if line == 2**64 - 1 else line}
        fx = ("fx_node_op", "fx_node_name", "fx_node_target", "fx_original_trace")
        if any(key in frame for key in fx):
            made.update({key: frame.get(key) for key in fx})
        return made

    def segment(self, segment):
        made = {k: self.data(v) for k, v in segment.items() if self.counts(k, v)}
        made["address"] = signed(segment["address"])
        made["blocks"] = []
        made.setdefault("stream", 0)
        made.setdefault("device", 0)
        self.common(segment, made)
        at = segment["address"]
        for b in segment["blocks"]:
            made["blocks"].append(self.block(b, at))
            at += b["size"]
        return made

    def block(self, block, at):
        made = {k: self.data(v) for k, v in block.items() if self.counts(k, v)}
        made.pop("addr", None)
        made["address"] = signed(block.get("address", block.get("addr", at)))
        if block["state"] == "active_awaiting_free":
            made["state"] = "active_pending_free"
        if "frames" in block:
            made.setdefault("requested_size", block["size"])
        if block.get("history"):
            made["history"] = [
                {
                    "addr": signed(h["addr"]),
                    "real_size": h["real_size"],
                    **({"frames": self.stack(h["frames"])} if "frames" in h else {}),
                }
                for h in block["history"]
            ]
        self.common(block, made)
        return made


def with_joined_pieces(snapshot):
    """Pieces of forward_frames are cut anew: only their sum is kept."""
    owners = [e for trace in snapshot["device_traces"] for e in trace] + snapshot["segments"]
    owners += [b for s in snapshot["segments"] for b in s["blocks"]]
    for owner in owners:
        if isinstance(owner.get("forward_frames"), list):
            owner["forward_frames"] = "".join(owner["forward_frames"])
    return snapshot


def difference(got, wanted, path="", seen=None):
    """The first one, or None. Shared lists are compared once."""
    seen = {} if seen is None else seen
    if type(got) is not type(wanted):
        return f"{path}: {got!r:.200}, expected {wanted!r:.200}"
    if isinstance(got, (dict, list)):
        if seen.get((id(got), id(wanted))):
            return None
        seen[id(got), id(wanted)] = True
    if isinstance(got, dict):
        if got.keys() != wanted.keys():
            return f"{path}: keys {sorted(got)}, expected {sorted(wanted)}"
        return next(filter(None, (difference(got[k], wanted[k], f"{path}.{k}", seen) for k in got)), None)
    if isinstance(got, (list, tuple)):
        if len(got) != len(wanted):
            return f"{path}: {len(got)} entries, expected {len(wanted)}"
        return next(filter(None, (difference(a, b, f"{path}[{i}]", seen) for i, (a, b) in enumerate(zip(got, wanted)))), None)
    same = got == wanted or (got != got and wanted != wanted)
    return None if same else f"{path}: {got!r:.200}, expected {wanted!r:.200}"


def nth(i, **more):
    """The i-th of blocks side by side."""
    return event("alloc", 4096 + 512 * i, 512, **more)


class Convert(InAFolder):
    def test_a_device_that_no_snapshot_lists(self):
        # Its list of devices would be two thousand million lists long: 1 GiB was written before it was refused.
        for device in (2_000_000_000, 503_316_480, 1024):
            trace = {"traceEvents": [{"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 1, "args": {
                "Bytes": 512, "Addr": 4096, "Device Type": 1, "Device Id": device, "Total Allocated": 512}}]}
            path = self.file(trace, f"device{device}.json")
            for to in ("pickle", "json"):
                with self.subTest((device, to)):
                    done = run("convert", path, "--to", to, "-o", self.folder / "out", timeout=20)
                    self.assertEqual(done.returncode, UNREADABLE)
                    self.assertIn(f"the history of device {device} has no place in a snapshot".encode(), done.stderr)
                    self.assertFalse((self.folder / "out").exists())
        trace["traceEvents"][0]["args"]["Device Id"] = 1023
        done = run("convert", self.file(trace, "last.json"), "--to", "pickle", "-o", self.folder / "out")
        self.assertEqual(done.returncode, SUCCESS, done.stderr)
        self.assertEqual(len(pickle.loads((self.folder / "out").read_bytes())["device_traces"]), 1024)

    def file(self, content, name="in.pickle"):
        return super().file(content, name)

    def converted(self, path, *options, to="pickle"):
        result = run("convert", path, "-o", "-", "--to", to, *options)
        self.assertEqual(result.returncode, SUCCESS, (path, result.stderr[-2000:]))
        return result.stdout

    def check(self, path):
        """Writes the file anew; it obeys the rules and says what the original says."""
        data = self.converted(path)
        self.assertEqual(viewer_rules.encoding_problems(data), [], path)
        got = pickle.loads(data)
        self.assertEqual(viewer_rules.content_problems(got), [], path)
        wanted = Expected().snapshot(pickle.loads(Path(path).read_bytes()))
        self.assertIsNone(difference(with_joined_pieces(got), wanted), path)
        again = self.file(data, "again.pickle")
        self.assertEqual(self.converted(again), data, path)  # nothing is lost by a second conversion
        first, second = (json.loads(run("summary", "--json", p).stdout)["snapshots"] for p in (path, again))
        for snapshot in first:
            snapshot.pop("name", None)  # a snapshot alone in a wrapper loses it
        self.assertEqual(second, first, path)

    # Not what Python reads, or several, or made to be repaired: the writer's unit tests know them.
    ODD = {
        "wrapper_dict", "wrapper_list", "foreign_objects", "cyclic_memo", "incomplete_rows", "negative_size",
        "settings_of_another_type", "unknown_block_state", "frame_lines_and_names", "settings_not_finite",
        "lone_surrogates",
    }

    def test_golden_cases(self):
        compared = 0
        for folder in sorted(CASES.iterdir()):
            path = folder / "input.pickle"
            if folder.name in self.ODD:
                continue
            try:
                value = pickle.loads(path.read_bytes())
            except Exception:  # not for Python
                continue
            if isinstance(value, (dict, list)) and run("summary", path).returncode == SUCCESS:
                with self.subTest(folder.name):
                    self.check(path)
                    compared += 1
        self.assertGreater(compared, 35)

    @needs_shared_data
    def test_real_files(self):
        compared = 0
        for path in sorted(SNAPSHOTS.glob("*.pickle")):
            if run("summary", path).returncode == SUCCESS:
                with self.subTest(path.name):
                    self.check(path)
                    compared += 1
        self.assertGreaterEqual(compared, 40)

    def test_lists_longer_than_a_batch(self):
        for count in (1, 999, 1000, 1001, 2000, 2501):
            with self.subTest(count):
                shared = [frame(f"f{i}", line=i) for i in range(count)]
                mixed = shared[: count // 2] + [frame("new", line=count)] + shared[count // 2 :]
                events = [nth(i, frames=[shared[i % count]]) for i in range(count)]
                events += [nth(0, frames=shared), nth(1, frames=mixed), nth(2, frames=mixed)]
                blocks = [{"address": 512 * i, "size": 512, "requested_size": 1, "state": "inactive", "frames": []} for i in range(count)]
                segments = [{"device": 0, "address": 0, "total_size": 512 * count, "stream": 0, "blocks": blocks}]
                self.check(self.file({"segments": segments, "device_traces": [events], "external_annotations": []}))

    def test_shared_parts_stay_small(self):
        stack = [frame(f"function_{i}", i, f"/some/where/file_{i}.py") for i in range(40)]
        events = [nth(i, frames=stack, compile_context="N/A", user_metadata="", pool_id=(0, 1), time_us=10**15 + i)
                  for i in range(10_000)]
        data = self.converted(self.file({"segments": [], "device_traces": [events]}))
        self.assertLess(len(data), 10_000 * 60)
        got = pickle.loads(data)["device_traces"][0]
        self.assertIs(got[0]["frames"], got[-1]["frames"])
        self.assertIs(got[0]["pool_id"], got[-1]["pool_id"])

    def test_json_says_what_the_pickle_says(self):
        paths = [case(name) for name in ("era7_pool_ids_and_forward_frames", "high_addresses_python", "era1_history")]
        for path in paths + [SNAPSHOTS / "cs336_97_events.pickle"] * SNAPSHOTS.is_dir():
            with self.subTest(path.parent.name):
                unsigned = lambda pairs: {k: v % 2**64 if k in ("addr", "address", "pool_id") and isinstance(v, int) else v for k, v in pairs}
                from_pickle = json.loads(json.dumps(pickle.loads(self.converted(path))), object_pairs_hook=unsigned)
                self.assertIsNone(difference(json.loads(self.converted(path, to="json")), from_pickle))
                hexed = json.loads(self.converted(path, "--hex-addresses", to="json"))
                for trace, plain in zip(hexed["device_traces"], from_pickle["device_traces"]):
                    self.assertEqual([int(e["addr"], 16) for e in trace if "addr" in e], [e["addr"] for e in plain if "addr" in e])
                for s, plain in zip(hexed["segments"], from_pickle["segments"]):
                    self.assertEqual(int(s["address"], 16), plain["address"])

    def test_csv(self):
        value = {
            "segments": [
                {
                    "device": 1, "address": 2**63, "total_size": 1024, "stream": -5, "segment_type": "small", "segment_pool_id": (0, 7),
                    "is_expandable": False,
                    "blocks": [
                        {"address": 2**63, "size": 512, "requested_size": 500, "state": "active_allocated", "frames": [frame("f"), frame("g", 0, "b.py")]},
                        {"address": 2**63 + 512, "size": 512, "requested_size": 0, "state": "inactive", "frames": []},
                    ],
                }
            ],
            "device_traces": [
                [],
                [
                    nth(0, time_us=12, pool_id=(0, 0), compile_context="N/A", user_metadata='=cmd|"/C calc"!A0, and\nmore', frames=[frame("h<int, 2>")]),
                    {"action": "oom", "device_free": 99, "size": 1024, "stream": 3},
                ],
            ],
        }
        path = self.file(value)
        rows = list(csv.DictReader(io.StringIO(self.converted(path, to="csv").decode(), newline="")))
        self.assertEqual(
            rows[0],
            {
                "device": "1", "index": "0", "action": "alloc", "address": "0x1000", "device_free": "", "size": "512", "stream": "0",
                "time_us": "12", "pool": "0:0", "compile_context": "N/A", "user_metadata": '\'=cmd|"/C calc"!A0, and\nmore',
                "stack": rows[0]["stack"], "frames": "h<int, 2> (a.py:1)",
            },
        )
        self.assertEqual([rows[1][k] for k in ("index", "address", "device_free", "time_us", "pool", "stack", "frames")], ["1", "", "99", "", "", "", ""])
        blocks = list(csv.DictReader(io.StringIO(self.converted(path, "--table", "blocks", to="csv").decode(), newline="")))
        self.assertEqual(
            [b["address"] for b in blocks], [hex(2**63), hex(2**63 + 512)],
        )
        self.assertEqual(blocks[0]["frames"], "f (a.py:1); g (b.py)")
        self.assertEqual([blocks[0][k] for k in ("device", "segment_size", "segment_type", "is_expandable", "pool", "stream", "requested_size", "state")],
                         ["1", "1024", "small", "False", "0:7", "-5", "500", "active_allocated"])

    def test_several_snapshots(self):
        value = {f"rank{i}": {"segments": [], "device_traces": [[nth(i)]]} for i in range(3)}
        path = self.file(value)
        got = pickle.loads(self.converted(path))
        self.assertEqual(list(got), list(value))
        for choice in ("rank1", "1"):
            one = pickle.loads(self.converted(path, "--snapshot", choice))
            self.assertEqual(one["device_traces"], value["rank1"]["device_traces"])
        rows = list(csv.DictReader(io.StringIO(self.converted(path, to="csv").decode())))
        self.assertEqual([r["snapshot"] for r in rows], ["rank0", "rank1", "rank2"])
        wrong = run("convert", path, "-o", "-", "--to", "csv", "--snapshot", "rank9")
        self.assertEqual((wrong.returncode, wrong.stdout), (USAGE, b""))
        self.assertIn(b"rank0, rank1, rank2", wrong.stderr)
        listed = self.file(list(value.values()))
        self.assertIsInstance(pickle.loads(self.converted(listed)), list)

    def test_what_to_write_by_name_or_option(self):
        path = self.file({"segments": [], "device_traces": [[nth(0)]]})
        for name, check in (("o.pickle", pickle.loads), ("o.pkl", pickle.loads), ("o.json", json.loads), ("o.csv", lambda d: d.index(b"device,"))):
            result = run("convert", path, "-o", self.folder / name)
            self.assertEqual(result.returncode, SUCCESS)
            self.assertIn(b"1 event,", result.stdout)
            check((self.folder / name).read_bytes())
        for arguments in (["-o", self.folder / "o.txt"], ["-o", "-"], ["-o", self.folder / "o.json", "--table", "blocks"],
                          ["-o", self.folder / "o.csv", "--hex-addresses"], ["-o", self.folder / "x", "--to", "yaml"], []):
            result = run("convert", path, *arguments)
            self.assertEqual((result.returncode, result.stdout), (USAGE, b""), arguments)
            self.assertTrue(result.stderr.strip())

    def test_report_as_json(self):
        path = self.file({"segments": [], "device_traces": [[nth(0)]]})
        report = json.loads(run("convert", path, "-o", self.folder / "o.pickle", "--json").stdout)
        self.assertEqual(report["bytes"], (self.folder / "o.pickle").stat().st_size)
        self.assertEqual([report[k] for k in ("to", "snapshots", "events", "segments", "blocks", "diagnostics")], ["pickle", 1, 1, 0, 0, []])
        result = run("convert", "/nonexistent/file", "-o", self.folder / "o.pickle", "--json")
        self.assertEqual(result.returncode, UNREADABLE)
        self.assertEqual(json.loads(result.stdout)["error"]["code"], "unreadable")

    def test_a_small_bomb_is_refused_at_once(self):
        # 60,000 references to a frame whose name has 1 MB: 60 GB of text from 1.5 KB of gzip.
        bomb = {"segments": [], "device_traces": [[nth(0, frames=[frame("x" * (1 << 20))] * 60_000)]]}
        path = self.file(gzip.compress(pickle.dumps(bomb)), "bomb.pickle.gz")
        limited = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        if b"sanitize" in Path(TOOL).read_bytes():  # address sanitizer needs all addresses
            limited = None
        for to in ("csv", "json"):
            result = run("convert", path, "-o", self.folder / f"o.{to}", timeout=30, preexec_fn=limited)
            self.assertEqual((result.returncode, result.stdout), (UNREADABLE, b""))
            self.assertIn(b"this file would be longer than 1", result.stderr)
            self.assertFalse((self.folder / f"o.{to}").exists())
        self.assertLess(len(self.converted(path)), 2 << 20)

    def test_a_link_stays_and_what_it_leads_to_is_replaced(self):
        target, link = self.folder / "target.json", self.folder / "link.json"
        target.write_bytes(b"old")
        link.symlink_to(target)
        source = self.file({"segments": [], "device_traces": [[nth(0)]]})
        self.assertEqual(run("convert", source, "-o", link).returncode, SUCCESS)
        self.assertTrue(link.is_symlink())
        self.assertEqual(len(json.loads(target.read_bytes())["device_traces"][0]), 1)

    def test_the_old_file_survives_a_failure(self):
        out = self.folder / "o.pickle"
        out.write_bytes(b"old")
        for bad in (b"no snapshot", b"", pickle.dumps({"a": 1})):
            result = run("convert", self.file(bad), "-o", out)
            self.assertEqual(result.returncode, UNREADABLE)
            self.assertTrue(result.stderr.strip())
        self.assertEqual(out.read_bytes(), b"old")
        good = self.file({"segments": [], "device_traces": [[nth(i) for i in range(50_000)]]})
        result = run("convert", good, "-o", out, preexec_fn=limited_to(200_000))
        self.assertEqual(result.returncode, UNREADABLE)
        self.assertIn(b"File too large", result.stderr)
        self.assertEqual(out.read_bytes(), b"old")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["in.pickle", "o.pickle"])

    def test_places_that_cannot_be_written(self):
        path = self.file({"segments": [], "device_traces": [[nth(0)]]})
        for out in (self.folder / "no/such/folder.pickle", self.folder):
            result = run("convert", path, "-o", out, "--to", "pickle")
            self.assertEqual(result.returncode, UNREADABLE, out)
            self.assertIn(str(out).encode(), result.stderr)
        self.assertEqual(run("convert", path, "-o", "/dev/null", "--to", "pickle").returncode, SUCCESS)
        full = run("convert", path, "-o", "/dev/full", "--to", "json")
        self.assertEqual(full.returncode, UNREADABLE)
        self.assertIn(b"No space left", full.stderr)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_mode_of_an_existing_file_stays(self):
        path, out = self.file({"segments": [], "device_traces": [[nth(0)]]}), self.folder / "o.pickle"
        out.write_bytes(b"")
        out.chmod(0o600)
        run("convert", path, "-o", out)
        self.assertEqual(out.stat().st_mode & 0o777, 0o600)

    def test_damage_is_told(self):
        data = pickle.dumps({"segments": [], "device_traces": [[nth(i) for i in range(100)]]})
        result = run("convert", self.file(data[: len(data) // 2]), "-o", self.folder / "o.pickle")
        self.assertEqual(result.returncode, SUCCESS)
        self.assertIn(b"too early", result.stdout)
