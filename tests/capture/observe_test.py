"""What observes another allocator, with one that is made up here: entries by hand, no PyTorch, no device.

Environment: GPUSTRATA_CAPTURE, the library; GPUSTRATA_PRELOAD: a sanitizer's runtime. Every scenario is a process of its own.
"""
import glob
import os
import subprocess
import sys
import textwrap
import time
import unittest

from support.paths import ROOT
from support.snapshots import MIB
from support.tool import out_of

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from capture_test import Scenario  # noqa: E402

PRELUDE = f"""
import ctypes, os, pickle, sys, threading, time
sys.path.insert(0, {str(ROOT / "capture")!r})
import gpustrata_torch as m
lib = m._library()

class Pool(ctypes.Structure):
    _fields_ = [("graph", ctypes.c_uint64), ("user", ctypes.c_uint64)]
class Event(ctypes.Structure):
    _fields_ = [("action", ctypes.c_int32), ("device", ctypes.c_int32), ("address", ctypes.c_uint64), ("size", ctypes.c_int64),
                ("stream", ctypes.c_int64), ("pool", Pool), ("time", ctypes.c_uint64), ("context", ctypes.c_char_p),
                ("metadata", ctypes.c_char_p)]
class Block(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("size", ctypes.c_int64), ("requested", ctypes.c_int64), ("allocated", ctypes.c_int32),
                ("active", ctypes.c_int32)]
class Segment(ctypes.Structure):
    _fields_ = [("device", ctypes.c_int32), ("large", ctypes.c_int32), ("expandable", ctypes.c_int32), ("count", ctypes.c_int32),
                ("address", ctypes.c_uint64), ("total", ctypes.c_int64), ("allocated", ctypes.c_int64), ("active", ctypes.c_int64),
                ("requested", ctypes.c_int64), ("stream", ctypes.c_int64), ("pool", Pool), ("blocks", ctypes.POINTER(Block))]
class State(ctypes.Structure):
    _fields_ = [("to", ctypes.c_void_p), ("segment", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Segment))),
                ("settings", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p))]
NOW, SNAPSHOT = ctypes.CFUNCTYPE(ctypes.c_uint64), ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(State))
class Observable(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int32), ("pools", ctypes.c_int32), ("now", NOW), ("snapshot", SNAPSHOT)]

ACTIONS = ["alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "snapshot",
           "oom", "annotate"]
class Allocator:
    '''Two devices. `held`: device -> list of [address, size, requested, allocated, active], the blocks of one segment.'''
    def __init__(self, devices=2, pools=1):
        self.held = {{}}
        self.wrong = {{}}      # what the entry of a snapshot says instead
        self.devices, self.visited = devices, range(devices)
        self.meanwhile = lambda: None  # between the entries of a snapshot and its state
        self.own = Observable(devices, pools, NOW(time.monotonic_ns), SNAPSHOT(self.snapshot))
    def tell(self, action, address=0, size=0, device=0, stream=0, pool=(0, 0), metadata=b"", at=None):
        lib.gpustrata_observed(ctypes.byref(Event(ACTIONS.index(action), device, address, size, stream, Pool(*pool),
                                                  time.monotonic_ns() if at is None else at, None, metadata)))
    def snapshot(self, state):
        for device in self.visited:
            active = sum(one[1] for one in self.held.get(device, ()) if one[4])
            self.tell("snapshot", device=device, **{{"size": active, **self.wrong}})
        state_then = {{device: list(held) for device, held in self.held.items()}}
        self.meanwhile()
        for device, held in state_then.items():
            blocks = (Block * len(held))(*[Block(*one) for one in held])
            row = Segment(device, 0, 0, len(held), held[0][0], sum(one[1] for one in held), sum(one[1] for one in held if one[3]),
                          sum(one[1] for one in held if one[4]), 0, 0, Pool(0, 0), blocks)
            state.contents.segment(state.contents.to, ctypes.byref(row))
        state.contents.settings(state.contents.to, b"max_split_size_mb:64", b'{{"PYTORCH_CUDA_ALLOC_CONF":"max_split_size_mb:64"}}')
        return None
    def begin(self, stacks=0, most=1000):
        return lib.gpustrata_observe(ctypes.byref(self.own), stacks, most), lib.gpustrata_last_error().decode()
    def begin_journal(self, stacks=0, path="run.gpustrata", size=0):
        return (lib.gpustrata_observe_to_journal(ctypes.byref(self.own), stacks, path.encode(), ctypes.c_int64(size)),
                lib.gpustrata_last_error().decode())

def taken(path="out.pickle"):
    observation = ctypes.c_void_p()
    if lib.gpustrata_observation_take(ctypes.byref(observation)):
        return lib.gpustrata_last_error().decode()
    assert lib.gpustrata_observation_write(observation, path.encode()) == 0, lib.gpustrata_last_error()
    lib.gpustrata_observation_free(observation)
    return pickle.load(open(path, "rb"))
"""


class Observed(Scenario):
    def run_python(self, code, **more):
        return super().run_python(PRELUDE + textwrap.dedent(code), **more)

    def test_entries_come_back_with_the_state_that_they_led_to(self):
        self.run_python("""
            a = Allocator()
            assert a.begin() == (0, ""), a.begin()
            # 2 MiB, of which 700 bytes are asked for and take 1,024, given back, and asked for again as 512.
            a.tell("segment_alloc", 0x10000, 2 << 20)
            a.tell("alloc", 0x10000, 700)
            a.tell("free_requested", 0x10000, 700)
            a.tell("free_completed", 0x10000, 700, metadata="é".encode())
            a.tell("alloc", 0x10000, 512, pool=(0, 0))
            a.tell("oom", 99, 1 << 30, device=1, stream=7)
            a.held[0] = [[0x10000, 512, 512, 1, 1], [0x10200, (2 << 20) - 512, 700, 0, 0]]
            s = taken()
            assert [[(e["action"], e.get("addr", e.get("device_free")), e["size"], e["stream"]) for e in trace]
                    for trace in s["device_traces"]] == [
                [("segment_alloc", 0x10000, 2 << 20, 0), ("alloc", 0x10000, 700, 0), ("free_requested", 0x10000, 700, 0),
                 ("free_completed", 0x10000, 700, 0), ("alloc", 0x10000, 512, 0)], [("oom", 99, 1 << 30, 7)]], s["device_traces"]
            assert s["device_traces"][0][3]["user_metadata"] == "é"
            assert all("frames" not in e for e in s["device_traces"][0])
            segment, = s["segments"]
            assert [(b["state"], b["size"], b["requested_size"]) for b in segment["blocks"]] == [
                ("active_allocated", 512, 512), ("inactive", (2 << 20) - 512, 700)], segment
            assert s["allocator_settings"] == {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:64"}
            assert abs(s["device_traces"][0][0]["time_us"] / 1e6 - time.time()) < 60
        """)

    def test_the_newest_are_kept_and_who_asked_for_what_lives(self):
        self.run_python("""
            a = Allocator()
            def learn(_=0): assert lib.gpustrata_learn_python() == 0, lib.gpustrata_last_error()
            list(map(lambda _: learn(), [0]))
            assert a.begin(stacks=1, most=5) == (0, "")
            def the_oldest(): a.tell("alloc", 0x10000, 512)
            a.tell("segment_alloc", 0x10000, 2 << 20)
            the_oldest()
            for i in range(20):
                a.tell("alloc", 0x10200, 512 + i)
                a.tell("free_requested", 0x10200, 512 + i)
                a.tell("free_completed", 0x10200, 512 + i)
            a.held[0] = [[0x10000, 512, 512, 1, 1], [0x10200, (2 << 20) - 512, 0, 0, 0]]
            s = taken()
            # 62 events, of which the last five: ..., of i = 18 the frees, of 19 all.
            assert [(e["action"], e["size"]) for e in s["device_traces"][0]] == [
                ("free_requested", 530), ("free_completed", 530), ("alloc", 531), ("free_requested", 531), ("free_completed", 531)]
            assert s["gpustrata"]["lost_events"] == [57, 0], s["gpustrata"]
            assert "the_oldest" in [f["name"] for f in s["segments"][0]["blocks"][0]["frames"]]
            assert "<module>" == s["segments"][0]["blocks"][0]["frames"][-1]["name"]
        """)

    def test_what_does_not_lead_to_the_state_is_refused(self):
        self.run_python("""
            a = Allocator()
            assert a.begin()[0] == 0
            a.tell("alloc", 0x10000, 700)
            assert "1 allocations were told that are not there" in taken(), taken()
            a.held[0] = [[0x10000, 1024, 600, 1, 1]]
            assert "700 bytes were told, but it has 600" in taken(), taken()
            a.held[0] = [[0x10000, 1024, 700, 1, 1], [0x10400, 512, 5, 1, 1]]
            assert "1 blocks are there that were not told" in taken(), taken()
            a.held[0] = [[0x10000, 1024, 700, 0, 1]]  # waits for a stream
            assert taken()["segments"][0]["blocks"][0]["state"] in ("active_awaiting_free", "active_pending_free")
        """)

    def test_what_was_there_before_is_no_difference(self):
        self.run_python("""
            a = Allocator()
            a.held[0] = [[0x10000, 512, 512, 1, 1]]
            assert a.begin()[0] == 0
            a.tell("free_requested", 0x10000, 512)
            a.tell("free_completed", 0x10000, 512)
            a.held[0] = [[0x10000, 512, 512, 0, 0], [0x10200, 512, 100, 1, 1]]
            assert len(taken()["device_traces"][0]) == 2
        """)

    def test_a_first_entry_that_is_not_what_was_done_is_refused(self):
        for wrong in ('"size": 1', '"address": 1', '"stream": 1', '"pool": (0, 1)', '"at": 0', '"at": 2**63'):
            self.run_python("""
                a = Allocator()
                a.wrong = {%s}
                status, why = a.begin()
                assert status == 2 and "is not what was done" in why, why
                a.tell("alloc", 0x10000, 512)
                assert taken() == "nothing is observed", taken()
                a.wrong = {}
                assert a.begin()[0] == 0
                assert taken()["device_traces"] == [[], []]
            """ % wrong)

    def test_devices_that_are_missing_or_come_twice_are_refused(self):
        self.run_python("""
            a = Allocator()
            for visited in ([], [0], [1, 0], [0, 0], [0, 1, 1], [0, 1, 2]):
                a.visited = visited
                assert "not one of each" in a.begin()[1], a.begin()
            for count in (0, -1, 129):
                assert "cannot be observed" in Allocator(count).begin()[1]
        """)

    def test_entries_of_nothing_known_are_passed_over(self):
        self.run_python("""
            a = Allocator()
            a.tell("alloc", 1, 1)  # before it begins
            assert a.begin()[0] == 0
            for device, action in ((-1, 0), (128, 0), (0, 10), (0, -1)):
                lib.gpustrata_observed(ctypes.byref(Event(action, device, 1, 1, 0, Pool(0, 0), 0, None, None)))
            assert taken()["device_traces"] == [[], []]
            assert lib.gpustrata_observe_end() == 0 and lib.gpustrata_observe_end() == 0
            a.tell("alloc", 1, 1)
            assert taken() == "nothing is observed"
        """)

    def test_regions(self):
        self.run_python("""
            a = Allocator()
            lib.gpustrata_observed_region(b"before", 1, 0, ctypes.c_uint64(0))
            assert a.begin()[0] == 0
            lib.gpustrata_observed_region("ré".encode(), 1, 1, ctypes.c_uint64(time.monotonic_ns()))
            lib.gpustrata_observed_region("ré".encode(), 0, 1, ctypes.c_uint64(time.monotonic_ns()))
            assert [(m["name"], m["stage"], m["device"]) for m in taken()["external_annotations"]] == [
                ("ré", "START", 1), ("ré", "END", 1)]
        """)

    def test_a_child_of_a_fork_tells_nothing(self):
        self.run_python("""
            a = Allocator()
            assert a.begin()[0] == 0
            child = os.fork()
            a.tell("alloc", 0x10000, 512)
            a.held[0] = [[0x10000, 512, 512, 1, 1]]
            if child == 0:
                a.held = {}
                assert taken("child.pickle")["device_traces"] == [[], []]
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            assert len(taken()["device_traces"][0]) == 1
        """)

    def test_threads(self):
        self.run_python("""
            a = Allocator(64)
            def learn(_=0): assert lib.gpustrata_learn_python() == 0, lib.gpustrata_last_error()
            list(map(lambda _: learn(), [0]))
            assert a.begin(stacks=3, most=100_000)[0] == 0
            def work(device):  # each has the lock of a device of its own
                for i in range(300):
                    exec(compile(f"def made_{i % 3}(): a.tell('annotate', {i}, device={device})\\nmade_{i % 3}()",
                                 f"<{device} {i}>", "exec"), {"a": a})
            threads = [threading.Thread(target=work, args=(device,)) for device in range(8)]
            for one in threads: one.start()
            for one in threads: one.join()
            s = taken()
            for device in range(8):
                frames = [[f for f in e["frames"] if f["name"].startswith("made_")] for e in s["device_traces"][device]]
                assert [(e["addr"], f[0]["name"], f[0]["filename"]) for e, f in zip(s["device_traces"][device], frames)] == [
                    (i, f"made_{i % 3}", f"<{device} {i}>") for i in range(300)], device
        """)


class ToAJournal(Observed):
    """Read by the command; whatever ends the program."""

    def opened(self, name="run.gpustrata"):
        (self.folder / "converted.pickle").unlink(missing_ok=True)
        out_of("convert", self.folder / name, "-o", self.folder / "converted.pickle")
        return self.load("converted.pickle")

    def told(self, name="run.gpustrata"):
        return [[(e["action"], e["addr"], e["size"]) for e in trace] for trace in self.opened(name)["device_traces"]]

    def test_what_is_there_stands_before_events_that_come_while_it_is_asked(self):
        """2 MiB with a block of 512 bytes before; the second block comes when the state was taken, and is not in it."""
        self.run_python("""
            a = Allocator()
            a.held[1] = [[0x10000, 512, 500, 1, 1], [0x10200, (2 << 20) - 512, 0, 0, 0]]
            a.meanwhile = lambda: a.tell("alloc", 0x10200, 700, device=1, metadata=b"early")
            assert a.begin_journal() == (0, ""), a.begin_journal()
            a.meanwhile = lambda: None
            a.tell("free_requested", 0x10000, 500, device=1)
            a.tell("free_completed", 0x10000, 500, device=1)
            assert [lib.gpustrata_observed_journal_events(i) for i in (0, 1, 2, -1)] == [0, 3, -1, -1]
            assert lib.gpustrata_observed_journal_is_cut() == 0
            assert taken() == "what is observed goes to a journal", taken()
            assert lib.gpustrata_observe_end() == 0
            assert lib.gpustrata_observed_journal_events(1) == -1
            a.tell("alloc", 0x10000, 1, device=1)  # after its end
        """)
        snapshot = self.opened()
        self.assertEqual(self.told()[1], [("alloc", 0x10200, 700), ("free_requested", 0x10000, 500), ("free_completed", 0x10000, 500)])
        self.assertEqual(snapshot["device_traces"][1][0]["user_metadata"], "early")
        (segment,) = snapshot["segments"]
        self.assertEqual((segment["device"], segment["address"], segment["total_size"]), (1, 0x10000, 2 * MIB))
        self.assertEqual([(b["state"], b["size"], b["requested_size"]) for b in segment["blocks"] if b["state"] != "inactive"],
                         [("active_allocated", 1024, 700)])
        self.assertEqual(snapshot["allocator_settings"], {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:64"})
        self.assertLess(abs(snapshot["device_traces"][1][0]["time_us"] / 1e6 - time.time()), 120)

    def test_a_killed_program_leaves_every_event_with_its_stack(self):
        self.run_python("""
            import signal
            a = Allocator()
            def learn(_=0): assert lib.gpustrata_learn_python() == 0, lib.gpustrata_last_error()
            list(map(lambda _: learn(), [0]))
            assert a.begin_journal(stacks=1)[0] == 0
            def asks(i): a.tell("annotate", i, 512)
            lib.gpustrata_observed_region(b"all of it", 1, 0, ctypes.c_uint64(time.monotonic_ns()))
            for i in range(5000): asks(i)
            os.kill(os.getpid(), signal.SIGKILL)
        """, expect=-9)
        events = self.opened()["device_traces"][0]
        self.assertEqual([e["addr"] for e in events], list(range(5000)))
        times = [e["time_us"] for e in events]
        self.assertEqual(times, sorted(times))
        self.assertEqual({tuple(f["name"] for f in e["frames"])[-2:] for e in events}, {("asks", "<module>")})
        self.assertEqual([(m["name"], m["stage"]) for m in self.opened()["external_annotations"]], [("all of it", "START")])

    def test_pools_of_events_that_its_pytorch_keeps_to_itself_are_in_the_state_alone(self):
        for pools in (0, 1):
            self.run_python("""
                a = Allocator(pools=%d)
                assert a.begin_journal()[0] == 0
                a.tell("segment_alloc", 0x10000, 2 << 20, pool=(3, 4))
                a.tell("alloc", 0x10000, 512, pool=(3, 4))
                assert lib.gpustrata_observe_end() == 0
            """ % pools)
            snapshot = self.opened()
            self.assertEqual([tuple(e["pool_id"]) if "pool_id" in e else None for e in snapshot["device_traces"][0]],
                             [(3, 4) if pools else None] * 2)
            self.assertEqual([tuple(s["segment_pool_id"]) for s in snapshot["segments"]], [(3, 4)])

    def test_the_oldest_go_and_it_is_said(self):
        self.run_python("""
            a = Allocator()
            assert a.begin_journal(size=1 << 20)[0] == 0
            for i in range(100_000): a.tell("annotate", i * 0x1234567, i)
            assert lib.gpustrata_observed_journal_events(0) == 100_000
            assert lib.gpustrata_observe_end() == 0
        """)
        self.assertLessEqual((self.folder / "run.gpustrata").stat().st_size, MIB)
        events = self.told()[0]
        self.assertEqual(events, [("annotate", i * 0x1234567, i) for i in range(100_000 - len(events), 100_000)])
        self.assertEqual(self.opened()["gpustrata"]["lost_events"], [100_000 - len(events), 0])

    def test_a_child_of_a_fork_writes_nothing(self):
        self.run_python("""
            a = Allocator()
            assert a.begin_journal()[0] == 0
            child = os.fork()
            a.tell("annotate", 1 if child else 2, 512)
            assert lib.gpustrata_observe_end() == 0
            if child == 0: os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        """)
        self.assertEqual(self.told()[0], [("annotate", 1, 512)])

    def test_what_cannot_be_begun_is_refused_and_leaves_nothing_on(self):
        self.run_python("""
            a = Allocator()
            a.wrong = {"size": 1}
            status, why = a.begin_journal()
            assert status == 2 and "is not what was done" in why, why
            a.wrong = {}
            assert "no/such" in a.begin_journal(path="no/such")[1]
            assert "1.0 MiB or more" in a.begin_journal(size=1000)[1]
            assert "a path" in a.begin_journal(path="")[1]
            assert a.begin_journal()[0] == 0
            assert "already" in a.begin_journal(path="other.gpustrata")[1] and "already" in a.begin()[1]
            assert lib.gpustrata_observe_end() == 0
            assert a.begin()[0] == 0
            a.tell("annotate", 1, 1)
            assert len(taken()["device_traces"][0]) == 1
        """)


# Stacks as they are read, beside those that the interpreter tells, in every way that Python code is called.
LEARN = f"""
import ctypes, functools, sys, threading
sys.path.insert(0, {str(ROOT / "capture")!r})
import gpustrata_torch as m
lib = m._library()
count = 0
def learn(*_):
    global count
    status = lib.gpustrata_learn_python()
    assert status == 0, lib.gpustrata_last_error().decode()
    count += 1
    return count
def outer(x):
    def inner(y): return learn(y)
    return inner(x)
list(map(outer, [1]))
class C:
    learn()
    def __lt__(self, other): learn(); return False
    def __del__(self): learn()
    @property
    def p(self): return learn()
    def méthode(self): return learn()
sorted([C(), C(), C()]); C().p; C().méthode()
def generator():
    for _ in range(3): learn(); yield
for _ in generator(): learn()
[learn() for _ in range(2)]; dict((learn(), 1) for _ in range(2))
functools.reduce(lambda a, b: learn(), range(4))
def deep(n): return learn() if n == 0 else deep(n - 1)
deep(100)
back = ctypes.CFUNCTYPE(None)(learn); back()
eval(compile("learn()", "日本.py", "eval")); exec(compile("def \U0001d400𝒜(): learn()\\n\U0001d400𝒜()", "<😀>", "exec"))
async def coroutine(): learn()
try: coroutine().send(None)
except StopIteration: pass
threads = [threading.Thread(target=outer, args=(1,)) for _ in range(8)]
for one in threads: one.start()
for one in threads: one.join()
try: raise ValueError
except ValueError: learn()
sys.settrace(lambda *a: None); learn(); sys.settrace(None)
sys.setprofile(lambda *a: None); learn(); sys.setprofile(None)
print(count)
"""


class Stacks(unittest.TestCase):
    def check(self, python):
        variables = dict(os.environ)
        if "GPUSTRATA_PRELOAD" in variables:
            variables["LD_PRELOAD"] = variables["GPUSTRATA_PRELOAD"]
        return subprocess.run([python, "-c", LEARN], capture_output=True, text=True, timeout=300, env=variables)

    def test_of_this_python(self):
        done = self.check(sys.executable)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(int(done.stdout), 40)

    def test_of_others_that_are_here(self):
        """Read right, or refused when they are learnt: never read wrong."""
        if "GPUSTRATA_PRELOAD" in os.environ:
            self.skipTest("under a sanitizer with this Python only")
        for python in sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3.[0-9]*[0-9]"))):
            with self.subTest(python=python):
                done = self.check(python)
                if done.returncode != 0:
                    self.assertRegex(done.stderr, "this Python (is older than|runs without|keeps )")


if __name__ == "__main__":
    unittest.main()
