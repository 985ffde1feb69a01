"""`gpustrata serve` attacked as a client can: over sockets, with files that change, with clients that are slow or die.

Frames are packed and unpacked by this file's own few lines; what the answers say is compared with the command.
"""
import gzip
import http.client
import json
import os
import pickle
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from support.folders import InAFolder
from support.paths import ROOT, case
from support.tool import ENVIRONMENT, TOOL, UNREADABLE, USAGE, WITHOUT_PRIVILEGES, answer, run

SMALL = case("protocol4")
OTHER = case("cpp_writer")
VIEWER = (b"<html><head><meta charset=\"utf-8\" /><meta content=\"connect-src 'none'\"></head>"
          b"<body><meta name=\"holds\" content=\"gpustrata-snapshot\" /></body></html>\n")
DEADLINE = 30  # seconds that anything may take on a busy machine


def question(ask, args=None, view=None, identity=7, version=1):
    head = json.dumps({"ask": ask, **({} if view is None else {"view": view}), "args": args or {}}).encode()
    return struct.pack("<6I", 0x5154534D, version, identity, len(head), 0, 0) + head


def head_of(answer):
    magic, _, identity, length, columns, _ = struct.unpack("<6I", answer[:24])
    assert magic == 0x4154534D and len(answer) == 24 + length + columns, answer[:100]
    return identity, json.loads(answer[24 : 24 + length])


def made_up(mebibytes, frames=8):
    """A pickle of that size or a little more: events with stacks that differ."""
    stack = [{"filename": f"/a/{i}.py", "line": i, "name": f"f{i}"} for i in range(frames)]
    trace, address = [], 0x7F0000000000
    for i in range(mebibytes * 4000):
        trace.append({"action": "alloc" if i % 2 == 0 else "free_completed", "addr": address + (i // 2) * 512,
                      "size": 512 + (i // 2) % 7, "stream": 0, "time_us": 10**15 + i, "frames": list(stack)})
    return pickle.dumps({"segments": [], "device_traces": [trace], "allocator_settings": {}, "external_annotations": []},
                        protocol=4)


def long_run(pairs):
    """A pickle with so many blocks that come and go in one segment."""
    segment = 1 << 21
    trace = [{"action": "segment_alloc", "addr": segment, "size": segment, "stream": 0, "frames": []}]
    for i in range(pairs):
        size = 512 * (1 + i % 7)
        trace += [{"action": action, "addr": segment, "size": size, "stream": 0, "frames": []}
                  for action in ("alloc", "free_requested", "free_completed")]
    blocks = [{"address": segment, "size": segment, "requested_size": 0, "state": "inactive"}]
    return pickle.dumps({"segments": [{"device": 0, "address": segment, "total_size": segment, "stream": 0,
                                       "segment_type": "small", "blocks": blocks}], "device_traces": [trace]}, protocol=4)


OPEN = question("open", {"snapshot": 0, "device": 0, "bands": "blocks"})


def picture(view, width, height):
    look = {"palette": {"bands": [255], "nothing": 0, "dimmedTowards": 0, "envelope": 0}, "colourBy": "allocation",
            "filter": "", "kind": -1}
    return question("picture", {"columns": {"axis": "event", "first": 0, "width": 1, "count": width},
                                "rows": {"bottom": 0, "bytesPerRow": 1000, "count": height}, "look": look}, view=view)


class Served(InAFolder):
    command = "serve"
    options = ()

    def setUp(self):
        super().setUp()
        self.around = self.folder
        (self.around / "secret.pickle").write_bytes(OTHER.read_bytes())
        self.viewer = self.around / "viewer.html"
        self.viewer.write_bytes(VIEWER)
        self.folder = self.around / "runs"
        (self.folder / "deep").mkdir(parents=True)
        (self.folder / "a.pickle").write_bytes(SMALL.read_bytes())
        (self.folder / "deep" / "b.pickle").write_bytes(OTHER.read_bytes())
        self.prepare()
        self.start(self.folder, *self.options)

    def prepare(self):
        pass

    def start(self, *arguments, under=(), environment=ENVIRONMENT):
        self.server = subprocess.Popen([*under, TOOL, self.command, *map(str, arguments), "--viewer", str(self.viewer)],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        self.addCleanup(self.stop)
        line = self.server.stdout.readline().decode()
        if not line:
            raise AssertionError(self.server.stderr.read().decode())
        self.url = urlsplit(line.strip())
        self.token = self.url.path.strip("/")

    def stop(self):
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGTERM)
            self.assertEqual(self.server.wait(DEADLINE), 0)
        self.server.stdout.close()
        self.server.stderr.close()

    def ask_http(self, method, path, body=None, headers=None, raw=False):
        connection = http.client.HTTPConnection("127.0.0.1", self.url.port, timeout=DEADLINE)
        try:
            connection.request(method, path if raw else f"/{self.token}/{path}", body=body, headers=headers or {})
            response = connection.getresponse()
            return response.status, response.read(), response.headers
        finally:
            connection.close()

    def open(self, name):
        status, body, _ = self.ask_http("POST", "open", name.encode() if isinstance(name, str) else name)
        return status, json.loads(body)

    def session(self, name="a.pickle"):
        status, opened = self.open(name)
        self.assertEqual(status, 200, opened)
        return self.read(opened)

    def again(self, session):
        """The same file for one client alone."""
        status, opened, _ = self.ask_http("POST", f"sessions/{session}/again")
        self.assertEqual(status, 200, opened)
        return self.read(json.loads(opened))

    def close(self, session):
        self.ask_http("POST", f"sessions/{session}/close", b"")

    def read(self, opened):
        """The session and how reading it ended."""
        while True:
            reading = json.loads(self.ask_http("GET", f"sessions/{opened['session']}")[1])
            if reading["ready"] or "error" in reading:
                return opened["session"], reading

    def listed(self):
        """The list when every file has been examined, by name."""
        until = time.monotonic() + DEADLINE
        while True:
            listed = json.loads(self.ask_http("GET", "files")[1])
            if listed["to_examine"] == 0:
                return {file["name"]: file for file in listed["files"]}
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)

    def ask(self, session, frame):
        status, body, _ = self.ask_http("POST", f"sessions/{session}/ask", frame)
        self.assertEqual(status, 200, body[:200])
        return head_of(body)

    def alive(self):
        """It still answers, with what the command says."""
        session, _ = self.session()
        _, head = self.ask(session, question("summary", {"file": "x"}))
        expected = answer("summary", self.folder / "a.pickle")
        self.assertEqual({**head["answer"], "file": ""}, {**expected, "file": ""})

    def raw(self, data, wait=True):
        with socket.create_connection(("127.0.0.1", self.url.port), timeout=DEADLINE) as connection:
            connection.sendall(data)
            answer = b""
            while wait:
                try:
                    part = connection.recv(65536)
                except ConnectionResetError:
                    break
                if not part:
                    break
                answer += part
            return answer


class Answers(Served):
    def test_the_page_may_ask_its_own_server_and_nobody_else(self):
        status, page, headers = self.ask_http("GET", "")
        self.assertEqual(status, 200)
        self.assertIn(b"connect-src 'self'", page)
        self.assertIn(b'name="gpustrata-server"', page)
        self.assertEqual(headers["Referrer-Policy"], "no-referrer")
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"])
        self.assertNotIn("Access-Control-Allow-Origin", headers)

    def test_a_question_has_the_answer_of_the_command(self):
        self.alive()

    def test_the_list_is_sorted_by_peak(self):
        listed = self.listed().values()
        expected = {}
        for name in ("a.pickle", "deep/b.pickle"):
            said = answer("summary", self.folder / name)
            expected[name] = max(d["peak"]["requested_bytes"] for s in said["snapshots"] for d in s["devices"])
        self.assertEqual({f["name"]: f["peak_bytes"] for f in listed}, expected)
        peaks = [f["peak_bytes"] for f in listed]
        self.assertEqual(peaks, sorted(peaks, reverse=True))

    def test_views_are_of_the_client_that_opened_them(self):
        first, _ = self.session()
        second, _ = self.session()
        self.assertNotEqual(first, second)
        opened = [self.ask(first, OPEN)[1] for _ in range(65)]
        self.assertEqual(sum("answer" in one for one in opened), 64)
        self.assertIn("64 views are open", opened[-1]["error"]["message"])
        view = self.ask(second, OPEN)[1]["answer"]["id"]
        highest = question("highest", {"columns": {"axis": "event", "first": 0, "width": 1, "count": 1}}, view=view)
        expected = self.ask(second, highest)
        for _ in range(3):  # only the first one closes anything
            self.close(first)
        self.assertEqual(self.ask_http("POST", f"sessions/{first}/ask", question("contents"))[0], 410)
        self.assertEqual(self.ask(second, highest), expected)

    def test_runs_are_of_the_client_that_has_the_file_for_itself(self):
        first, _ = self.session()
        second, _ = self.session()
        contents = self.ask(second, question("contents"))
        for client in (first, second):
            self.ask(client, OPEN)
        run = question("addRun", {"scenario": {}}, view=1)
        self.assertIn("opened again for runs of your own", self.ask(first, run)[1]["error"]["message"])
        own, reading = self.again(first)
        self.assertTrue(reading["ready"])
        self.ask(own, OPEN)
        for _ in range(20):  # each in the place of the one before
            self.assertEqual(self.ask(own, run)[1], {"answer": 1})
        self.assertEqual(len(self.ask(own, question("contents"))[1]["answer"]["snapshots"]), 2)
        self.assertEqual(self.ask(second, question("contents")), contents)
        self.assertEqual(self.ask(self.session()[0], question("contents")), contents)
        # At most four at a time, and they outlive who had the file opened.
        others = [self.again(first)[0] for _ in range(3)]
        status, refused, _ = self.ask_http("POST", f"sessions/{first}/again")
        self.assertEqual(status, 503)
        self.assertIn("4 runs of this file are open", json.loads(refused)["error"]["message"])
        for client in (first, *others):
            self.close(client)
        self.assertEqual(len(self.ask(own, question("contents"))[1]["answer"]["snapshots"]), 2)

    def test_what_runs_for_long_ends_when_its_client_closes(self):
        # 400,000 requests, run for each question. Of four that ask without a pause one runs and others wait their turn at
        # any time, also when the file is closed.
        (self.folder / "long.pickle").write_bytes(long_run(200_000))
        first, _ = self.session("long.pickle")
        own, _ = self.again(first)
        self.ask(own, OPEN)
        self.assertIn("answer", self.ask(own, question("rehearsal", view=1))[1])
        answers = []
        first_answer = threading.Event()

        def one_after_another():
            while True:
                status, body, _ = self.ask_http("POST", f"sessions/{own}/ask",
                                                question("smallestCapacity", {"scenario": {}}, view=1))
                if status != 200:
                    break
                answers.append(head_of(body)[1])
                first_answer.set()

        asking = [threading.Thread(target=one_after_another) for _ in range(4)]
        for one in asking:
            one.start()
        self.assertTrue(first_answer.wait(DEADLINE))
        self.close(own)
        for one in asking:
            one.join(DEADLINE)
            self.assertFalse(one.is_alive())
        stopped = [one["error"]["message"] for one in answers if "error" in one]
        self.assertTrue(stopped)
        self.assertTrue(all("stopped" in one for one in stopped), stopped)
        self.assertNotEqual(len(stopped), len(answers))

    def test_packed_when_asked(self):
        session, _ = self.session()
        drawn = picture(self.ask(session, OPEN)[1]["answer"]["id"], 800, 600)
        plain = self.ask_http("POST", f"sessions/{session}/ask", drawn)
        packed = self.ask_http("POST", f"sessions/{session}/ask?pack=1", drawn)
        self.assertIn("answer", head_of(plain[1])[1])
        self.assertEqual(packed[2]["Content-Encoding"], "gzip")
        self.assertIsNone(plain[2]["Content-Encoding"])
        self.assertLess(len(packed[1]), len(plain[1]) / 5)
        self.assertEqual(gzip.decompress(packed[1]), plain[1])

    def test_a_name_that_is_typed_differently(self):
        for host in ("localhost", f"LOCALHOST:{self.url.port}", "127.0.0.1:9", f"[::1]:{self.url.port}"):
            status, _, _ = self.ask_http("GET", "files", headers={"Host": host})
            self.assertEqual(status, 200, host)


class Refusals(Served):
    def prepare(self):
        (self.folder / "out.pickle").symlink_to(self.around / "secret.pickle")
        (self.folder / "in.pickle").symlink_to("deep/b.pickle")
        (self.folder / "up").symlink_to(self.around)
        os.mkfifo(self.folder / "pipe.pickle")
        (self.folder / ".hidden.pickle").write_bytes(SMALL.read_bytes())
        (self.folder / "text.json").write_text("no snapshot")

    def test_names_that_lead_out(self):
        absolute = str(self.around / "secret.pickle")
        for name in ("../secret.pickle", "deep/../../secret.pickle", "..", "./../secret.pickle", absolute, "/etc/passwd",
                     "%2e%2e/secret.pickle", "..%2fsecret.pickle", "..\\secret.pickle", "deep//..//../secret.pickle",
                     "out.pickle", "up/secret.pickle", "up/runs/../secret.pickle", "/proc/self/environ", "", ".",
                     "deep", "no such file", "a.pickle/", "a.pickle\0", "x" * 5000, b"\xff\xfe", "pipe.pickle"):
            with self.subTest(name=name):
                status, answer = self.open(name)
                self.assertEqual(status, 404, answer)
                self.assertEqual(answer["error"]["code"], "wrong_usage")
                self.assertGreater(len(answer["error"]["message"]), 20)
        self.alive()

    def test_a_link_inside_is_followed(self):
        _, reading = self.session("in.pickle")
        self.assertTrue(reading["ready"])

    def test_what_is_listed_can_be_opened(self):
        listed = json.loads(self.ask_http("GET", "files")[1])
        names = {file["name"] for file in listed["files"]}
        self.assertEqual(names, {"a.pickle", "deep/b.pickle", "in.pickle", "text.json"})

    def test_a_file_that_is_no_snapshot(self):
        _, reading = self.session("text.json")
        self.assertFalse(reading["ready"])
        self.assertGreater(len(reading["error"]["message"]), 10)

    def test_addresses_that_lead_out(self):
        for path in ("/etc/passwd", "/../../etc/passwd", f"/{self.token}/../secret.pickle", f"/{self.token}/a.pickle",
                     f"/{self.token}/%2e%2e/%2e%2e/etc/passwd", f"/{self.token}//etc/passwd", "//", "/", "*",
                     f"/{self.token}", f"/{self.token}/sessions/", f"/{self.token}/sessions/../files",
                     f"/{self.token}/open", f"/{self.token}/files/x", f"/{self.token[:-1]}/files", f"/{'x' * 32}/files",
                     f"/{self.token}x/files", f"/{self.token.swapcase()}/files"):
            with self.subTest(path=path):
                status, body, _ = self.ask_http("GET", path, raw=True)
                self.assertIn(status, (400, 404, 410))
                self.assertNotIn(b"root:", body)

    def test_other_hosts_and_origins(self):
        port = self.url.port
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil.example",
                     "127.evil.example", "", "[::1", "a:b:c", "127.0.0.1:x"):
            with self.subTest(host=host):
                self.assertEqual(self.ask_http("GET", "files", headers={"Host": host})[0], 403)
        for origin in ("http://evil.example", "null", f"https://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}",
                       f"http://127.0.0.1:{port}.evil.example", "file://"):
            with self.subTest(origin=origin):
                status, _, headers = self.ask_http("POST", "open", b"a.pickle", headers={"Origin": origin})
                self.assertEqual(status, 403)
                self.assertNotIn("Access-Control-Allow-Origin", headers)
        own = {"Origin": f"http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"}
        self.assertEqual(self.ask_http("POST", "open", b"a.pickle", headers=own)[0], 200)
        self.assertEqual(self.ask_http("GET", "files", headers={"Sec-Fetch-Site": "cross-site"})[0], 403)
        without = self.raw(f"GET /{self.token}/files HTTP/1.1\r\nConnection: close\r\n\r\n".encode())
        self.assertRegex(without, rb"^HTTP/1.[01] 40[03] ")

    def test_methods(self):
        for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND"):
            self.assertEqual(self.ask_http(method, "files")[0], 405, method)
        self.assertEqual(self.ask_http("HEAD", "")[0], 200)
        self.assertEqual(self.ask_http("POST", "files")[0], 404)
        self.assertEqual(self.ask_http("GET", "open")[0], 404)

    def test_questions_of_any_bytes(self):
        session, _ = self.session()
        rng = random.Random(5)
        good = question("open", {"snapshot": 0, "device": 0, "bands": "blocks"})
        frames = [b"", b"x", good[:23], good[:-1], question("nothing"), question("summary", {"file": 3}),
                  question("picture", view=99), question("summary", {"file": "x"}, version=2),
                  struct.pack("<6I", 0x5154534D, 1, 1, 0xFFFFFFFF, 0xFFFFFFFF, 0), bytes(1000)]
        for _ in range(150):
            frame = bytearray(good)
            for _ in range(rng.randrange(1, 6)):
                frame[rng.randrange(len(frame))] = rng.randrange(256)
            frames.append(bytes(frame))
        for frame in frames:
            _, head = self.ask(session, frame)
            self.assertTrue("answer" in head or (head["error"]["code"] and len(head["error"]["message"]) > 10), (frame, head))
        status, _, _ = self.ask_http("POST", f"sessions/{session}/ask", bytes((1 << 20) + 1000))
        self.assertEqual(status, 413)
        _, head = self.ask(session, question("summary", {"file": "x"}, version=2))
        self.assertIn("version", head["error"]["message"])
        self.assertEqual(self.ask_http("POST", "sessions/unknown/ask", good)[0], 410)
        self.alive()

    def test_inputs_of_the_fuzz_target(self):
        """What tests/fuzz/questions_fuzz.cpp keeps, and changed copies of it, over HTTP: the same file, the same three views."""
        fuzz = ROOT / "tests" / "fuzz"
        text = (fuzz / "questions_fuzz.cpp").read_text()
        (self.folder / "fuzz.json").write_text(text.split('R"(', 1)[1].split(')"', 1)[0])
        session, reading = self.session("fuzz.json")
        self.assertTrue(reading["ready"], reading)
        for bands in ("blocks", "pools", "segments"):
            self.ask(session, question("open", {"snapshot": 0, "device": 0, "bands": bands}))
        kept = [one for path in sorted((fuzz / "corpus" / "questions_fuzz").iterdir()) for one in path.read_bytes().split(b"\0") if one]
        self.assertGreater(len(kept), 20)
        rng, changed = random.Random(9), []
        for _ in range(300):
            one = bytearray(rng.choice(kept))
            for _ in range(rng.randrange(1, 4)):
                one[rng.randrange(len(one))] = rng.randrange(1, 256)
            changed.append(bytes(one))
        answered = 0
        for head in kept + changed:
            padded = head + b" " * (-len(head) % 8)
            _, said = self.ask(session, struct.pack("<6I", 0x5154534D, 1, 7, len(padded), 0, 0) + padded)
            if "error" in said:
                self.assertTrue(said["error"]["code"] and said["error"]["message"], head)
            answered += "error" not in said
        self.assertGreater(answered, 20)
        self.alive()

    def test_requests_of_any_bytes(self):
        rng = random.Random(6)
        good = (f"POST /{self.token}/open HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                "Content-Length: 8\r\n\r\na.pickle").encode()
        for _ in range(100):
            bad = bytearray(good)
            for _ in range(rng.randrange(1, 8)):
                bad[rng.randrange(len(bad))] = rng.randrange(256)
            self.raw(bytes(bad), wait=False)
        self.raw(b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\n\r\n", wait=False)
        self.raw(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 50_000, wait=False)
        self.raw(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n", wait=False)
        self.raw(bytes(100), wait=False)
        self.alive()


class Clients(Served):
    def test_slow_clients_hold_nobody_up(self):
        slow = []
        for i in range(60):
            connection = socket.create_connection(("127.0.0.1", self.url.port), timeout=DEADLINE)
            self.addCleanup(connection.close)
            connection.sendall((f"POST /{self.token}/open HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n\r\na"
                                if i % 2 else "GET / HT").encode())
            slow.append(connection)
        self.alive()
        # They are shut after a while, though they send a byte now and then.
        until = time.monotonic() + 20 + DEADLINE
        shut = 0
        while shut < len(slow) and time.monotonic() < until:
            shut = 0
            for connection in slow:
                try:
                    connection.settimeout(0.01)
                    connection.sendall(b"x")
                    shut += connection.recv(1000) == b""
                except TimeoutError:
                    pass
                except OSError:
                    shut += 1
            time.sleep(1)
        self.assertEqual(shut, len(slow))
        self.alive()

    def test_a_client_that_is_killed_while_it_asks(self):
        session, _ = self.session()
        script = ("import http.client, sys\n"
                  "c = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]))\n"
                  "body = sys.stdin.buffer.read()\n"
                  "print('go', flush=True)\n"
                  "while True:\n"
                  "    c.request('POST', sys.argv[2], body)\n"
                  "    c.getresponse().read()\n")
        for _ in range(5):
            client = subprocess.Popen([sys.executable, "-c", script, str(self.url.port),
                                       f"/{self.token}/sessions/{session}/ask"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE)
            client.stdin.write(question("summary", {"file": "x"}))
            client.stdin.close()
            client.stdout.readline()
            time.sleep(0.05)
            client.kill()
            client.wait()
            client.stdout.close()
        self.alive()

    def test_many_at_the_same_time(self):
        session, _ = self.session()
        problems = []

        def one(number):
            try:
                for i in range(10):
                    identity, head = self.ask(session, question("summary", {"file": str(number)}, identity=number))
                    if identity != number or head["answer"]["file"] != str(number):
                        problems.append((number, identity, head))
            except Exception as error:  # noqa: BLE001
                problems.append(error)

        clients = [threading.Thread(target=one, args=(n,)) for n in range(40)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.assertEqual(problems, [])

    def test_a_file_that_changes_or_goes(self):
        session, _ = self.session()
        (self.folder / "a.pickle").write_bytes(OTHER.read_bytes())
        other, _ = self.session()
        self.assertNotEqual(other, session)  # another file now
        self.ask(session, question("contents"))  # who looks at the old one goes on
        (self.folder / "a.pickle").unlink()
        status, answer = self.open("a.pickle")
        self.assertEqual(status, 404)
        self.assertIn("there is no such file", answer["error"]["message"])
        self.ask(session, question("contents"))

    def test_a_file_that_is_replaced_keeping_size_and_time(self):
        path = self.folder / "a.pickle"
        times = path.stat()
        session, _ = self.session()
        before = self.ask(session, question("contents"))
        other = self.folder / "other.tmp"
        # Its last byte, the end of the pickle, is another one.
        other.write_bytes(path.read_bytes()[:-1] + b" ")
        os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
        other.replace(path)
        self.assertEqual((path.stat().st_size, path.stat().st_mtime_ns), (times.st_size, times.st_mtime_ns))
        replaced, _ = self.session()
        self.assertNotEqual(self.ask(replaced, question("contents")), before)
        self.assertEqual(self.ask(session, question("contents")), before)

    def test_names_that_are_no_utf8(self):
        name = b"odd\xff\xc3.pickle"
        (Path(os.fsdecode(os.fsencode(self.folder) + b"/" + name))).write_bytes(SMALL.read_bytes())
        self.assertEqual([name for name in self.listed() if name.startswith("odd")], ["odd\\xFF\\xC3.pickle"])
        for written in ("odd\\xFF\\xC3.pickle", name):
            _, reading = self.session(written)
            self.assertTrue(reading["ready"], written)

    def test_a_file_that_shrinks_while_it_is_read(self):
        # 96,000 events; whether the reader was quicker than the cut is seen by what it tells, so that it is tried again.
        path, whole = self.folder / "big.pickle", made_up(24)
        for _ in range(20):
            path.write_bytes(whole)
            status, opened = self.open("big.pickle")
            os.truncate(path, 1 << 20)
            self.assertEqual(status, 200)
            session, reading = self.read(opened)
            if "error" in reading:
                self.assertIn(reading["error"]["code"], ("unreadable", "truncated", "invalid_format"))
                cut = True
            else:
                _, head = self.ask(session, question("summary", {"file": "x"}))
                cut = "truncated" in [one["name"] for one in head["answer"]["diagnostics"]]
                self.assertEqual(cut, reading["events"] < 24 * 4000, reading)
                self.assertGreater(reading["events"], 0)
            self.ask_http("POST", f"sessions/{session}/close", b"")
            path.unlink()
            if cut:
                break
        self.assertTrue(cut)
        self.alive()

    def test_a_file_that_grows_while_it_is_served(self):
        path = self.folder / "a.pickle"
        session, _ = self.session()
        with open(path, "ab") as file:
            file.write(OTHER.read_bytes())
        self.ask(session, question("contents"))  # what was read stays what it was
        other, reading = self.session()
        self.assertNotEqual(other, session)
        self.assertEqual(reading["total"], SMALL.stat().st_size + OTHER.stat().st_size)
        self.ask(other, question("contents"))

    def test_many_files_opened_at_once(self):
        data = made_up(24)
        for i in range(10):
            (self.folder / f"rank{i}.pickle").write_bytes(data)
        opened = [self.open(f"rank{i}.pickle") for i in range(10)]  # while the first ones are being read
        self.assertEqual([status for status, _ in opened], [200] * 10, opened)
        for name in range(10):
            self.assertTrue(self.session(f"rank{name}.pickle")[1]["ready"])

    def test_it_ends_while_clients_wait(self):
        connections = [socket.create_connection(("127.0.0.1", self.url.port)) for _ in range(5)]
        connections[0].sendall(b"GET / HT")
        self.server.send_signal(signal.SIGINT)
        self.assertEqual(self.server.wait(DEADLINE), 0)
        for connection in connections:
            connection.close()


class Limits(Served):
    options = ("--sessions", "2", "--memory", "512MiB")

    def test_more_files_than_it_may_have_open(self):
        for i in range(4):
            (self.folder / f"{i}.pickle").write_bytes(SMALL.read_bytes())
        first, _ = self.session("0.pickle")
        self.session("1.pickle")
        status, answer = self.open("2.pickle")
        self.assertEqual(status, 503)
        self.assertIn("as many files open as it may", answer["error"]["message"])
        self.assertEqual(self.ask_http("POST", f"sessions/{first}/close", b"")[0], 200)
        self.assertEqual(self.open("2.pickle")[0], 200)  # in its place
        self.assertEqual(self.ask_http("POST", f"sessions/{first}/ask", question("contents"))[0], 410)

    def peak_memory(self):
        """MiB that the server had at most."""
        status = Path(f"/proc/{self.server.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024

    def test_all_files_together_take_no_more_than_they_may(self):
        # Seven files of a few KB, then pictures of 135 MiB each, which also stay for the next ones.
        self.stop()
        self.start(self.folder, "--memory", "512MiB")
        before, sessions, refused = self.peak_memory(), [], 0
        for i in range(7):
            (self.folder / f"{i}.pickle").write_bytes(SMALL.read_bytes())
            sessions.append(self.session(f"{i}.pickle")[0])
        for session in sessions:
            self.ask(session, OPEN)
            _, head = self.ask(session, picture(1, 8192, 4320))
            refused += head.get("error", {}).get("code") == "limit_exceeded"
        self.assertGreater(refused, 0)
        self.assertLess(self.peak_memory() - before, 512 + 64)
        for session in sessions:
            self.close(session)
        self.alive()

    def test_answers_that_are_read_slowly_count_too(self):
        self.stop()
        self.start(self.folder, "--memory", "512MiB")
        before = self.peak_memory()
        session, _ = self.session()
        self.ask(session, OPEN)
        frame = picture(1, 8192, 2160)  # 67 MiB
        slow = []
        for _ in range(16):
            connection = socket.create_connection(("127.0.0.1", self.url.port), timeout=4 * DEADLINE)
            self.addCleanup(connection.close)
            connection.sendall(f"POST /{self.token}/sessions/{session}/ask HTTP/1.1\r\nHost: localhost\r\n"
                               f"Content-Length: {len(frame)}\r\n\r\n".encode() + frame)
            slow.append(connection)
        for connection in slow:
            self.assertIn(b" 200 ", connection.recv(100))  # the beginning of the answer, whatever it is
        self.assertLess(self.peak_memory() - before, 512 + 64)
        for connection in slow:
            connection.close()
        self.alive()

    def test_a_file_that_needs_more_memory(self):
        # 110,000 texts of 1,000 bytes, each another one: 105 MiB, of which 86 MiB cannot hold more than 90,177.
        texts = [{"action": "alloc", "addr": 4096 + 512 * i, "size": 512, "stream": 0, "user_metadata": f"{i:01000}"}
                 for i in range(110_000)]
        (self.folder / "big.pickle").write_bytes(pickle.dumps({"segments": [], "device_traces": [texts]}))
        for memory, may_have in (("86MiB", range(10_000, 90_177)), ("1GiB", [110_000])):
            self.stop()
            self.start(self.folder, "--memory", memory)
            big, reading = self.session("big.pickle")
            self.assertIn(reading["events"], may_have)
            _, head = self.ask(big, question("contents"))
            found = [one["name"] for one in head["answer"]["diagnostics"]]
            self.assertEqual(found, ["budget_exhausted"] if memory == "86MiB" else [])
            self.ask_http("POST", f"sessions/{big}/close", b"")
            self.alive()


class Idle(Served):
    options = ("--sessions", "1", "--idle", "0.1")  # 6 seconds

    def test_a_file_that_nobody_asks_about_is_closed(self):
        session, _ = self.session()
        self.assertEqual(self.open("deep/b.pickle")[0], 503)  # the first one is in use
        until = time.monotonic() + DEADLINE
        while self.open("deep/b.pickle")[0] != 200:  # which is no question to the first one
            self.assertLess(time.monotonic(), until)
            time.sleep(0.2)
        status, body, _ = self.ask_http("POST", f"sessions/{session}/ask", question("contents"))
        self.assertEqual((status, b"nobody asked about it" in body), (410, True), body)


class Unreadable(Served):
    """What lies in the folder and cannot be read hides nothing else, in the list and when it is opened."""

    def prepare(self):
        (self.folder / "folder.pickle").mkdir()
        (self.folder / "dangling.pickle").symlink_to("nowhere")
        (self.folder / "itself.pickle").symlink_to("itself.pickle")
        (self.folder / "secret.pickle").write_bytes(SMALL.read_bytes())
        (self.folder / "secret.pickle").chmod(0)
        (self.folder / "text.json").write_text("no snapshot")
        (self.folder / "locked").mkdir()
        (self.folder / "locked" / "c.pickle").write_bytes(SMALL.read_bytes())
        (self.folder / "locked").chmod(0)
        self.addCleanup((self.folder / "locked").chmod, 0o700)

    def start(self, *arguments):
        super().start(*arguments, under=WITHOUT_PRIVILEGES)

    def test_the_list_says_what_cannot_be_read(self):
        listed = self.listed()
        self.assertEqual(set(listed), {"a.pickle", "deep/b.pickle", "secret.pickle", "text.json"})
        self.assertIn("Permission denied", listed["secret.pickle"]["error"])
        self.assertGreater(len(listed["text.json"]["error"]), 10)
        for name in ("a.pickle", "deep/b.pickle"):
            self.assertGreater(listed[name]["peak_bytes"], 0)
        for name, words in (("secret.pickle", "Permission denied"), ("folder.pickle", "it is no file"),
                            ("dangling.pickle", "there is no such file"), ("itself.pickle", "symbolic links"),
                            ("locked/c.pickle", "Permission denied")):
            status, answer = self.open(name)
            self.assertEqual(status, 404)
            self.assertIn(words, answer["error"]["message"])
        self.alive()

    def test_a_file_that_vanishes_leaves_the_list(self):
        self.listed()
        (self.folder / "deep" / "b.pickle").unlink()
        self.assertNotIn("deep/b.pickle", self.listed())
        self.alive()


class Beginnings(InAFolder):
    def test_without_the_library_it_says_what_to_install(self):
        # Found first: what is no library at all, and one that has none of its functions.
        (self.folder / "viewer.html").write_bytes(VIEWER)
        library = self.folder / "libmicrohttpd.so.12"
        mapped = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/libm." in line}
        for content, words in ((b"no library", "needs libmicrohttpd, which is not installed (Debian: apt-get install"),
                               (Path(*mapped).read_bytes(), "needs libmicrohttpd 0.9.60 or newer, which this is not")):
            library.write_bytes(content)
            ended = run("serve", self.folder, "--viewer", self.folder / "viewer.html", text=True, timeout=DEADLINE,
                        env={**ENVIRONMENT, "LD_LIBRARY_PATH": str(self.folder)})
            self.assertEqual((ended.returncode, ended.stdout), (UNREADABLE, ""))
            self.assertIn(words, ended.stderr)

    def test_what_cannot_be_served(self):
        folder, viewer = self.folder, self.file(VIEWER, "viewer.html")
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        port = taken.getsockname()[1]
        for arguments, words in ((["/no/such/folder"], "cannot be served"), (["/dev/null"], "neither a file nor a"),
                                 ([folder, "--listen", f"127.0.0.1:{port}"], "Name another port"),
                                 ([folder, "--listen", "nonsense"], "say an address and a port"),
                                 ([folder, "--listen", "example.org:80"], "say it in numbers"),
                                 ([folder, "--memory", "much"], "say a size"),
                                 ([folder, "--viewer", __file__], "not a gpustrata.html"),
                                 ([folder, "--viewer", "/no/such"], "cannot be read")):
            with self.subTest(arguments=arguments):
                page = () if "--viewer" in arguments else ("--viewer", viewer)
                ended = run("serve", *page, *arguments, text=True, timeout=DEADLINE)
                self.assertEqual(ended.returncode, USAGE)
                self.assertIn(words, ended.stderr)
