"""`gpustrata state --json` against reference_state.py on all real files.

Every event of traces up to EVERY events, SAMPLED events of longer ones. Where the reference finds events that
contradict the final state, the engine must have noticed it, too, and its last state must be the dump's.
"""
import random

import pytest
import reference
import reference_state
from support.paths import needs_shared_data, real_snapshots
from support.tool import answers, out_of

EVERY, SAMPLED, AT_ONCE = 1000, 40, 200


def asked(path, index, device, events):
    found = []
    for i in range(0, len(events), AT_ONCE):
        some = ",".join(map(str, events[i:i + AT_ONCE]))
        found += answers("state", path, "--snapshot", index, "--device", device, f"--event={some}")
    return found


def noticed(path, index, device):
    """Whether the state says more than reading did: its own findings stand among the others."""
    def findings(*question):
        _, _, after = out_of(*question).partition("\n  Noticed")
        return {line for line in after.splitlines()[1:] if line.startswith("    ")}
    state = findings("state", path, "--snapshot", index, "--device", device, "--event=-1")
    return bool(state - findings("summary", path))


def dump_totals(snapshot, device):
    blocks = [b for s in reference.usable_segments(snapshot) if s.get("device", 0) == device
              for b in reference.blocks_of(s)]
    live = sorted((a, s, r) for a, s, state, r in blocks if state != "inactive")
    return live


def check(path, index, snapshot, device):
    traces = snapshot.get("device_traces") or []
    count = len(reference.usable_events(traces[device])) if 0 <= device < len(traces) else 0
    events = list(range(-1, count))
    if count > EVERY:
        events = sorted({-1, 0, count - 1, *random.Random(count).sample(range(count), SAMPLED)})
    try:
        expected = reference_state.states(snapshot, device, events)
    except reference_state.Irregular as why:
        assert noticed(path, index, device), f"device {device}: the events contradict the dump ({why}), nothing was noticed"
        (last,) = asked(path, index, device, [count - 1])
        blocks = [b for s in last["segments"] for b in s["blocks"]] + last.get("blocks_without_segment", [])
        live = sorted((int(b["address"], 16), b["size"], b["requested_size"]) for b in blocks
                      if b["state"] != "inactive")
        assert live == dump_totals(snapshot, device)
        return
    for want, got in zip(expected, asked(path, index, device, events), strict=True):
        assert got == want, f"device {device}, event {want['event']}"


@needs_shared_data
@pytest.mark.parametrize("path", real_snapshots(), ids=lambda path: path.name)
def test_states_of_a_real_file(path):
    checked = 0
    for index, (_, snapshot) in enumerate(reference.snapshots_in(reference.load(path.read_bytes()))):
        for device in [d["device"] for d in reference.snapshot_summary("", snapshot)["devices"]]:
            check(path, index, snapshot, device)
            checked += 1
    if checked == 0:  # there is no device in it: the command says so, too
        assert [s["devices"] for s in answers("summary", path)[0]["snapshots"]] == [[]]
