#!/usr/bin/env python3
"""video.py finds in each frame what VisionModel finds there, in the order of the frames.

Usage: video_objects.py EXAMPLE FOLDER, the folder of scene.py's video that is drawn first.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

try:
    import cv2
except ImportError:
    print("skipped: this Python has no cv2 (OpenCV)")
    sys.exit(77)
if not shutil.which("gst-launch-1.0"):
    print("skipped: there is no gst-launch-1.0 to encode the video with")
    sys.exit(77)
import hetero

FRAMES = 40
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DETECTOR = ROOT / "pipelines/demo/models/scene_detector.onnx"


def frames_of(path):
    video = cv2.VideoCapture(str(path))
    while True:
        is_read, frame = video.read()
        if not is_read:
            return
        yield frame


def run(*command):
    done = subprocess.run([sys.executable, "-B", *map(str, command)], capture_output=True, text=True, timeout=240)
    print(done.stdout, done.stderr, sep="\n")
    return done


def main():
    example, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    video = folder / "scene.mp4"
    if run(ROOT / "pipelines/demo/scene.py", "--frames", FRAMES, "--output", video, "--ground-truth", folder / "scene.json").returncode != 0:
        sys.exit("scene.py draws no video")
    done = run(example, video)
    if done.returncode != 0:
        sys.exit(f"the example ended with {done.returncode}")
    *lines, last = done.stdout.splitlines()
    if not re.fullmatch(rf"{FRAMES} frames, [0-9.]+ frames/s with decoding, \d+ requests on CPU", last):
        sys.exit(f"the last line is '{last}'")
    truth = json.loads((folder / "scene.json").read_text(encoding="utf-8"))["frames"]
    model = hetero.VisionModel(DETECTOR, model_proc=DETECTOR.with_suffix(".json"))
    differing, seen = [], 0
    for number, (frame, line) in enumerate(zip(frames_of(video), lines, strict=True)):
        number_told, found = re.fullmatch(r"frame (\d+): (.*)", line).groups()
        if int(number_told) != number:
            sys.exit(f"line {number} is that of frame {number_told}")
        labels = sorted(one.rsplit(" ", 1)[0] for one in found.split(", ")) if found != "nothing" else []
        if labels != sorted(model(frame).labels):
            differing.append(number)
        seen += len(set(labels) & {one["label"] for one in truth[number]["objects"]})
    # A score of 0.5 may round to either side of the threshold.
    if len(differing) > 2 or seen < FRAMES * 2:
        sys.exit(f"frames {differing} differ from VisionModel's; {seen} labels of the truth in {FRAMES} frames")


if __name__ == "__main__":
    main()
