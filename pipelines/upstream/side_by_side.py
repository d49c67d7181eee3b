#!/usr/bin/env python3
"""Holds heteroinference against GStreamer's onnxinference, both with tensordecodebin behind them.

    side_by_side.py FOLDER [--pairs 5]

FOLDER has what tensor_models.py writes, a .modelinfo beside each model, scene.mp4 (640x384) and wide.mp4 with
wide.json (1280x720), which scene.py draws. For each model the objects of all frames are compared, the speeds measured
in turn, and FOLDER/MODEL.png shows the same frame of both (heteroinference on the left); side_by_side.jpg has those of
all models. Then heteroinference alone reads wide.mp4, which is held against the ground truth. Ends with 1 where
anything differs by more than the limits. Needs GStreamer 1.28; GST_PLUGIN_PATH has this plugin.
"""
import argparse
import re
import statistics
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import cv2
import numpy

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "demo"))

import compare  # noqa: E402
import evaluate  # noqa: E402

BOX_LIMIT = 1.0  # pixels; the decoders cut coordinates to whole ones
CONFIDENCE_LIMIT = 0.001
PIXEL_LIMIT = 0.002  # share of the pixels that may differ: borders of boxes
MASK_LIMIT = 0.01  # the same of those in masks
MINIMUM_MAP = 0.80  # on wide.mp4, of what exceeds the decoders' thresholds
WARM_UP = 50  # frames
TIMEOUT = 120  # seconds for a pipeline

# The decoder is a child of tensordecodebin, which gets its properties by that name.
Model = namedtuple("Model", "name width height decoder settings threshold masks")
SUPPRESSION = {"iou-threshold": 0.45}  # as in the SSD's graph
MODELS = (Model("ssd", 320, 192, "ssdtensordec0", {}, 0.3, False),
          Model("yolo_v8", 320, 192, "yolotensordecoder0", SUPPRESSION, 0.4, False),
          Model("yolo_v8_segmentation", 320, 320, "yolosegtensordecoder0", SUPPRESSION, 0.4, True))
BESIDE = ("heteroinference", "onnxinference")  # left and right


class Failure(Exception):
    """A pipeline that failed or results that differ."""


class Runs:
    """Pipelines over the files of one folder."""

    def __init__(self, folder):
        self.folder = folder

    def source(self, video, width, height):
        """Decoded frames of this size, with borders where the video's form is another."""
        return (f"filesrc location={self.folder}/{video} ! qtdemux ! h264parse ! avdec_h264 ! videoconvertscale ! "
                f"video/x-raw,format=RGB,width={width},height={height},pixel-aspect-ratio=1/1")

    def tensors(self, element, model):
        """The scene in the model's size, and its objects by one of the methods below."""
        return (self.source("scene.mp4", model.width, model.height), getattr(self, element)(model), self.decode(model))

    def onnxinference(self, model):
        return f"onnxinference model-file={self.folder}/{model.name}.onnx optimization-level=enable-all"

    def heteroinference(self, model):
        return f"{self.heteroinference_as_it_is(model)} ie-config=INFERENCE_PRECISION_HINT=f32"

    def heteroinference_as_it_is(self, model):
        return f"heteroinference model={self.folder}/{model.name}.onnx device=CPU"

    def decode(self, model):
        settings = {"label-file": self.folder / "labels.txt", **model.settings}
        return "tensordecodebin " + " ".join(f"{model.decoder}::{name}={value}" for name, value in settings.items())

    def launch(self, *parts):
        """Runs a pipeline of these parts; returns what it printed."""
        pipeline = " ! ".join(parts)
        return self.run("gst-launch-1.0", "-q", "--no-fault", *pipeline.split())

    def run(self, *command):
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"not at its end after {TIMEOUT} s: {' '.join(command)}") from error
        # Debian's ONNX Runtime reports every operator's schema as registered twice.
        errors = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith("Schema error")]
        if done.returncode != 0 or any("ERROR" in line or "erroneous" in line for line in errors):
            raise Failure("\n".join([f"status {done.returncode}: {' '.join(command)}", *errors[-10:]]))
        return done.stdout

    def objects(self, name, *parts):
        """The file with the objects of each frame, as JSON lines."""
        path = self.folder / f"{name}.json"
        path.unlink(missing_ok=True)
        self.launch(*parts, "heterometaconvert add-empty-results=true",
                    f"heterometapublish file-path={path} file-format=json-lines", "fakesink")
        return path

    def rate(self, *parts):
        """Frames per second behind the warm-up."""
        found = re.findall(r"FpsCounter\(overall[^)]*\): total=([0-9.]+) fps", self.launch(
            *parts, f"heterofpscounter starting-frame={WARM_UP}", "fakesink"))
        if not found:
            raise Failure("heterofpscounter printed no rate")
        return float(found[-1])

    def frames(self, width, height, *parts):
        """All frames with their objects drawn: BGR [frames, height, width, 3]."""
        path = self.folder / "frames.bgr"
        self.launch(*parts, "objectdetectionoverlay", "videoconvert", "video/x-raw,format=BGR",
                    f"filesink location={path}")
        frames = numpy.fromfile(path, numpy.uint8).reshape(-1, height, width, 3)
        path.unlink()
        return frames

    def masks(self, width, height, *parts):
        """Of all frames, the number of the object that each pixel belongs to, or 0: [frames, height, width]."""
        path = self.folder / "masks.npy"
        self.run(sys.executable, str(FOLDER / "masks.py"), str(path), f"{width}x{height}",
                 " ! ".join([*parts, "fakesink name=sink"]))
        masks = numpy.load(path)
        path.unlink()
        return masks


def shaded(frame, mask):
    colours = cv2.applyColorMap((mask * 37).astype(numpy.uint8), cv2.COLORMAP_HSV)
    return numpy.where(mask[..., None] != 0, frame // 2 + colours // 2, frame)


def captioned(frame, text):
    """Twice as large, without the borders that the scene got."""
    border = (frame.shape[0] - frame.shape[1] * 3 // 5) // 2
    frame = cv2.resize(frame[border:frame.shape[0] - border], None, fx=2, fy=2, interpolation=cv2.INTER_NEAREST)
    cv2.putText(frame, text, (8, 20), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (255, 255, 255), 1, cv2.LINE_AA)
    return frame


def compare_objects(runs, model):
    left, right = (runs.objects(f"{model.name}.{element}", *runs.tensors(element, model)) for element in BESIDE)
    size = (model.width, model.height)
    found = compare.compare(*(compare.read(path, *size) for path in (right, left)),
                            BOX_LIMIT, CONFIDENCE_LIMIT, model.threshold)
    if found.problems:
        raise Failure("\n".join(found.problems[:20]))
    return f"{found.objects} equal objects, boxes to {found.box:.0f} pixels, confidences to {found.confidence:.5f}"


def compare_pictures(runs, model):
    size = (model.width, model.height)
    frames = [runs.frames(*size, *runs.tensors(element, model)) for element in BESIDE]
    masks = [runs.masks(*size, *runs.tensors(element, model)) for element in BESIDE]
    if frames[0].shape != frames[1].shape or masks[0].shape != masks[1].shape:
        raise Failure(f"{len(frames[0])} frames and {len(masks[0])} masks, {len(frames[1])} and {len(masks[1])}")
    middle = len(frames[0]) // 2
    path = runs.folder / f"{model.name}.png"
    cv2.imwrite(str(path), numpy.hstack([captioned(shaded(frame[middle], mask[middle]), element)
                                         for frame, mask, element in zip(frames, masks, BESIDE)]))
    drawn = numpy.mean(numpy.any(frames[0] != frames[1], axis=3))
    if drawn > PIXEL_LIMIT:
        raise Failure(f"{drawn:.2%} of the pixels differ, at most {PIXEL_LIMIT:.2%} may: {path}")
    told = f"{drawn:.3%} of the pixels differ"
    if model.masks:
        covered = numpy.count_nonzero(masks[1])
        differing = numpy.count_nonzero(masks[0] != masks[1])
        if covered == 0 or differing > MASK_LIMIT * covered:
            raise Failure(f"masks differ in {differing} of {covered} pixels, at most {MASK_LIMIT:.1%} may: {path}")
        told += f", {differing / covered:.3%} of those in masks"
    return f"{told}: {path}"


def measure(runs, model, pairs):
    elements = ("onnxinference", "heteroinference", "heteroinference_as_it_is")
    rates = {element: [] for element in elements}
    for _ in range(pairs):
        for element in elements:
            rates[element].append(runs.rate(*runs.tensors(element, model)))
    base, *ours = (rates[element] for element in elements)
    told = [f"onnxinference {statistics.median(base):.0f} frames/s"]
    for name, values in zip(("heteroinference in f32", "as it is"), ours):
        ratios = [one / other for one, other in zip(values, base)]
        told.append(f"{name} {statistics.median(values):.0f}, {statistics.median(ratios):.2f} times as many "
                    f"({min(ratios):.2f} to {max(ratios):.2f})")
    return "; ".join(told)


def score_wide(runs, model):
    """Of frames that heteroinference scales itself, whose boxes are in pixels of the frame."""
    truth = evaluate.read_truth(runs.folder / "wide.json")
    size = (truth["width"], truth["height"])
    parts = (runs.source("wide.mp4", *size), runs.heteroinference(model), runs.decode(model))
    lines = evaluate.read_detections(runs.objects(f"{model.name}.wide", *parts), *size)
    precision, *_ = evaluate.score(evaluate.align(lines, truth), truth["classes"])
    frames, masks = runs.frames(*size, *parts), runs.masks(*size, *parts)
    picture, middle = runs.folder / f"{model.name}.wide.png", len(frames) // 2
    cv2.imwrite(str(picture), shaded(frames[middle], masks[middle]))
    score = evaluate.mean(precision)
    if score < MINIMUM_MAP:
        raise Failure(f"mAP@0.5 {score:.3f} on {size[0]}x{size[1]} is below {MINIMUM_MAP}: {picture}")
    return f"mAP@0.5 {score:.3f} on {size[0]}x{size[1]}: {picture}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=5, help="runs of each element for its speed")
    options = parser.parse_args()
    runs, failed = Runs(options.folder), 0
    for model in MODELS:
        for what, step in (("objects", compare_objects), ("pictures", compare_pictures),
                           ("speed", lambda *of: measure(*of, options.pairs)), ("another size", score_wide)):
            try:
                print(f"{model.name}, {what}: {step(runs, model)}", flush=True)
            except (Failure, ValueError, OSError) as error:
                failed += 1
                print(f"{model.name}, {what} FAILED: {error}", flush=True)
    pictures = [cv2.imread(str(runs.folder / f"{model.name}.png")) for model in MODELS]
    if all(picture is not None for picture in pictures):
        sheet = cv2.resize(numpy.vstack(pictures), None, fx=0.6, fy=0.6, interpolation=cv2.INTER_AREA)
        cv2.imwrite(str(runs.folder / "side_by_side.jpg"), sheet, [cv2.IMWRITE_JPEG_QUALITY, 85])
    print(f"{len(MODELS) * 4 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
