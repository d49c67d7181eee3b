#!/usr/bin/env python3
"""Draws a moving street scene from a seed and writes what is to be seen in it.

    scene.py --seed 424242 --frames 300 --size 640x384 --output scene.mp4 --ground-truth scene.json
"""
import argparse
import json
import math
import subprocess
import sys

import cv2
import numpy as np

import backdrop
import sprites
from sprites import ATTRIBUTES, CLASSES

IGNORE_HIDDEN = 0.7   # hidden by more than this, by objects and the frame's border together
IGNORE_SIDE = 8       # a side shorter than this many pixels (of a 640-pixel-wide frame)
BUSY_PERIOD = 500     # frames; of each the last part is busy, where a scene is busy for a share of the time
BUSY_TRACKS = 6       # objects that cross in that part


def _deck(rng, names):
    """Deals names for ever, each as often as the others."""
    while True:
        yield from (names[i] for i in rng.permutation(len(names)))


class Track:
    """One object's way through the scene, as a function of the frame index."""

    def __init__(self, rng, label, colour, start, width, height):
        self.label, self.colour = label, colour
        self.poses = None
        self.seed = int(rng.integers(1 << 31))
        self.start = start
        self.length = int(rng.integers(90, 210))
        self.rightward = bool(rng.integers(2))
        self.depth = rng.uniform(0, 1, 2)
        self.waver = rng.uniform(0, 0.05), rng.uniform(1, 3), rng.uniform(0, 2 * math.pi)
        self.gait = rng.uniform(14, 26)
        self.jump = rng.uniform(0.2, 1.0)
        self.frame_width, self.frame_height = width, height

    def place(self, index):
        """Ground y (the painter's order), centre x, bottom y and scale."""
        t = (index - self.start) / self.length
        depth = self.depth[0] + (self.depth[1] - self.depth[0]) * t
        unit = self.frame_width / 640
        scale = (0.55 + 0.75 * depth) * unit
        half = sprites.SIZES[self.label][0] * scale / 2
        sway, turns, phase = self.waver
        x = t + sway * math.sin(turns * 2 * math.pi * t + phase)
        x = -half + (self.frame_width + 2 * half) * (x if self.rightward else 1 - x)
        ground = self.frame_height * (0.50 + 0.46 * depth)
        lift = 0.0
        if self.label == "ball":
            lift = abs(math.sin(math.pi * (index - self.start) / self.gait)) * 70 * self.jump * scale
        elif self.label == "person":
            lift = abs(math.sin(2 * math.pi * (index - self.start) / self.gait)) * 2 * scale
        return ground, x, ground - lift, scale

    def sprite(self, index, scale):
        if self.poses is None:
            self.poses = sprites.poses(self.label, self.colour, np.random.default_rng(self.seed))
        step = (index - self.start) / self.gait
        step = step if self.rightward or self.label != "ball" else -step
        picture = self.poses[int(step * len(self.poses)) % len(self.poses)]
        if not self.rightward:
            picture = picture[:, ::-1]
        width, height = sprites.SIZES[self.label]
        size = max(2, round(width * scale)), max(2, round(height * scale))
        return cv2.resize(picture, size, interpolation=cv2.INTER_AREA)


class Scene:
    """Frames and their objects, each a function of the seed and the index."""

    def __init__(self, seed, width=640, height=384, frames=300, fps=30, busy=1.0):
        self.seed, self.width, self.height, self.frames, self.fps = seed, width, height, frames, fps
        rng = np.random.default_rng([seed, 1])
        self.street = backdrop.street(rng, height, width)
        self.light = backdrop.light_field(rng, height, width)
        self.noise = backdrop.noise_field(rng, height, width)
        self.gain = rng.uniform(0.75, 1.1), rng.uniform(0.02, 0.15), rng.uniform(60, 240), rng.uniform(0, 6)
        self.tracks = []
        labels, colours = _deck(rng, CLASSES), _deck(rng, ATTRIBUTES)
        for _ in range(int(rng.integers(5, 9))):
            start = -int(rng.integers(0, 150))
            while start < frames:
                track = Track(rng, next(labels), next(colours), start, width, height)
                self.tracks.append(track)
                start += track.length + int(rng.integers(0, 30))
        if busy < 1:
            self._gather(busy)

    def _gather(self, busy):
        """Moves the objects into that share of the time; all else goes on as before."""
        rng = np.random.default_rng([self.seed, 3])
        window = round(BUSY_PERIOD * busy)
        periods = math.ceil(self.frames / BUSY_PERIOD)
        self.tracks = self.tracks[:BUSY_TRACKS * periods]
        for number, track in enumerate(self.tracks):
            track.length = int(rng.integers(window * 3 // 5, window))
            end = (number % periods + 1) * BUSY_PERIOD
            track.start = end - window + int(rng.integers(0, window - track.length + 1))

    def render(self, index):
        """Frame `index` as BGR, and the list of its objects."""
        frame = self.street.copy()
        owner = np.zeros((self.height, self.width), np.uint8)
        present = [t for t in self.tracks if t.start <= index < t.start + t.length]
        placed = sorted(((t.place(index), t) for t in present), key=lambda item: item[0][0])
        silhouettes = []
        for number, ((_, x, bottom, scale), track) in enumerate(placed, 1):
            silhouettes.append(self._draw(frame, owner, number, track.sprite(index, scale), x, bottom))
        objects = []
        for number, ((_, track), outline) in enumerate(zip(placed, silhouettes), 1):
            found = self._describe(owner, number, track, outline)
            if found:
                objects.append(found)
        return self._expose(frame, index), objects

    def _draw(self, frame, owner, number, sprite, x, bottom):
        """Blends one sprite in; returns its region and its full silhouette's area."""
        height, width = sprite.shape[:2]
        left, top = round(x - width / 2), round(bottom - height)
        x1, y1 = max(left, 0), max(top, 0)
        x2, y2 = min(left + width, self.width), min(top + height, self.height)
        area = cv2.countNonZero(cv2.compare(sprite[..., 3], sprites.OPAQUE, cv2.CMP_GT))
        if x1 >= x2 or y1 >= y2:
            return None, area
        part = sprite[y1 - top:y2 - top, x1 - left:x2 - left]
        through = cv2.cvtColor(255 - part[..., 3], cv2.COLOR_GRAY2BGR)
        region = frame[y1:y2, x1:x2]
        region[:] = cv2.add(cv2.multiply(region, through, scale=1 / 255), part[..., :3])
        owner[y1:y2, x1:x2][part[..., 3] > sprites.OPAQUE] = number
        return (x1, y1, x2, y2), area

    def _describe(self, owner, number, track, outline):
        region, area = outline
        if region is None or area == 0:
            return None
        x1, y1, x2, y2 = region
        visible = (owner[y1:y2, x1:x2] == number).astype(np.uint8)
        seen = cv2.countNonZero(visible)
        if seen == 0:
            return None
        dx, dy, width, height = cv2.boundingRect(visible)
        hidden = 1 - seen / area
        found = {
            "label": track.label,
            "box": [x1 + dx, y1 + dy, x1 + dx + width, y1 + dy + height],
            "color": track.colour,
            "occluded": round(hidden, 3),
        }
        if hidden > IGNORE_HIDDEN or min(width, height) * 640 < IGNORE_SIDE * self.width:
            found["ignore"] = True
        return found

    def _expose(self, frame, index):
        """Light that changes over time and place, then sensor noise."""
        base, depth, period, phase = self.gain
        gain = base + depth * math.sin(2 * math.pi * index / period + phase)
        shift = int((0.5 + 0.5 * math.sin(index / 97 + phase)) * self.width)
        frame = cv2.multiply(frame, self.light[:, shift:shift + self.width], scale=gain, dtype=cv2.CV_8U)
        rng = np.random.default_rng([self.seed, 2, index])
        top, left = (int(v) for v in rng.integers(0, 64, 2))
        grain = self.noise[top:top + self.height, left:left + self.width]
        return cv2.add(frame, grain, dtype=cv2.CV_8U)

    def timestamp(self, index):
        return round(index * 1_000_000_000 / self.fps)


def encoder(path, width, height, fps):
    """A running gst-launch-1.0 that turns raw BGR frames on its stdin into an MP4."""
    pipeline = (
        f"fdsrc fd=0 ! rawvideoparse format=bgr width={width} height={height} framerate={fps}/1 "
        "! videoconvert ! video/x-raw,format=I420 "
        "! x264enc pass=qual quantizer=21 speed-preset=veryfast bframes=0 key-int-max=60 "
        "! h264parse ! mp4mux ! filesink"
    )
    command = ["gst-launch-1.0", "-q"] + pipeline.split() + [f"location={path}"]
    return subprocess.Popen(command, stdin=subprocess.PIPE)


def write(scene, video, ground_truth, tell_progress=False):
    process = encoder(video, scene.width, scene.height, scene.fps)
    frames = []
    try:
        for index in range(scene.frames):
            picture, objects = scene.render(index)
            process.stdin.write(picture.tobytes())
            frames.append({"index": index, "timestamp": scene.timestamp(index), "objects": objects})
            if tell_progress:
                print(index + 1, scene.frames, flush=True)
        process.stdin.close()
    except BrokenPipeError:
        pass  # gst-launch-1.0 ended early and says why itself
    if process.wait() != 0:
        sys.exit(f"scene.py: gst-launch-1.0 ended with status {process.returncode} before the video was complete")
    truth = {"classes": CLASSES, "attributes": ATTRIBUTES, "seed": scene.seed, "width": scene.width,
             "height": scene.height, "fps": scene.fps, "frames": frames}
    with open(ground_truth, "w", encoding="utf-8") as file:
        json.dump(truth, file)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=424242)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--size", default="640x384", help="WIDTHxHEIGHT, both multiples of 4")
    parser.add_argument("--fps", type=int, default=30)
    parser.add_argument("--busy", type=float, default=1.0, help="share of the time in which there are objects, 0.1 to 1")
    parser.add_argument("--output", required=True, help="the MP4 (H.264) to write")
    parser.add_argument("--ground-truth", required=True, help="the JSON to write")
    parser.add_argument("--progress", action="store_true", help="a line \"DONE ALL\" for each frame on standard output")
    options = parser.parse_args()
    width, height = (int(v) for v in options.size.split("x"))
    if width % 4 or height % 4:
        parser.error("--size: both sides must be multiples of 4")
    if not 0.1 <= options.busy <= 1:
        parser.error(f"--busy: {options.busy} is not from 0.1 to 1")
    write(Scene(options.seed, width, height, options.frames, options.fps, options.busy), options.output, options.ground_truth,
          options.progress)


if __name__ == "__main__":
    main()
