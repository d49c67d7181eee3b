#!/usr/bin/env python3
"""`hetero archive slurm` without Slurm: slurm_cli.py HETERO ROOT CASE. Scripts run in bash, with programs of the tests' own as srun and scontrol."""
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))
from hetero_cli import expect, run_case  # noqa: E402

CASES = {}
# Starts what stands behind its options, as a step's processes have it.
SRUN = """#!/bin/bash
while [ "${1#--}" != "$1" ]; do echo "$1" >> "$PLACE/srun"; shift; done
exec "$@"
"""
SCONTROL = """#!/bin/bash
echo "$*" >> "$PLACE/scontrol"
"""
# Notes how it was called, and ends as it is told to.
PROGRAM = """#!/bin/bash
printf '%s\\n' "$@" > "$PLACE/arguments"
[ -z "${WAIT-}" ] || { trap 'exit 3' TERM; touch "$PLACE/waits"; while :; do sleep 0.05; done; }
exit "${STATUS:-0}"
"""


def case(function):
    CASES[function.__name__] = function
    return function


class Node:
    """An archive in a folder whose name wants quoting, and where its scripts run."""

    def __init__(self, hetero, folder):
        self.hetero, self.place = hetero, folder / "node"
        self.archive = folder / "it's \"100 %\" of $HOME"
        (self.place / "bin").mkdir(parents=True)
        for name, text in (("srun", SRUN), ("scontrol", SCONTROL), ("program", PROGRAM)):
            (self.place / "bin" / name).write_text(text)
            (self.place / "bin" / name).chmod(0o755)
        (folder / "v.avi").write_bytes(b"no video")
        hetero.run("archive", "plan", folder / "v.avi", "-o", self.archive, "--", *"filesrc location={video} ! filesink location={output}".split())

    def script(self, *options):
        return self.hetero.run("archive", "slurm", self.archive, "--program", self.place / "bin/program", *options).stdout

    def start(self, script, **variables):
        environment = {**os.environ, "PLACE": str(self.place), "PATH": f"{self.place}/bin:{os.environ['PATH']}",
                       "SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_JOB_ID": "76", "SLURM_JOB_ID": "77", **variables}
        return subprocess.Popen(["bash", "-c", script], env=environment, start_new_session=True)

    def text(self, name):
        path = self.place / name
        return path.read_text() if path.exists() else ""


@case
def tasks(hetero, folder):
    node = Node(hetero, folder)
    script = node.script("--tasks", "3", "--cpus-per-task", "4", "--tries", "2")
    expect(script, "#SBATCH --array=1-3\n", "#SBATCH --signal=TERM@120\n")
    assert (node.archive / "logs").is_dir(), "Slurm makes no folder for its logs, and there is none"
    assert node.start(script).wait(20) == 0
    assert node.text("arguments").splitlines() == ["run", "-o", str(node.archive), "--part", "2/3", "--tries", "2"], node.text("arguments")
    assert node.text("srun").splitlines() == ["--ntasks=1", "--cpus-per-task=4", "--cpu-bind=cores", "--mem-bind=local"], node.text("srun")
    assert node.start(script, STATUS="1").wait(20) == 1
    assert node.text("scontrol") == "", "a task that has nothing left was put back"
    # Something is left: it was told to stop before its time limit.
    assert node.start(script, STATUS="3").wait(20) == 0
    assert node.text("scontrol") == "requeue 76_2\n", node.text("scontrol")
    # So, and within its time limit no shard has ended.
    assert node.start(script, STATUS="4").wait(20) == 4
    assert node.text("scontrol") == "requeue 76_2\n", "a task that gets nowhere was put back"


@case
def cancelled(hetero, folder):
    node = Node(hetero, folder)
    task = node.start(node.script(), WAIT="1")
    until = time.monotonic() + 20
    while not (node.place / "waits").exists():
        assert time.monotonic() < until, "the program was not started"
        time.sleep(0.02)
    os.killpg(task.pid, signal.SIGTERM)  # scancel: to the step and to the script
    assert task.wait(20) == 3
    assert node.text("scontrol") == "", "a task that was cancelled was put back"


@case
def merge_job(hetero, folder):
    node = Node(hetero, folder)
    script = node.script("--merge", folder / "all of it.jsonl")
    expect(script, "#SBATCH --job-name=hetero-archive-merge\n")
    assert node.start(script, STATUS="1").wait(20) == 1
    assert node.text("arguments").splitlines() == ["verify", str(node.archive)], node.text("arguments")
    assert node.start(script).wait(20) == 0


@case
def usage_errors(hetero, folder):
    node = Node(hetero, folder)
    expect(hetero.run("archive", "slurm", folder / "nowhere", status=1).stderr, "hetero archive plan")
    for options, words in ((("--tasks", "0"), "--tasks"), (("--time", "2min"), "--stop-before"), (("--mem", "8 G"), "no memory"),
                           (("--sbatch=gres",), "no option of sbatch"), (("--time", "soon"), "--time")):
        expect(hetero.run("archive", "slurm", node.archive, *options, status=2).stderr, words)


if __name__ == "__main__":
    run_case(CASES, "slurm_cli.py")
