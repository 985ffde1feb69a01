"""`gpustrata live` beside programs that write journals: how far each is written, by whom, and what a reading of it then holds.

The programs use the capture library on its simulated device (support/live_program.py). GPUSTRATA_CAPTURE: the library.
"""
import json
import signal
import subprocess
import sys
import time

from serve_test import DEADLINE, OPEN, Served, question
from support.paths import ROOT
from support.tool import ENVIRONMENT, USAGE, run

PROGRAM = ROOT / "tests" / "support" / "live_program.py"
CAPTURED = {**ENVIRONMENT, "PYTHONPATH": str(ROOT / "capture" / "python")}


class Program:
    """Allocates as far as it is told to. `under`: what begins it."""

    def __init__(self, journal, under=()):
        self.process = subprocess.Popen([*under, sys.executable, PROGRAM, journal], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=CAPTURED)
        assert self.process.stdout.readline() == "0\n"

    def tell(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Live(Served):
    command = "live"

    def prepare(self):
        self.program = self.begin("run.gpustrata")
        self.program.tell(50)

    def begin(self, name, under=()):
        program = Program(self.folder / name, under)
        self.addCleanup(program.kill)
        return program

    def journals(self):
        status, body, _ = self.ask_http("GET", "journals")
        self.assertEqual(status, 200)
        return {one["name"]: one for one in json.loads(body)["journals"]}

    def until(self, is_so):
        """The journals when they are as wanted."""
        end = time.monotonic() + DEADLINE
        while True:
            journals = self.journals()
            if is_so(journals):
                return journals
            self.assertLess(time.monotonic(), end, journals)
            time.sleep(0.05)

    def blocks(self, session):
        return self.ask(session, OPEN)[1]["answer"]["info"]["blocks"]

    def test_the_page_is_told_that_it_follows(self):
        self.assertIn(b'name="gpustrata-server" content="live"', self.ask_http("GET", "")[1])

    def test_a_reading_holds_what_was_written_and_the_next_one_what_came_since(self):
        first = self.journals()["run.gpustrata"]
        self.assertEqual((first["state"], first["process"]), ("written", self.program.process.pid))
        session, reading = self.session("run.gpustrata")
        self.assertEqual(reading["journal"], {"closed": False, **{name: first[name] for name in ("started_us", "position", "events")}})
        self.assertEqual(self.blocks(session), 50)
        _, contents = self.ask(session, question("contents"))
        self.assertEqual(contents["answer"]["snapshots"][0]["devices"][0]["events"], first["events"])

        self.program.tell(30)
        second = self.journals()["run.gpustrata"]
        self.assertGreater(second["position"], first["position"])
        self.assertGreaterEqual(second["events"], first["events"] + 30)
        again, reading = self.session("run.gpustrata")
        self.assertEqual(reading["journal"]["events"], second["events"])
        self.assertEqual((self.blocks(session), self.blocks(again)), (50, 80))  # what was read stays as it was
        self.close(session)

    def test_the_end_is_told_closed_or_killed(self):
        killed = self.begin("deep/other.gpustrata")
        self.until(lambda journals: len(journals) == 2)
        self.program.tell("close")
        killed.process.send_signal(signal.SIGKILL)
        killed.process.wait()
        ended = self.until(lambda journals: all(one["state"] != "written" for one in journals.values()))
        self.assertEqual({name: one["state"] for name, one in ended.items()},
                         {"run.gpustrata": "closed", "deep/other.gpustrata": "left"})
        self.assertTrue(self.session("run.gpustrata")[1]["journal"]["closed"])
        self.assertFalse(self.session("deep/other.gpustrata")[1]["journal"]["closed"])

    def test_journals_are_in_the_list_and_examined_once_they_are_not_written(self):
        self.assertIsNone(self.listed()["run.gpustrata"]["peak_bytes"])
        self.program.tell("close")
        self.assertGreater(self.listed()["run.gpustrata"]["peak_bytes"], 0)

    def test_a_folder_without_journals_waits_for_them(self):
        self.stop()
        empty = self.around / "empty"
        empty.mkdir()
        self.start(empty)
        self.assertEqual(self.journals(), {})
        self.folder = empty
        self.begin("late.gpustrata")
        self.assertEqual(list(self.until(len)), ["late.gpustrata"])

    def test_a_process_is_named_by_its_number_and_so_is_what_began_it(self):
        self.stop()
        begun = self.begin("ranks.gpustrata", under=("bash", "-c", '"$@"; true', "bash"))
        begun.tell(5)
        for process, name in ((self.program.process.pid, "run.gpustrata"), (begun.process.pid, "ranks.gpustrata")):
            self.start(process)
            self.assertEqual(list(self.journals()), [name])
            self.stop()

    def test_processes_that_write_none_are_refused_in_words(self):
        sleeping = subprocess.Popen(["sleep", "60"])
        self.addCleanup(sleeping.wait)
        self.addCleanup(sleeping.kill)
        beyond = 2**22 + 1  # no system counts so far
        for process, why in ((sleeping.pid, f"Process {sleeping.pid} writes no journal"), (beyond, f"There is no process {beyond}.")):
            done = run("live", process, "--viewer", self.viewer, text=True)
            self.assertEqual(done.returncode, USAGE)
            self.assertIn(why, done.stderr)
