#!/usr/bin/env python3
"""The command in the doc comment of an example of examples/python/gst gives what heterometaconvert says of the same frames.

Usage: gst_scripts.py NAME FOLDER: the example NAME.py, or `chain`, the command of three scripts in examples/README.md. It runs in FOLDER,
which gets links to what the checkout has, and out/demo/scene.mp4.
"""
import ast
import importlib.util
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter, defaultdict

for module in ("gi", "cv2", "numpy"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: this Python has no {module}")
        sys.exit(77)
if not shutil.which("gst-launch-1.0"):
    print("skipped: there is no gst-launch-1.0")
    sys.exit(77)

import cv2  # noqa: E402
import numpy  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FRAMES = 60
NOTHING = numpy.empty((0, 0, 3), numpy.uint8)
DETECTOR = "model=pipelines/demo/models/scene_detector.onnx model-proc=pipelines/demo/models/scene_detector.json"
CLASSIFIER = "model=pipelines/demo/models/scene_attributes.onnx model-proc=pipelines/demo/models/scene_attributes.json"


def expect(what, told, wanted):
    if told != wanted:
        sys.exit(f"{what}: {told}; wanted is {wanted}")


def prepare(folder):
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "out/demo").mkdir(parents=True)
    for name in ("examples", "pipelines"):
        (folder / name).symlink_to(ROOT / name)
    run([sys.executable, "pipelines/demo/scene.py", "--frames", str(FRAMES), "--output", "out/demo/scene.mp4",
         "--ground-truth", "out/demo/scene.json"], folder)


def run(command, folder):
    print("$", shlex.join(command) if isinstance(command, list) else command, flush=True)
    done = subprocess.run(command, cwd=folder, shell=isinstance(command, str), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240)
    print(done.stdout)
    if done.returncode != 0:
        sys.exit(f"it ended with {done.returncode}")
    return done.stdout


def first_block(text, having=""):
    """The first indented command that has this in it, as one line."""
    for block in re.findall(r"\n\n((?:    .*\n)+)", text):
        if having in block:
            return re.sub(r"\s*\\?\n\s*", " ", block).strip()
    sys.exit(f"there is no command with '{having}'")


def command_of(name):
    if name == "chain":
        return first_block((ROOT / "examples/README.md").read_text(encoding="utf-8"), "color_to_attribute.py")
    tree = ast.parse((ROOT / f"examples/python/gst/{name}.py").read_text(encoding="utf-8"))
    return re.sub(r"^python3 ", f"{shlex.quote(sys.executable)} -B ", first_block(ast.get_docstring(tree, clean=False)))


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def truth(folder, elements):
    """The objects of each frame as heterometaconvert writes them behind these elements."""
    run(f"gst-launch-1.0 -q filesrc location=out/demo/scene.mp4 ! decodebin ! {elements} ! heterometaconvert add-empty-results=true "
        "! heterometapublish file-path=out/truth.json file-format=json-lines ! fakesink", folder)
    frames = [frame.get("objects", []) for frame in lines_of(folder / "out/truth.json")]
    (folder / "out/truth.json").unlink()
    expect("frames of the video", len(frames), FRAMES)
    expect("objects in the video", sum(map(len, frames)) > FRAMES, True)
    return frames


def same_objects(told, wanted, color=False):
    """In any order, with boxes that differ by no more than a pixel."""
    expect("frames", len(told), len(wanted))
    for number, (some, others) in enumerate(zip(told, wanted)):
        key = lambda one: (one["roi_type"], one["x"])  # noqa: E731
        some, others = sorted(some, key=key), sorted(others, key=key)
        expect(f"labels of frame {number}", [one["roi_type"] for one in some], [one["roi_type"] for one in others])
        for one, other in zip(some, others):
            if any(abs(one[side] - other[side]) > 1 for side in "xywh") or abs(one["detection"]["confidence"] - other["detection"]["confidence"]) > 1e-3:
                sys.exit(f"frame {number}: {one}; wanted is {other}")
            if color:
                expect(f"colour in frame {number}", {**one["color"], "confidence": 0, "model": 0}, {**other["color"], "confidence": 0, "model": 0})
                expect("confidence", abs(one["color"]["confidence"] - other["color"]["confidence"]) < 1e-3, True)


def video_of(folder):
    """The frames as OpenCV reads them."""
    video = cv2.VideoCapture(str(folder / "out/demo/scene.mp4"))
    return [video.read()[1] for _ in range(FRAMES)]


def same_picture(what, told, wanted):
    """Within what JPEG and other conversions of 4:2:0 change."""
    if told is None or told.shape != wanted.shape:
        sys.exit(f"{what}: the picture is {None if told is None else told.shape}; wanted is {wanted.shape}")
    difference = cv2.absdiff(told, wanted).mean()
    print(f"{what}: differs by {difference:.1f}")
    expect(f"{what}: is alike", difference < 8, True)


def check_appsink_numpy(folder, output):
    wanted = truth(folder, f"videoconvert ! video/x-raw,format=BGR ! heterodetect {DETECTOR}")
    *lines, last = output.splitlines()
    for number, (line, objects) in enumerate(zip(lines, wanted, strict=True)):
        told = re.findall(r"([a-z]+ \d\.\d\d) brightness \d+", line)
        expect(f"line {number}", (line.split(":")[0], told),
               (f"frame {number}", [f"{one['roi_type']} {one['detection']['confidence']:.2f}" for one in objects]))
    expect("the last line", re.sub(r"[0-9.]+ frames/s", "N", last), f"{FRAMES} frames, {sum(map(len, wanted))} objects, N")


def check_probe_counter(folder, output):
    seen, ids = Counter(), defaultdict(set)
    for objects in truth(folder, f"heterodetect {DETECTOR} ! heterotrack"):
        for one in objects:
            seen[one["roi_type"]] += 1
            if "id" in one:
                ids[one["roi_type"]].add(one["id"])
    expect("totals", output.splitlines()[1:],
           [f"{FRAMES} frames", *(f"{label}: seen {times} times, ids: {len(ids[label])}" for label, times in seen.most_common())])


def check_yolox_to_regions(folder, _output):
    regions = folder / "out/regions.json"
    wanted = truth(folder, f"heterodetect {DETECTOR}")
    same_objects([frame["objects"] for frame in lines_of(regions)], [objects for objects in wanted if objects])
    # Of other proportions than the model's input.
    for width, height in (640, 480), (960, 300):
        scaled = f"videoscale ! video/x-raw,width={width},height={height}"
        regions.unlink()
        run(command_of("yolox_to_regions").replace("! decodebin", f"! decodebin ! {scaled}"), folder)
        wanted = truth(folder, f"{scaled} ! heterodetect {DETECTOR}")
        same_objects([frame["objects"] for frame in lines_of(regions)], [objects for objects in wanted if objects])


def check_color_to_attribute(folder, _output):
    wanted = truth(folder, f"heterodetect {DETECTOR} ! heteroclassify {CLASSIFIER}")
    same_objects([frame["objects"] for frame in lines_of(folder / "out/colors.json")], [objects for objects in wanted if objects], color=True)


def logged(frames, threshold):
    """What attribute_log.py writes of these frames, with the confidence of each object's color."""
    for number, objects in enumerate(frames):
        if objects:
            yield {"frame": number, "objects": [{"label": one["roi_type"], "color": one["color"]["label"]} if one["color"]["confidence"] >= threshold
                                                else {"label": one["roi_type"]} for one in objects]}


def check_attribute_log(folder, _output):
    wanted = list(logged(truth(folder, f"heterodetect {DETECTOR} ! heteroclassify {CLASSIFIER}"), 0.8))
    expect("the log", lines_of(folder / "out/attributes.jsonl"), wanted)


def check_chain(folder, _output):
    wanted = list(logged(truth(folder, f"heterodetect {DETECTOR} ! heteroclassify {CLASSIFIER}"), 0.5))
    expect("the log", lines_of(folder / "out/attributes.jsonl"), wanted)


def check_save_frames(folder, _output):
    wanted, begin = [], 0
    for number, objects in enumerate(truth(folder, f"heterodetect {DETECTOR}")):
        if number >= begin and any(one["roi_type"] in ("bicycle", "truck") for one in objects):
            wanted.append(f"{number:06}.jpg")
            begin = number + 10
    expect("some of the frames", 2 < len(wanted) < FRAMES / 10 + 1, True)
    expect("pictures", sorted(path.name for path in (folder / "out/frames").iterdir()), wanted)
    for number, frame in enumerate(video_of(folder)):
        if f"{number:06}.jpg" in wanted:
            same_picture(f"frame {number}", cv2.imread(str(folder / f"out/frames/{number:06}.jpg")), frame)


def check_crops(folder, pixel_format):
    """A picture for each object with an id: where it was largest, and what the video shows there."""
    wanted, frames = {}, video_of(folder)
    for number, objects in enumerate(truth(folder, f"videoconvert ! video/x-raw,format={pixel_format} ! heterodetect {DETECTOR} ! heterotrack")):
        for one in objects:
            if "id" not in one:
                continue
            path = f"{one['roi_type']}/{one['id']}.png"
            x, y, width, height = (one[side] for side in "xywh")
            if width * height > wanted.get(path, NOTHING)[..., 0].size:
                wanted[path] = frames[number][y:y + height, x:x + width]
    crops = folder / "out/crops"
    expect(f"crops of {pixel_format}", sorted(str(path.relative_to(crops)) for path in crops.rglob("*.png")), sorted(wanted))
    for path, picture in wanted.items():
        same_picture(f"{pixel_format}, {path}", cv2.imread(str(crops / path)), picture)


def check_object_crops(folder, _output):
    check_crops(folder, "NV12")
    shutil.rmtree(folder / "out/crops")
    run(command_of("object_crops").replace("format=NV12", "format=BGR"), folder)
    check_crops(folder, "BGR")


def main():
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    prepare(folder)
    output = run(command_of(name), folder)
    globals()[f"check_{name}"](folder, output)


if __name__ == "__main__":
    main()
