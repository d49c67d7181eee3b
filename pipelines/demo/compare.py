#!/usr/bin/env python3
"""Holds the detections of one run against those of another one on the same frames.

    compare.py EXPECTED ACTUAL --size 640x384 --box-tolerance 0.5 --confidence-tolerance 0.01 [--threshold 0.5]

Both are JSON lines, one a frame, or what `hetero run --image` prints. Every detection needs one of
the same label and attribute in the other run, its corners within a tolerance in pixels and its
confidence within another one. Only one that lies as near to the threshold may stay alone.
"""
import argparse
import re
import sys

from evaluate import Detection, read_detections

PRINTED = re.compile(r"(\S.*?) +([0-9.]+)  \((\S+), (\S+)\) - \((\S+), (\S+)\)$")


def read_printed(path):
    """The detections of `hetero run --image`: one frame, at timestamp 0."""
    found = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            parts = PRINTED.match(line.rstrip("\n"))
            if parts is None:
                raise ValueError(f"{path}:{number}: not a detection as hetero run prints it")
            found.append(Detection(parts[1], float(parts[2]), [float(corner) for corner in parts.groups()[2:]], None))
    return [(0, found)]


def read(path, width, height):
    with open(path, encoding="utf-8") as file:
        lines = file.read(1) == "{"
    return read_detections(path, width, height) if lines else read_printed(path)


def distance(one, other):
    """The largest difference of a corner's coordinates, in pixels."""
    return max(abs(a - b) for a, b in zip(one.box, other.box))


class Comparison:
    """What differs between two runs, and by how much at most."""

    def __init__(self, boxes, confidences, threshold):
        self.boxes, self.confidences, self.threshold = boxes, confidences, threshold
        self.problems, self.objects, self.box, self.confidence = [], 0, 0.0, 0.0

    def frame(self, index, expected, actual):
        left = list(actual)
        for one in sorted(expected, key=lambda d: -d.confidence):
            alike = [d for d in left if (d.label, d.attribute) == (one.label, one.attribute)]
            nearest = min(alike, key=lambda d: distance(one, d), default=None)
            if nearest is None or distance(one, nearest) > self.boxes:
                self.alone(index, "expected", one)
                continue
            left.remove(nearest)
            self.objects += 1
            self.box = max(self.box, distance(one, nearest))
            self.confidence = max(self.confidence, abs(one.confidence - nearest.confidence))
            if abs(one.confidence - nearest.confidence) > self.confidences:
                self.problems.append(f"frame {index}: {one.label} has a confidence of {nearest.confidence:.4f} "
                                     f"instead of {one.confidence:.4f}")
        for one in left:
            self.alone(index, "actual", one)

    def alone(self, index, run, detection):
        if abs(detection.confidence - self.threshold) > self.confidences:
            self.problems.append(f"frame {index}: only the {run} run has {detection.label} {detection.attribute or ''} "
                                 f"{detection.confidence:.4f} at {[round(x, 2) for x in detection.box]}")


def compare(expected, actual, boxes, confidences, threshold):
    """Compares two lists of (timestamp, detections); ValueError where they are no runs on the same frames."""
    if len(expected) != len(actual):
        raise ValueError(f"{len(actual)} frames instead of {len(expected)}")
    comparison = Comparison(boxes, confidences, threshold)
    for index, ((stamp, one), (other_stamp, other)) in enumerate(zip(expected, actual)):
        if stamp != other_stamp:
            raise ValueError(f"frame {index} is of {other_stamp} ns instead of {stamp} ns")
        comparison.frame(index, one, other)
    if comparison.objects == 0:
        raise ValueError("no object is in both runs")
    return comparison


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("expected")
    parser.add_argument("actual")
    parser.add_argument("--size", default="640x384", help="of the pictures")
    parser.add_argument("--box-tolerance", type=float, required=True, help="pixels")
    parser.add_argument("--confidence-tolerance", type=float, required=True)
    parser.add_argument("--threshold", type=float, default=0.5, help="of the detector")
    options = parser.parse_args()
    try:
        size = [int(side) for side in options.size.split("x")]
        expected, actual = (read(path, *size) for path in (options.expected, options.actual))
        found = compare(expected, actual, options.box_tolerance, options.confidence_tolerance, options.threshold)
    except (OSError, ValueError) as error:
        sys.exit(f"compare.py: {error}")
    print(f"{len(expected)} frames, {found.objects} objects in both; they differ by {found.box:.3f} pixels "
          f"and {found.confidence:.4f} in confidence at most")
    for problem in found.problems[:20]:
        print(f"compare.py: {problem}", file=sys.stderr)
    return 1 if found.problems else 0


if __name__ == "__main__":
    sys.exit(main())
