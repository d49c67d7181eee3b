#!/usr/bin/env python3
"""`hetero launch` as a user meets it, with real pipelines: launch_cli.py HETERO ROOT CASE.

One case a run. Uses the demo's detector, so a clone alone is enough.
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from hetero_cli import expect, run_case  # noqa: E402

CASES = {}
# Frames that come as fast as a camera's, with numbers that tell whether one is missing.
LIVE = "videotestsrc is-live=true num-buffers={frames} ! video/x-raw,width=320,height=240,framerate=30/1"


def case(function):
    CASES[function.__name__] = function
    return function


def detector_line(hetero, file, frames, source=LIVE):
    return (f"{source.format(frames=frames)} ! videoconvert ! heterodetect model={hetero.detector} model-proc={hetero.detector_proc} "
            f"! heterometaconvert add-empty-results=true ! heterometapublish file-path={file} ! fakesink").split()


class Launch:
    """A running `hetero launch` whose lines are kept in files."""

    def __init__(self, hetero, folder, *arguments, environment=None):
        self.output = folder / "stdout.txt"
        self.errors = folder / "stderr.txt"
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder), **(environment or {})}
        self.hetero = hetero
        with self.output.open("w") as output, self.errors.open("w") as errors:
            self.process = subprocess.Popen([hetero.program, "launch", *map(str, arguments)], stdout=output, stderr=errors,
                                            env=self.environment, start_new_session=True)

    def text(self):
        return self.errors.read_text()

    def wait_for(self, pattern, count=1, seconds=60):
        """Until so many lines of its standard error match."""
        limit = time.monotonic() + seconds
        while len(re.findall(pattern, self.text(), re.MULTILINE)) < count:
            assert self.process.poll() is None or time.monotonic() < limit - seconds + 1, f"it ended without '{pattern}':\n{self.text()}"
            assert time.monotonic() < limit, f"no '{pattern}' within {seconds} s:\n{self.text()}"
            time.sleep(0.02)

    def status(self, *arguments, status=0):
        done = subprocess.run([self.hetero.program, "launch", "--status", *arguments], capture_output=True, text=True, env=self.environment, timeout=30)
        assert done.returncode == status, f"exit status {done.returncode}, not {status}:\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def instances(self):
        """The rows of --status, whether all is well or not."""
        done = subprocess.run([self.hetero.program, "launch", "--status", "--json"], capture_output=True, text=True, env=self.environment, timeout=30)
        return json.loads(done.stdout)[0]["instances"]

    def instances_when(self, are_so, seconds=60):
        """Its instances once `are_so` of their rows."""
        limit = time.monotonic() + seconds
        while not are_so(rows := self.instances()):
            assert time.monotonic() < limit, f"not within {seconds} s: {rows}"
            time.sleep(0.1)
        return rows

    def end(self, number=signal.SIGINT, status=0, seconds=60):
        self.process.send_signal(number)
        return self.wait(status, seconds)

    def wait(self, status=0, seconds=120):
        assert self.process.wait(seconds) == status, f"exit status {self.process.returncode}, not {status}:\n{self.text()}"
        return self.text()


@contextlib.contextmanager
def launched(hetero, folder, *arguments, **settings):
    launch = Launch(hetero, folder, *arguments, **settings)
    try:
        yield launch
    finally:
        if launch.process.poll() is None:
            os.killpg(launch.process.pid, signal.SIGKILL)
            launch.process.wait()


def failed(hetero, folder, status, *arguments):
    """What a launch says that does not come to run anything."""
    done = subprocess.run([hetero.program, "launch", *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "XDG_RUNTIME_DIR": str(folder)})
    assert done.returncode == status, f"exit status {done.returncode}, not {status}:\n{done.stdout}\n{done.stderr}"
    return done.stderr


def frame_times(file):
    """Times of the frames of a complete JSON file."""
    return [message["timestamp"] for message in json.loads(file.read_text())]


def processors():
    return sorted(os.sched_getaffinity(0))


def need_two_processors():
    if len(processors()) < 2:
        print("skipped: two instances need two processors")
        sys.exit(77)


def threads_of(pid):
    return [int(entry.name) for entry in pathlib.Path(f"/proc/{pid}/task").iterdir()]


@case
def one_instance(hetero, folder):
    file = folder / "out.json"
    with launched(hetero, folder, "--name", "one", "--", *detector_line(hetero, file, 20)) as launch:
        said = launch.wait()
    expect(said, "instance 0 plays after", "INFERENCE_NUM_THREADS=", "CPU_BIND_THREAD=NO", "exit status 0")
    assert len(frame_times(file)) == 20


@case
def two_instances(hetero, folder):
    """Threads of each stay on its processors; lines have prefixes; Ctrl-C leaves complete files."""
    need_two_processors()
    with launched(hetero, folder, "--instances", 2, "--name", "two", "--", *detector_line(hetero, folder / "out-{instance}.json", 100000)) as launch:
        launch.wait_for(r"instance \d plays", 2)
        launch.instances_when(lambda rows: all(row["frames"] > 30 for row in rows))
        rows = json.loads(launch.status("two", "--json"))[0]["instances"]
        assert [row["state"] for row in rows] == ["playing", "playing"], rows
        places = []
        for row in rows:
            masks = {frozenset(os.sched_getaffinity(thread)) for thread in threads_of(row["pid"])}
            assert len(masks) == 1, f"threads of {row} have {masks}"
            places.append(next(iter(masks)))
            assert row["frames_per_s"] > 0, row
        assert not places[0] & places[1], places
        table = launch.status()
        expect(table, "two: process", "playing")
        said = launch.end()
    expect(said, "SIGINT", "[0] ", "[1] ")
    for number in range(2):
        times = frame_times(folder / f"out-{number}.json")
        assert len(times) > 30, times
    assert not list((folder / "hetero-launch").iterdir()), "the status file stays"


@case
def killed_instance(hetero, folder):
    """It is back after its back-off, its results so far are kept, and the other one loses no frame."""
    need_two_processors()
    with launched(hetero, folder, "--instances", 2, "--name", "killed", "--", *detector_line(hetero, folder / "out-{instance}.json", 100000)) as launch:
        launch.wait_for(r"instance \d plays", 2)
        # More than a new run has when it is first seen.
        before = launch.instances_when(lambda rows: all(row["frames"] > 60 for row in rows))
        os.kill(before[0]["pid"], signal.SIGKILL)
        killed = time.monotonic()
        launch.wait_for(r"instance 0 has ended: signal 9 .*starts again in 1 s")
        launch.wait_for(r"instance 0 plays", 2)
        back = time.monotonic() - killed

        def goes_on(rows):
            assert rows[0]["frames"] >= before[0]["frames"], "frames of the run before are forgotten"
            return rows[0]["frames"] > before[0]["frames"]

        after = launch.instances_when(goes_on)
        said = launch.end()
    assert after[0]["pid"] != before[0]["pid"] and after[0]["runs"] == 2, after
    assert after[1]["pid"] == before[1]["pid"] and after[1]["runs"] == 1, after
    assert "signal 9" in after[0]["last_end"], after
    print(f"back after {back:.2f} s, of which 1 s is the back-off")
    expect(said, "is kept as")
    kept = list(folder.glob("out-0.*.json"))
    assert len(kept) == 1 and kept[0].read_text().startswith("["), kept
    frame_times(folder / "out-0.json")
    times = frame_times(folder / "out-1.json")
    steps = {round((later - earlier) / 1e6) for earlier, later in zip(times, times[1:])}
    assert steps <= {33, 34}, f"a frame is missing: steps of {steps} ms"


@case
def killed_launcher(hetero, folder):
    """Instances do not outlive it, and their files are complete."""
    file = folder / "out.json"
    with launched(hetero, folder, "--name", "orphan", "--", *detector_line(hetero, file, 100000)) as launch:
        launch.wait_for(r"instance 0 plays")
        pid = launch.instances_when(lambda rows: rows[0]["frames"] > 10)[0]["pid"]
        launch.process.kill()
        launch.process.wait()
        limit = time.monotonic() + 20
        while pathlib.Path(f"/proc/{pid}").exists() and "Z" not in pathlib.Path(f"/proc/{pid}/stat").read_text().split(")")[1][:3]:
            assert time.monotonic() < limit, "the instance still runs"
            time.sleep(0.1)
    assert len(frame_times(file)) > 10
    # What a killed one left counts as nothing, and its name is free.
    with launched(hetero, folder, "--name", "orphan", "--", *detector_line(hetero, folder / "next.json", 5)) as launch:
        launch.wait()


@case
def stop_timeout(hetero, folder):
    """A pipeline that loses its end-of-stream is killed in the end."""
    line = "videotestsrc is-live=true ! valve drop=true ! fakesink videotestsrc is-live=true ! fakesink".split()
    with launched(hetero, folder, "--name", "stuck", "--stop-timeout", 2, "--", *line) as launch:
        launch.wait_for(r"instance 0 plays")
        begin = time.monotonic()
        said = launch.end(signal.SIGTERM, status=1)
    assert 1.5 < time.monotonic() - begin < 10, time.monotonic() - begin
    expect(said, "instance 0 did not end well: exit status 3")
    with launched(hetero, folder, "--name", "stuck", "--stop-timeout", 60, "--", *line) as launch:
        launch.wait_for(r"instance 0 plays")
        launch.process.send_signal(signal.SIGINT)
        launch.wait_for("a second time ends them at once")
        launch.end(signal.SIGINT, status=1, seconds=20)


@case
def unusable_lines(hetero, folder):
    """What can never play is said at once, and not tried again."""
    expect(failed(hetero, folder, 2, "--", "videotestsrc", "!", "nosuchelement"), "nosuchelement")
    expect(failed(hetero, folder, 2, "--", "videotestsrc", "!", "heterodetect", "modell=x", "!", "fakesink"), "modell")
    said = failed(hetero, folder, 1, "--", *"videotestsrc ! heterodetect model=missing.onnx ! fakesink".split())
    expect(said, "missing.onnx", "exit status 2")
    assert "starts again" not in said, said


@case
def usage_errors(hetero, folder):
    line = "videotestsrc num-buffers=1 ! fakesink".split()
    expect(failed(hetero, folder, 2), "nothing to run")
    expect(failed(hetero, folder, 2, "--"), "no pipeline")
    expect(failed(hetero, folder, 2, "file.yaml", "--", *line), "not both")
    expect(failed(hetero, folder, 2, "--instances", "many", "--", *line), "many")
    expect(failed(hetero, folder, 2, "--instances", "0", "--", *line), "0")
    expect(failed(hetero, folder, 2, "--cpus", "0-", "--", *line), "0-")
    expect(failed(hetero, folder, 2, "--cpus", "4096", "--", *line), "4096")
    expect(failed(hetero, folder, 2, "--topology", "numa:2 pu:2", "--", *line), "--dry-run")
    expect(failed(hetero, folder, 2, "--dry-run", "--topology", "nonsense", "--", *line), "nonsense")
    expect(failed(hetero, folder, 2, "--name", "a/b", "--", *line), "a/b")
    expect(failed(hetero, folder, 2, "missing.yaml"), "missing.yaml")
    count = len(processors()) + 1
    expect(failed(hetero, folder, 2, "--instances", count, "--", *line), str(count))


@case
def one_file_of_two(hetero, folder):
    """Two instances never write the same file."""
    need_two_processors()
    file = folder / "out.json"
    said = failed(hetero, folder, 2, "--instances", 2, "--", *detector_line(hetero, file, 5))
    expect(said, str(file), "{instance}")
    assert not file.exists()


@case
def too_many_threads(hetero, folder):
    count = len(processors())
    line = [word + f" ie-config=INFERENCE_NUM_THREADS={count + 1}" if word == "heterodetect" else word
            for word in detector_line(hetero, folder / "out-{instance}.json", 5)]
    said = failed(hetero, folder, 2, "--", *" ".join(line).split())
    expect(said, str(count + 1), str(count))


@case
def line_wins(hetero, folder):
    """What the line says itself wins over the default of the process, and both are printed."""
    line = " ".join(detector_line(hetero, folder / "out.json", 5)).replace("heterodetect", "heterodetect ie-config=INFERENCE_NUM_THREADS=1")
    with launched(hetero, folder, "--", *line.split()) as launch:
        said = launch.wait()
    expect(said, f"INFERENCE_NUM_THREADS={len(processors())}", "INFERENCE_NUM_THREADS=1")


@case
def names(hetero, folder):
    """Two launches with one name do not run at the same time."""
    line = "videotestsrc is-live=true ! fakesink".split()
    with launched(hetero, folder, "--name", "shop", "--", *line) as launch:
        launch.wait_for(r"instance 0 plays")
        expect(failed(hetero, folder, 2, "--name", "shop", "--", *line), "shop", "runs already")
        launch.status("shop")
        launch.status("other", status=1)
        launch.end()
    expect(launch.status(status=1), "no launch runs")


@case
def notices(hetero, folder):
    """The service manager is told as sd_notify(3) says."""
    address = str(folder / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(30)
        environment = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "1000000"}
        with launched(hetero, folder, "--name", "service", "--", *"videotestsrc is-live=true ! fakesink".split(), environment=environment) as launch:
            received = []
            while sum("WATCHDOG=1" in text for text in received) < 3 or not any("READY=1" in text for text in received):
                received.append(manager.recv(4096).decode())
            launch.end(signal.SIGTERM)
            while not any("STOPPING=1" in text for text in received):
                received.append(manager.recv(4096).decode())
    assert any("1 of 1 instances play" in text for text in received), received


@case
def dry_run(hetero, folder):
    """Other machines, described in hwloc's words; nothing runs and nothing is written."""
    file = folder / "out-{instance}.json"
    line = detector_line(hetero, file, 5)

    def plan(*arguments, status=0):
        done = subprocess.run([hetero.program, "launch", "--dry-run", "--json", *arguments, "--", *line], capture_output=True, text=True, timeout=60)
        assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout)["instances"] if status == 0 else done.stderr

    two = plan("--topology", "numa:2 core:2 pu:1")
    assert [row["processors"] for row in two] == [[0, 1], [2, 3]], two
    assert [row["numa_nodes"] for row in two] == [[0], [1]], two
    assert [row["inference_threads"] for row in two] == [2, 2], two
    assert len(plan("--topology", "numa:4 core:8 pu:2")) == 4
    assert len(plan("--topology", "numa:2 core:4 pu:1", "--instances", "4")) == 4
    quota = plan("--topology", "numa:2 core:2 pu:1", "--quota", "2")
    assert [row["inference_threads"] for row in quota] == [1, 1], quota
    expect(plan("--topology", "numa:2 core:2 pu:1", "--quota", "1", "--instances", "2", status=2), "2", "1")
    expect(plan("--topology", "numa:2 core:2 pu:1", "--instances", "5", status=2), "5", "4")
    hybrid = plan("--topology", "core:8 pu:1", "--efficiency-cpus", "4-7")
    assert len(hybrid) == 1, hybrid
    text = subprocess.run([hetero.program, "launch", "--dry-run", "--topology", "numa:2 core:2 pu:1", "--", *line], capture_output=True, text=True, timeout=60)
    expect(text.stdout + text.stderr, "not this machine")
    assert not list(folder.glob("out-*")), "a dry run wrote files"


@case
def launch_file(hetero, folder):
    """Streams of a file, dealt out to two instances."""
    need_two_processors()
    (folder / "cameras.yaml").write_text(f"""\
name: cameras
instances: 2
measure: no
variables: {{frames: 20}}
pipeline: >
  videotestsrc num-buffers={{frames}} pattern={{pattern}} ! video/x-raw,width=320,height=240 ! videoconvert
  ! heterodetect model={hetero.detector} model-proc={hetero.detector_proc} model-instance-id=1
  ! heterometaconvert add-empty-results=true ! heterometapublish file-path={folder}/{{name}}.json ! fakesink
streams:
  - {{name: door, pattern: smpte, cost: 0.5}}
  - {{name: yard, pattern: ball, frames: 30, cost: 0.5}}
  - {{name: gate, pattern: snow, cost: 1}}
""")
    with launched(hetero, folder, folder / "cameras.yaml") as launch:
        launch.wait()
    for name, frames in [("door", 20), ("yard", 30), ("gate", 20)]:
        assert len(frame_times(folder / f"{name}.json")) == frames, name
    done = subprocess.run([hetero.program, "launch", "--dry-run", "--json", str(folder / "cameras.yaml")], capture_output=True, text=True, timeout=60)
    rows = json.loads(done.stdout)["instances"]
    assert sorted(sorted(row["streams"][i]["name"] for i in range(len(row["streams"]))) for row in rows) == [["door", "yard"], ["gate"]], rows


@case
def measured(hetero, folder):
    """Costs of streams and the number of instances by measuring; files are not written by it."""
    line = detector_line(hetero, folder / "out-{instance}.json", 2000, source="videotestsrc num-buffers={frames} ! video/x-raw,width=320,height=240")
    with launched(hetero, folder, "--instances", "auto", "--measure", "0.5", "--", *line) as launch:
        said = launch.wait()
    expect(said, "1 instance: ", "2 instances: " if len(processors()) > 1 else "", "frames/s [")
    instances = len(re.findall(r"instance \d has ended: exit status 0", said))
    assert instances >= 1, said
    assert [len(frame_times(folder / f"out-{number}.json")) for number in range(instances)] == [2000] * instances


if __name__ == "__main__":
    run_case(CASES, "launch_cli.py")
