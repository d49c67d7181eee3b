#!/usr/bin/env python3
"""What heteromotiondetect's gate saves: 16 cameras before which nothing moves for 80 % of the time, one detector.

    gating.py BUILD [--model MODEL --model-proc FILE] [--streams 16] [--frames 1000] [--size 640x384] [--rounds 3] [--max-age 1000]

The scenes are the demo's, four different ones, as H.264, with objects in the last 100 of every 500 frames; light and noise go on. Each round
plays, in turn, the streams with decoding alone, with the motion detector alone, with the detector on every frame and with the gate before it,
all in one process and as fast as it goes. Printed are medians with the spread: milliseconds of processor time a frame and, for 30 frames/s, the
share of a core that a stream takes; then the frames that were still, and the recall of the objects that were drawn (overlap of 0.5 and the
label; for another model than the demo's the objects that it finds without the gate stand for them).
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

import plays

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "pipelines/demo"))
import scene  # noqa: E402

SEEDS = (100001, 100002, 100003, 100004)
FPS = 30
CASES = ("decoding", "motion detector", "detector", "detector behind the gate")


def elements(case, options, stream, folder):
    """What stands behind the decoder of one stream."""
    motion = f"heteromotiondetect name=motion{stream} add-regions=false max-age={options.max_age} gate=true"
    tell = (f"heterodetect model={options.model} model-proc={options.model_proc} model-instance-id=detector name=detect{stream} "
            f"! heterometaconvert add-empty-results=true ! heterometapublish file-format=json-lines file-path={folder}/{stream}.json")
    return {"decoding": [], "motion detector": [motion], "detector": [tell], "detector behind the gate": [motion, tell]}[case]


def play(case, options, videos, folder):
    """Processor seconds of a process that plays all streams to their end."""
    line = ["gst-launch-1.0", "-q"]
    for stream in range(options.streams):
        parts = [f"filesrc location={videos[stream % len(videos)]}", "h264parse", "avdec_h264 max-threads=1", "video/x-raw,format=I420",
                 *elements(case, options, stream, folder), "fakesink sync=false"]
        line += " ! ".join(parts).split()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(line, env=plays.environment(options.build), stdout=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"gst-launch-1.0 ended with {done.returncode}: {case}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def found_objects(folder, stream):
    """Of each frame (label, box)."""
    frames = []
    for line in (folder / f"{stream}.json").read_text().splitlines():
        objects = json.loads(line).get("objects", [])
        frames.append([(o["detection"]["label"], (o["x"], o["y"], o["x"] + o["w"], o["y"] + o["h"])) for o in objects])
    return frames


def overlap(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    both = max(width, 0) * max(height, 0)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def recall(truth, found):
    """Objects of the truth that were found, and all of them."""
    pairs = [(wanted, frame) for wanted_ones, frame in zip(truth, found) for wanted in wanted_ones]
    return sum(any(label == wanted[0] and overlap(wanted[1], box) >= 0.5 for label, box in frame) for wanted, frame in pairs), len(pairs)


def moves(truth):
    """Of each frame those of its objects that were elsewhere, or nowhere, in the frame before."""
    return [[o for o in frame if o not in before] for before, frame in zip([[]] + truth, truth)]


def still_frames(options, videos):
    """How many frames of the streams' videos the gate marks."""
    program = ("import sys, gi\ngi.require_version('Gst', '1.0')\nfrom gi.repository import Gst\nGst.init(None)\n"
               "p = Gst.parse_launch(sys.argv[1])\np.set_state(Gst.State.PLAYING)\n"
               "p.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)\n"
               "print(p.get_by_name('motion0').get_property('stats').get_uint64('frames-still').value)\np.set_state(Gst.State.NULL)\n")
    counts = []
    for video in videos:
        parts = [f"filesrc location={video}", "h264parse", "avdec_h264", *elements("motion detector", options, 0, ""), "fakesink sync=false"]
        command = [sys.executable, "-c", program, " ! ".join(parts)]
        counts.append(int(subprocess.run(command, env=plays.environment(options.build), check=True, stdout=subprocess.PIPE, text=True).stdout))
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("--model", type=lambda text: pathlib.Path(text).absolute(), default=ROOT / "pipelines/demo/models/scene_detector.onnx")
    parser.add_argument("--model-proc", type=lambda text: pathlib.Path(text).absolute(), default=ROOT / "pipelines/demo/models/scene_detector.json")
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--frames", type=int, default=1000)
    parser.add_argument("--size", default="640x384")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-age", type=int, default=1000)
    options = parser.parse_args()
    width, height = (int(v) for v in options.size.split("x"))
    own_model = "scene_detector" in options.model.name

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        videos, truths = [], []
        for seed in SEEDS:
            video = folder / f"{seed}.mp4"
            scene.write(scene.Scene(seed, width, height, options.frames, FPS, busy=0.2), video, folder / "truth.json")
            frames = json.loads((folder / "truth.json").read_text())["frames"]
            truths.append([[(o["label"], tuple(o["box"])) for o in frame["objects"] if not o.get("ignore")] for frame in frames])
            (folder / str(seed)).mkdir()
            videos.append(plays.elementary_stream(video, 1, folder / str(seed)))
        seconds = {case: [] for case in CASES}
        found = {}
        for _ in range(options.rounds):
            for case in CASES:
                seconds[case].append(play(case, options, videos, folder))
                if case.startswith("detector"):
                    found[case] = [found_objects(folder, stream) for stream in range(options.streams)]
        still = still_frames(options, videos)

    frames = options.streams * options.frames
    print(f"{options.streams} streams of {width}x{height}, {options.frames} frames each, {os.cpu_count()} cores, {options.model.name}")
    for case in CASES:
        ms = [1e3 * value / frames for value in seconds[case]]
        print(f"{case:26s} {statistics.median(ms):7.3f} ms a frame [{min(ms):.3f} {max(ms):.3f}], {statistics.median(ms) * FPS / 10:5.1f} % of a core a stream")
    print(f"still: {sum(still) / (len(still) * options.frames):.3f} of the frames")
    hits = {}
    for case in CASES[2:]:
        of = [truths[s % len(truths)] if own_model else found["detector"][s] for s in range(options.streams)]
        counts = [recall(moves(truth), found[case][s]) for s, truth in enumerate(of)]
        hits[case] = sum(c[0] for c in counts)
        print(f"recall of moving objects, {case}: {hits[case] / sum(c[1] for c in counts):.4f}")
    print(f"with the gate over without: {hits[CASES[3]] / hits[CASES[2]]:.4f}")


if __name__ == "__main__":
    main()
