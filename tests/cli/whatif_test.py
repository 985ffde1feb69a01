"""whatif: small snapshots with numbers worked out by hand, the dump read back, what is refused."""
import json
import pickle

from support.folders import InAFolder
from support.snapshots import MIB
from support.tool import answer, out_of, run


class WhatIf(InAFolder):
    def recorded(self, name, script, conf="", device=1 << 34):
        """The snapshot of a script run by the allocator itself."""
        lines = self.file(script.replace(";", "\n"), "script")
        out_of("simulate", lines, "--device", device, "--conf", conf, "--dump", self.folder / name)
        return self.folder / name

    def whatif(self, *arguments):
        return answer("whatif", *arguments)

    def test_the_same_again(self):
        file = self.recorded("same", "m a 1000; m b 3000000; f a; m c 30000000; f c; f b")
        answer = self.whatif(file)
        # 2 MiB for a, 20 MiB for b, 30 MiB for c (30,000,000 rounded up to 2 MiB). At most b and c are in use:
        # 3,000,320 and 30,000,128 rounded to 512; of c's segment 1,457,152 stay, more than 1 MiB: it is split.
        self.assertEqual(list(answer), ["file", "device", "complete", "conf", "capacity", "fits", "addresses_decide",
                                        "reserved_before_bytes", "requests", "guesses", "free_order", "fidelity", "recorded", "simulated"])
        self.assertEqual(answer["file"], str(file))
        self.assertEqual((answer["device"], answer["conf"], answer["capacity"]), (0, "", None))
        self.assertEqual((answer["requests"], answer["guesses"]), (6, []))
        self.assertEqual(answer["free_order"], {
            "name": "address", "from": "file", "unknown": 0,
            "text": "free blocks of one size are taken by address, as in PyTorch up to 2.11: the file is of such a version"})
        self.assertEqual(answer["fidelity"], {"requests": 3, "same_place": 3, "reserved_error_bytes": 0,
                                              "first_deviation": None})
        self.assertEqual(answer["recorded"], {"peak_reserved_bytes": 52 * MIB,
                                              "peak_allocated_bytes": 3000320 + 30000128,
                                              "device_allocs": 3, "device_frees": 0, "ooms": 0})
        self.assertEqual(answer["simulated"], {"peak_reserved_bytes": 52 * MIB,
                                               "peak_allocated_bytes": 3000320 + 30000128,
                                               "peak_active_bytes": 3000320 + 30000128,
                                               "end_reserved_bytes": 52 * MIB, "device_allocs": 3,
                                               "device_frees": 0, "alloc_retries": 0, "ooms": 0, "first_oom": None})

    def test_the_order_of_free_blocks_is_told_by_the_file(self):
        """Two free blocks of 2 MiB at the end: that of c is lower, that of b was made before."""
        steps = "m a 4194304; m b 2097152; m x 2097152; f a; m c 2097152; m y 2097152; f c; f b; m d 2097152"
        for order, name in (("order address; ", "address"), ("order block_number; ", "block_number"),
                            ("order segment_age; ", "segment_age")):
            answer = self.whatif(self.recorded(name, order + steps))
            self.assertEqual((answer["free_order"]["name"], answer["free_order"]["from"]), (name, "file"))
            self.assertEqual(answer["fidelity"]["same_place"], 6)
            self.assertEqual(answer["fidelity"]["first_deviation"], None)

    def test_other_settings_and_devices(self):
        file = self.recorded("other", f"m a {30 * MIB}; m b {30 * MIB}; f a; f b; m c {60 * MIB}")
        self.assertEqual(self.whatif(file)["simulated"]["peak_reserved_bytes"], 120 * MIB)
        # Pages: a maps 2 of 20 MiB, b uses 10 MiB that are left and one page more, c has all of the 60 MiB.
        pages = self.whatif(file, "--conf", "expandable_segments:True")
        self.assertEqual(pages["conf"], "expandable_segments:True")
        self.assertEqual(pages["simulated"]["peak_reserved_bytes"], 60 * MIB)
        self.assertEqual(pages["simulated"]["device_allocs"], 2)
        # 100 MiB: for c what is cached is given back. 40 MiB: b fails, with 30 MiB asked for at event 2.
        tight = self.whatif(file, "--capacity", str(100 * MIB))["simulated"]
        self.assertEqual((tight["alloc_retries"], tight["ooms"], tight["device_frees"]), (1, 0, 2))
        self.assertEqual(self.whatif(file, "--capacity", "100MiB")["simulated"], tight)
        full = self.whatif(file, "--capacity", str(40 * MIB))["simulated"]
        self.assertEqual(full["ooms"], 2)  # c, too
        self.assertEqual(full["first_oom"], {"event": 3, "requested_bytes": 30 * MIB})
        self.assertIs(self.whatif(file, "--capacity", "40MiB")["fits"], False)
        self.assertIs(self.whatif(file, "--capacity", "100MiB")["fits"], True)
        self.assertEqual(self.whatif(file, "--smallest")["smallest_capacity_bytes"], 60 * MIB)

    def test_an_oom_says_how_large_the_device_was(self):
        file = self.recorded("oom", f"m a {30 * MIB}; m b {30 * MIB}; m c {30 * MIB}", device=64 * MIB)
        answer = self.whatif(file)
        self.assertEqual(answer["capacity"], 64 * MIB)
        self.assertEqual(answer["recorded"]["ooms"], 1)
        self.assertEqual(answer["simulated"]["ooms"], 1)
        self.assertEqual(answer["fidelity"]["same_place"], 3)
        self.assertEqual([guess["name"] for guess in answer["guesses"]], ["failed_sizes"])
        self.assertEqual(self.whatif(file, "--capacity", str(90 * MIB))["simulated"]["ooms"], 0)

    def test_what_a_recording_found(self):
        # A ring that lost the segment and two blocks: they are placed where they were.
        file = self.recorded("found", "m a 1000; m b 2000; m c 3000; f a; f b; m d 900")
        snapshot = pickle.loads(file.read_bytes())
        snapshot["device_traces"][0] = snapshot["device_traces"][0][3:]  # from m c on
        file.write_bytes(pickle.dumps(snapshot))
        answer = self.whatif(file)
        self.assertEqual(answer["fidelity"]["same_place"], 2)
        self.assertEqual(answer["fidelity"]["first_deviation"], None)
        self.assertEqual(answer["guesses"][0]["name"], "placed_blocks")
        self.assertEqual(answer["guesses"][0]["count"], 2)
        self.assertEqual(answer["recorded"]["peak_allocated_bytes"], 1024 + 2048 + 3072)
        self.assertEqual(answer["simulated"]["peak_allocated_bytes"], 1024 + 2048 + 3072)
        self.assertEqual(answer["simulated"]["device_allocs"], 0)

    def test_sizes_are_changed(self):
        file = self.recorded("sizes", f"m a {30 * MIB}; m b {40 * MIB}; m c 1000")
        without = self.whatif(file, "--without", "size:40MiB..41MiB")
        self.assertEqual(without["changed_blocks"], 1)
        self.assertEqual(without["simulated"]["peak_reserved_bytes"], 32 * MIB)
        half = self.whatif(file, "--scale", "size>1MiB=0.5")
        self.assertEqual(half["changed_blocks"], 2)
        self.assertEqual(half["simulated"]["peak_reserved_bytes"], (16 + 20 + 2) * MIB)

    def test_blocks_of_a_category(self):
        # Labels say what a and b are for; c has none.
        file = self.recorded("plain", f"m a {40 * MIB}; m b {30 * MIB}; m c {20 * MIB}")

        def labelled(snapshot):
            labels = {40 * MIB: "activation", 30 * MIB: "gradient"}
            for event in snapshot["device_traces"][0]:
                if event["action"] == "alloc" and event["size"] in labels:
                    event["user_metadata"] = labels[event["size"]]

        file = self.changed("labelled", file, labelled)
        half = self.whatif(file, "--scale", "category:activation=0.5")
        self.assertEqual(half["changed_blocks"], 1)
        self.assertEqual(half["simulated"]["peak_reserved_bytes"], (20 + 30 + 20) * MIB)
        both = self.whatif(file, "--without", "category:activation", "--without", "category:gradient")
        self.assertEqual(both["changed_blocks"], 2)
        either = self.whatif(file, "--without", "category:Gradient or category:activation size>35MiB")
        self.assertEqual(either["changed_blocks"], 2)
        top = json.loads(run("top", "--json", "--filter", "category:gradient", file, text=True).stdout)
        self.assertEqual((top["filter"], top["tops"][0]["requested_bytes"], top["tops"][0]["blocks"]),
                         ("category:gradient", 30 * MIB, 1))
        self.assertIn("30.0 MiB", run("top", "--filter", "category:gradient", file, text=True).stdout)
        self.assertEqual(run("top", "--filter", "category:nonsense", file, text=True).returncode, 2)
        self.assertEqual(both["simulated"]["peak_reserved_bytes"], 20 * MIB)
        done = run("whatif", file, "--without", "category:nonsense", text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("There is no category of this name", done.stderr)

    def test_one_more_request(self):
        # Events: 0 segment_alloc, 1 alloc, 2 and 3 the free of a, 4 c out of the same 30 MiB.
        file = self.recorded("extra", f"m a {30 * MIB}; f a; m c {20 * MIB}")

        def run_of(*arguments):
            answer = self.whatif(file, *arguments)
            return answer, answer["simulated"]

        # While a lives there is no room for 40 MiB more; c then takes a's place as ever.
        answer, run = run_of("--take", "40MiB@1", "--capacity", str(60 * MIB))
        self.assertEqual(answer["extra"], [{"event": 1, "until": None, "requested_bytes": 40 * MIB, "refused": True}])
        self.assertEqual((run["ooms"], run["first_oom"]), (1, {"event": 1, "requested_bytes": 40 * MIB}))
        self.assertEqual(run["peak_reserved_bytes"], 30 * MIB)
        # Where a is free, 30 MiB more are its block; c needs a segment of its own.
        answer, run = run_of("--take", "30MiB@3", "--capacity", str(60 * MIB))
        self.assertFalse(answer["extra"][0]["refused"])
        self.assertEqual((run["ooms"], run["peak_reserved_bytes"], run["device_allocs"]), (0, 50 * MIB, 2))
        # Taken and freed before c: c takes the 20 MiB, which fit better.
        _, run = run_of("--take", "20MiB@1..2", "--capacity", str(50 * MIB))
        self.assertEqual((run["ooms"], run["peak_reserved_bytes"], run["end_reserved_bytes"]),
                         (0, 50 * MIB, 50 * MIB))
        self.assertEqual(run["peak_allocated_bytes"], 50 * MIB)
        # The cache emptied after the free: a's segment is gone, c asks the device for 20 MiB.
        answer, run = run_of("--empty-cache", "3")
        self.assertEqual(answer["empty_cache_after"], [3])
        self.assertEqual((run["device_allocs"], run["device_frees"], run["end_reserved_bytes"]), (2, 1, 20 * MIB))
        text = " ".join(out_of("whatif", file, "--empty-cache", "3").split())
        self.assertIn("and the cache emptied 1 time", text)
        self.assertNotIn("Nothing was changed", text)
        # At one place it is emptied before more is taken: 30 MiB are a segment of their own again.
        _, run = run_of("--take", "30MiB@3", "--empty-cache", "3")
        self.assertEqual((run["device_allocs"], run["device_frees"], run["peak_reserved_bytes"]), (3, 1, 50 * MIB))

    def test_without_a_cache(self):
        # 1,000 bytes take 1,024. At most a and b: 30 MiB + 1,024.
        file = self.recorded("uncached", f"m a {30 * MIB}; m b 1000; f a; m c {20 * MIB}")
        answer = self.whatif(file, "--no-caching")
        self.assertEqual(answer["caching"], False)
        numbers = answer["simulated"]
        self.assertEqual((numbers["peak_reserved_bytes"], numbers["end_reserved_bytes"]),
                         (30 * MIB + 1024, 20 * MIB + 1024))
        self.assertEqual((numbers["device_allocs"], numbers["device_frees"], numbers["ooms"]), (3, 1, 0))
        self.assertEqual(self.whatif(file, "--no-caching", "--smallest")["smallest_capacity_bytes"], 32 * MIB)
        # a does not fit into 25 MiB: neither its segment nor its free reach the device.
        tight = self.whatif(file, "--no-caching", "--capacity", str(25 * MIB))["simulated"]
        self.assertEqual((tight["device_allocs"], tight["device_frees"], tight["ooms"]), (2, 0, 1))
        self.assertEqual(tight["first_oom"], {"event": 1, "requested_bytes": 30 * MIB})
        done = run("whatif", file, "--no-caching", "--dump", self.folder / "none", text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no segments", done.stderr)

    def test_the_first_deviation_is_named(self):
        # An allocator that makes segments of 4 MiB where this one makes 20.
        file = self.recorded("foreign", f"m a {4 * MIB}; m b {4 * MIB}")
        snapshot = pickle.loads(file.read_bytes())
        trace = snapshot["device_traces"][0]
        trace[0]["size"] = 4 * MIB
        other = dict(trace[0], addr=trace[0]["addr"] + 32 * MIB)
        trace[2]["addr"] = other["addr"]
        trace.insert(2, other)
        snapshot["segments"] = []
        file.write_bytes(pickle.dumps(snapshot))
        answer = self.whatif(file)
        self.assertEqual(answer["fidelity"]["first_deviation"], 0)
        address = hex(trace[0]["addr"])
        self.assertEqual(answer["deviation"]["recorded"],
                         {"action": "segment_alloc", "bytes": 4 * MIB, "address": address})
        self.assertEqual(answer["deviation"]["simulated"]["action"], "segment_alloc")
        self.assertEqual(answer["deviation"]["simulated"]["bytes"], 20 * MIB)
        self.assertIn("sizes segments in another way", answer["deviation"]["text"])
        done = run("whatif", file, text=True)
        self.assertIn("differs from event 0 on by at most 16.0 MiB of reserved memory", " ".join(done.stdout.split()))

    def test_search_and_text(self):
        file = self.recorded("search", f"m a {30 * MIB}; m b {30 * MIB}; f a; f b; m c {60 * MIB}")
        found = self.whatif(file, "--search")["search"]
        self.assertEqual(found[0]["conf"], "expandable_segments:True")
        peaks = [(one["ooms"], one["peak_reserved_bytes"]) for one in found]
        self.assertEqual(peaks, sorted(peaks))
        done = run("whatif", file, "--search", "--smallest", text=True)
        self.assertEqual(done.returncode, 0)
        lines = done.stdout.splitlines()[1:]  # the first one is the path
        self.assertLessEqual(max(len(line) for line in lines), 80)
        self.assertIn("repeats the recording exactly", done.stdout)
        self.assertIn("With expandable_segments:True at most 60.0 MiB would have been reserved",
                      " ".join(done.stdout.split()))

    def test_the_dump_is_a_snapshot(self):
        file = self.recorded("dumped", f"m a {30 * MIB}; m b {30 * MIB}; f a; m c 1000")
        recorded = pickle.loads(file.read_bytes())
        self.whatif(file, "--dump", self.folder / "again")
        again = pickle.loads((self.folder / "again").read_bytes())
        for event in again["device_traces"][0] + recorded["device_traces"][0]:
            del event["time_us"]  # all events of a request have the time of the one that it is told from
        self.assertEqual(again["device_traces"], recorded["device_traces"])
        self.assertEqual(again["segments"], recorded["segments"])
        self.whatif(file, "--conf", "expandable_segments:True", "--dump", self.folder / "pages")
        pages = pickle.loads((self.folder / "pages").read_bytes())
        self.assertEqual(pages["device_traces"][0][0]["action"], "segment_map")
        self.assertTrue(all(segment["is_expandable"] for segment in pages["segments"]))
        self.assertEqual(self.whatif(self.folder / "pages")["fidelity"]["first_deviation"], None)

    def test_what_is_refused(self):
        file = self.recorded("refused", "m a 1000")
        for arguments, words in [(["--conf", "bad:1"], "unknown key 'bad'"),
                                 (["--capacity", "0"], "the device must have from 1"),
                                 (["--capacity", "much"], 'say a size as 20GiB, not "much"'),
                                 (["--scale", "size>1"], "Write a filter, an equals sign and a number"),
                                 (["--without", "size>>1"], "number is missing"),
                                 (["--scale", "size>1=-1"], "scaled by 0 to 1,000,000"),
                                 (["--take", "4GiB"], "Write a size, @ and the number of an event"),
                                 (["--take", "4GiB@x"], "Write a size, @ and the number of an event"),
                                 (["--take", "1KiB@99"], "there is no event 99: they count from 0 to 1"),
                                 (["--take", "1KiB@1..0"], "cannot be freed after event 0"),
                                 (["--take", "0B@1"], "one more request is of 1 to"),
                                 (["--empty-cache", "99"], "there is no event 99: they count from 0 to 1"),
                                 (["--device", "7"], "no device")]:
            done = run("whatif", file, *arguments, text=True)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stdout, "")
        (self.folder / "empty").write_bytes(pickle.dumps({"segments": [], "device_traces": [[]]}))
        snapshot = pickle.loads(file.read_bytes())
        snapshot["device_traces"] = [[]]
        (self.folder / "no_history").write_bytes(pickle.dumps(snapshot))
        done = run("whatif", self.folder / "no_history", "--json", text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no history", json.loads(done.stdout)["error"]["message"])
        # A profiler's trace tells of requests only.
        at = {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1}
        of = {"Device Type": 1, "Device Id": 0, "Total Reserved": 2 * MIB}
        events = [at | {"ts": 1, "args": of | {"Addr": 4096, "Bytes": 512, "Total Allocated": 1024}},
                  at | {"ts": 2, "args": of | {"Addr": 4096, "Bytes": -512, "Total Allocated": 512}}]
        done = run("whatif", self.file({"schemaVersion": 1, "traceEvents": events}, "trace.json"), text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the file has no segments", done.stderr)

    def changed(self, name, file, change):
        """The snapshot with something done to it."""
        snapshot = pickle.loads(file.read_bytes())
        change(snapshot)
        (self.folder / name).write_bytes(pickle.dumps(snapshot))
        return self.folder / name

    def test_a_ring_that_wrapped(self):
        # Ten blocks of 9 MiB, two in each segment of 20 MiB, freed in their order. Every beginning may be lost: what is left
        # repeats exactly, and what is in use at most is what was alive then.
        steps = [f"m b{i} {9 * MIB}" for i in range(10)] + [f"f b{i}" for i in range(10)]
        file = self.recorded("ring", ";".join(steps))
        count = len(pickle.loads(file.read_bytes())["device_traces"][0])
        self.assertEqual(count, 5 + 10 + 20)  # a free is two events
        for lost in range(1, count - 1):
            answer = self.whatif(self.changed("wrapped", file, lambda snapshot, lost=lost: snapshot.update(
                device_traces=[snapshot["device_traces"][0][lost:]])))
            self.assertIsNone(answer["fidelity"]["first_deviation"], lost)
            self.assertEqual(answer["simulated"]["peak_reserved_bytes"], 100 * MIB)
            freed, half = divmod(max(0, lost - 15), 2)  # whole frees that are lost; one of which the completion is left
            self.assertEqual(answer["recorded"]["peak_allocated_bytes"], (10 - freed - half) * 9 * MIB, lost)
            # A run places such a block in use and frees it at once, which is no peak of its own.
            self.assertEqual(answer["simulated"]["peak_allocated_bytes"], (10 - freed - half) * 9 * MIB, lost)

    def test_of_a_limit_only_a_range_is_known(self):
        # 80 of 160 MiB are allowed: two segments of 20 MiB, the second half used, and then 42, of which the device has enough.
        script = f"fraction 0.5; m a {9 * MIB}; m b {9 * MIB}; m c {9 * MIB}; m d {42 * MIB}"
        file = self.recorded("limited", script, device=160 * MIB)
        told = self.whatif(file, "--conf", "expandable_segments:True")
        # 69 MiB in pages of 20.
        self.assertEqual(told["simulated"]["peak_reserved_bytes"], 80 * MIB)
        self.assertIsNone(told["fits"])
        self.assertIn("it is only known that it allowed 40.0 MiB, and less than 82.0 MiB",
                      out_of("whatif", file, "--conf", "expandable_segments:True").replace("\n  ", " "))
        self.assertTrue(self.whatif(file, "--conf", "expandable_segments:True", "--capacity", 80 * MIB)["fits"])  # what is asked for is no guess

    def test_the_smallest_device_of_settings_that_let_it_use_a_part(self):
        file = self.recorded("part", f"m a {30 * MIB}; m b {12 * MIB}")
        whole = self.whatif(file, "--smallest")["smallest_capacity_bytes"]
        self.assertEqual(whole, 42 * MIB)
        half = self.whatif(file, "--smallest", "--conf", "per_process_memory_fraction:0.5")["smallest_capacity_bytes"]
        self.assertEqual(half, 84 * MIB)
        # 29 % of 200 MiB are less than 58 by the rounding of the share: 202 do.
        file = self.recorded("share", f"m a {58 * MIB}")
        conf = ("--conf", "per_process_memory_fraction:0.29")
        self.assertEqual(self.whatif(file, "--smallest", *conf)["smallest_capacity_bytes"], 202 * MIB)
        self.assertFalse(self.whatif(file, "--capacity", 200 * MIB, *conf)["fits"])

    def test_a_filter_that_means_nothing_says_so(self):
        file = self.recorded("none", f"m a {30 * MIB}; f a")
        self.assertIn("The filter means no block", out_of("whatif", file, "--without", "size>1GiB").replace("\n  ", " "))

    def test_a_device_that_lacks_what_was_reserved_before(self):
        # 60 MiB were reserved when it began, 30 of them in use; c takes 10 of the others.
        file = self.recorded("before", f"m a {30 * MIB}; m b {30 * MIB}; f a; m c {10 * MIB}")
        cut = self.changed("later", file, lambda snapshot: snapshot.update(
            device_traces=[snapshot["device_traces"][0][6:]]))
        self.assertEqual(self.whatif(cut)["reserved_before_bytes"], 60 * MIB)
        for capacity, fits, words in ((60, True, "the recorded requests fit"), (50, None, "it is unknown"),
                                      (40, None, "it is unknown"), (38, False, "does not fit: 40.0 MiB is in use at once")):
            asked = cut, "--capacity", f"{capacity}MiB"
            self.assertIs(self.whatif(*asked)["fits"], fits, capacity)
            self.assertIn(words, " ".join(out_of("whatif", *asked).split()))
        self.assertEqual(self.whatif(cut, "--smallest")["smallest_capacity_bytes"], 60 * MIB)
        told = " ".join(out_of("whatif", cut, "--search").split())
        self.assertIn("What a setting would gain is unknown: all 60.0 MiB was reserved before the first event", told)

    def test_pages_below_those_that_were_found(self):
        # Pages of 20 MiB: a in the first, b in the second. The first is given back, and mapped again for c: what begins there
        # found the second page only, and belongs to a reservation that begins a page before.
        file = self.recorded("pages", f"m a {20 * MIB}; m b {20 * MIB}; f a; empty; m c {20 * MIB}",
                             "expandable_segments:True")
        cut = self.changed("cut", file, lambda snapshot: snapshot.update(
            device_traces=[snapshot["device_traces"][0][7:]]))
        trace = pickle.loads(cut.read_bytes())["device_traces"][0]
        self.assertEqual([event["action"] for event in trace], ["segment_map", "alloc"])
        answer = self.whatif(cut)
        self.assertEqual(answer["fidelity"], {"requests": 1, "same_place": 1, "reserved_error_bytes": 0,
                                              "first_deviation": None})

    def test_the_order_in_which_segments_go_tells_which_is_older(self):
        # Two cached segments of 20 MiB from before the recording, the older one at the higher address: it goes first.
        file = self.recorded("ages", f"order segment_age; m a {20 * MIB}; m b {20 * MIB}; f a; f b; empty; m c 1000")

        def swapped(snapshot):
            trace = snapshot["device_traces"][0][4:]
            a, b = trace[0]["addr"], trace[2]["addr"]
            self.assertLess(a, b)
            snapshot["device_traces"] = [[dict(event, addr={a: b, b: a}.get(event["addr"], event["addr"])) for event in trace]]

        answer = self.whatif(self.changed("swapped", file, swapped))
        self.assertEqual(answer["free_order"]["unknown"], 2)
        self.assertIn("guessed from what was taken or given back first", answer["free_order"]["text"])
        self.assertEqual(answer["fidelity"], {"requests": 1, "same_place": 1, "reserved_error_bytes": 0,
                                              "first_deviation": None})

    def test_where_a_reservation_was_another_one_may_lie_later(self):
        # Pages of 20 MiB: x and y in two of them, from before; 13 MiB are left behind y, which could grow, so z goes where x
        # was. When all pages are gone, another stream's reservation gets the address.
        file = self.recorded("later", f"m x {24 * MIB}; m y {3 * MIB}; f x; m z {5 * MIB}; f z; f y; empty;"
                                      f"m w {20 * MIB} 1; m v {20 * MIB} 1", "expandable_segments:True")

        def reused(snapshot):
            trace = snapshot["device_traces"][0]
            apart = trace[-1]["addr"] - 20 * MIB - trace[1]["addr"]
            for event in trace[-4:]:
                event["addr"] -= apart
            for segment in snapshot["segments"]:
                segment["address"] -= apart
                for block in segment["blocks"]:
                    block["address"] -= apart
            self.assertEqual([event["action"] for event in trace[:3]], ["segment_map", "alloc", "alloc"])
            snapshot["device_traces"] = [trace[3:]]

        answer = self.whatif(self.changed("reused", file, reused))
        self.assertEqual(answer["fidelity"], {"requests": 3, "same_place": 3, "reserved_error_bytes": 0,
                                              "first_deviation": None})

    def test_events_that_contradict_each_other(self):
        file = self.recorded("sound", f"m a {30 * MIB}; m b 3000; f a; m c {20 * MIB}; f b")
        # 0, 1 a; 2, 3 b; 4, 5 the free of a; 6 c in its place; 7, 8 the free of b.

        def twice(snapshot):
            trace = snapshot["device_traces"][0]
            trace.insert(2, dict(trace[1]))

        def freed_before(snapshot):
            trace = snapshot["device_traces"][0]
            trace[1:1] = [dict(trace[4]), dict(trace[5])]

        def segment_gone_while_used(snapshot):
            trace = snapshot["device_traces"][0]
            trace.insert(2, dict(trace[0], action="segment_free"))

        def over_each_other(snapshot):
            trace = snapshot["device_traces"][0]
            trace[3]["addr"] = trace[1]["addr"] + 512

        for change in (twice, freed_before, segment_gone_while_used, over_each_other):
            with self.subTest(change.__name__):
                done = run("whatif", self.changed("contradicts", file, change), "--json", text=True)
                answer = json.loads(done.stdout)
                if done.returncode == 0:  # told, with what had to be guessed or where it differs
                    self.assertTrue(answer["guesses"] or answer["fidelity"]["first_deviation"] is not None)
                    self.assertTrue(all(guess["text"] and guess["count"] > 0 for guess in answer["guesses"]))
                else:
                    self.assertEqual(done.returncode, 1)
                    self.assertTrue(answer["error"]["message"])

    def test_pools_that_are_not_told(self):
        # A private pool of which neither segments nor events know: the block lies where the final segments do not lie.
        file = self.recorded("pools", f"m a 3000; begin 0 1; m p {3 * MIB}; end 0 1; m b {3 * MIB}")

        def forget(snapshot):
            for segment in snapshot["segments"]:
                segment.pop("segment_pool_id", None)
            for event in snapshot["device_traces"][0]:
                event.pop("pool_id", None)

        told, untold = self.whatif(file), self.whatif(self.changed("untold", file, forget))
        # 2 + 20 + 20 MiB: p and b do not share a segment.
        self.assertEqual(told["simulated"]["peak_reserved_bytes"], 42 * MIB)
        self.assertIsNone(told["fidelity"]["first_deviation"])
        # Without pools b would have shared p's: 22 MiB. The answer says from where on it differs.
        self.assertEqual(untold["simulated"]["peak_reserved_bytes"], 22 * MIB)
        self.assertEqual(untold["fidelity"]["reserved_error_bytes"], 20 * MIB)
        self.assertEqual(untold["deviation"]["recorded"]["action"], "segment_alloc")

    def test_hostile_sizes(self):
        file = self.recorded("sizes", f"m a {30 * MIB}; m b 3000; f a")
        for size in (0, -1, -2**63, 2**40 + 1, 2**62, 2**63 - 1, 2**64 - 1, 2**80):
            for at in range(4):
                with self.subTest(size=size, at=at):
                    def change(snapshot, size=size, at=at):
                        snapshot["device_traces"][0][at]["size"] = size
                    done = run("whatif", self.changed("hostile", file, change), "--json", "--search", text=True)
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    answer = json.loads(done.stdout)
                    for side in ("recorded", "simulated") if done.returncode == 0 else ():
                        self.assertTrue(all(value is None or isinstance(value, dict) or value >= 0
                                            for value in answer[side].values()), answer[side])
