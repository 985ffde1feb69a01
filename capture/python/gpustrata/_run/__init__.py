"""The recorder that observes PyTorch's own allocator: `gpustrata run`, `gpustrata.record`, GPUSTRATA_RUN.

command.py      the command: options into the environment, then the program in place of this process
site/           what makes each Python of such a run call start.begin()
start.py        waits for PyTorch; nothing else is imported before
recording.py    one recording of a process: begin, out of memory, steps, end
history.py      PyTorch's own history, from which the events come
observe.py      PyTorch's allocator observed, from which they come with --observe
files.py        names of files, and how they are written
dump.py         gpustrata dump PID: a snapshot of a process while it runs
told.py         what is said on standard error
record.py       the same for a part of a program
"""
