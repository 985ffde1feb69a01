#!/usr/bin/env python3
"""`gpustrata serve` under load, and the npm engine in Node against the command; prints JSON lines (README.md).

  serve.py [--small] [--only pictures|huge|load|node]... [--minutes N]

pictures  questions of the timeline over loopback at 10 M events, one client after another
huge      a file of 20 GB: time and most memory until its first picture (65,000,000 events, made by inputs.py)
load      100 clients on 10 files for 10 minutes, each asks for a picture and waits 0.8 to 1.2 s
node      openSnapshot() of the npm package against the whole `gpustrata summary`

Clients are threads of this file with sockets and frames of their own; their time counts to what is measured.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import tempfile
import threading
import time
from urllib.parse import urlsplit

from inputs import path_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "build/native-release/bin/gpustrata"
PACKAGE = ROOT / "build/package"
LOOK = {"palette": {"bands": [0xFFA7794E, 0xFF2B8EF2], "nothing": 0, "dimmedTowards": 0xFFFFFFFF, "envelope": 0xFF808080},
        "colourBy": "size", "filter": "", "kind": -1}
COLUMNS, ROWS = 1360, 300  # the plot of a window of 1440 x 900


def say(work, measured, unit, goal="", met=True, **more):
    print(json.dumps({"work": work, "measured": measured, "unit": unit, **more, "goal": goal, "met": met}), flush=True)


def percentile(values, part):
    return sorted(values)[min(int(len(values) * part), len(values) - 1)]


class Server:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([TOOL, "serve", *map(str, arguments)], stdout=subprocess.PIPE)
        self.url = urlsplit(self.process.stdout.readline().decode().strip())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(60) == 0

    def memory(self, field="VmRSS"):
        """Bytes of the process: VmRSS now, VmHWM at most."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
        raise RuntimeError(field)


class Client:
    """A connection that stays open, and a session on it."""

    def __init__(self, server, name):
        self.server = server
        self.connection = http.client.HTTPConnection("127.0.0.1", server.url.port, timeout=300)
        status, body = self.http("POST", "open", name.encode())
        assert status == 200, body
        self.session = json.loads(body)["session"]
        while True:
            reading = json.loads(self.http("GET", f"sessions/{self.session}")[1])
            assert "error" not in reading, reading
            if reading["ready"]:
                break
        opened = self.ask("open", {"snapshot": 0, "device": 0, "bands": "blocks"})
        self.view, self.info = opened["id"], opened["info"]

    def http(self, method, path, body=None):
        self.connection.request(method, f"{self.server.url.path}{path}", body=body)
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def ask(self, name, args, view=None):
        head = json.dumps({"ask": name, **({} if view is None else {"view": view}), "args": args}).encode()
        frame = struct.pack("<6I", 0x5154534D, 1, 7, len(head), 0, 0) + head
        status, body = self.http("POST", f"sessions/{self.session}/ask", frame)
        assert status == 200, body
        magic, _, identity, length, columns, _ = struct.unpack("<6I", body[:24])
        assert magic == 0x4154534D and identity == 7 and len(body) == 24 + length + columns, body[:100]
        said = json.loads(body[24 : 24 + length])
        assert "error" not in said, said
        return said["answer"]

    def picture(self, first, width):
        columns = {"axis": "event", "first": int(first), "width": max(1, int(width) // COLUMNS), "count": COLUMNS}
        rows = {"bottom": 0, "bytesPerRow": max(1, self.info["peak"]["bytes"]) / ROWS, "count": ROWS}
        self.ask("picture", {"columns": columns, "rows": rows, "look": LOOK}, self.view)

    def somewhere(self, chance):
        """A part of the recording: of all zooms the same number."""
        width = self.info["events"] * 10 ** -chance.uniform(0, 4)
        return chance.uniform(0, self.info["events"] - width), width

    def close(self):
        self.http("POST", f"sessions/{self.session}/close", b"")
        self.connection.close()


def pictures(small):
    path = path_of("300000" if small else "10000000")
    with Server(path) as server:
        client = Client(server, path.name)
        client.picture(0, client.info["events"])
        chance, times = random.Random(1), []
        for _ in range(400):
            where = client.somewhere(chance)
            start = time.perf_counter()
            client.picture(*where)
            times.append((time.perf_counter() - start) * 1000)
        client.close()
    events = f"{client.info['events']:,} events"
    say(f"served, {events}: a picture somewhere, median of 400", percentile(times, 0.5), "ms")
    say(f"served, {events}: a picture somewhere, p95", percentile(times, 0.95), "ms", "20 ms", percentile(times, 0.95) <= 20)


def huge(small):
    path = path_of("300000" if small else "65000000-chunks")
    size = path.stat().st_size
    start = time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        piece = bytearray(1 << 24)
        while file.readinto(piece):
            pass
    bare = time.perf_counter() - start
    with Server(path) as server:
        start = time.perf_counter()
        client = Client(server, path.name)
        client.picture(0, client.info["events"])
        seconds, most = time.perf_counter() - start, server.memory("VmHWM")
        say(f"served, {size / 1e9:.1f} GB, {client.info['events']:,} events: to the first picture", seconds, "s",
            reference="bare read of the file", reference_value=bare, ratio=f"{seconds / bare:.2f} x")
        part = most / size
        say(f"served, {size / 1e9:.1f} GB: most memory of the process", most / 1e6, "MB", "0.15 x the file", part <= 0.15,
            reference="the file", reference_value=size / 1e6, ratio=f"{part:.3f} x")
        client.close()


def load(small, minutes):
    clients, files = (10, 2) if small else (100, 10)
    with tempfile.TemporaryDirectory() as folder:
        source = path_of("30000" if small else "100000")
        for i in range(files):
            shutil.copy(source, pathlib.Path(folder, f"rank{i}.pickle"))
        with Server(folder) as server:
            times, errors, memory, stopped = [[] for _ in range(clients)], [], [], threading.Event()

            def one(number):
                chance = random.Random(number)
                try:
                    client = Client(server, f"rank{number % files}.pickle")
                    while not stopped.wait(chance.uniform(0.8, 1.2)):
                        where = client.somewhere(chance)
                        start = time.perf_counter()
                        client.picture(*where)
                        times[number].append((time.perf_counter() - start) * 1000)
                    client.close()
                except Exception as error:  # noqa: BLE001
                    errors.append(repr(error)[:300])

            threads = [threading.Thread(target=one, args=(i,)) for i in range(clients)]
            for thread in threads:
                thread.start()
            end = time.monotonic() + minutes * 60
            while time.monotonic() < end:
                time.sleep(5)
                memory.append(server.memory())
            stopped.set()
            for thread in threads:
                thread.join()
    fifth = max(1, len(memory) // 5)
    early, late = max(memory[fifth : 2 * fifth]), max(memory[-fifth:])
    all_times = [value for each in times for value in each]
    what = f"{clients} clients on {files} files for {minutes:g} minutes"
    say(f"served, {what}: errors in {len(all_times):,} questions", len(errors), "", "0", not errors)
    say(f"served, {what}: memory in the last fifth", late / 1e6, "MB", "no growth (5 %)", late <= 1.05 * early,
        reference="in the second fifth", reference_value=early / 1e6, ratio=f"{late / early:.3f} x")
    say(f"served, {what}: a picture, median", percentile(all_times, 0.5), "ms")
    say(f"served, {what}: a picture, p99", percentile(all_times, 0.99), "ms")
    for error in errors[:3]:
        print(error, file=os.sys.stderr)


def node(small):
    path = path_of("300000" if small else "1000000")
    script = """import { openSnapshot } from '%s/engine.node.js';
const start = performance.now();
const snapshot = await openSnapshot(process.argv[1]);
const seconds = (performance.now() - start) / 1000;
if (!((await snapshot.view()).info.events > 1000)) throw new Error('no events');
console.log(seconds);
snapshot.close();""" % PACKAGE
    command, opened = [], []
    for _ in range(7):
        start = time.perf_counter()
        subprocess.run([TOOL, "summary", path], check=True, stdout=subprocess.DEVNULL)
        command.append(time.perf_counter() - start)
        said = subprocess.run(["node", "--input-type=module", "-e", script, path], check=True, capture_output=True, text=True)
        opened.append(float(said.stdout))
    measured, reference = percentile(opened, 0.5), percentile(command, 0.5)
    say(f"npm engine in Node: openSnapshot(), {path.stat().st_size / 1e6:.0f} MB, median of 7", measured, "s", "1.2 x",
        measured <= 1.2 * reference, reference="`gpustrata summary`, whole process", reference_value=reference,
        ratio=f"{measured / reference:.2f} x")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--minutes", type=float)
    options = parser.parse_args()
    wanted = options.only or ["node", "pictures", "huge", "load"]
    if "node" in wanted:
        node(options.small)
    if "pictures" in wanted:
        pictures(options.small)
    if "huge" in wanted:
        huge(options.small)
    if "load" in wanted:
        load(options.small, options.minutes or (0.2 if options.small else 10))


if __name__ == "__main__":
    main()
