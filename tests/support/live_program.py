"""A program that writes a journal without a GPU, as far as it is told on its standard input.

  live_program.py JOURNAL

A line with a number: so many blocks come, the oldest of more than 100 go. `close`: the journal is closed. After each line it prints how
many blocks came so far.
"""
import sys

import gpustrata

MIB = 1 << 20


def forward(held, number):
    held.append(gpustrata.malloc((1 + number % 7) * MIB))


def train(held, first, count):
    for number in range(first, first + count):
        forward(held, number)
        if len(held) > 100:
            gpustrata.free(held.pop(0))


def main():
    gpustrata.use_simulated_device(8 << 30)
    gpustrata.record_memory_history(stacks="python")
    gpustrata.journal(sys.argv[1])
    held, came = [], 0
    print(came, flush=True)
    for line in sys.stdin:
        if line.strip() == "close":
            gpustrata.journal(None)
        else:
            train(held, came, int(line))
            came += int(line)
        print(came, flush=True)


main()
