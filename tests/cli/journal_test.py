"""Journals of runs, written by support/journal.py and read by the command: whole, left by a killed program, torn, growing."""
import pickle
import random

import pytest
from support import journal as j
from support.paths import ROOT
from support.tool import SUCCESS, UNREADABLE, answers, run

MIB = 1 << 20
A, B = 0x7F0000000000, 0x7F0000200000


def opened(tmp_path, data):
    """What PyTorch's own tools find in the converted file."""
    path, out = tmp_path / "run.gpustrata", tmp_path / "out.pickle"
    path.write_bytes(data)
    done = run("convert", path, "-o", out)
    assert done.returncode == SUCCESS, done.stderr
    return pickle.loads(out.read_bytes())


def findings(tmp_path):
    """Name -> (count, first offset) of what was repaired or left out."""
    (told,) = answers("summary", tmp_path / "run.gpustrata")
    return {one["name"]: (one["count"], one.get("first_offset", -1)) for one in told["diagnostics"]}


NAMES = [j.text(0, "step"), j.text(1, "train.py"), j.text(2, "main"), j.text(3, "forward"), j.frame(0, 0, 1, 12), j.frame(1, 2, 1, 40),
         j.stack(0, [0, 1]), j.text(4, "PYTORCH_CUDA_ALLOC_CONF"), j.text(5, "max_split_size_mb:64"), j.fact(4, 5)]
# A small segment with one block that is there before the first event: 1 MiB of 2.
START = j.state(0, [(A, 2 * MIB, [(A, MIB, MIB - 4, False, 0)], False)])
# 700 bytes behind it, rounded to 1024; the first block goes; a segment of 20 MiB with 3 MiB of 3,000,000 bytes in it.
RUN = [j.event("alloc", A + MIB, 700, time=10, stack=0),
       j.event(j.REGION_BEGIN, 0, 0, time=11, metadata=3),
       j.event("free_requested", A, MIB - 4, time=12),
       j.event("free_completed", A, MIB - 4, time=13),
       j.event(j.REGION_END, 0, 0, time=14, metadata=3),
       j.event("segment_alloc", B, 20 * MIB, time=15, stack=0),
       j.event("alloc", B, 3_000_000, time=16, stack=0)]
FRAMES = [{"name": "step", "filename": "train.py", "line": 12}, {"name": "main", "filename": "train.py", "line": 40}]
TRACE = [("alloc", A + MIB, 700), ("free_requested", A, MIB - 4), ("free_completed", A, MIB - 4), ("segment_alloc", B, 20 * MIB),
         ("alloc", B, 3_000_000)]


# The block that is there before the first event is freed.
OLDER = {"free_without_alloc": (1, None)}


def trace_of(snapshot, device=0):
    return [(one["action"], one["addr"], one["size"]) for one in snapshot["device_traces"][device]]


def check_run(snapshot):
    assert trace_of(snapshot) == TRACE
    events = snapshot["device_traces"][0]
    assert [one["time_us"] for one in events] == [10, 12, 13, 15, 16]
    assert [one.get("frames") for one in events] == [FRAMES, None, None, FRAMES, FRAMES]
    small, large = snapshot["segments"]
    # The first MiB is free again; 1024 bytes are in use; what is left is one inactive block.
    assert [(b["address"], b["size"], b["requested_size"], b["state"]) for b in small["blocks"]] == [
        (A, MIB, 0, "inactive"), (A + MIB, 1024, 700, "active_allocated"), (A + MIB + 1024, MIB - 1024, 0, "inactive")]
    assert (small["total_size"], small["allocated_size"], small["segment_type"]) == (2 * MIB, 1024, "small")
    # 3,000,000 bytes are 3,000,320 in blocks of 512.
    assert [(b["address"], b["size"], b["state"]) for b in large["blocks"]] == [
        (B, 3_000_320, "active_allocated"), (B + 3_000_320, 20 * MIB - 3_000_320, "inactive")]
    assert large["segment_type"] == "large" and large["blocks"][0]["frames"] == FRAMES
    assert [(m["name"], m["stage"], m["time_us"]) for m in snapshot["external_annotations"]] == [("forward", "START", 11), ("forward", "END", 14)]
    assert snapshot["allocator_settings"]["max_split_size"] == 64 * MIB


def whole(split=len(RUN)):
    """The run with its first events in a chunk and the rest in the ring."""
    made = j.Journal()
    made.records(j.NAMES, *NAMES)
    made.records(j.STATE, START)
    if split:
        made.events(*RUN[:split])
    made.put(*RUN[split:])
    return made


def kept_files():
    """Those in tests/data/journals, which tests/wasm reads, too."""
    killed = j.Journal(ring_bytes=2048, region_bytes=4096)
    killed.records(j.NAMES, *NAMES)
    killed.records(j.STATE, START)
    killed.events(*RUN[:3])
    killed.put(*RUN[3:])
    rotated = j.Journal(ring_bytes=1024, region_bytes=4096)
    rotated.records(j.NAMES, *NAMES, j.count(0, 1000), region=1, generation=4)
    rotated.records(j.STATE, START, region=1, generation=4)
    rotated.events(*RUN[:5], region=1, generation=4)
    rotated.records(j.NAMES, *NAMES, j.count(0, 1003), generation=5)
    rotated.events(*RUN[5:], generation=5)
    torn = j.Journal(ring_bytes=72, region_bytes=4096)
    torn.records(j.NAMES, *NAMES)
    torn.events(*RUN[:3])
    torn.events(*RUN[3:])
    return {"killed": killed.bytes(), "rotated": rotated.bytes(), "torn": torn.bytes()[:-100]}


@pytest.mark.parametrize("name", kept_files())
def test_kept_files_are_what_is_written_here(name):
    path = ROOT / "tests" / "data" / "journals" / f"{name}.gpustrata"
    assert path.read_bytes() == kept_files()[name]


def test_events_state_stacks_and_regions_are_what_was_written(tmp_path):
    check_run(opened(tmp_path, whole().bytes()))
    assert findings(tmp_path) == OLDER


@pytest.mark.parametrize("split", range(len(RUN)))
def test_what_was_left_in_the_ring_follows_the_last_chunk(tmp_path, split):
    check_run(opened(tmp_path, whole(split).bytes()))
    assert findings(tmp_path) == OLDER


def test_names_and_states_may_be_in_the_ring_alone(tmp_path):
    made = j.Journal()
    made.put(*NAMES, START, *RUN)
    check_run(opened(tmp_path, made.bytes()))


def test_a_state_that_was_not_finished_counts_for_nothing(tmp_path):
    made = whole()
    made.put(j.state(0, [(A, 2 * MIB, [], False)])[:-8])
    check_run(opened(tmp_path, made.bytes()))


def test_a_chunk_that_was_being_written_is_taken_from_the_ring(tmp_path):
    made = whole(4)
    unfinished = j.chunk(j.EVENTS, j.columns(RUN[4:]), 1, made.tail, made.head)
    made.regions[0] += unfinished[: len(unfinished) // 2] + bytes(len(unfinished) // 2)
    check_run(opened(tmp_path, made.bytes()))
    assert findings(tmp_path) == OLDER


def test_the_ring_goes_on_at_its_beginning(tmp_path):
    made = j.Journal(ring_bytes=72 * 10 + 8, region_bytes=1 << 16)  # events do not end where the ring does
    made.records(j.STATE, j.state(0, [(A, 2 * MIB, [], False)]))
    wanted = []
    for number in range(100):
        one = ("alloc", A, number + 1), ("free_completed", A, number + 1)
        wanted += one
        made.events(*(j.event(*event, time=number) for event in one))
    made.put(*(j.event("alloc", A + 512 * number, 5, time=200) for number in range(10)))
    wanted += [("alloc", A + 512 * number, 5) for number in range(10)]
    assert trace_of(opened(tmp_path, made.bytes())) == wanted


def test_the_oldest_region_may_lie_behind_the_newest(tmp_path):
    made = j.Journal()
    made.records(j.NAMES, *NAMES, j.count(0, 1000), region=1, generation=4)
    made.records(j.STATE, START, region=1, generation=4)
    made.events(*RUN[:3], region=1, generation=4)
    made.records(j.NAMES, *NAMES, j.count(0, 1002), generation=5)  # a mark is no event
    made.records(j.STATE, j.state(0, [(A, 2 * MIB, [(A, MIB, MIB - 4, True, 0), (A + MIB, 1024, 700, False, 0)], False)]), generation=5)
    made.events(*RUN[3:5], generation=5)
    made.put(*RUN[5:])
    snapshot = opened(tmp_path, made.bytes())
    check_run(snapshot)
    assert snapshot["gpustrata"]["lost_events"] == [1000]
    assert findings(tmp_path) == OLDER


def test_a_region_that_does_not_lead_up_to_the_newest_is_left_out(tmp_path):
    made = j.Journal()
    made.records(j.NAMES, j.count(0, 5), region=1, generation=4)
    made.events(RUN[0], region=1, generation=4)
    made.put(RUN[0])
    made.tail = made.head  # of which there is no chunk
    made.records(j.NAMES, *NAMES, j.count(0, 7), generation=5)
    made.events(RUN[2], generation=5)
    assert trace_of(opened(tmp_path, made.bytes())) == [("free_requested", A, MIB - 4)]


def test_devices_are_told_apart_and_each_keeps_its_order(tmp_path):
    made = j.Journal(region_bytes=1 << 16)
    random_devices = random.Random(1)
    wanted = {0: [], 2: [], 3: []}
    for time in range(20):
        batch = []
        for number in range(random_devices.randrange(1, 8)):
            device, size = random_devices.choice(list(wanted)), random_devices.randrange(1, 1000)
            wanted[device].append(("alloc", A + 4096 * number, size))
            batch.append(j.event("alloc", A + 4096 * number, size, device=device, time=time, stream=-device, pool=(device, 0)))
        made.events(*batch)
    snapshot = opened(tmp_path, made.bytes())
    assert [trace_of(snapshot, device) for device in range(4)] == [wanted[0], [], wanted[2], wanted[3]]
    assert {one["stream"] for one in snapshot["device_traces"][3]} == {-3}
    assert snapshot["segments"] == []  # no state was told: nothing is made up


def test_expandable_memory_is_joined_and_cut(tmp_path):
    made = j.Journal()
    made.records(j.STATE, j.state(0, []))
    made.events(j.event("segment_map", A, 2 * MIB), j.event("segment_map", A + 2 * MIB, 2 * MIB), j.event("alloc", A, 3 * MIB),
                j.event("segment_map", A + 4 * MIB, 2 * MIB), j.event("segment_unmap", A + 4 * MIB, 2 * MIB))
    (segment,) = opened(tmp_path, made.bytes())["segments"]
    assert (segment["address"], segment["total_size"], segment["is_expandable"]) == (A, 4 * MIB, True)
    assert [(b["size"], b["state"]) for b in segment["blocks"]] == [(3 * MIB, "active_allocated"), (MIB, "inactive")]


# Where the file ends, and what is left: the header ends at 4096, the ring of 16 KiB at 20480.
def test_a_file_cut_anywhere_shows_what_came_before_and_says_where_it_ends(tmp_path):
    made = j.Journal()
    made.records(j.NAMES, *NAMES)
    made.records(j.STATE, START)
    ends = []
    for one in RUN:
        made.events(one)
        ends.append(j.HEADER + made.ring_bytes + len(made.regions[0]))
    made.ring[:] = bytes(made.ring_bytes)  # the ring went on: only chunks have them
    made.ring_bytes = 72
    data = made.bytes()
    data = data[: j.HEADER + 72] + data[j.HEADER + (1 << 14) :]
    shift = (1 << 14) - 72
    marks = {1, 4}
    for end in [one - shift for one in ends[:-1]] + [one - shift + 30 for one in ends[:-1]]:
        kept = sum(one - shift <= end for one in ends)
        snapshot = opened(tmp_path, data[:end])
        assert trace_of(snapshot) == TRACE[: kept - len([mark for mark in marks if mark < kept])]
        assert findings(tmp_path)["truncated"] == (1, max(one - shift for one in ends if one - shift <= end))
    for end in (0, 100, 4095):
        (tmp_path / "run.gpustrata").write_bytes(data[:end])
        done = run("summary", tmp_path / "run.gpustrata")
        assert done.returncode == UNREADABLE and (end == 0 or f"byte {end:,}".encode() in done.stderr + done.stdout), done


def test_a_damaged_chunk_ends_the_reading_and_its_place_is_said(tmp_path):
    made = j.Journal(ring_bytes=72)
    made.ring_bytes = 72
    made.records(j.STATE, START)
    made.events(RUN[0])
    place = j.HEADER + 72 + len(made.regions[0])
    made.events(RUN[2])
    made.events(RUN[3])
    data = bytearray(made.bytes())
    data[place + 60] ^= 1
    assert trace_of(opened(tmp_path, bytes(data))) == TRACE[:1]
    assert findings(tmp_path)["damaged"] == (1, place)


def test_what_the_writer_lost_is_said(tmp_path):
    made = whole()
    made.reason, made.lost_events, made.lost_stacks = "No space left on device", 12, 3
    snapshot = opened(tmp_path, made.bytes())
    assert snapshot["gpustrata"]["lost_stacks"] == 3
    done = run("summary", tmp_path / "run.gpustrata")
    assert b"No space left on device" in done.stdout and b"12 events" in done.stdout


def test_another_version_and_a_damaged_header_are_refused(tmp_path):
    made = whole()
    made.version = 2
    path = tmp_path / "run.gpustrata"
    path.write_bytes(made.bytes())
    done = run("summary", path)
    assert done.returncode == UNREADABLE and b"version 2" in done.stderr and b"byte 16" in done.stderr, done.stderr
    data = bytearray(whole().bytes())
    data[25] ^= 4
    path.write_bytes(data)
    done = run("summary", path)
    assert done.returncode == UNREADABLE and b"header is damaged" in done.stderr, done.stderr


def test_names_that_were_never_told_are_counted_and_left_out(tmp_path):
    made = j.Journal()
    made.events(j.event("alloc", A, 5, stack=9, metadata=4), j.event(77, A, 5), j.event("alloc", A + 512, -5))
    made.records(j.NAMES, j.text(3, "too early"), j.frame(0, 0, 0, 1), j.stack(0, [5]))
    assert trace_of(opened(tmp_path, made.bytes())) == [("alloc", A, 5), ("alloc", A + 512, 0)]
    told = findings(tmp_path)
    assert told["event_incomplete"][0] == 1 and told["negative_size"][0] == 1 and told["wrong_type"][0] == 1
    assert told["integer_out_of_range"][0] == 5


@pytest.mark.parametrize("closed", [0, 1])
def test_what_its_program_did_not_end_is_not_complete(tmp_path, closed):
    """Killed, or it still ran: said first by whoever says what fits, and by the file that is made of it."""
    made = whole()
    made.closed = closed
    path, converted = tmp_path / "run.gpustrata", tmp_path / "out.pickle"
    opened(tmp_path, made.bytes())
    for file in (path, converted):
        (device,) = answers("report", file)[0]["devices"]
        assert device["complete"] == bool(closed)
        says = [said["text"] for finding in device["findings"] if finding["kind"] == "no-end" for said in finding["says"]]
        assert says == ([] if closed else [
            "The program did not end this journal: it was killed, or it still ran when the file was read. What came after event 4 is not in it."])
        assert answers("whatif", file)[0]["complete"] == bool(closed)
        done = run("check", file, "--no-oom")
        assert done.returncode == (SUCCESS if closed else 4), done.stdout
        assert (b"the program did not end its journal" in done.stdout) != closed
