#!/usr/bin/env python3
"""`hetero density` as a user meets it, with real pipelines: density_cli.py HETERO ROOT CASE.

One case a run. Uses elements of GStreamer alone, so that what is carried is known: identity's sleep-time is one stream's delay.
"""
import json
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from hetero_cli import expect, run_case  # noqa: E402

CASES = {}
QUICK = ["--fps", "40", "--seconds", "0.6s", "--warmup", "100ms", "--confirm", "2"]


def case(function):
    CASES[function.__name__] = function
    return function


def density(hetero, *arguments, status=0, seconds=120):
    done = subprocess.run([hetero.program, "density", *map(str, arguments)], capture_output=True, text=True, timeout=seconds)
    assert done.returncode == status, f"exit status {done.returncode}, not {status}:\n{done.stdout}\n{done.stderr}"
    return done


# A program that carries five streams: each one more makes frames 30 ms later.
PROGRAM = """
import json, sys
order = json.load(sys.stdin)
n, frames = order["streams"], round(order["fps"] * order["window_s"])
print("a word of its own")
print(json.dumps({"window_s": order["window_s"], "cpu_s": 0.1 * n, "memory_mib": 10 * n, "notes": ["a fake"],
                  "streams": [{"due": frames, "due_s": [i / order["fps"] for i in range(frames)], "latency_ms": [30.0 * n] * frames}] * n}))
"""


@case
def program(hetero, folder):
    """The search, JSON and charts with a program whose answers are known."""
    script = folder / "program.py"
    script.write_text(PROGRAM)
    files = {name: folder / f"found.{name}" for name in ("json", "svg", "png")}
    for chart in ("svg", "png"):
        done = density(hetero, "--p99", "160ms", "--json", files["json"], "--chart", files[chart], "--program", "--", sys.executable, script)
        expect(done.stdout, "5 streams: 3 of 3 runs passed, p99 150.0 to 150.0 ms", "6 streams: 2 of 2 runs failed", "p99 of 180 ms is above 160 ms")
        expect(done.stderr, "note: a fake", "4 streams passed", "8 streams failed", "elapsed, about")
    found = json.loads(files["json"].read_text())
    assert found["format"] == "hetero-density 1" and found["fps"] == 15 and found["p99_ms"] == 160, found
    (device,) = found["devices"]
    assert device["streams"] == 5 and device["confirmed"] and device["limit"] == "latency", device
    assert [trial["streams"] for trial in device["trials"]] == [1, 2, 4, 8, 6, 5, 5, 5, 6], device
    assert {"worst", "all", "rate", "drop", "cpu_ms_per_frame", "memory_mib", "took_s"} <= set(device["trials"][0])
    assert xml.etree.ElementTree.parse(files["svg"]).getroot().tag.endswith("svg")
    assert files["png"].read_bytes().startswith(b"\x89PNG")


# The first time that it is asked for two streams another process, no child of its own any more, takes a processor, and all frames are late.
DISTURBED = """
import json, pathlib, subprocess, sys, time
order = json.load(sys.stdin)
n, frames, mark = order["streams"], round(order["fps"] * order["window_s"]), pathlib.Path(sys.argv[1])
latency = 20.0
if n == 2 and not mark.exists():
    mark.touch()
    subprocess.run(["sh", "-c", "timeout 2 sh -c 'while :; do :; done' &"])
    time.sleep(2)
    latency = 1000.0
print(json.dumps({"window_s": order["window_s"], "cpu_s": 0.1 * n, "memory_mib": 10 * n, "notes": [],
                  "streams": [{"due": frames, "due_s": [i / order["fps"] for i in range(frames)], "latency_ms": [latency] * frames}] * n}))
"""


@case
def disturbed(hetero, folder):
    """A trial that fails while others work is run again, where that is asked for."""
    script = folder / "program.py"
    script.write_text(DISTURBED)
    common = ["--first", "2", "--most", "2", "--confirm", "1", "--program", "--", sys.executable, script]
    done = density(hetero, "--most-others", "0.3", *common, folder / "first")
    expect(done.stderr, "2 streams failed while others kept ", "processors busy: again", "2 streams passed")
    expect(done.stdout, "as given        2")
    done = density(hetero, *common, folder / "second")
    expect(done.stderr, "2 streams failed: p99 1000")
    assert "again" not in done.stderr, done.stderr


@case
def none_carried(hetero, folder):
    done = density(hetero, *QUICK, "--p99", "20ms", "--", "videotestsrc", "!", "identity", "sleep-time=22000", "!", "fakesink", status=1)
    expect(done.stdout, "as given        0", "is above 20 ms")
    p99 = re.search(r"limit: latency, by 1 of 1 stream: p99 of (\d+) ms", done.stdout)
    assert p99 and int(p99[1]) >= 22, done.stdout


@case
def pipeline(hetero, folder):
    done = density(hetero, *QUICK, "--most", "2", "--p99", "5s", "--json", folder / "x.json", "--", "gst-launch-1.0", "videotestsrc", "!", "fakesink")
    expect(done.stdout, "no more streams were tried", "2 streams: 2 of 2 runs passed")


@case
def devices(hetero, folder):
    """A search for each; one that is not there fails alone."""
    done = density(hetero, *QUICK, "--most", "1", "--p99", "5s", "--device", "CPU", "--device", "NOWHERE", "--json", folder / "x.json", "--",
                   "videotestsrc", "!", "video/x-raw,format=BGR,width=320,height=192", "!", "heterodetect", f"model={hetero.detector}",
                   f"model-proc={hetero.detector_proc}", "!", "fakesink", status=1)
    expect(done.stdout, "CPU             1", "NOWHERE         0", "failed: ")
    cpu, nowhere = json.loads((folder / "x.json").read_text())["devices"]
    assert cpu["streams"] == 1 and not cpu["error"], cpu
    assert nowhere["streams"] == 0 and "NOWHERE" in nowhere["error"], nowhere


@case
def interrupted(hetero, folder):
    """Ctrl-C prints what is known, and nothing stays behind."""
    script = folder / "slow.py"
    script.write_text("import time, sys, pathlib, os\npathlib.Path(sys.argv[1]).write_text(str(os.getpid()))\ntime.sleep(0.2)\n"
                      "if 'ready' in sys.argv: time.sleep(60)\n" + PROGRAM.replace("order = json", "order = json"))
    mark = folder / "pid"
    slow = folder / "once.sh"
    slow.write_text(f"#!/bin/sh\nif [ -e {folder}/second ]; then exec {sys.executable} {script} {mark} ready; fi\ntouch {folder}/second\n"
                    f"exec {sys.executable} {script} {mark}\n")
    slow.chmod(0o755)
    process = subprocess.Popen([hetero.program, "density", "--json", folder / "x.json", "--program", "--", slow], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + 30
    while not ((folder / "second").exists() and "1 stream passed" in process.stderr.readline()):
        assert time.monotonic() < limit, "no trial passed"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 130, process.returncode
    expect(output, "stopped before it was confirmed: at least so many", "as given        1")
    found = json.loads((folder / "x.json").read_text())
    assert found["stopped"] and found["devices"][0]["streams"] == 1, found
    assert not pathlib.Path(f"/proc/{mark.read_text()}").exists(), "its trial still runs"


@case
def page(hetero, folder):
    """The command of docs/deployment.md, word for word but for the video, the programs' place and how long it measures."""
    text = (hetero.root / "docs/deployment.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^    build/tools/hetero density ((?:.*\\\n)*.*)$", text, re.MULTILINE)
    words = shlex.split(command)
    assert "location=out/demo/scene.mp4" in words, words
    video = folder / "scene.mp4"
    made = subprocess.run(["gst-launch-1.0", "-q", *"videotestsrc num-buffers=30 ! video/x-raw,format=I420,width=320,height=240,framerate=30/1 ! x264enc bframes=0 ! h264parse".split(),
                           "!", "mp4mux", "!", "filesink", f"location={video}"], capture_output=True, text=True)
    if made.returncode != 0:
        print(f"skipped: no video can be made: {made.stderr}")
        sys.exit(77)
    words[words.index("location=out/demo/scene.mp4")] = f"location={video}"
    words[words.index("density.svg")] = str(folder / "density.svg")
    done = subprocess.run([hetero.program, "density", "--seconds", "2s", "--most", "1", "--confirm", "1", "--p99", "2s",
                           *[word for word in words if word not in ("--p99", "200ms")]], capture_output=True, text=True, cwd=hetero.root, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    expect(done.stdout, "as given        1", "heterodetect: ", "heteroclassify: ")
    assert (folder / "density.svg").stat().st_size > 1000


@case
def time_limit(hetero, folder):
    begin = time.monotonic()
    done = density(hetero, "--seconds", "2", "--fps", "20", "--warmup", "0", "--p99", "5s", "--time-limit", "4s", "--", "videotestsrc", "!", "fakesink")
    assert time.monotonic() - begin < 12
    expect(done.stdout, "stopped before it was confirmed")


@case
def refusals(hetero, folder):
    line = ["videotestsrc", "!", "fakesink"]
    for arguments, words in [
        ([], "there is no pipeline"),
        (["--p99", "soon", "--", *line], "--p99"),
        (["--chart", "x.gif", "--", *line], "neither in .svg nor in .png"),
        (["--json", "/nowhere/x.json", "--", *line], "cannot write /nowhere/x.json"),
        (["--", "videotestsrc", "!", "fakesnk"], "Names near it: 'fakesink'"),
        (["--", "videotestsrc"], "has no sink"),
        (["--device", "CPU", "--", *line], "no element that runs a model"),
    ]:
        done = density(hetero, *arguments, status=2)
        expect(done.stderr, words)
    script = folder / "silent.py"
    for text, words in [("", "ended without a report (exit status 0)"), ("import sys; sys.exit(3)", "exit status 3"), ("print('{}')", "a report of a trial"),
                        ("print('{\"error\": \"no camera\"}')", "no camera")]:
        script.write_text(text)
        done = density(hetero, "--program", "--", sys.executable, script, status=2 if words == "no camera" else 1)
        expect(done.stderr, words)
    done = density(hetero, "--program", "--", "/nowhere/program", status=1)
    expect(done.stderr, "cannot run /nowhere/program")


@case
def help_text(hetero, folder):
    done = density(hetero, "--help")
    expect(done.stdout, "hetero density --fps 15 --p99 200ms", "--confirm", "--time-limit", "Exit status")
    expect(density(hetero, "--version").stdout, "hetero ")
    expect(subprocess.run([hetero.program, "--help"], capture_output=True, text=True).stdout, "density")


if __name__ == "__main__":
    run_case(CASES, "density_cli.py")
