"""The answers of engine/fleet/*.sql worked out again, row by row, from the definitions of its README.

answers(lines, groups) -> {query: [row as a tuple in the query's columns]}. A line is a dict of facts; its id is its index.
"""
from collections import defaultdict
from statistics import median

MIB = 1 << 20


def nulls_first(*values):
    return tuple((value is not None, value if value is not None else 0) for value in values)


def by(rows, key):
    groups = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def names_of(line):
    return nulls_first(*(line[key] for key in ("run", "rank", "host", "file", "snapshot", "device")))


class Fleet:
    def __init__(self, lines, groups):
        self.lines = [{**line, "id": i} for i, line in enumerate(lines)]
        given = {g["kind"] for g in groups}
        self.groups = [*groups, *({"run": line["run"], "rank": line["rank"], **g} for line in lines
                                  for g in line.get("groups", ()) if line["rank"] is not None and g["kind"] not in given)]
        self.who = {s["stack"]: s["who"] for line in lines for s in line["stacks"]}
        kept = []
        for (_, rank, _), rows in by(self.lines, lambda r: (r["run"], r["rank"], r["device"])).items():
            order = sorted(rows, key=lambda r: (bool(r["damaged"]), names_of(r), *self.last_resort(r)))
            kept += order if rank is None else order[:1]
        self.facts = sorted(kept, key=lambda r: (names_of(r), *self.last_resort(r)))
        for place, row in enumerate(self.facts):
            row["place"] = place
        self.runs = dict(sorted(by(self.facts, lambda r: r["run"]).items()))

    @staticmethod
    def last_resort(row):
        def descending(value):
            return (value is None, -(value or 0))

        return (descending(row["events"]), descending(row["input_bytes"]),
                *nulls_first(row["first_us"], row["peak_requested"], row["end_requested"]), row["id"])

    def coverage(self):
        for run, rows in self.runs.items():
            read = [line for line in self.lines if line["run"] == run]
            ranks = {r["rank"] for r in rows} - {None}
            yield (run, len(rows), len(ranks), min(ranks, default=None), max(ranks, default=None),
                   max((r["world_size"] for r in read if r["world_size"] is not None), default=None),
                   len(read) - len(rows), sum(r["rank"] is None for r in rows), sum(bool(r["damaged"]) for r in rows),
                   sum(r["first_us"] is None for r in rows),
                   min((r["first_us"] for r in rows if r["first_us"] is not None), default=None),
                   max((r["last_us"] for r in rows if r["last_us"] is not None), default=None))

    def missing(self):
        for run, _, _, _, highest, world, *_ in self.coverage():
            if highest is None:
                continue
            there = {r["rank"] for r in self.runs[run]}
            gap = []
            for rank in range(max(highest + 1, world or 0) + 1):
                if rank in there or rank == max(highest + 1, world or 0):
                    if gap:
                        yield (run, gap[0], gap[-1])
                    gap = []
                else:
                    gap.append(rank)

    def stage_of(self, row):
        for run in (row["run"], ""):
            names = [g["name"] for g in self.groups if g["kind"] == "pp" and g["run"] == run and g["rank"] == row["rank"]]
            if names:
                return min(names)
        return ""

    def far(self, fact, least):
        """(row, median, mad, score, peers) of all rows."""
        known = [r for r in self.facts if r[fact] is not None and not r["damaged"]]
        for peers in by(known, lambda r: (r["run"], self.stage_of(r))).values():
            if len(peers) < 4:
                continue
            middle = median(float(r[fact]) for r in peers)
            mad = median(abs(float(r[fact]) - middle) for r in peers)
            scale = max(1.4826 * mad, 0.01 * middle, least)
            for row in peers:
                yield row, middle, mad, (float(row[fact]) - middle) / scale, len(peers)

    def outliers(self):
        found = [(fact, *one) for fact in ("peak_requested", "peak_reserved", "end_requested", "start_requested")
                 for one in self.far(fact, float(MIB)) if abs(one[3]) >= 6]
        for fact, row, middle, mad, score, peers in sorted(found, key=lambda f: (-abs(f[4]), f[0], f[1]["place"])):
            yield (fact, row["id"], row["run"], row["rank"], row["device"], row[fact], middle, mad, score, peers)

    def stragglers(self):
        found = [one for one in self.far("fragmentation", 0.01) if one[3] >= 6]
        for row, middle, mad, score, _ in sorted(found, key=lambda f: (-f[3], f[0]["place"])):
            yield (row["id"], row["run"], row["rank"], row["device"], row["fragmentation"], row["held_back"], middle, mad,
                   score)

    def out_first(self):
        """(run, its first row out of memory, the rows it is compared with, how many ran out, whether of its stage)"""
        for run, rows in self.runs.items():
            out = [r for r in rows if (r["ooms"] or 0) > 0]
            if out:
                first = min(out, key=lambda r: (r["oom_us"] is None, r["oom_us"] or 0, r["place"]))
                stage = self.stage_of(first)
                whole = [r for r in rows if r is not first and not r["damaged"]]
                same = [r for r in whole if self.stage_of(r) == stage]
                others = same or whole
                compared = [r for r in others if r not in out] or others
                yield run, first, compared, len(out), int(bool(stage and same))

    def first_oom(self):
        for run, row, others, count, in_stage in self.out_first():
            peaks = [float(r["peak_requested"]) for r in others if r["peak_requested"] is not None]
            yield (run, row["id"], row["rank"], row["device"], row["oom_us"], row["oom_requested"], row["oom_device_free"],
                   row["oom_stack"], self.who.get(row["oom_stack"]), None if row["damaged"] else row["peak_requested"],
                   median(peaks) if peaks else None, count, in_stage)

    @staticmethod
    def held(row):
        sums = defaultdict(float)
        for one in row["peak_stacks"]:
            if one["stack"] is not None:
                sums[one["stack"]] += one["requested"]
        return sums

    def first_oom_stacks(self):
        for run, row, others, *_ in self.out_first():
            if row["damaged"]:
                continue
            theirs = [self.held(r) for r in others]
            found = []
            for stack, requested in self.held(row).items():
                middle = float(median([one.get(stack, 0.0) for one in theirs] or [0.0]))
                found.append((run, row["id"], stack, self.who.get(stack), requested, middle, requested - middle))
            yield from sorted(found, key=lambda f: (-f[6], f[2]))

    def stack_shares(self):
        found = []
        for run, rows in self.runs.items():
            peaks = float(sum(r["peak_requested"] or 0 for r in rows))
            stacks = defaultdict(list)
            for row in rows:
                for stack, requested in self.held(row).items():
                    stacks[stack].append((requested, row))
            for stack, having in stacks.items():
                total = sum(requested for requested, _ in having)
                most, row = min(having, key=lambda h: (-h[0], h[1]["place"]))
                found.append((run, stack, self.who.get(stack), len(having), total, total / peaks if peaks else None,
                              median(requested for requested, _ in having), most, row["id"]))
        return sorted(found, key=lambda f: (-f[4], f[0], f[1]))

    def drift_steps(self):
        found = []
        for row in self.facts:
            steps = sorted((s for s in row["steps"] if s["peak_requested"] is not None), key=lambda s: s["step"])
            peaks = [float(s["peak_requested"]) for s in steps]
            third = len(peaks) // 3
            if len(peaks) < 6:
                continue
            first, last = median(peaks[:third]), median(peaks[-third:])
            if abs(last - first) >= MIB and abs(last - first) >= 0.01 * first:
                found.append((row["place"], row["id"], row["run"], row["rank"], row["device"], len(peaks), first, last,
                              last - first, (last - first) / first if first > 0 else None))
        return [f[1:] for f in sorted(found, key=lambda f: (-abs(f[8]), f[0]))]

    def drift_runs(self):
        def start(run):
            return nulls_first(min((r["first_us"] for r in self.runs[run] if r["first_us"] is not None), default=None), run)

        order = sorted(self.runs, key=start)
        for before, run in zip(order, order[1:]):
            earlier = {(r["rank"], r["device"]): r for r in self.runs[before] if r["rank"] is not None}
            pairs = [(r, earlier[r["rank"], r["device"]]) for r in self.runs[run] if (r["rank"], r["device"]) in earlier]
            pairs = [(r, float(r["peak_requested"]), float(e["peak_requested"])) for r, e in pairs
                     if r["peak_requested"] is not None and e["peak_requested"] is not None and not (r["damaged"] or e["damaged"])]
            if not pairs:
                continue
            drift = median(now - then for _, now, then in pairs)
            middle = median(then for _, _, then in pairs)
            row, now, then = min(pairs, key=lambda p: (-abs(p[1] - p[2]), p[0]["place"]))
            yield (run, before, len(pairs), median(now for _, now, _ in pairs), middle, drift,
                   drift / middle if middle > 0 else None, now - then, row["id"])

    def leaks(self):
        found = []
        for run, rows in self.runs.items():
            stacks = defaultdict(list)
            for row in rows:
                for leak in row["leak_stacks"]:
                    if leak["stack"] is not None:
                        stacks[leak["stack"]].append((leak, row))
            for stack, leaking in stacks.items():
                leak, row = min(leaking, key=lambda one: (-one[0]["live_bytes"], -one[0]["bytes_per_step"], one[1]["place"]))
                found.append((run, stack, self.who.get(stack), len({row["id"] for _, row in leaking}), len(rows),
                              float(sum(one["live_bytes"] for one, _ in leaking)), float(leak["live_bytes"]),
                              float(leak["bytes_per_step"]), row["id"]))
        return sorted(found, key=lambda f: (-f[5], f[0], f[1]))

    def of_groups(self):
        found = []
        for run, rows in self.runs.items():
            named = {(g["kind"], g["name"]) for g in self.groups if g["run"] in ("", run)}
            for kind, name in named:
                ranks = {g["rank"] for g in self.groups if (g["kind"], g["name"]) == (kind, name) and g["run"] in ("", run)}
                members = [r for r in rows if r["rank"] in ranks]
                if not members:
                    continue
                peak_of = {r["id"]: None if r["damaged"] else r["peak_requested"] for r in members}
                peaks = [float(peak) for peak in peak_of.values() if peak is not None]
                most = min(members, key=lambda r: (peak_of[r["id"]] is None, -(peak_of[r["id"]] or 0), r["place"]))
                found.append((run, kind, name, len(members), median(peaks) if peaks else None, min(peaks, default=None),
                              max(peaks, default=None), most["id"], sum((r["ooms"] or 0) > 0 for r in members)))
        return sorted(found, key=lambda f: (f[0], f[1], len(f[2]), f[2]))


def answers(lines, groups):
    fleet = Fleet(lines, groups)
    queries = {name: getattr(fleet, name) for name in (
        "coverage", "missing", "outliers", "first_oom", "first_oom_stacks", "stack_shares", "drift_steps", "drift_runs",
        "stragglers", "leaks")}
    queries["groups"] = fleet.of_groups
    found = {name: [tuple(row) for row in query()] for name, query in queries.items()}
    found["facts"] = [(row["id"], row["place"]) for row in fleet.facts]
    return found
