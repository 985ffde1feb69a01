"""Processes in which a real PyTorch runs programs, for the tests beside this file."""
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent


class PyTorch:
    """Runs jobs of a program that reads them, one a line, and answers each with one; a process for each text of settings."""

    def __init__(self, program, environment=None):
        self.program, self.environment = HERE / program, os.environ if environment is None else environment
        self.processes = {}

    def __call__(self, conf="", **job):
        if conf not in self.processes:
            self.processes[conf] = subprocess.Popen(
                [sys.executable, "-W", "ignore", self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                env=dict(self.environment, PYTORCH_CUDA_ALLOC_CONF=conf))
        process = self.processes[conf]
        print(json.dumps(job), file=process.stdin, flush=True)
        answer = json.loads(process.stdout.readline())
        assert answer, job
        return answer

    def end(self):
        for process in self.processes.values():
            process.stdin.close()
            process.wait()


def recorded(run, seed, folder):
    """(the truth, the snapshot) of `run(seed, snapshot)`, in a process of its own; PyTorch is loaded once for all."""
    snapshot, truth = Path(folder) / f"{seed}.pickle", Path(folder) / f"{seed}.json"
    child = os.fork()
    if child == 0:
        code = 1
        try:
            truth.write_text(json.dumps(run(seed, str(snapshot))))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit(f"program {seed} failed")
    return json.loads(truth.read_text()), snapshot
