#!/usr/bin/env python3
"""`hetero tune` as a user meets it, with real pipelines: tune_cli.py HETERO ROOT CASE.

One case a run. Uses the demo's models and a picture of its scene, so a clone alone is enough. What a run measures on a busy machine is no
matter of these tests, so gains are large ones.
"""
import json
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))
from hetero_cli import expect, run_case  # noqa: E402

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def detector(hetero, *properties):
    return ["heterodetect", f"model={hetero.detector}", f"model-proc={hetero.detector_proc}", *properties]


def scene(hetero, frames=100000):
    return [*f"filesrc location={hetero.root}/examples/python/street.jpg ! jpegdec ! imagefreeze num-buffers={frames} ! videoconvert !".split(),
            "video/x-raw, format=NV12", "!"]


def tune(hetero, *arguments, status=0):
    done = hetero.run("tune", *arguments, status=status)
    return done.stdout, done.stderr


@case
def help(hetero, folder):
    said, _ = tune(hetero, "--help")
    expect(said, "--time-limit", "--bound", "--only", "--allow-interval", "nireq", "gst-launch-1.0")
    expect(tune(hetero, "--version")[0], "hetero ")
    expect(hetero.run("--help").stdout, "tune")


@case
def repaired(hetero, folder):
    """Inference on the slow reference is found, and only its element is changed."""
    file = folder / "kept.json"
    file.write_text("kept")
    line = [*scene(hetero), *detector(hetero, "name=slow", "device=REF"), "!", *"heterometaconvert ! heterometapublish".split(), f"file-path={file}", "!",
            "fakesink"]
    out, said = tune(hetero, "--only", "device", "--seconds", "0.5", "--time-limit", "60s", "--json", folder / "out.json", "--", *line)
    result = json.loads((folder / "out.json").read_text())
    wanted = [word.replace("device=REF", "device=CPU") for word in line]
    found = shlex.split(out)
    assert [word.replace("device=AUTO", "device=CPU") for word in found] == ["gst-launch-1.0", *wanted], found
    assert result["best"] == out.strip() and shlex.split(result["given"])[1:] == line, result
    assert result["gain"]["low"] > 1.5 and result["gain"]["pairs"] >= 1, result["gain"]
    assert result["changes"][0]["given"] == "REF" and result["changes"][0]["element"] == "slow", result["changes"]
    assert result["attempts"][0]["decision"] == "taken" and result["attempts"][0]["ratio"]["low"] > 1.5, result["attempts"]
    assert result["compared"]["objects"] > 100 and not result["compared"]["why_not"], result["compared"]
    expect(said, "slow device CPU", "taken", "times as fast as the pipeline as given", "instead of REF", " left] round 1")
    assert file.read_text() == "kept"


@case
def refused(hetero, folder):
    """A device that rounds differently, where nothing may differ; within the usual bound `repaired` takes it."""
    line = [*scene(hetero), *detector(hetero, "device=REF"), "!", "fakesink"]
    out, said = tune(hetero, "--only", "device", "--bound", "0", "--seconds", "0.3", "--time-limit", "40s", "--json", folder / "out.json", "--", *line)
    attempts = json.loads((folder / "out.json").read_text())["attempts"]
    assert attempts and all(attempt["decision"] == "refused" for attempt in attempts), attempts
    expect(attempts[0]["reason"], "% of", "objects without partner", "confidence")
    assert attempts[0]["ratio"] is None, "it was measured"
    expect(said, "refused: detections differ by", "stay with")
    expect(out, "device=REF")


@case
def intervals(hetero, folder):
    """Frames between are left out of the comparison, those that are analysed are not."""
    line = [*scene(hetero), *detector(hetero), "!", "fakesink"]
    _, said = tune(hetero, "--only", "inference-interval", "--allow-interval", "--seconds", "0.3", "--time-limit", "60s", "--json", folder / "out.json",
                   "--", *line)
    attempts = json.loads((folder / "out.json").read_text())["attempts"]
    assert [attempt["value"] for attempt in attempts][:3] == ["2", "3", "5"], said
    assert all(attempt["decision"] != "refused" for attempt in attempts), said


@case
def does_not_start(hetero, folder):
    """A value that fails is told with the element's words, the search goes on; a pipeline that fails ends it."""
    line = [*scene(hetero), *detector(hetero, "ie-config=NUM_STREAMS=1"), "!", "fakesink"]
    broken = [word.replace("ie-config=NUM_STREAMS=1", "device=NOWHERE") for word in line]
    _, said = tune(hetero, "--time-limit", "20s", "--", *broken, status=1)
    expect(said, "the pipeline as given does not play", "NOWHERE")
    # Copies would write one file.
    file = folder / "one.json"
    copies = [*line[:-1], *"heterometaconvert ! heterometapublish".split(), f"file-path={file}", "!", "fakesink"]
    _, said = tune(hetero, "--only", "instances", "--seconds", "0.3", "--time-limit", "30s", "--json", folder / "out.json", "--", *copies)
    attempts = json.loads((folder / "out.json").read_text())["attempts"]
    if not attempts:
        print("skipped: one processor has no second instance")
        sys.exit(77)
    assert attempts[0]["decision"] == "failed", attempts
    expect(attempts[0]["reason"], str(file), "{instance}")
    expect(said, "failed: ", "{instance}")
    assert not file.exists()


@case
def no_objects(hetero, folder):
    """Where nothing is found nothing can be compared, and only what does not change results is tried."""
    line = ["videotestsrc", "pattern=black", "!", *detector(hetero), "!", "fakesink"]
    _, said = tune(hetero, "--only", "device,nireq", "--seconds", "0.3", "--time-limit", "40s", "--json", folder / "out.json", "--", *line)
    expect(said, "there is no object in 90 frames", "give a source with objects", "results not compared")
    result = json.loads((folder / "out.json").read_text())
    assert {attempt["setting"] for attempt in result["attempts"]} == {"nireq"}, result["attempts"]
    assert "no object" in result["compared"]["why_not"]


@case
def not_repeatable(hetero, folder):
    """A source of other frames each time, as a camera is one: pictures that come or not."""
    black = "videotestsrc pattern=black num-buffers=1 ! video/x-raw,width=640,height=384 ! jpegenc ! filesink".split()
    subprocess.run(["gst-launch-1.0", "-q", *black, f"location={folder}/black.jpg"], check=True, timeout=60)
    pictures = [(hetero.root / "examples/python/street.jpg").read_bytes(), (folder / "black.jpg").read_bytes()]
    (folder / "now.jpg").write_bytes(pictures[0])
    is_over = threading.Event()

    def change():
        numbers = random.Random()
        while not is_over.wait(numbers.uniform(0.01, 0.05)):
            (folder / "next.jpg").write_bytes(numbers.choice(pictures))
            (folder / "next.jpg").replace(folder / "now.jpg")

    changer = threading.Thread(target=change)
    changer.start()
    try:
        line = ["multifilesrc", f"location={folder}/now.jpg", *"loop=true caps=image/jpeg,framerate=30/1 ! jpegdec ! videoconvert !".split(),
                *detector(hetero), "!", "fakesink"]
        _, said = tune(hetero, "--only", "device,nireq", "--seconds", "0.3", "--time-limit", "40s", "--", *line)
    finally:
        is_over.set()
        changer.join()
    expect(said, "two runs of the pipeline as given find different things", "give a file as source")
    assert "device AUTO" not in said and "nireq 4" in said, said


@case
def time_limit(hetero, folder):
    line = [*scene(hetero), *detector(hetero), "!", "fakesink"]
    begin = time.monotonic()
    out, said = tune(hetero, "--seconds", "0.5", "--time-limit", "12s", "--", *line)
    took = time.monotonic() - begin
    assert took < 12 + 4, f"{took:.1f} s of 12 s"
    expect(said, "the time was over before everything was tried")
    expect(out, "gst-launch-1.0 ")
    _, said = tune(hetero, "--time-limit", "0.1s", "--", *line, status=1)
    expect(said, "the time limit of 0.1 s was over")


@case
def interrupted(hetero, folder):
    """Ctrl-C prints the best so far."""
    line = [*scene(hetero), *detector(hetero, "device=REF"), "!", "fakesink"]
    process = subprocess.Popen([hetero.program, "tune", "--seconds", "0.5", "--time-limit", "200s", "--json", str(folder / "out.json"), "--", *line],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = ""
    while "taken" not in said:
        part = process.stderr.readline()
        assert part, f"it ended:\n{said}"
        said += part
    process.stderr.readline()
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, rest = process.communicate(timeout=60)
    assert time.monotonic() - begin < 10, "it goes on"
    assert process.returncode == 0, process.returncode
    expect(rest, "ended by the user", "not compared with the pipeline as given again", "CPU instead of REF")
    expect(out, "device=CPU")
    assert json.loads((folder / "out.json").read_text())["stopped"] is True


@case
def pasted(hetero, folder):
    """The printed line runs in a shell: quotes, blanks, names, tees and references."""
    picture = folder / "it's a street.jpg"
    picture.write_bytes((hetero.root / "examples/python/street.jpg").read_bytes())
    file = folder / "found.json"
    line = ["filesrc", f"location={picture}", *"! jpegdec ! imagefreeze num-buffers=400 ! videoconvert !".split(), "video/x-raw, format={NV12,I420}", "!",
            *detector(hetero, "name=d", "device=REF"), "d.", *"! tee name=t t. ! queue ! fakesink t. ! queue ! heterometaconvert !".split(),
            "heterometapublish", f"file-path={file}", "file-format=json-lines", "!", "fakesink"]
    out, _ = tune(hetero, "--only", "device", "--seconds", "0.3", "--time-limit", "20s", "--", "gst-launch-1.0", *line)
    done = subprocess.run(["bash", "-c", out.replace("gst-launch-1.0", "gst-launch-1.0 -q")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{out}\n{done.stdout}\n{done.stderr}"
    assert len(file.read_text().splitlines()) == 400
    # The same as one text, with GStreamer's own quotes.
    file.unlink()
    text = (f"filesrc location=\"{picture}\" ! jpegdec ! imagefreeze num-buffers=400 ! videoconvert ! video/x-raw, format=NV12 "
            f"! heterodetect model = {hetero.detector} model-proc={hetero.detector_proc} ! heterometaconvert "
            f"! heterometapublish file-path={file} file-format=json-lines ! fakesink")
    out, _ = tune(hetero, "--only", "nireq", "--seconds", "0.2", "--time-limit", "8s", "--", text)
    done = subprocess.run(["bash", "-c", out.replace("gst-launch-1.0", "gst-launch-1.0 -q")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{out}\n{done.stdout}\n{done.stderr}"
    assert len(file.read_text().splitlines()) == 400


@case
def deployment_page(hetero, folder):
    """The command of docs/deployment.md, on a video of the scene's picture."""
    page = (hetero.root / "docs/deployment.md").read_text()
    command = re.search(r"^    build/tools/hetero tune ((?:.*\\\n)*.*)$", page, re.MULTILINE)[1]
    words = shlex.split(command.replace("\\\n", " "))
    words[words.index("--time-limit") + 1] = "25s"
    (folder / "out/demo").mkdir(parents=True)
    (folder / "pipelines").symlink_to(hetero.root / "pipelines")
    video = "jpegdec ! imagefreeze num-buffers=60 ! videoconvert ! x264enc speed-preset=ultrafast ! h264parse ! mp4mux ! filesink".split()
    subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={hetero.root}/examples/python/street.jpg", "!", *video,
                    f"location={folder}/out/demo/scene.mp4"], check=True, timeout=60)
    done = subprocess.run([hetero.program, "tune", *words], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    expect(done.stderr, "heterodetect#1 device CPU", "results compared on", "objects")
    assert shlex.split(done.stdout)[:3] == ["gst-launch-1.0", "filesrc", "location=out/demo/scene.mp4"], done.stdout
    assert not (folder / "found.json").exists()


@case
def usage_errors(hetero, folder):
    line = ["videotestsrc", "!", "fakesink"]
    expect(tune(hetero, status=2)[1], "give a pipeline behind --")
    expect(tune(hetero, "--", status=2)[1], "give a pipeline behind --")
    expect(tune(hetero, "--", *line, status=2)[1], "nothing to tune")
    expect(tune(hetero, "--", "videotestsrc", "!", "heterodetekt", status=2)[1], "heterodetect")
    expect(tune(hetero, "--only", "speed", "--", *line, status=2)[1], "speed", "nireq")
    expect(tune(hetero, "--only", "inference-interval", "--", *line, status=2)[1], "--allow-interval")
    expect(tune(hetero, "--time-limit", "soon", "--", *line, status=2)[1], "'soon'", "5min")
    expect(tune(hetero, "--time-limit", "0", "--", *line, status=2)[1], "--time-limit has to be above 0")
    expect(tune(hetero, "--seconds", "2h", "--", *line, status=2)[1], "--seconds 7200 is not between")
    expect(tune(hetero, "--bound", "2", "--", *line, status=2)[1], "bound")
    expect(tune(hetero, "--seconds", "0", "--", *line, status=2)[1], "seconds")
    expect(tune(hetero, "--json", folder / "no/such/out.json", "--", *scene(hetero), *detector(hetero), "!", "fakesink", status=2)[1], "--json")


if __name__ == "__main__":
    run_case(CASES, "tune_cli.py")
