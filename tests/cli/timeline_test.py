"""`gpustrata summary` and `convert` of memory timelines against a second computation."""
import base64
import gzip
import json
import random

from support.folders import InAFolder
from support.paths import TRACES, needs_shared_data
from support.tool import run

CATEGORIES = "PARAMETER OPTIMIZER_STATE INPUT TEMPORARY ACTIVATION GRADIENT AUTOGRAD_DETAIL Unknown".split()

# The worked example: a parameter is there, an activation and a gradient come, the parameter is updated, the activation
# dies.
RAW = [
    [-1, 1, 4096, 0],
    [1000500, 2, 8192, 4],
    [2000999, 2, 4096, 5],
    [3000000, 3, -4096, 0],
    [3000000, 3, 4096, 0],
    [3000400, 4, -8192, 4],
]
PLOTTED = [
    [1000, 1000, 2000, 3000],
    [
        [0, 4096, 0, 0, 0, 0, 0, 0, 0],
        [0, 4096, 0, 0, 0, 8192, 0, 0, 0],
        [0, 4096, 0, 0, 0, 8192, 4096, 0, 0],
        [0, 4096, 0, 0, 0, 0, 4096, 0, 0],
    ],
]


def expected_of_raw(rows):
    levels, total, best = [0] * 8, 0, None
    real = [row[0] for row in rows if row[0] >= 0]
    for row in rows:
        levels[row[3]] += row[2]
        total += row[2]
        if best is None or total > best[0]:
            best = (total, row[0] if row[0] >= 0 else min(real), list(levels))
    return {
        "points": len(rows),
        "first_us": min(real) // 1000,
        "last_us": max(real) // 1000,
        "peak": {"bytes": best[0], "time_us": best[1] // 1000, "categories": dict(zip(CATEGORIES, best[2]))},
    }


def expected_of_plotted(times, sizes):
    totals = [sum(row) for row in sizes]
    best = totals.index(max(totals))
    return {
        "points": len(times),
        "first_us": times[0],
        "last_us": times[-1],
        "peak": {
            "bytes": totals[best],
            "time_us": times[best],
            "categories": dict(zip(CATEGORIES, sizes[best][1:])),
        },
    }


def plotted(rows):
    """What the exporter makes of raw rows, from its definition."""
    times, sizes, smallest = [], [], -1
    for time, _, size, category in rows:
        time = time if time == -1 else int(time / 1000)
        if smallest == -1 or 0 < time < smallest:
            smallest = time
        if not times:
            times.append(time)
            sizes.append([0] * 9)
        elif time != times[-1]:
            times.append(time)
            sizes.append(list(sizes[-1]))
        sizes[-1][category + 1] += size
    return [[smallest if time < 0 else time for time in times], sizes]


def random_rows(seed, count, step=5000):
    rng = random.Random(seed)
    rows, alive, time = [], [], 1_700_000_000_000_000_000
    for _ in range(rng.randrange(20)):
        alive.append((rng.randrange(1, 1 << 22), rng.randrange(8)))
        rows.append([-1, 1, *alive[-1]])
    for _ in range(count):
        time += rng.randrange(step)
        action = rng.choice([2, 2, 3, 4])
        if action == 2 or not alive:
            alive.append((rng.randrange(1, 1 << 22), rng.randrange(8)))
            rows.append([time, 2, *alive[-1]])
            continue
        size, category = alive.pop(rng.randrange(len(alive)))
        if action == 4:
            rows.append([time, 4, -size, category])
        else:
            alive.append((size, rng.randrange(8)))
            rows += [[time, 3, -size, category], [time, 3, size, alive[-1][1]]]
    return rows


class Timeline(InAFolder):
    def summary(self, path):
        ran = run("summary", path, "--json")
        return ran.returncode, json.loads(ran.stdout)

    def check(self, content, want, name="timeline.json"):
        code, got = self.summary(self.file(content, name))
        self.assertEqual(code, 0, got)
        timeline = {key: got["timeline"][key] for key in want}
        self.assertEqual(timeline, want)
        return got

    def test_worked_example(self):
        for content in (RAW, PLOTTED):
            want = expected_of_raw(RAW) if content is RAW else expected_of_plotted(*PLOTTED)
            self.assertEqual((want["peak"]["bytes"], want["peak"]["time_us"]), (16384, 2000))
            got = self.check(content, want)
            self.assertEqual(got["diagnostics"], [])
        self.assertEqual(plotted(RAW), PLOTTED)  # the second computation itself

    def test_packed_and_spaced(self):
        want = expected_of_raw(RAW)
        self.check(gzip.compress(json.dumps(RAW).encode()), want, "a.raw.json.gz")
        self.check(json.dumps(RAW, indent=3).encode(), want)
        self.check(json.dumps(PLOTTED, separators=(",", ":")).encode(), expected_of_plotted(*PLOTTED))

    def test_random(self):
        for seed in range(6):
            rows = random_rows(seed, 400)
            self.check(rows, expected_of_raw(rows))
            self.check(plotted(rows), expected_of_plotted(*plotted(rows)))

    def test_longer_than_any_list_of_values(self):
        rows = random_rows(42, 70_000, step=9000)
        self.check(rows, expected_of_raw(rows))
        times, sizes = plotted(rows)
        self.assertGreater(len(times), 65_536)
        self.check([times, sizes], expected_of_plotted(times, sizes))

    def test_raw_becomes_plotted(self):
        for rows in (RAW, random_rows(7, 500, 700)):
            out = self.folder / "out.json"
            self.assertEqual(run("convert", self.file(rows), "-o", out).returncode, 0)
            self.assertEqual(json.loads(out.read_text()), plotted(rows))
            again = self.folder / "again.json"
            self.assertEqual(run("convert", out, "-o", again).returncode, 0)
            self.assertEqual(again.read_bytes(), out.read_bytes())

    @needs_shared_data
    def test_real_file(self):
        real = TRACES / "hta_memory_timeline.raw.gz"
        rows = json.loads(gzip.decompress(real.read_bytes()))
        self.check(real.read_bytes(), expected_of_raw(rows), "real.gz")
        out = self.folder / "out.json"
        self.assertEqual(run("convert", real, "-o", out).returncode, 0)
        self.assertEqual(json.loads(out.read_text()), plotted(rows))

    def test_empty(self):
        code, got = self.summary(self.file(b"[[], []]"))
        self.assertEqual((code, got["timeline"]["points"], got["timeline"]["peak"]), (0, 0, None))
        # The other form of one without a row is nothing that tells what it is.
        code, got = self.summary(self.file(b"[]"))
        self.assertEqual(code, 2)
        self.assertIn("memory timeline of a run without memory events", got["error"]["message"])

    def test_points_as_a_table(self):
        out = self.folder / "out.csv"
        self.assertEqual(run("convert", self.file(RAW), "-o", out).returncode, 0)
        lines = out.read_text().splitlines()
        self.assertEqual(lines[0], "series,device,time,value,label,note")
        self.assertEqual(lines[1], "total,,1000500,4096,PARAMETER,PREEXISTING")
        self.assertEqual(len(lines), 1 + 2 * len(RAW))

    def counts(self, got):
        return {d["name"]: d["count"] for d in got["diagnostics"]}

    def test_bad_rows_are_counted(self):
        rows = [*RAW[:3], [1, 2, 3], ["x", 2, 8, 0], [2100000, 2, float("nan"), 0], [2200000, 2, 1 << 70, 0]]
        rows += [[2300000, 9, 16, 8], [2400000, 2, 32, [1, 2]], {"a": 1}]
        code, got = self.summary(self.file(json.dumps(rows).encode()))
        found = self.counts(got)
        self.assertEqual(code, 0)
        self.assertEqual(found["sample_incomplete"], 5)
        self.assertEqual((found["not_finite"], found["integer_out_of_range"]), (1, 1))
        self.assertEqual((found["unknown_category"], found["wrong_type"]), (1, 2))  # a time and an action
        self.assertEqual(found["damaged"], 1)
        self.assertEqual(got["timeline"]["points"], 4)

    def test_bad_columns_are_counted(self):
        times, sizes = PLOTTED
        code, got = self.summary(self.file([[*times, 4000, 5000], [*sizes[:2], [0, 1], *sizes[2:]]]))
        self.assertEqual(code, 0)
        self.assertEqual(self.counts(got), {"lists_differ": 1, "sample_incomplete": 1})

    def test_rows_out_of_order_are_sorted(self):
        rows = [RAW[0], RAW[2], RAW[1], *RAW[3:]]
        code, got = self.summary(self.file(rows))
        self.assertEqual(code, 0)
        self.assertEqual(got["timeline"]["peak"]["bytes"], 16384)
        self.assertIn("samples_out_of_order", self.counts(got))

    def test_what_mem_tracker_prints_is_refused_in_words(self):
        lines = "Device: cuda:0\n\tParameter: 4.0 MiB\n\tTotal: 4.25 MiB\n"
        rule, head, row = "======  =========  ========", "Device  Parameter  Total", "cuda:0  4.0 MiB    4.25 MiB"
        for text in (lines, "Module:  a\nPre-Forward\n# 1:\n" + lines, "\n".join([rule, head, rule, row, rule])):
            done = run("summary", self.file(text.encode(), "printed.txt"))
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn("This is what MemTracker prints for people", done.stderr.decode())

    def test_a_picture_says_what_can_be_had(self):
        picture = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(2000)).decode()
        page = "<html>\n<head><meta charset=\"utf-8\" /><title>GPU Memory Timeline HTML</title></head>\n<body>\n"
        page += f"  <img src='data:image/png;base64,{picture}'>\n</body>\n</html>"
        ran = run("summary", self.file(page.encode(), "timeline.html"))
        self.assertEqual(ran.returncode, 2)
        self.assertIn(b".raw.json.gz", ran.stderr)
