"""`gpustrata serve` with many clients at once: they open, ask, run, close and vanish, while files come and go.

What they are told is looked at by serve_test.py; here nothing may crash, hang, or answer one with what is another's. Built
with ThreadSanitizer (group native-thread of tests/run.sh) no data race may be seen either.
"""
import http.client
import json
import random
import threading
import time

from serve_test import OPEN, OTHER, SMALL, Served, long_run, picture, question
from support.tool import ENVIRONMENT

CLIENTS, SECONDS = 16, 12


class ManyClients(Served):
    options = ("--sessions", "6", "--memory", "1GiB", "--idle", "0.02")  # idle after 1.2 seconds

    def prepare(self):
        (self.folder / "long.pickle").write_bytes(long_run(2_000))

    def start(self, *arguments):
        super().start(*arguments, environment={**ENVIRONMENT, "TSAN_OPTIONS": "halt_on_error=1"})

    def stop(self):
        if self.server.stderr.closed:
            return
        died = self.server.stderr.read().decode() if self.server.poll() is not None else ""
        super().stop()
        self.assertEqual((self.server.returncode, died), (0, ""))

    def visited(self, meanwhile):
        """Clients visit until `meanwhile` returns: how often each did, and what went wrong."""
        ended, visits, problems = threading.Event(), [0] * CLIENTS, []

        def client(number):
            rng = random.Random(number)
            try:
                while not ended.is_set():
                    self.one_visit(rng, number)
                    visits[number] += 1
            except Exception as error:  # noqa: BLE001
                problems.append(error)

        clients = [threading.Thread(target=client, args=(n,)) for n in range(CLIENTS)]
        for one in clients:
            one.start()
        meanwhile()
        ended.set()
        for one in clients:
            one.join()
        return visits, problems

    def test_nothing_is_anothers(self):
        def replace_files():
            until = time.monotonic() + SECONDS
            while time.monotonic() < until:  # which others are reading
                for name, data in (("a.pickle", SMALL), ("deep/b.pickle", OTHER)):
                    (self.folder / "new.tmp").write_bytes(data.read_bytes())
                    (self.folder / "new.tmp").replace(self.folder / name)
                time.sleep(0.3)

        visits, problems = self.visited(replace_files)
        self.assertEqual(problems, [])
        self.assertGreater(min(visits), 0)

    def test_the_server_ends_while_they_ask(self):
        def end():
            time.sleep(2)
            self.stop()

        _, problems = self.visited(end)
        for problem in problems:  # it is gone
            self.assertIsInstance(problem, (OSError, http.client.HTTPException), problem)

    def one_visit(self, rng, number):
        status, body, _ = self.ask_http("POST", "open", rng.choice([b"a.pickle", b"deep/b.pickle", b"long.pickle"]))
        if status != 200:
            self.assertEqual(status, 503, body)
            return
        session = json.loads(body)["session"]
        parent = session
        if rng.random() < 0.3:
            status, body, _ = self.ask_http("POST", f"sessions/{session}/again")
            session = json.loads(body)["session"] if status == 200 else session
        frames = [OPEN, picture(1, 300, 200), question("contents"), question("states", view=1),
                  question("addRun", {"scenario": {}}, view=1), question("whatIf", {"scenario": {}, "columns": 10}, view=1),
                  question("tellMadeIn", {"anew": True, "parents": [-1], "names": [f"op{number}"], "ops": [1],
                                          "events": [0], "nodes": [0]}, view=1),
                  question("filter", {"text": f"op:op{number + 1}"}, view=1), question("release", view=1),
                  question("summary", {"file": str(number)}, identity=number)]
        for frame in [OPEN] + rng.choices(frames, k=rng.randrange(12)):
            pack = "?pack=1" if rng.random() < 0.3 else ""
            status, answer, headers = self.ask_http("POST", f"sessions/{session}/ask{pack}", frame)
            self.assertIn(status, (200, 410))
            if status == 410:
                return
            if frame is frames[-1] and not headers["Content-Encoding"] and b'"answer"' in answer:
                self.assertIn(f'"file":"{number}"'.encode(), answer)
            if frame is frames[-3] and not headers["Content-Encoding"] and b'"count"' in answer:
                self.assertIn(b'"count":0,', answer)  # somebody else's op
        if rng.random() < 0.3:
            self.ask_http("GET", "files")
        if rng.random() < 0.2:
            time.sleep(1.5)  # until it is dropped
        for one in {session, parent}:
            if rng.random() < 0.8:  # others vanish
                self.ask_http("POST", f"sessions/{one}/close", b"")
