"""What is found on a picture, by whomever, and whether two have found the same."""

import dataclasses

import numpy as np

BOX_IOU = 0.99
SCORE = 1e-3
SCORE_SHARE = 0.01  # of small scores: those of random weights may all lie below SCORE
MASK_SHARE = 0.99
POINT_PIXELS = 0.5
MAP_SHARE = 0.99
VALUE_SHARE = 1e-3  # of the range


@dataclasses.dataclass
class Object:
    box: tuple  # x and y of two corners, in pixels of the picture
    score: float
    label: int
    rotation: float | None = None  # radians, clockwise; the box is that before the turn
    points: np.ndarray | None = None  # [n, 2], in pixels
    mask: np.ndarray | None = None  # of the picture, bool


@dataclasses.dataclass
class Found:
    """What there is none of is None."""

    objects: list | None = None
    classes: list | None = None  # (label, score), the best first
    class_map: np.ndarray | None = None  # ids over the picture
    depth: np.ndarray | None = None
    anomaly: tuple | None = None  # score, whether it is one
    values: np.ndarray | None = None  # an embedding

    def kinds(self):
        return [field.name for field in dataclasses.fields(self) if getattr(self, field.name) is not None]


def corners(found):
    x1, y1, x2, y2 = found.box
    middle, half = np.array([(x1 + x2) / 2, (y1 + y2) / 2]), np.array([x2 - x1, y2 - y1]) / 2
    c, s = np.cos(found.rotation or 0.0), np.sin(found.rotation or 0.0)
    return np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * half @ np.array([[c, s], [-s, c]]) + middle


def iou(a, b):
    if a.rotation is not None or b.rotation is not None:
        import cv2

        one, other = corners(a).astype(np.float32), corners(b).astype(np.float32)
        both, _ = cv2.intersectConvexConvex(one, other)
        whole = cv2.contourArea(one) + cv2.contourArea(other) - both
        return both / whole if whole > 0 else 0.0
    width, height = (min(a.box[i + 2], b.box[i + 2]) - max(a.box[i], b.box[i]) for i in (0, 1))
    both = max(width, 0) * max(height, 0)
    whole = sum(max(o.box[2] - o.box[0], 0) * max(o.box[3] - o.box[1], 0) for o in (a, b)) - both
    if whole <= 0:  # both without an area
        return float(np.allclose(a.box, b.box, atol=0.05))
    return both / whole


def clipped(found, width, height):
    """Boxes that were not turned and their points, within the picture. Objects whose masks have no pixel of it do not count: what a mask
    has around a picture is lost."""
    def one(o):
        if o.rotation is not None:
            return o
        box = np.clip(o.box, 0, (width, height, width, height))
        return dataclasses.replace(o, box=tuple(box), points=None if o.points is None else np.clip(o.points, 0, (width, height)))

    return dataclasses.replace(found, objects=found.objects and [one(o) for o in found.objects if o.mask is None or o.mask.any()])


def close(a, b):
    return abs(a - b) <= min(SCORE, max(SCORE_SHARE * max(abs(a), abs(b)), 1e-6))


def text(o):
    turned = "" if o.rotation is None else f" turned by {o.rotation:.3f}"
    return f"label {o.label} score {o.score:.5g} at " + ", ".join(f"{v:.1f}" for v in o.box) + turned


def difference_of_objects(ours, theirs):
    left = list(ours)
    for wanted in theirs:
        best = max(left, key=lambda o: (iou(o, wanted) >= BOX_IOU and o.label == wanted.label and close(o.score, wanted.score), iou(o, wanted)), default=None)
        if best is None:
            return f"{len(ours)} objects instead of {len(theirs)}; without one: {text(wanted)}"
        count = f"{len(ours)} objects, {len(theirs)} expected: "
        if iou(best, wanted) < BOX_IOU:
            return count + f"nearest to {text(wanted)} is {text(best)}"
        if best.label != wanted.label or not close(best.score, wanted.score):
            return count + f"{text(best)} instead of {text(wanted)}"
        if wanted.points is not None:
            if best.points is None or best.points.shape != wanted.points.shape:
                return f"{'no' if best.points is None else len(best.points)} points instead of {len(wanted.points)}"
            worst = np.abs(best.points - wanted.points).max()
            if worst > POINT_PIXELS:
                return f"a point is off by {worst:.1f} pixels"
        if wanted.mask is not None:
            if best.mask is None:
                return "no mask"
            share = (best.mask == wanted.mask).mean()
            if share < MASK_SHARE:
                return f"a mask has {100 * share:.1f} % equal pixels"
        left = [o for o in left if o is not best]
    return f"{len(left)} objects too many, such as {text(left[0])}" if left else ""


def difference_of_values(ours, theirs, what):
    if ours.shape != theirs.shape:
        return f"{what} has shape {list(ours.shape)} instead of {list(theirs.shape)}"
    worst, spread = np.abs(ours - theirs).max(), np.ptp(theirs) or np.abs(theirs).max()
    return f"{what} is off by {worst / spread:.2g} of its range" if worst > VALUE_SHARE * spread else ""


def at_size(values, shape):
    """Stretched, each place as the nearest."""
    rows, columns = (((np.arange(n) + 0.5) * m / n).astype(int) for n, m in zip(shape, values.shape))
    return values[rows[:, None], columns[None, :]]


def difference(ours, theirs):
    """Empty where ours has the same of all that theirs has."""
    if missing := [kind for kind in theirs.kinds() if getattr(ours, kind) is None]:
        return f"no {', '.join(missing).replace('_', ' ')}; found: {', '.join(ours.kinds()).replace('_', ' ') or 'nothing'}"
    if theirs.objects is not None and (reason := difference_of_objects(ours.objects, theirs.objects)):
        return reason
    if theirs.classes is not None:
        if not ours.classes:
            return "no class"
        (label, score), best = ours.classes[0], theirs.classes[0][1]
        wanted = dict(theirs.classes)
        if not close(wanted.get(label, 0.0), best) or not close(score, best):
            return f"class {label} with {score:.5g} instead of {theirs.classes[0][0]} with {best:.5g}"
    if theirs.class_map is not None:
        share = (at_size(ours.class_map, theirs.class_map.shape) == theirs.class_map).mean()
        if share < MAP_SHARE:
            return f"{100 * share:.1f} % of the class map are equal"
    if theirs.depth is not None and (reason := difference_of_values(ours.depth, at_size(theirs.depth, ours.depth.shape), "the depth map")):
        return reason
    if theirs.values is not None and (reason := difference_of_values(ours.values, theirs.values, "the embedding")):
        return reason
    if theirs.anomaly is not None:
        if not close(ours.anomaly[0], theirs.anomaly[0]) or ours.anomaly[1] != theirs.anomaly[1]:
            return f"anomaly score {ours.anomaly[0]:.5g} ({ours.anomaly[1]}) instead of {theirs.anomaly[0]:.5g} ({theirs.anomaly[1]})"
    return ""


def threshold_for(objects):
    """Below some 30 of the best objects, at least 5 and at most 200, where two scores are well apart; 0 where none are."""
    scores = sorted((o.score for o in objects), reverse=True)
    for least, most in ((15, 60), (5, 200)):
        gaps = {a / b: (a + b) / 2 for a, b in zip(scores[least - 1:most], scores[least:]) if b > 0}
        if gaps and max(gaps) > 1 + 1e-4:
            return float(gaps[max(gaps)])
    return float(scores[-1]) / 2 if 0 < len(scores) < 5 else 0.0
