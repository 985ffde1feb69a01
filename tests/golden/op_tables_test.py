"""`gpustrata ops --json` against reference_ops.py, number by number: worked examples, made-up traces with overlapping ops,
ties, odd times and several devices, the same damaged by text that is not JSON, and the real traces."""
import gzip
import json
import random
from decimal import Decimal

import pytest
import reference_ops
from support.paths import TRACES, needs_shared_data
from support.tool import SUCCESS, answers, out_of, run

REAL = sorted(path for path in TRACES.glob("*.gz") if "timeline" not in path.name)


def ops(path, *options):
    done = run("ops", "--json", *options, path)
    lines = done.stdout.decode().splitlines()
    if done.returncode != SUCCESS or len(lines) != 1:
        return {"error": f"exit code {done.returncode}: {done.stdout[-500:]!r} {done.stderr[-500:]!r}"}
    return json.loads(lines[0])


@pytest.fixture
def problems():
    """What differs; the test fails with all of it at its end."""
    found = []
    yield found
    assert found == []


def differences(got, wanted):
    """The lines in which an answer differs."""
    if "devices" not in got:
        return [str(got)[:500]]
    names = [d["device"] for d in got["devices"]]
    keys = [(o["device"], o["name"]) for o in got["ops"]]
    found = []
    if len(set(names)) != len(names) or len(set(keys)) != len(keys):
        found.append("a device or an op is listed twice")
    have = {f"device {d['device']}": {k: v for k, v in d.items() if k != "device"} for d in got["devices"]}
    have |= {f"op {o['device']} {o['name']}": {k: v for k, v in o.items() if k not in ("device", "name")}
             for o in got["ops"]}
    want = {f"device {name}": row for name, row in wanted["devices"].items()}
    want |= {f"op {device} {name}": row for (device, name), row in wanted["ops"].items()}
    for line in sorted(have.keys() | want.keys()):
        if have.get(line) != want.get(line):
            found.append(f"{line}: {have.get(line)}, expected {want.get(line)}")
    return found


def process(where):
    return where[0]


def check(path, events, problems, name, with_spans=True):
    for problem in differences(ops(path), reference_ops.table(events)):
        problems.append(f"{name}: {problem}")
    if with_spans:
        for problem in differences(ops(path, "--mode", "span"), reference_ops.table(events, process)):
            problems.append(f"{name}, by process: {problem}")


# ---------------------------------------------------------------------------------------------------------------------

def op(name, start, end, tid=100, cat="cpu_op"):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": end - start}


def memory(t, size, total, address, tid=100, index=0):
    return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": tid, "ts": t,
            "args": {"Total Reserved": 1 << 21, "Total Allocated": total, "Bytes": size, "Addr": address,
                     "Device Id": 0, "Device Type": 1, "Ev Idx": index}}


A, B, D, OLDER = 0x7F0000000000, 0x7F0000010000, 0x7F0000020000, 0x7E0000000000
EXAMPLE = [
    op("train", 0, 100, cat="user_annotation"), op("aten::linear", 10, 40), op("aten::empty", 12, 14),
    op("aten::addmm", 15, 35), op("aten::relu", 50, 60),
    memory(13, 4096, 104448, A), memory(20, 8192, 112640, B), memory(30, -8192, 104448, B),
    memory(38, -2048, 102400, OLDER), memory(52, 6144, 108544, D), memory(70, -4096, 104448, A)]
# net, self, gross, peak, abs_peak; at_peak: A and B are alive at 112640. freed; at_return: A is freed inside of train and
# after linear, B inside of addmm, D not at all.
NUMBERS = {"train": (4096, -4096, 18432, 12288, 112640, 12288, 14336, 6144),
           "aten::linear": (2048, -2048, 12288, 12288, 112640, 12288, 10240, 4096),
           "aten::empty": (4096, 4096, 4096, 4096, 104448, 4096, 0, 4096),
           "aten::addmm": (0, 0, 8192, 8192, 112640, 8192, 8192, 0),
           "aten::relu": (6144, 6144, 6144, 6144, 108544, 0, 0, 6144)}


def numbers_of(answer):
    return {o["name"]: (o["net"], o["self"], o["gross"], o["peak"], o["abs_peak"], o["at_peak"], o["freed"],
                        o["at_return"])
            for o in answer.get("ops", [])}


def test_worked_examples(tmp_path, problems):
    def same(what, got, wanted):
        if got != wanted:
            problems.append(f"{what}: {got}, expected {wanted}")

    path = tmp_path / "a.json"
    path.write_text(json.dumps({"traceEvents": EXAMPLE}))
    answer = ops(path)
    same("example A", numbers_of(answer), NUMBERS)
    same("example A, device", answer["devices"], [{
        "device": "cuda:0", "records": 6, "allocs": 3, "frees": 3, "base_bytes": 100352, "peak_bytes": 112640,
        "net_bytes": 4096, "unowned_bytes": 0}])
    pytorch = {r["name"]: (r["device_memory_usage"], r["self_device_memory_usage"])
               for r in ops(path, "--mode", "pytorch")["ops"]}
    same("example A as PyTorch", pytorch, {name: row[:2] for name, row in NUMBERS.items()})

    # A second thread: PyTorch counts its 1024 bytes for whatever runs on the first one as well.
    totals = iter([104448, 112640, 113664, 105472, 103424, 109568, 105472])
    second = []
    for event in EXAMPLE + [op("aten::to", 24, 26, tid=200), memory(25, 1024, 0, 0x7F0000030000, tid=200)]:
        second.append(json.loads(json.dumps(event)))
    for event in sorted((e for e in second if e["ph"] == "i"), key=lambda e: e["ts"]):
        event["args"]["Total Allocated"] = next(totals)
    path.write_text(json.dumps(second))  # a bare list as well
    rows = numbers_of(ops(path))
    same("example A2, addmm", rows["aten::addmm"], (0, 0, 8192, 8192, 113664, 8192, 8192, 0))
    same("example A2, to", rows["aten::to"][:2], (1024, 1024))
    same("example A2, sum of self", sum(row[1] for row in rows.values()), 5120)
    pytorch = {r["name"]: (r["device_memory_usage"], r["self_device_memory_usage"])
               for r in ops(path, "--mode", "pytorch")["ops"]}
    same("example A2 as PyTorch", pytorch, {
        "train": (5120, -4096), "aten::linear": (3072, -2048), "aten::empty": (4096, 4096),
        "aten::addmm": (1024, 1024), "aten::relu": (6144, 6144), "aten::to": (1024, 1024)})

    path.write_text("""{"schemaVersion":1,"deviceProperties":[],"displayTimeUnit":"ms","baseTimeNanoseconds":1700000000000000000,
 "traceEvents":[
 {"ph":"M","name":"process_name","ts":0.000,"pid":7,"tid":0,"args":{"name":"python"}},
 {"ph":"X","cat":"cpu_op","name":"aten::empty","pid":7,"tid":7,"ts":10.000,"dur":2.500,"args":{"External id":1,"Ev Idx":0}},
 {"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":7,"tid":7,"ts":11.250,
  "args":{"Total Reserved":2097152,"Total Allocated":1536,"Bytes":512,"Addr":140234567890432,"Device Id":0,"Device Type":1,"Ev Idx":3}},
 {"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":7,"tid":7,"ts":40.000,
  "args":{"Total Reserved":2097152,"Total Allocated":1024,"Bytes":-512,"Addr":140234567890432,"Device Id":0,"Device Type":1,"Ev Idx":4}},
 {"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":50.000}],
 "traceName":"t.json"}""")
    answer = ops(path)
    same("example f.4", (answer["devices"][0]["base_bytes"], answer["devices"][0]["peak_bytes"],
                         answer["devices"][0]["unowned_bytes"], numbers_of(answer)),
         (1024, 1536, -512, {"aten::empty": (512, 512, 512, 512, 1536, 512, 0, 512)}))
    same("example f.4, findings", answer["diagnostics"], [])
    same("example f.4 as PyTorch", {r["name"]: (r["device_memory_usage"], r["self_device_memory_usage"])
                                    for r in ops(path, "--mode", "pytorch")["ops"]},
         {"aten::empty": (512, 512), "[memory]": (-512, -512)})
    device = answers("summary", path)[0]["snapshots"][0]["devices"][0]
    same("example f.4, summary", (device["initial_requested_bytes"], device["peak"], device["first_time_us"]),
         (1024, {"requested_bytes": 1536, "event": 0}, 1700000000000011))


def test_the_table_of_the_issue(tmp_path, problems):
    """Section a.8: the table of the seed. What its rows and its footer add up to."""
    kib = 1024
    selves = [-2.0, -1.5, -1.0, -770.0, -2.5, -1.0, -2.5, -2.5, -1.0, -2.5]  # KiB
    taken = 3285649920  # shown as 3.06 GB
    events, t, level = [op("aten::empty", 0, 10), memory(5, taken, taken, A)], 20, taken
    for i, size in enumerate(selves):
        level += int(size * kib)
        events += [op(f"row{i}", t, t + 10), memory(t + 5, int(size * kib), level, OLDER + (i << 21))]
        t += 20
    path = tmp_path / "b.json"
    path.write_text(json.dumps({"traceEvents": events}))
    for mode, key in (("pytorch", "self_device_memory_usage"), ("thread", "self")):
        rows = {r["name"]: r[key] for r in ops(path, "--mode", mode)["ops"]}
        freed = sum(size for name, size in rows.items() if name != "aten::empty")
        if (rows["aten::empty"], freed, freed / kib) != (taken, -805376, -786.5):
            problems.append(f"example B, selfs in mode {mode}: {rows}")
    shown = out_of("ops", "--mode", "pytorch", "--wide", path)
    for size in ("3.06 GB", "-770.00 KB", "-2.50 KB"):
        if size not in shown:
            problems.append(f"example B: {size} is not in {shown}")
    # The footer counts every allocation once for each op around it: nine of them make 26.69 GiB of less than 3.
    size = 28655543808 // 9
    events = [op(f"level{i}", i, 100 - i) for i in range(9)] + [memory(50, size, size, A)]
    path.write_text(json.dumps({"traceEvents": events}))
    for mode, key in (("pytorch", "device_memory_usage"), ("thread", "net")):
        answer = ops(path, "--mode", mode)
        if sum(r[key] for r in answer["ops"]) != 28655543808:
            problems.append(f"example B, footer in mode {mode}: {answer}")
    if answer["devices"][0]["net_bytes"] != size or sum(r["self"] for r in answer["ops"]) != size:
        problems.append(f"example B, what was taken: {answer}")


def made_up(rng):
    """Events of a trace; times on a small grid, so that much happens at once."""
    threads = [(rng.choice([1, 1, 2]), rng.choice([10, 11, "12", "main"])) for _ in range(rng.randint(1, 3))]
    names = ["aten::empty", "aten::mm", "ProfilerStep#3", "## forward ##", "\u00fc\"\\\n"]
    whole = rng.random() < 0.3

    def time(most=40):
        t = rng.randint(0, most)
        return t if whole else Decimal(t) / rng.choice([1, 2, 8])

    events = []
    for _ in range(rng.randint(0, 40)):
        pid, tid = rng.choice(threads)
        e = {"ph": rng.choice(["X"] * 8 + ["B", "s"]), "cat": rng.choice(["cpu_op", "cpu_op", "user_annotation", "Operator", "kernel",
                                                  "python_function", "cuda_runtime", "odd"]),
             "name": rng.choice(names), "pid": pid, "tid": tid, "ts": time(), "dur": time(20)}
        if rng.random() < 0.05:
            e["dur"] = -e["dur"]
        if rng.random() < 0.05:
            del e[rng.choice(["dur", "ts", "cat"])]
        if rng.random() < 0.1:
            e["ts"] = -e["ts"] if "ts" in e else 0
        if rng.random() < 0.2:
            e["args"] = {"Input Dims": [[2, 3], [], [rng.randint(0, 3)]], "Concrete Inputs": ["", "[1, {\"a\": 2}]"],
                         "Call stack": "a.py(3): f;b.py(7): <module>"}
        events.append(e)
    level = {}
    with_totals, with_addresses, with_index = rng.random() < 0.8, rng.random() < 0.8, rng.random() < 0.8
    records = []
    for i in range(rng.randint(0, 40)):
        pid, tid = rng.choice(threads)
        device = rng.choice([(0, -1), (1, 0), (1, 0), (1, 1), (6, 0), (99, 2)])
        size = rng.choice([1, 512, 512, 1024, 1 << 40]) * rng.choice([1, -1])
        if rng.random() < 0.02:
            size = 0
        args = {"Bytes": size, "Device Type": device[0], "Device Id": device[1]}
        if with_addresses:
            args["Addr"] = rng.choice([0, 1 << 57, (1 << 64) - 1, rng.randint(1, 6) << 9])
        if with_index:
            args["Ev Idx"] = rng.randint(0, 50)
        records.append((device, {"ph": rng.choice("iI"), "name": "[memory]", "pid": pid, "tid": tid, "ts": time(60),
                                 "args": args}))
    for device, e in records:
        level[device] = level.get(device, rng.randint(0, 1 << 41)) + e["args"]["Bytes"]
        if with_totals and rng.random() < 0.9 and level[device] >= 0:
            e["args"]["Total Allocated"] = level[device]
            e["args"]["Total Reserved"] = 1 << 42
        events.append(e)
    if rng.random() < 0.3:
        events.append({"ph": "i", "name": "[OutOfMemory]", "pid": 1, "tid": 10, "ts": time(),
                       "args": {"Bytes": 1 << 33, "Device Type": 1, "Device Id": 0}})
    rng.shuffle(events)
    if rng.random() < 0.5:  # keys in any order
        events = [dict(rng.sample(list(e.items()), len(e))) for e in events]
    return events


def text_of(value):
    """JSON with the digits that a Decimal has."""
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {text_of(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(text_of, value)) + "]"
    return json.dumps(value)


def test_random_traces(tmp_path, problems):
    rng = random.Random(20261122)
    path = tmp_path / "random.json"
    for case in range(150):
        events = made_up(rng)
        body = (",\n  " if rng.random() < 0.5 else ",").join(map(text_of, events))
        text = f"[{body}]" if events and rng.random() < 0.3 else f'{{"schemaVersion": 1, "traceEvents": [{body}], "traceName": "x"}}'
        path.write_text(text)
        check(path, events, problems, f"random trace {case}")


# What real writers and killed runs leave in a trace; none of it is an event.
ODD = ['{"ph": "X", "cat": "cpu_op", "name": "half', "nonsense", "{]", '{"ph": "X" "ts": 3}', "17", '{"a": [[[', "\x00\x01",
       '{"ph": "X", "cat": "cpu_op", "name": "no time", "pid": 1, "tid": 10, "ts": NaN, "dur": 3}', "{}",
       '{"ph": "Q", "name": "unknown"}']


def test_damaged_traces(tmp_path, problems):
    rng = random.Random(7)
    path = tmp_path / "damaged.json"
    for case in range(80):
        events = made_up(rng)
        texts = [text_of(e) for e in events]
        for _ in range(rng.randint(0, 3)):
            texts.insert(rng.randint(0, len(texts)), rng.choice(ODD))
        if not texts or not texts[-1].endswith("}"):
            texts.append("{}")
        path.write_text('{"traceEvents": [\n  ' + ",\n  ".join(texts) + '\n], "x": 1}')
        # An event in front of text that is no JSON, or behind it, is there.
        check(path, events, problems, f"damaged trace {case}")
    for case in range(40):
        events = made_up(rng)
        texts = [text_of(e) for e in events]
        whole = rng.randint(0, len(events))
        text = '{"traceEvents": [\n  ' + "".join(t + ",\n  " for t in texts[:whole])
        if whole < len(texts):
            text += texts[whole][:rng.randint(0, len(texts[whole]) - 1)]
        path.write_bytes(gzip.compress(text.encode()) if case % 2 else text.encode())
        check(path, events[:whole], problems, f"cut trace {case}")
    quoted = [op("before", 0, 10), memory(5, 512, 512, A), op("after", 20, 30), memory(25, 512, 1024, B)]
    named = json.dumps(op("NAME", 11, 19)).replace("NAME", 'generated {"device": "cpu", "n": "2"} kernel')
    path.write_text('{"traceEvents": [' + ", ".join([*map(json.dumps, quoted[:2]), named, *map(json.dumps, quoted[2:])]) + "]}")
    answer = ops(path)
    want = reference_ops.table(quoted)
    for problem in differences(answer, want):
        problems.append(f"quotes in a name: {problem}")
    counts = {d["name"]: d["count"] for d in answer.get("diagnostics", [])}
    if counts != {"invalid_json": 1}:
        problems.append(f"quotes in a name: findings {counts}")
    duplicate = '{"ph": "X", "cat": "cpu_op", "name": "x", "name": "y", "pid": 1, "tid": 100, "ts": 0, "dur": 10,}'
    path.write_text('{"traceEvents": [' + duplicate + "," + json.dumps(memory(5, 512, 512, A)) + ",]}")
    answer = ops(path)
    counts = {d["name"]: d["count"] for d in answer.get("diagnostics", [])}
    if [o["name"] for o in answer.get("ops", [])] != ["y"] or counts != {"duplicate_key": 1, "odd_items": 1, "extra_commas": 1}:
        problems.append(f"a key twice, commas too many: {answer}")
    # One comma stands between two things and none before an end: 1 + 2 + 3 too many.
    path.write_text('{,"x": 1, "traceEvents": [' + json.dumps(op("x", 0, 10)) + ",,," + json.dumps(memory(5, 512, 512, A))
                    + ",,,]}")
    counts = {d["name"]: d["count"] for d in ops(path).get("diagnostics", [])}
    if counts != {"extra_commas": 6}:
        problems.append(f"commas too many: {counts}")
    # Sums beyond 64 bits are cut there, which is told: of x net, gross, peak, at_peak and at_return, of the device net and peak.
    big = (1 << 63) - 1
    path.write_text(json.dumps({"traceEvents": [op("x", 0, 10), memory(1, big, None, A), memory(2, big, None, B),
                                                memory(3, 1 << 64, None, D), memory(4, -big, None, A)]}))
    answer = ops(path)
    row = (answer.get("ops") or [{}])[0]
    if (row.get("net"), row.get("gross"), row.get("peak")) != (big, big, big):
        problems.append(f"sums beyond 64 bits: {answer}")
    counts = {d["name"]: d["count"] for d in answer.get("diagnostics", [])}
    if counts.get("sums_cut", 0) == 0:
        problems.append(f"sums beyond 64 bits are not told: {counts}")
    path.write_text('{"traceEvents": [' + json.dumps(op("x", 0, 10)) + "]}")
    counts = {d["name"]: d["text"] for d in ops(path).get("diagnostics", [])}
    if "profile_memory=True" not in counts.get("no_memory_records", ""):
        problems.append(f"a trace without memory records: {counts}")


@needs_shared_data
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_real_trace(path, problems):
    events = json.loads(gzip.decompress(path.read_bytes()), parse_float=Decimal)["traceEvents"]
    check(path, events, problems, path.name)
    assert [found for found in ops(path)["diagnostics"] if found["severity"] == "error"] == []
