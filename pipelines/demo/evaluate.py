#!/usr/bin/env python3
"""Holds the pipeline's detections against the scene's ground truth.

    evaluate.py --detections detections.json --ground-truth scene.json --minimum-map 0.90 --minimum-accuracy 0.95

The detections are JSON lines, one per frame, in the form that gvametaconvert
gives them. The average precision needs the weak detections too: run the
detector with threshold 0.1 or lower.
"""
import argparse
import bisect
import json
import sys
from collections import namedtuple

Detection = namedtuple("Detection", "label confidence box attribute")
Truth = namedtuple("Truth", "label box attribute ignore")

MATCH = 0.5


def _area(box):
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _shared(a, b):
    return _area((max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])))


def overlap(a, b):
    """Intersection over union of two boxes [x1, y1, x2, y2]."""
    shared = _shared(a, b)
    union = _area(a) + _area(b) - shared
    return shared / union if union > 0 else 0.0


def match(detections, truths):
    """Pairs the detections of one label in one frame, best first, with its objects.

    Returns (detection, truth or None) pairs. A detection that meets no counted
    object but lies by half or more in an ignored one is left out.
    """
    pairs, free = [], [t for t in truths if not t.ignore]
    for detection in sorted(detections, key=lambda d: -d.confidence):
        best = max(free, key=lambda t: overlap(detection.box, t.box), default=None)
        if best is not None and overlap(detection.box, best.box) >= MATCH:
            free.remove(best)
            pairs.append((detection, best))
        elif not any(t.ignore and _shared(detection.box, t.box) >= 0.5 * _area(detection.box) for t in truths):
            pairs.append((detection, None))
    return pairs


def average_precision(pairs, total):
    """Area under the precision-recall curve, interpolated at all points."""
    if total == 0:
        return None
    precisions, recalls, hits = [], [], 0
    for count, (_, truth) in enumerate(sorted(pairs, key=lambda p: -p[0].confidence), 1):
        hits += truth is not None
        precisions.append(hits / count)
        recalls.append(hits / total)
    area, ceiling = 0.0, 0.0
    for i in range(len(precisions) - 1, -1, -1):
        ceiling = max(ceiling, precisions[i])
        area += ceiling * (recalls[i] - (recalls[i - 1] if i else 0.0))
    return area


def score(frames, classes, confident=0.5):
    """Average precision per class and attribute accuracy of (detections, truths) frames.

    The accuracy counts matched detections of confidence `confident` or more;
    a matched detection without the attribute counts as wrong.
    """
    pairs = {label: [] for label in classes}
    totals = dict.fromkeys(classes, 0)
    for detections, truths in frames:
        for label in classes:
            here = [t for t in truths if t.label == label]
            totals[label] += sum(not t.ignore for t in here)
            pairs[label] += match([d for d in detections if d.label == label], here)
    precision = {label: average_precision(pairs[label], totals[label]) for label in classes}
    judged = [(d, t) for found in pairs.values() for d, t in found if t is not None and d.confidence >= confident]
    right = sum(d.attribute == t.attribute for d, t in judged)
    return precision, totals, right, len(judged)


def mean(precision):
    known = [value for value in precision.values() if value is not None]
    return sum(known) / len(known) if known else 0.0


def read_truth(path):
    with open(path, encoding="utf-8") as file:
        truth = json.load(file)
    for frame in truth["frames"]:
        frame["objects"] = [Truth(o["label"], o["box"], o["color"], o.get("ignore", False))
                            for o in frame["objects"]]
    return truth


def read_detections(path, width, height, attribute="color"):
    """The (timestamp, detections) of every line, in pixels of the scene."""
    lines = []
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            if not text.strip():
                continue
            try:
                line = json.loads(text)
                found = []
                for entry in line.get("objects", []):
                    detection = entry["detection"]
                    corners = detection["bounding_box"]
                    box = [corners["x_min"] * width, corners["y_min"] * height,
                           corners["x_max"] * width, corners["y_max"] * height]
                    label = detection.get("label", entry.get("roi_type"))
                    found.append(Detection(label, detection["confidence"], box,
                                           entry.get(attribute, {}).get("label")))
                lines.append((line["timestamp"], found))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ValueError(f"{path}:{number}: not a line of detections ({error!r})") from error
    return lines


def align(lines, truth):
    """Gives every ground-truth frame the line whose timestamp is nearest."""
    frames = truth["frames"]
    if len(lines) != len(frames):
        raise ValueError(f"{len(lines)} lines of detections for {len(frames)} frames")
    half = 0.5e9 / truth["fps"]
    stamps = [frame["timestamp"] for frame in frames]
    taken = {}
    for stamp, found in lines:
        after = bisect.bisect_left(stamps, stamp)
        index = min((i for i in (after - 1, after) if 0 <= i < len(stamps)), key=lambda i: abs(stamps[i] - stamp))
        if abs(stamps[index] - stamp) > half:
            raise ValueError(f"no frame within half a frame of timestamp {stamp}")
        if index in taken:
            raise ValueError(f"two lines of detections for frame {index}, the second at timestamp {stamp}")
        taken[index] = found
    return [(taken[i], frame["objects"]) for i, frame in enumerate(frames)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--detections", required=True)
    parser.add_argument("--ground-truth", required=True)
    parser.add_argument("--minimum-map", type=float, default=0.0)
    parser.add_argument("--minimum-accuracy", type=float, default=0.0)
    options = parser.parse_args()
    try:
        truth = read_truth(options.ground_truth)
        frames = align(read_detections(options.detections, truth["width"], truth["height"]), truth)
    except (OSError, ValueError) as error:
        sys.exit(f"evaluate.py: {error}")

    precision, totals, right, judged = score(frames, truth["classes"])
    for label, value in precision.items():
        shown = "   none" if value is None else f"{value:7.4f}"
        print(f"AP@0.5 {label:<10}{shown}  ({totals[label]} objects)")
    reached, accuracy = mean(precision), right / judged if judged else 0.0
    print(f"mAP@0.5          {reached:7.4f}")
    print(f"color accuracy   {accuracy:7.4f}  ({right} of {judged} matched objects)")

    failures = []
    if reached < options.minimum_map:
        failures.append(f"mAP@0.5 {reached:.4f} is below the minimum {options.minimum_map}")
    if accuracy < options.minimum_accuracy:
        failures.append(f"color accuracy {accuracy:.4f} is below the minimum {options.minimum_accuracy}")
    for failure in failures:
        print(f"evaluate.py: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
