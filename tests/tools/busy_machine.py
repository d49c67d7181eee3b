#!/usr/bin/env python3
"""One request on all cores beside neighbours that take them: busy_machine.py HETERO ROOT CASE.

A case is skipped (exit status 77, with the reason) where this user may not make such a neighbour.
"""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time

HETERO, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
MODEL = ROOT / "pipelines/demo/models/scene_detector.onnx"
SECONDS = 1.5
# A quiet frame takes some milliseconds. Whoever is kept from every core waits longer, but not for one thread again and again.
LONGEST_MS = 1000
CASES = {}


def case(function):
    CASES[function.__name__] = function


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


@contextlib.contextmanager
def hogs(count, prepare=lambda pid: None):
    """Processes that want a core each, after `prepare`."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        for hog in started:
            prepare(hog.pid)
        yield
    finally:
        for hog in started:
            hog.kill()
            hog.wait()


def bench():
    return subprocess.Popen([HETERO, "bench", "-m", MODEL, "-d", "CPU", "-hint", "none", "-nstreams", "1", "-nthreads", "2", "-api", "sync", "-t", str(SECONDS), "-json"],
                            stdout=subprocess.PIPE, text=True)


def check(process):
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 0, process.returncode
    latency = json.loads(printed)["latency_ms"]
    print(", ".join(f"{name} {latency[name]:.2f} ms" for name in ("median", "p99", "max")))
    assert latency["max"] < LONGEST_MS, latency


@case
def nice():
    """Three neighbours each that are kinder than we are and, where that is allowed, less kind."""
    with hogs(3, lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 19)):
        check(bench())
    try:
        with hogs(3, lambda pid: os.setpriority(os.PRIO_PROCESS, pid, -5)):
            check(bench())
    except PermissionError:
        skip("may not lower the nice value of a process; the kinder neighbours passed")


@case
def real_time():
    """A neighbour that gives up the last processor only where the kernel makes it."""
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < 2:
        skip("one processor only")

    def first_come(pid):
        os.sched_setaffinity(pid, processors[-1:])
        os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(1))

    try:
        with hogs(1, first_come):
            check(bench())
    except PermissionError:
        skip("may not make a process a real-time one")


@contextlib.contextmanager
def control_group(controller, settings, unified_settings):
    """A function that puts a process into a group with these settings, {file: text}, of control groups of version 1 or 2."""
    groups = pathlib.Path("/sys/fs/cgroup")
    unified = (groups / "cgroup.controllers").exists()
    group = (groups if unified else groups / controller) / f"hetero-test-{os.getpid()}"
    try:
        group.mkdir()
        for file, text in (unified_settings if unified else settings).items():
            (group / file).write_text(text)
    except OSError as error:
        with contextlib.suppress(OSError):
            group.rmdir()
        skip(f"may not make a control group: {error}")
    try:
        yield lambda pid: (group / "cgroup.procs").write_text(str(pid))
    finally:
        with contextlib.suppress(OSError):  # a check that failed may have left the process
            group.rmdir()


@case
def throttled():
    """Half a core of time for two threads: the group stands still for most of each period."""
    settings = {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000"}
    with control_group("cpu", settings, {"cpu.max": "50000 100000"}) as put:
        process = bench()
        put(process.pid)
        check(process)


def threads(pid):
    return [int(name) for name in os.listdir(f"/proc/{pid}/task")]


def affinities(pid):
    """Of the threads that still run."""
    for thread in threads(pid):
        with contextlib.suppress(ProcessLookupError):
            yield os.sched_getaffinity(thread)


def bind(pid, processors):
    """As taskset -a does it, thread by thread."""
    for thread in threads(pid):
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(thread, processors)


@case
def processor_taken_away():
    """By the group, as container managers do it, with a crowd in which the threads would be moved otherwise."""
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < 2:
        skip("one processor only")
    left = {processors[0]}
    settings = {"cpuset.cpus": str(processors[0]), "cpuset.mems": "0"}
    with control_group("cpuset", settings, settings) as put, hogs(2):
        process = bench()
        time.sleep(0.7)
        put(process.pid)
        time.sleep(0.4)
        seen = list(affinities(process.pid))
        check(process)
    assert seen and all(one == left for one in seen), seen


@case
def bound_from_outside():
    """taskset -a while it runs. A thread that has that very processor on loan just then still goes home, so more than one try may be needed."""
    processors = os.sched_getaffinity(0)
    if len(processors) < 2:
        skip("one processor only")
    left = {min(processors)}
    seen = []
    with hogs(2):
        process = bench()
        time.sleep(0.5)
        for _ in range(20):
            bind(process.pid, left)
            time.sleep(0.03)
            seen.append(list(affinities(process.pid)))
        check(process)
    print(f"stays from try {next((k for k in range(len(seen)) if all(one == left for later in seen[k:] for one in later)), None)} on")
    assert seen[-1] and all(one == left for one in seen[-1]), seen


if __name__ == "__main__":
    CASES[sys.argv[3]]()
