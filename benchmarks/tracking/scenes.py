"""Generated scenes: where objects truly are, and what a noisy detector sees of them. The same seed gives the same scene."""

import math
from typing import NamedTuple

import numpy

WIDTH, HEIGHT = 1280, 720
FRAMES = 450
LEAST_VISIBLE = 0.15
"""An object of which less is seen is neither truth nor detected."""


class Frame(NamedTuple):
    truth_ids: numpy.ndarray
    """[objects]"""
    truth_boxes: numpy.ndarray
    """[objects, 4]: x_min, y_min, x_max, y_max"""
    boxes: numpy.ndarray
    """[detections, 4]"""
    scores: numpy.ndarray
    """[detections], from 0.1 on"""


class Walker:
    """One object: its place by frame, absent where it is not in the scene. Who is nearer to the viewer has the greater depth."""

    def __init__(self, first, places, size, depth):
        self.first = first
        self.places = numpy.asarray(places, float)
        self.size = size
        self.depth = depth
        self.blind_until = -1

    def box(self, frame):
        index = frame - self.first
        if not 0 <= index < len(self.places):
            return None
        x, y = self.places[index]
        width, height = self.size
        return numpy.array([x - width / 2, y - height, x + width / 2, y])


def _size(random, y):
    """People further down in the picture are nearer, and taller."""
    height = 50 + 130 * y / HEIGHT + random.normal(0, 5)
    return height * random.uniform(0.36, 0.44), height


def _wandering(random, start, velocity, steps, restless=0.12):
    """A path whose velocity changes a little all the time."""
    place, speed, kept = numpy.array(start, float), numpy.array(velocity, float), []
    mean = speed.copy()
    for _ in range(steps):
        kept.append(place.copy())
        speed += 0.05 * (mean - speed) + random.normal(0, restless, 2) * (1, 0.4)
        place += speed
    return kept


def occlusion(random):
    """People on a street who walk behind three pillars and one another."""
    walkers = []
    for number in range(42):
        first = 0 if number < 14 else int(random.integers(0, FRAMES - 60))
        y = random.uniform(240, 700)
        speed = random.uniform(1.5, 5.0) * random.choice([-1, 1])
        x = random.uniform(0, WIDTH) if first == 0 else (-40.0 if speed > 0 else WIDTH + 40.0)
        walkers.append(Walker(first, _wandering(random, (x, y), (speed, random.normal(0, 0.15)), FRAMES), _size(random, y), y))
    pillars = [numpy.array([x, 0, x + width, HEIGHT]) for x, width in ((260, 70), (600, 110), (980, 50))]
    return walkers, pillars


def crossings(random):
    """People on a square who all pass its middle on curves."""
    walkers = []
    for _ in range(26):
        angle = random.uniform(0, 2 * math.pi)
        period = random.uniform(110, 260)
        phase = random.uniform(0, 2 * math.pi)
        reach = random.uniform(160, 330)
        bend = random.uniform(20, 110)
        places = []
        for frame in range(FRAMES):
            turn = 2 * math.pi * frame / period + phase
            along, across = reach * math.sin(turn), bend * math.sin(2 * turn + angle)
            places.append(
                (
                    WIDTH / 2 + 1.5 * (along * math.cos(angle) - across * math.sin(angle)),
                    HEIGHT / 2 + 60 + 0.7 * (along * math.sin(angle) + across * math.cos(angle)),
                )
            )
        y = float(numpy.mean([place[1] for place in places]))
        walkers.append(Walker(0, places, _size(random, y), y + random.normal(0, 5)))
    return walkers, []


def reentry(random):
    """People who go out of sight behind a wall or the picture's edge, and come back after up to 45 frames, some where they went."""
    walkers = []
    walls = [numpy.array([480, 0, 700, HEIGHT])]
    for number in range(24):
        y = random.uniform(200, 700)
        speed = random.uniform(2.5, 6.0)
        width, _ = size = _size(random, y)
        # Left of the wall, right of it, or to and fro through it.
        low, high = [(-90, 560), (620, WIDTH + 90), (60, WIDTH - 60)][number % 3]
        x, heading = random.uniform(low, high), random.choice([-1, 1])
        wait, places, drift = 0, [], 0.0
        for _ in range(FRAMES):
            places.append((x, y + drift))
            if wait > 0:
                wait -= 1
                continue
            drift += random.normal(0, 0.2)
            x += heading * (speed + random.normal(0, 0.3))
            if (x > high and heading > 0) or (x < low and heading < 0):
                heading, wait = -heading, int(random.integers(0, 25))
        walkers.append(Walker(0, places, size, y))
    return walkers, walls


SCENES = {"occlusion": occlusion, "crossings": crossings, "re-entry": reentry}


def _visible(index, boxes, depths, walls):
    """The share of a box inside the picture and not covered, on a grid of 12 x 12 points."""
    x_min, y_min, x_max, y_max = boxes[index]
    steps = (numpy.arange(12) + 0.5) / 12
    x, y = numpy.meshgrid(x_min + steps * (x_max - x_min), y_min + steps * (y_max - y_min))
    seen = (x >= 0) & (x < WIDTH) & (y >= 0) & (y < HEIGHT)
    nearer = [box for box, depth in zip(boxes, depths) if depth > depths[index]]
    for left, top, right, bottom in [*walls, *nearer]:
        seen &= ~((x >= left) & (x < right) & (y >= top) & (y < bottom))
    return float(seen.mean())


def _detected(random, walker, box, visible, frame):
    """A box with a score, or nothing: missed, for a few frames perhaps."""
    if frame < walker.blind_until:
        return None
    if random.random() < 0.012:
        walker.blind_until = frame + int(random.integers(1, 6))
        return None
    if random.random() > min(0.99, 0.45 + 0.6 * visible):
        return None
    score = float(numpy.clip(random.normal(0.2 + 0.62 * visible, 0.1), 0.02, 0.99))
    if score < 0.1:
        return None
    width, height = box[2] - box[0], box[3] - box[1]
    deviation = 0.025 + 0.06 * (1 - visible)
    return box + random.normal(0, deviation, 4) * (width, height, width, height), score


def _false_alarms(random):
    """Boxes of nothing, most of them with low scores."""
    found = []
    for _ in range(random.poisson(2.0)):
        y = random.uniform(100, HEIGHT)
        width, height = _size(random, y)
        x = random.uniform(0, WIDTH)
        score = 0.1 + 0.85 * float(random.beta(1.2, 5.0))
        found.append((numpy.array([x - width / 2, y - height, x + width / 2, y]), score))
    return found


def make(name, seed):
    """The frames of a scene."""
    random = numpy.random.default_rng([seed, list(SCENES).index(name)])
    walkers, walls = SCENES[name](random)
    frames = []
    for number in range(FRAMES):
        there = [(i, walker.box(number)) for i, walker in enumerate(walkers)]
        there = [(i, box) for i, box in there if box is not None]
        boxes, depths = [box for _, box in there], [walkers[i].depth for i, _ in there]
        ids, truth, found = [], [], _false_alarms(random)
        for index, (i, box) in enumerate(there):
            visible = _visible(index, boxes, depths, walls)
            if visible < LEAST_VISIBLE:
                continue
            ids.append(i)
            truth.append(box)
            detection = _detected(random, walkers[i], box, visible, number)
            if detection is not None:
                found.append(detection)
        random.shuffle(found)
        frames.append(
            Frame(
                numpy.array(ids, int),
                numpy.array(truth, float).reshape(-1, 4),
                numpy.array([box for box, _ in found], numpy.float32).reshape(-1, 4),
                numpy.array([score for _, score in found], numpy.float32),
            )
        )
    return frames


def crowd(count, frames, seed):
    """So many objects side by side that drift, for measurements of time: 95 % are seen with high scores, the others with low ones."""
    random = numpy.random.default_rng(seed)
    columns = math.ceil(math.sqrt(count * 16 / 9))
    centres = numpy.array([(60.0 * (i % columns), 100.0 * (i // columns)) for i in range(count)])
    speed = random.normal(0, 1.0, (count, 2))
    made = []
    for _ in range(frames):
        centres += speed
        speed += random.normal(0, 0.2, (count, 2)) - 0.05 * speed
        boxes = numpy.hstack([centres - (20, 40), centres + (20, 40)]) + random.normal(0, 1.0, (count, 4))
        scores = numpy.where(random.random(count) < 0.95, random.uniform(0.7, 0.95, count), random.uniform(0.2, 0.4, count))
        made.append((boxes.astype(numpy.float32), scores.astype(numpy.float32)))
    return made
