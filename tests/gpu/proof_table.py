"""One table of proofs, and children that cannot hang it or end it with a traceback."""
import dataclasses
import os
import signal
import subprocess
import sys

OK = "ok"
MISSED = "MISSED"              # measured, and not what is required
FAILED = "FAILED"              # could not be carried out: a crash, a time-out, an answer that is none
NOT_MEASURED = "not measured"  # something is missing here


@dataclasses.dataclass
class Row:
    what: str
    theirs: str
    ours: str
    verdict: str
    why: str = ""

    def __str__(self):
        cells = (self.what, self.theirs, self.ours, f"{self.verdict}: {self.why}" if self.why else self.verdict)
        return "| " + " | ".join(" ".join(str(cell).replace("|", "/").split()) for cell in cells) + " |"


class Table:
    """Prints each row when it is known. `theirs` is PyTorch's figure, or the goal."""

    def __init__(self, out=None):
        self.rows, self.out = [], out or sys.stdout
        self._print("| proof | PyTorch, or the goal | gpustrata | verdict |\n|---|---|---|---|")

    def _print(self, text):
        print(text, file=self.out, flush=True)

    def add(self, what, theirs, ours, verdict, why=""):
        """`verdict`: one of the four above, or whether it is as required."""
        if not isinstance(verdict, str):
            verdict = OK if verdict else MISSED
        self.rows.append(Row(what, theirs, ours, verdict, why))
        self._print(self.rows[-1])

    def status(self):
        """Exit code: 0 if there are rows and every one is ok. What was not measured is not proven."""
        return 0 if self.rows and all(row.verdict == OK for row in self.rows) else 1

    def counts(self):
        """"12 ok, 1 MISSED"; "nothing"."""
        found = [(sum(row.verdict == kind for row in self.rows), kind) for kind in (OK, MISSED, FAILED, NOT_MEASURED)]
        return ", ".join(f"{count} {kind}" for count, kind in found if count) or "nothing"


@dataclasses.dataclass
class Answer:
    """What a child said. `why` is empty if it went well (exit code 0)."""
    code: int
    out: str
    why: str

    def last_line(self):
        return self.out.strip().splitlines()[-1] if self.out.strip() else ""


def run_child(command, seconds, environment=None):
    """An Answer, whatever happens: a child that takes longer is ended with all that it started."""
    try:
        child = subprocess.Popen([str(word) for word in command], text=True, errors="replace", stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                                 env=dict(os.environ, **(environment or {})))
    except OSError as error:
        return Answer(127, "", f"{command[0]} cannot be started: {error.strerror}")
    try:
        out, err = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, _ = child.communicate()
        return Answer(124, out, f"no answer within {seconds} s")
    if child.returncode == 0:
        return Answer(0, out, "")
    said = (err.strip() or out.strip()).splitlines()
    how = f"ended by signal {-child.returncode}" if child.returncode < 0 else f"exit code {child.returncode}"
    return Answer(child.returncode, out, f"{how}: {said[-1]}" if said else how)


def not_slower(ours, theirs, tolerance=0.01):
    """By more than `tolerance`. What is faster is well."""
    return ours <= theirs * (1 + tolerance)


def within(ours, theirs, tolerance=0.01):
    """In both directions."""
    return abs(ours - theirs) <= tolerance * abs(theirs) and theirs != 0


def percent(ours, theirs):
    return f"{(ours / theirs - 1) * 100:+.2f} %"
