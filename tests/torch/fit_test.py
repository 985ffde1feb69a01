#!/usr/bin/env python3
"""What `gpustrata fit` foretells of programs at other sizes, and what they take when they run so (fit_programs.py).

  fit_test.py GPUSTRATA [COUNT [FIRST_SEED]]        over the made-up runtime, with MADE_UP_KERNELS=nothing

Each program is recorded with a batch of 2 and 4, with three lengths, and with a few numbers of something that it repeats (micro-batches,
layers, tokens). Foretold are the peaks of larger ones, and the largest batch for a device, with and without expandable segments; each is
then run for real, the largest batch found by halving. Prints a table, the worst first, and fails where a peak requested is not right to
the byte though it was said to be exact, or lies beyond its bounds and nothing says that it may.
"""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from processes import PyTorch

MIB = 1 << 20
ROOMY = 64 << 30
EXPANDABLE = "expandable_segments:True"
ADDRESSES = ("ascending", "shuffled", "descending")
# What is repeated: recorded so often, foretold so often.
REPEATS = (("micro", (3, 5), (12, 20)), ("layers", (3, 5), (8, 14)), ("tokens", (6, 9, 13), (30, 60)))


class Foretelling:
    """Of one program."""

    def __init__(self, command, pytorch, seed, folder):
        self.command, self.seed, self.folder = command, seed, folder
        self.random = random.Random(seed)
        self.repeat = REPEATS[seed // len(ADDRESSES) % len(REPEATS)]
        addresses = ADDRESSES[seed % len(ADDRESSES)]
        self.pytorch = lambda **job: pytorch(seed=seed, addresses=addresses, **job)

    def record(self, **told):
        path = self.folder / ("-".join(f"{name}{value}" for name, value in told.items()) + ".pickle")
        run = self.pytorch(**told, memory=ROOMY, snapshot=str(path))
        assert run["finished"]
        return path

    def fit(self, *arguments):
        done = subprocess.run([self.command, "fit", *map(str, arguments), "--json"], capture_output=True, text=True, check=False)
        return json.loads(done.stdout)

    def peaks(self, name, files, values, **fixed):
        told = self.fit(*files, *(f"--at={name}={value}" for value in values))
        if "error" in told:
            return [(told["error"]["message"], None, None, None)]
        found = []
        for one in told["at"]:
            run = self.pytorch(memory=ROOMY, **fixed, **{name: one["value"]})
            requested, reserved = one["requested_peak_bytes"] - run["peak_requested"], one["reserved_peak_bytes"] - run["peak_reserved"]
            within = (one["low"]["requested_peak_bytes"] <= run["peak_requested"] <= one["high"]["requested_peak_bytes"]
                      or "so both peaks may differ" in told["sure"])
            found.append((told["exact"], requested / run["peak_requested"], reserved / run["peak_reserved"], within))
        return found

    def guess(self, file, true):
        """From one recording, by what its blocks are for: how far off the least and the most are."""
        told = self.fit(file, "--scale=batch=4", "--at=batch=16")
        if "error" in told:
            return None
        (one,) = told["at"]
        return tuple(one[end]["requested_peak_bytes"] / true - 1 for end in ("low", "high"))

    def largest(self, files, length, capacity):
        told = self.fit(*files, f"--capacity={capacity}")
        if "error" in told:
            return None

        def true_largest(conf, guess):
            def fits(batch):
                return batch == 0 or self.pytorch(conf=conf, batch=batch, length=length, memory=capacity)["finished"]

            low, high = (guess, guess + 1) if fits(guess) else (0, guess)
            while fits(high):
                low, high = high, high + 8
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if fits(middle) else (low, middle)
            return low

        plain = told["largest_that_fits"]["value"] or 0
        other = told["largest_expandable"]["value"] or 0
        return (plain, true_largest("", plain)), (other, true_largest(EXPANDABLE, other))

    def run(self):
        length = 192
        by_batch = [f"{self.record(batch=batch, length=length)}:batch={batch}" for batch in (2, 4)]
        by_length = [f"{self.record(batch=2, length=one)}:length={one}" for one in (64, 128, 320)]
        of_batch = self.peaks("batch", by_batch, (16, 24, 28), length=length)
        of_length = self.peaks("length", by_length, (512, 1000), batch=2)
        needed = self.pytorch(batch=20, length=length, memory=ROOMY)["peak_reserved"]
        capacity = int(needed * (1 + self.random.random())) // (2 * MIB) * 2 * MIB
        name, small, large = self.repeat
        by_repeat = [f"{self.record(batch=2, length=96, **{name: one})}:{name}={one}" for one in small]
        of_repeat = self.peaks(name, by_repeat, large, batch=2, length=96)
        guess = self.guess(by_batch[1].rpartition(":")[0], self.pytorch(batch=16, length=length, memory=ROOMY)["peak_requested"])
        return of_batch, of_length, of_repeat, guess, self.largest(by_batch, length, capacity)


def worst(peaks, place):
    return max((one[place] for one in peaks if one[1] is not None), key=abs, default=0)


def share(error):
    return "0" if error == 0 else f"{100 * error:+.2f} %"


def main():
    command = Path(sys.argv[1]).resolve()
    count, first = (int(argument) for argument in (sys.argv[2:] + ["30", "0"][len(sys.argv) - 2:]))
    pytorch, rows, broken = PyTorch("fit_programs.py"), [], 0
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            foretelling = Foretelling(command, pytorch, seed, Path(folder))
            of_batch, of_length, of_repeat, guess, largest = foretelling.run()
        all_peaks = of_batch + of_length + of_repeat
        refused = [one[0] for one in all_peaks if one[1] is None]
        for message in refused:
            print(f"{seed}: {message}")
        exact = all(one[0] is True for one in all_peaks)
        broken += sum(one[0] is True and one[1] != 0 for one in all_peaks) + sum(one[3] is False for one in all_peaks)
        rows.append((bool(refused) or largest is None, abs(worst(all_peaks, 1)), sum(abs(a - b) for a, b in largest or ()),
                     abs(worst(all_peaks, 2)), seed, exact, of_batch, of_length, foretelling.repeat[0], of_repeat, guess,
                     largest))
        print(*rows[-1], file=sys.stderr, flush=True)
    pytorch.end()
    print("| program | said exact | requested: batch, length, repeats | reserved: batch, length, repeats | repeats | guessed from one | largest batch: foretold, "
          "true | with expandable segments |")
    print("|---|---|---|---|---|---|---|---|")
    for *_, seed, exact, of_batch, of_length, repeated, of_repeat, guess, largest in sorted(rows, key=lambda row: row[:5], reverse=True):
        plain, other = largest or (("?", "?"), ("?", "?"))
        requested, reserved = (", ".join(share(worst(of, place)) for of in (of_batch, of_length, of_repeat)) for place in (1, 2))
        print(f"| {seed} | {'yes' if exact else 'no'} | {requested} | {reserved} | {'refused' if of_repeat[0][1] is None else repeated} | "
              f"{'refused' if guess is None else ' to '.join(map(share, guess))} | {plain[0]}, {plain[1]} | {other[0]}, {other[1]} |")
    guesses = [row[-2] for row in rows if row[-2] is not None]
    print(f"guesses from one recording between whose ends the truth is: {sum(low <= 0 <= high for low, high in guesses)} of {len(guesses)}")
    right = sum(row[-1] is not None and all(a == b for a, b in row[-1]) for row in rows)
    print(f"{count} programs; both largest batches right: {right}; peaks that were wrong where they were said to be exact, or beyond their "
          f"bounds: {broken}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
