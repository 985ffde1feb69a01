"""Random programs in the notation of `gpustrata simulate`, for comparing allocators."""
import random

MIB = 1 << 20
SETTINGS = [
    "",
    "expandable_segments:True",
    "max_split_size_mb:64",
    "roundup_power2_divisions:4",
    "roundup_power2_divisions:[64:8,256:4,1024:2,>:1]",
    "garbage_collection_threshold:0.6",
    "expandable_segments:True,max_split_size_mb:32",
    "max_split_size_mb:40,garbage_collection_threshold:0.5",
    "expandable_segments:True,roundup_power2_divisions:8",
    "max_split_size_mb:32,max_non_split_rounding_mb:64",
]


def size(rng):
    kind = rng.random()
    if kind < 0.35:
        return rng.choice([1, 511, 512, 513, rng.randrange(1, 4096), rng.randrange(1, MIB)])
    if kind < 0.45:  # around the borders
        return rng.choice([MIB - 1, MIB, MIB + 1, 10 * MIB - 1, 10 * MIB, 10 * MIB + 1, 2 * MIB, 20 * MIB, 20 * MIB + 1])
    if kind < 0.85:
        return rng.randrange(MIB, 10 * MIB)
    if kind < 0.99:
        return rng.randrange(10 * MIB, 160 * MIB)
    return rng.randrange(160 * MIB, 2000 * MIB)


def script(seed, steps=400, settings=SETTINGS, pools=True, changes=False, by_stream=False,
           fractions=(0.25, 0.5, 0.75), routing_defers=True, order="address"):
    """The text; it follows from the arguments. What versions of PyTorch and this project are known to do differently is
    left out: the README of this folder lists it."""
    rng = random.Random(seed)
    conf = settings[seed % len(settings)]
    lines = [f"order {order}"] + ([] if routing_defers else ["bycapture"])
    lines += [f"conf {conf}"] if conf else []
    threshold = "garbage" in conf
    if threshold or rng.random() < 0.2:
        lines.append(f"fraction {rng.choice(fractions)}")
    streams = [0] * 6 + [1, 1, 2, 3]
    live, serial, open_pools, closed_pools, next_pool = [], 0, [], [], 1
    pages = "expandable" in conf
    pool_of = {}  # by block
    used = set()  # (block, stream) recorded outside of pools
    while len(lines) < steps:
        kind = rng.random()
        if kind < 0.5:
            name = f"b{serial}"
            serial += 1
            lines.append(f"m {name} {size(rng)} {rng.choice(streams)}")
            live.append(name)
            pool_of[name] = open_pools[-1] if open_pools else None
        elif kind < 0.87:
            if live:
                lines.append(f"f {live.pop(rng.randrange(len(live)) if rng.random() < 0.7 else -1)}")
        elif kind < 0.91:
            if live:
                name, stream = rng.choice(live), rng.choice(streams)
                if routing_defers and open_pools and (name, stream) in used:
                    continue
                used.add((name, stream))
                lines.append(f"rs {name} {stream}")
        elif kind < 0.945:
            lines.append(f"done {rng.choice([0, 1, 2, 3])}")
        elif kind < 0.955:
            if not (routing_defers and open_pools):
                lines.append("empty")
        elif kind < 0.96:
            lines.append(rng.choice(["snap", "resetpeak", "resetacc"]))
        elif kind < 0.963 and changes:
            lines.append(f"conf {rng.choice(settings[1:])}")
            pages = pages or "expandable" in lines[-1]
        elif kind < 0.965:
            lines.append(f"fraction {rng.choice(fractions)}")
        elif pools and kind < 0.98:
            if not open_pools:
                pool, next_pool = next_pool, next_pool + 1
                lines.append(f"begins 0 {pool} {rng.choice([0, 1])}" if by_stream and rng.random() < 0.4
                             else f"begin 0 {pool}")
                open_pools.append(pool)
        elif pools and kind < 0.99:
            if open_pools:
                pool = open_pools.pop()
                lines.append(f"end 0 {pool}")
                closed_pools.append(pool)
        elif pools and closed_pools:
            pool = closed_pools[rng.randrange(len(closed_pools))]
            # PyTorch counts up the requests that mapped pages of a pool, and down the free ranges that it unmaps. At 0 it
            # drops a pool that was released, even with blocks in use, and the free of one of them ends the process: so
            # they go first.
            for name in [name for name in live if pages and pool_of[name] == pool]:
                lines.append(f"f {name}")
                live.remove(name)
            closed_pools.remove(pool)
            lines.append(f"release 0 {pool}")
    lines += [f"end 0 {pool}" for pool in open_pools]
    return "\n".join(lines) + "\n"
