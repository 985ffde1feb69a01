"""What two allocators did of one script, made comparable: events, layout, statistics, errors.

Addresses count from the device's first one, streams are the script's numbers.
"""
import itertools
import json
import pickle
import re
import subprocess

UNORDERED = ("free_completed", "segment_free", "segment_unmap")


def base_of(snapshot):
    """The lowest address the device gave: addresses grow."""
    events = [event for event in snapshot["device_traces"][0] if event["action"] in ("segment_alloc", "segment_map")]
    return min((event["addr"] for event in events), default=0)


def told(snapshot, stats, errors, streams):
    """{"events", "layout", "stats", "errors"} of plain values. `streams`: handle -> number."""
    base = base_of(snapshot)
    events = []
    for event in snapshot["device_traces"][0]:
        action = event["action"]
        if action == "oom":
            events.append(("oom", event["device_free"], event["size"], streams.get(event["stream"], event["stream"])))
        elif action == "snapshot":
            events.append(("snapshot", 0, event["size"], 0))
        else:
            events.append((action, event["addr"] - base, event["size"], streams[event["stream"]]))
    layout = []
    for segment in sorted(snapshot["segments"], key=lambda one: one["address"]):
        layout.append((segment["address"] - base, segment["total_size"], segment["segment_type"],
                       streams[segment["stream"]], segment.get("is_expandable", False),
                       tuple(segment.get("segment_pool_id", ())), segment["allocated_size"], segment["active_size"],
                       segment.get("requested_size"),
                       tuple((block["size"], block.get("requested_size") if block["state"] != "inactive" else None,
                              block["state"]) for block in segment["blocks"])))
    return {"events": in_order(events), "layout": layout, "stats": stats, "errors": errors}


def in_order(events):
    """Frees of several streams that complete together, and private pools that are given back together, come in the order
    of a hash map there: events of one kind that follow each other are sorted here."""
    return [event for action, together in itertools.groupby(events, key=lambda event: event[0])
            for event in (sorted(together) if action in UNORDERED else together)]


def of_pytorch(path):
    """What run_script.py wrote."""
    data = pickle.loads(path.read_bytes())
    result = told(data["snapshot"], data["stats"], [(index, numbers(text)) for index, _, text in data["errors"]],
                  {handle: number for number, handle in data["streams"].items()})
    result["types"] = [(index, kind, text) for index, kind, text in data["errors"]]
    result["misuses"] = data["misuses"]
    # The snapshot that run_script.py took itself.
    if result["events"] and result["events"][-1][0] == "snapshot":
        result["events"].pop()
    return result


def of_simulation(tool, path, device_bytes):
    """What `gpustrata simulate` says of the same script."""
    dump = path.with_suffix(".simulated.pickle")
    done = subprocess.run([tool, "simulate", path, "--json", "--dump", dump, "--device", str(device_bytes)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{path}: {done.stderr}")
    answer = json.loads(done.stdout)
    errors = [(index, numbers(step["oom"])) for index, step in enumerate(answer["results"]) if "oom" in step]
    numbers_of_streams = {number: number for number in range(64)}
    return told(pickle.loads(dump.read_bytes()), answer["stats"], errors, numbers_of_streams)


def numbers(text):
    """Every size and no other number of an out-of-memory text: words differ, order may."""
    text = text.split("GPU 0", 1)[0] + " ".join(text.split("GPU 0", 1)[1:])
    return sorted(re.findall(r"\d+(?:\.\d+)? (?:bytes|[KMG]iB)", text.split("See documentation")[0]))


def differences(left, right, most=5, ignored=()):
    """In words; empty if they did the same. `ignored`: statistics."""
    found = []
    if left["events"] != right["events"]:
        for index, (one, other) in enumerate(zip(left["events"], right["events"])):
            if one != other:
                found.append(f"event {index}: {one} | {other}; before: {left['events'][max(0, index - 3):index]}")
                break
        else:
            found.append(f"{len(left['events'])} | {len(right['events'])} events; then "
                         f"{(left['events'] + right['events'])[min(len(left['events']), len(right['events']))]}")
    if left["layout"] != right["layout"]:
        pairs = [(one, other) for one, other in zip(left["layout"], right["layout"]) if one != other]
        found.append(f"{len(left['layout'])} | {len(right['layout'])} segments; first that differ: {pairs[:1]}")
    names = sorted((set(left["stats"]) & set(right["stats"])) - set(ignored))
    of_pools = [{name for name in one["stats"] if name.startswith("reserved_bytes_by_private_pools.")} for one in (left, right)]
    if of_pools[0] and of_pools[0] != of_pools[1]:  # PyTorch has them from 2.13 on
        found.append(f"statistics of other pools: {sorted(of_pools[0] ^ of_pools[1])[:1]}")
    found += [f"{name}: {left['stats'][name]} | {right['stats'][name]}" for name in names
              if left["stats"][name] != right["stats"][name]][:most]
    if left["errors"] != right["errors"]:
        pairs = [(one, other) for one, other in zip(left["errors"], right["errors"]) if one != other]
        found.append(f"{len(left['errors'])} | {len(right['errors'])} errors: {pairs[:2]}")
    return found
