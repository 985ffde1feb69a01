"""Snapshots made by hand: the parts that one is made of."""

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
BASE = 0x7F0000000000
NOW = 1_700_000_000_000_000  # microseconds


def frame(name, line=1, filename="a.py", **more):
    return {"name": name, "filename": filename, "line": line, **more}


def event(action, addr, size, **more):
    return {"action": action, "addr": addr, "size": size, "stream": 0, **more}


def free(addr, size, **more):
    return [event("free_requested", addr, size, **more), event("free_completed", addr, size, **more)]


def block(size, state="inactive", **more):
    return {"size": size, "state": state, **more}


def live(requested, size=None, **more):
    """A block in use; without `size` rounded as the allocator does."""
    return block(size or rounded(requested), "active_allocated", requested_size=requested, **more)


def rounded(size):
    return max(512, (size + 511) // 512 * 512)


def segment(address, blocks, device=0, **more):
    return {"device": device, "address": address, "total_size": sum(b["size"] for b in blocks), "stream": 0,
            "blocks": blocks, **more}


def snapshot(segments=(), *traces, **more):
    return {"segments": list(segments), "device_traces": [list(t) for t in traces], **more}
