"""`gpustrata report --json` and `compare --json` against numbers worked out by hand: a case for every definition.

The text of each case is its working. An expectation is a part of the answer: members that it names must be there with these
values, lists must have these entries.
"""
import pytest
from support.folders import write
from support.snapshots import BASE, MIB, NOW, block, event, frame, free, segment, snapshot
from support.tool import answer

CASES = []
OTHER = BASE + (1 << 30)
THIRD = BASE + (2 << 30)


def report_case(function):
    CASES.append(("report", function))
    return function


def compare_case(function):
    CASES.append(("compare", function))
    return function


def stack(*calls):
    """Outermost call first, as one thinks; the file has the innermost first. "forward:10"."""
    found = []
    for call in reversed(calls):
        name, line = call.split(":")
        found.append(frame(name, int(line), "/home/me/model.py"))
    return found


def lines(*calls):
    return [f"/home/me/model.py:{call.split(':')[1]}:{call.split(':')[0]}" for call in reversed(calls)]


def timed(events):
    """One microsecond apart, the first at NOW."""
    return [{**one, "time_us": NOW + i} for i, one in enumerate(events)]


# -- What the peak is made of


@report_case
def peak_parts():
    """
    event           level   alive
    0 alloc C 400     400   C
    1, 2 free C         0
    3 alloc A 300     300   A
    4 alloc B 100     400   A B
    5 alloc A 200     600   A A B       the peak: 600 in 3 blocks; A has 500 in 2, B 100 in 1, nothing is left
    6, 7 free A 200   400
    """
    a, b, c = stack("main:1", "forward:10"), stack("main:1", "loss:20"), stack("main:1", "load:30")
    trace = [event("alloc", BASE, 400, frames=c), *free(BASE, 400, frames=c), event("alloc", BASE, 300, frames=a),
             event("alloc", BASE + 4096, 100, frames=b), event("alloc", BASE + 8192, 200, frames=a),
             *free(BASE + 8192, 200, frames=a)]
    return snapshot([], trace), {"peak": {
        "event": 5, "requested_bytes": 600, "blocks": 3, "rest_bytes": 0, "rest_blocks": 0,
        "parts": [{"stack": lines("main:1", "forward:10"), "bytes": 500, "blocks": 2},
                  {"stack": lines("main:1", "loss:20"), "bytes": 100, "blocks": 1}]},
        "leaks": [], "oom": []}


@report_case
def peak_of_blocks_without_a_stack():
    """Blocks that are there from the start and have no stack: one part, 700 + 56 = 756 at event -1; 756 is the peak."""
    blocks = [block(1024, "active_allocated", requested_size=700), block(512, "active_allocated", requested_size=56)]
    return snapshot([segment(BASE, blocks)]), {"peak": {
        "event": -1, "requested_bytes": 756, "parts": [{"stack": None, "bytes": 756, "blocks": 2}], "rest_bytes": 0}}


# -- Why a request failed. One segment of 60 MiB: `first` free, `used` in use, the rest free.


def failure(first, used, requested, device_free, stream=0):
    pieces = [block(first * MIB), block(used * MIB, "active_allocated", requested_size=used * MIB),
              block((60 - first - used) * MIB)]
    return snapshot([segment(BASE, pieces, stream=stream, segment_type="large")],
                    [{"action": "oom", "size": requested * MIB, "stream": 0, "device_free": device_free * MIB,
                      "frames": stack("main:1", "forward:10")}])


def failed(verdict, requested, device_free, used, largest):
    return {"oom": [{"event": 0, "requested_bytes": requested * MIB, "device_free_bytes": device_free * MIB,
                     "reserved_bytes": 60 * MIB, "allocated_bytes": used * MIB, "pending_bytes": 0,
                     "cached_bytes": (60 - used) * MIB, "largest_free_bytes": largest * MIB, "verdict": verdict}]}


@report_case
def oom_fragmented():
    """30 and 10 MiB free around 20 in use, 10 on the device: 50 >= 40, but the largest piece is 30."""
    return failure(30, 20, 40, 10), failed("fragmented", 40, 10, 20, 30)


@report_case
def oom_full():
    """1 and 4 MiB free around 55 in use, 2 on the device: 7 < 40, in whatever pieces."""
    return failure(1, 55, 40, 2), failed("full", 40, 2, 55, 4)


@report_case
def oom_too_big():
    """60 MiB are reserved and 2 free: with all of its memory free the device has 62 < 63."""
    return failure(1, 55, 63, 2), failed("too_big", 63, 2, 55, 4)


@report_case
def oom_limit():
    """The device had 400 MiB and refused 40: something else than memory ended."""
    return failure(1, 55, 40, 400), failed("limit", 40, 400, 55, 4)


@report_case
def oom_elsewhere():
    """45 MiB in one piece, of stream 7; the request is of stream 0. 45 + 5 + 2 = 52 >= 40, and 45 >= 40."""
    return failure(45, 10, 40, 2, stream=7), failed("elsewhere", 40, 2, 10, 45)


@report_case
def oom_unknown():
    """A request of 0 bytes says nothing of why it failed."""
    return failure(30, 20, 0, 2), {"oom": [{"event": 0, "verdict": "unknown", "reserved_bytes": 60 * MIB}]}


# -- Steps, and what keeps more in every one


def steps_of(names, per_step):
    """Regions with these names, `per_step(step)` events in each; regions and events a microsecond apart."""
    trace, annotations, now = [], [], NOW
    for step, name in enumerate(names):
        annotations.append({"name": name, "stage": "START", "device": 0, "time_us": now})
        for one in per_step(step):
            now += 1
            trace.append({**one, "time_us": now})
        now += 1
        annotations.append({"name": name, "stage": "END", "device": 0, "time_us": now})
        now += 1
    return snapshot([], trace, external_annotations=annotations)


def come_and_go(step, frames):
    return [event("alloc", BASE, 1000, frames=frames), *free(BASE, 1000, frames=frames)]


@report_case
def leak_two_blocks_a_step():
    """
    Five steps of the profiler; in each 1000 bytes come and go, and `remember` keeps two blocks of 300: 600 more and 2
    blocks more a step, in steps 0 to 4, at the end 5 * 600 = 3000 in 10 blocks.
    """
    clean, kept = stack("main:1", "forward:10"), stack("main:1", "remember:40")

    def per_step(step):
        return [*come_and_go(step, clean), *(event("alloc", OTHER + 4096 * (2 * step + i), 300, frames=kept) for i in range(2))]
    return steps_of([f"ProfilerStep#{i}" for i in range(5)], per_step), {
        "steps": {"count": 5, "from": "annotations"},
        "leaks": [{"stack": lines("main:1", "remember:40"), "bytes_per_step": 600, "blocks_per_step": 2, "steps": 5,
                   "first_step": 0, "live_bytes": 3000}]}


@report_case
def no_leak_what_is_replaced():
    """Each step's cache of 800 bytes replaces the one before: after every step 800 are alive, none grows."""
    kept = stack("main:1", "update_cache:40")

    def per_step(step):
        at, before = (OTHER, OTHER + 4096) if step % 2 else (OTHER + 4096, OTHER)
        return [event("alloc", at, 800, frames=kept), *(free(before, 800, frames=kept) if step else [])]
    return steps_of([f"ProfilerStep#{i}" for i in range(6)], per_step), {
        "steps": {"count": 6, "from": "annotations"}, "leaks": []}


@report_case
def steps_of_regions():
    """No profiler, but a region train_step that comes four times."""
    clean = stack("main:1", "forward:10")
    return steps_of(["train_step"] * 4, lambda step: come_and_go(step, clean)), {"steps": {"count": 4, "from": "regions"}}


@report_case
def steps_of_a_loop():
    """
    No regions. Main calls `encode` at line 5 and then `loss` at line 6, four times: from line 6 it goes back to line 5 three
    times.
    """
    encode, loss = stack("main:5", "encode:10"), stack("main:6", "loss:20")
    trace = []
    for _ in range(4):
        for frames in (encode, loss):
            trace += [event("alloc", BASE, 1000, frames=frames), *free(BASE, 1000, frames=frames)]
    return snapshot([], timed(trace)), {
        "steps": {"count": 4, "from": "loop"}, "leaks": []}


@report_case
def no_steps():
    """Two allocations: nothing repeats."""
    trace = [event("alloc", BASE, 1000, frames=stack("main:1")), event("alloc", BASE + 4096, 10, frames=stack("main:2"))]
    return snapshot([], timed(trace)), {"steps": {"count": 0, "from": None}}


# -- Fragmentation


@report_case
def fragmentation_pins():
    """
    segment   MiB  in use
    first      20  1 in its middle     19 free and held back by one block: a pin
    second     20  20                  nothing free
    third      40  none                40 free, the largest piece, and can go back
    Reserved 80, in use 21, cached 59.
    """
    def used(size):
        return block(size * MIB, "active_allocated", requested_size=size * MIB, frames=stack("main:1"))
    large = {"segment_type": "large"}
    return snapshot([segment(BASE, [block(9 * MIB), used(1), block(10 * MIB)], **large), segment(OTHER, [used(20)], **large),
                     segment(THIRD, [block(40 * MIB)], **large)]), {"fragmentation": {
                         "reserved_bytes": 80 * MIB, "allocated_bytes": 21 * MIB, "cached_bytes": 59 * MIB,
                         "largest_free_bytes": 40 * MIB,
                         "pins": [{"segment_bytes": 20 * MIB, "free_bytes": 19 * MIB, "blocks": 1, "pinned_bytes": MIB}]}}


@report_case
def nothing_pins():
    """A full segment and an empty one: 30 of 50 MiB are free, all in one piece, and nothing holds them back."""
    blocks = [block(20 * MIB, "active_allocated", requested_size=20 * MIB)]
    return snapshot([segment(BASE, blocks), segment(OTHER, [block(30 * MIB)])]), {"fragmentation": {
        "reserved_bytes": 50 * MIB, "cached_bytes": 30 * MIB, "largest_free_bytes": 30 * MIB, "pins": []}}


# -- Categories


@report_case
def categories_by_label():
    """What the program calls a block decides: 1000 are parameters, 200 activations; of 50 kept bytes nothing is known."""
    trace = [event("alloc", BASE, 1000, user_metadata="parameter"), event("alloc", BASE + 4096, 200, user_metadata="Activation"),
             event("alloc", BASE + 8192, 50)]
    return snapshot([], trace), {"categories": [{"name": "parameter", "bytes_at_peak": 1000, "blocks": 1},
                                                {"name": "activation", "bytes_at_peak": 200, "blocks": 1},
                                                {"name": "unknown", "bytes_at_peak": 50, "blocks": 1}]}


@report_case
def categories_by_rules():
    """
    4096 bytes are there before the first event and to the end: what for, nothing tells. 300 come and go outside of any
    module or backward pass (freed: temporary), 64 come from a workspace of cuBLAS (frame Workspace). All at the peak, 4460.
    """
    workspace = [frame("at::cuda::getCUDABlasLtWorkspace()", 0, "CublasHandlePool.cpp"), *stack("main:1")]
    trace = [event("alloc", OTHER, 64, frames=workspace), event("alloc", OTHER + 4096, 300, frames=stack("main:2")),
             *free(OTHER + 4096, 300, frames=stack("main:2"))]
    blocks = [block(4096, "active_allocated", requested_size=4096)]
    return snapshot([segment(BASE, blocks)], trace), {
        "peak": {"event": 1, "requested_bytes": 4460},
        "categories": [{"name": "unknown", "bytes_at_peak": 4096, "blocks": 1},
                       {"name": "temporary", "bytes_at_peak": 300, "blocks": 1},
                       {"name": "workspace", "bytes_at_peak": 64, "blocks": 1}]}


@report_case
def categories_of_a_program_that_only_infers():
    """
    event            level   alive
    0 alloc 4096      4096   weights, made before the first forward and given back after the last: parameter
    1 alloc 300       4396   of a module, given back: temporary; the peak
    3 free
    4 alloc 200       4296   the same
    6 free
    8 free weights       0
    """
    module = [frame("_call_impl", 1, "/x/torch/nn/modules/module.py"), *stack("main:2")]
    trace = [event("alloc", BASE, 4096, frames=stack("main:1"))]
    for size in (300, 200):
        trace += [event("alloc", BASE + 8192, size, frames=module), *free(BASE + 8192, size, frames=module)]
    trace += free(BASE, 4096, frames=stack("main:3"))
    return snapshot([], trace), {"peak": {"event": 1, "requested_bytes": 4396},
                                 "categories": [{"name": "parameter", "bytes_at_peak": 4096, "blocks": 1},
                                                {"name": "temporary", "bytes_at_peak": 300, "blocks": 1}]}


# -- Two files


@compare_case
def compare_by_stack():
    """
    stack                     before   after
    forward:10 > linear         300      420   forward moved to line 12: the same functions, paired by them
    forward:10 > gelu            70        -   gone
    optimizer:30                 80       50   shrank
    loss:40                       -        9   new
    no stack                      4        4   the same
                                454      483   29 more = 120 - 70 - 30 + 9
    """
    def run(*blocks):
        return snapshot([], [event("alloc", BASE + 4096 * i, size, **({"frames": calls} if calls else {}))
                             for i, (size, calls) in enumerate(blocks)])
    before = run((300, stack("main:1", "forward:10", "linear:5")), (70, stack("main:1", "forward:10", "gelu:6")),
                 (80, stack("main:1", "optimizer:30")), (4, None))
    moved = stack("main:1", "forward:12", "linear:5")
    after = run((400, moved), (20, moved), (50, stack("main:1", "optimizer:30")), (9, stack("main:1", "loss:40")), (4, None))
    return (before, after), {"before_bytes": 454, "after_bytes": 483, "parts": [
        {"stack": lines("main:1", "forward:12", "linear:5"), "before_bytes": 300, "after_bytes": 420,
         "matched": "functions"},
        {"stack": lines("main:1", "loss:40"), "before_bytes": 0, "after_bytes": 9},
        {"stack": None, "before_bytes": 4, "after_bytes": 4, "matched": "stack"},
        {"stack": lines("main:1", "optimizer:30"), "before_bytes": 80, "after_bytes": 50},
        {"stack": lines("main:1", "forward:10", "gelu:6"), "before_bytes": 70, "after_bytes": 0}]}


@compare_case
def compare_a_file_with_itself():
    """600 bytes in two stacks, before and after: nothing grew."""
    one = snapshot([], [event("alloc", BASE, 500, frames=stack("main:1", "f:2")),
                        event("alloc", BASE + 4096, 100, frames=stack("main:1", "g:3"))])
    return (one, one), {"before_bytes": 600, "after_bytes": 600, "parts": [
        {"stack": lines("main:1", "f:2"), "before_bytes": 500, "after_bytes": 500},
        {"stack": lines("main:1", "g:3"), "before_bytes": 100, "after_bytes": 100}]}


def differences(got, wanted, path=""):
    if isinstance(wanted, dict):
        if not isinstance(got, dict):
            return [f"{path}: {got!r} is no object"]
        return [text for key in wanted for text in
                (differences(got[key], wanted[key], f"{path}.{key}") if key in got else [f"{path}.{key} is missing"])]
    if isinstance(wanted, list) and isinstance(got, list):
        if len(got) != len(wanted):
            return [f"{path}: {len(got)} entries, by hand {len(wanted)}: {got}"]
        return [text for i, one in enumerate(wanted) for text in differences(got[i], one, f"{path}[{i}]")]
    return [] if got == wanted else [f"{path}: {got!r}, by hand {wanted!r}"]


@pytest.mark.parametrize("command, function", CASES, ids=[function.__name__ for _, function in CASES])
def test_the_answer_is_what_was_worked_out_by_hand(command, function, tmp_path):
    made, wanted = function()
    paths = [write(tmp_path / f"{i}.pickle", one) for i, one in enumerate(made if isinstance(made, tuple) else (made,))]
    told = answer(command, *paths)
    assert differences(told if command == "compare" else told["devices"][0], wanted) == []
