"""Who is measured: each side takes a frame's boxes and scores and says (ids, boxes) of what it follows."""

import importlib

import numpy

SURE = 0.5
"""Trackers that know no low scores get what is at least as sure."""


class Ours:
    """hetero's trackers, by the names of heterotrack's tracking-type."""

    def __init__(self, tracking_type, config="", takes_low=False):
        core = importlib.import_module("hetero._hetero").TrackerCore
        self._tracker = core(tracking_type, config, "")
        self._least = 0.0 if takes_low else SURE

    def __call__(self, boxes, scores):
        keep = scores >= self._least
        boxes, scores = numpy.ascontiguousarray(boxes[keep]), scores[keep]
        ids = self._tracker.update(boxes, scores, numpy.zeros(len(boxes), numpy.int32), ["person"] * len(boxes), None)
        ids = numpy.array(ids, int)
        return ids[ids > 0], boxes[ids > 0]


class Trackers:
    """trackers (Roboflow)."""

    def __init__(self, name, least=0.0, **options):
        self._detections = importlib.import_module("supervision").Detections
        self._tracker = getattr(importlib.import_module("trackers"), name)(**options)
        self._least = least

    def __call__(self, boxes, scores):
        keep = scores >= self._least
        boxes, scores = boxes[keep], scores[keep]
        found = self._tracker.update(self._detections(xyxy=boxes, confidence=scores, class_id=numpy.zeros(len(boxes), int)))
        ids = found.tracker_id if found.tracker_id is not None else numpy.zeros(0, int)
        known = ids >= 0
        return ids[known], found.xyxy[known]


class IouTrack:
    """ioutrack (Rust)."""

    def __init__(self, name, **options):
        self._tracker = getattr(importlib.import_module("ioutrack"), name)(**options)

    def __call__(self, boxes, scores):
        found = numpy.asarray(self._tracker.update(numpy.hstack([boxes, scores[:, None]]).astype(numpy.float32))).reshape(-1, 5)
        return found[:, 4].astype(int), found[:, :4]


class Norfair:
    """norfair, with boxes as two points and its distance iou."""

    def __init__(self, **options):
        self._norfair = importlib.import_module("norfair")
        self._tracker = self._norfair.Tracker(distance_function="iou", **options)

    def __call__(self, boxes, scores):
        keep = scores >= SURE
        given = [self._norfair.Detection(box.reshape(2, 2).astype(float), scores=numpy.full(2, score)) for box, score in zip(boxes[keep], scores[keep])]
        here = {one.points.tobytes() for one in given}
        found = [one for one in self._tracker.update(given) if one.last_detection.points.tobytes() in here]
        return numpy.array([one.id for one in found], int), numpy.array([one.last_detection.points.reshape(4) for one in found]).reshape(-1, 4)


class Motpy:
    """motpy; its ids are texts."""

    def __init__(self, **options):
        self._motpy = importlib.import_module("motpy")
        self._tracker = self._motpy.MultiObjectTracker(dt=1 / 30, **options)
        self._ids = {}

    def __call__(self, boxes, scores):
        keep = scores >= SURE
        found = self._tracker.step([self._motpy.Detection(box=box, score=float(score)) for box, score in zip(boxes[keep], scores[keep])])
        found = self._tracker.active_tracks(max_staleness_to_positive_ratio=3.0, max_staleness=1, min_steps_alive=2)
        return (
            numpy.array([self._ids.setdefault(one.id, len(self._ids) + 1) for one in found], int),
            numpy.array([one.box for one in found]).reshape(-1, 4),
        )


class Boxmot:
    """boxmot, where torch is installed."""

    def __init__(self, name, **options):
        self._tracker = getattr(importlib.import_module("boxmot"), name)(**options)
        self._picture = numpy.zeros((720, 1280, 3), numpy.uint8)

    def __call__(self, boxes, scores):
        given = numpy.hstack([boxes, scores[:, None], numpy.zeros((len(boxes), 1))]).astype(numpy.float32)
        found = numpy.asarray(self._tracker.update(given, self._picture)).reshape(-1, 8)
        indices = found[:, 7].astype(int)
        return found[:, 4].astype(int), boxes[indices]


SIDES = {
    "ours byte-track": lambda: Ours("byte-track", takes_low=True),
    "ours oc-sort": lambda: Ours("oc-sort", takes_low=True),
    "ours zero-term": lambda: Ours("zero-term"),
    "trackers ByteTrack": lambda: Trackers("ByteTrackTracker"),
    "trackers ByteTrack, our thresholds": lambda: Trackers("ByteTrackTracker", high_conf_det_threshold=0.5, track_activation_threshold=0.6),
    "trackers OC-SORT": lambda: Trackers("OCSORTTracker"),
    "trackers OC-SORT, our thresholds": lambda: Trackers("OCSORTTracker", high_conf_det_threshold=0.5),
    "trackers C-BIoU": lambda: Trackers("CBIoUTracker"),
    "trackers C-BIoU, our thresholds": lambda: Trackers("CBIoUTracker", high_conf_det_threshold=0.5, track_activation_threshold=0.6),
    "trackers SORT": lambda: Trackers("SORTTracker", least=SURE),
    "ioutrack ByteTrack": lambda: IouTrack("ByteTrack", max_age=30, min_hits=2, init_tracker_min_score=0.6, high_score_threshold=0.5),
    "norfair": lambda: Norfair(distance_threshold=0.7, hit_counter_max=30, initialization_delay=1),
    "motpy": lambda: Motpy(),
    "boxmot ByteTrack": lambda: Boxmot("ByteTrack"),
    "boxmot OC-SORT": lambda: Boxmot("OcSort"),
}
