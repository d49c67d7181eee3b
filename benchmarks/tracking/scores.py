"""HOTA, IDF1 and identity switches of a tracker's answers, by trackeval."""

import numpy
from trackeval.metrics import CLEAR, HOTA, Identity


def overlaps(first, second):
    """Intersection over union of all pairs of boxes: [first, second]."""
    low = numpy.maximum(first[:, None, :2], second[None, :, :2])
    high = numpy.minimum(first[:, None, 2:], second[None, :, 2:])
    shared = numpy.prod(numpy.clip(high - low, 0, None), axis=2)
    areas = [numpy.prod(boxes[:, 2:] - boxes[:, :2], axis=1) for boxes in (first, second)]
    whole = areas[0][:, None] + areas[1][None, :] - shared
    return numpy.where(whole > 0, shared / numpy.maximum(whole, 1e-9), 0.0)


def _numbered(by_frame):
    """Ids as trackeval wants them: from 0 on, without gaps."""
    known = {}
    return [numpy.array([known.setdefault(int(one), len(known)) for one in ids], int) for ids in by_frame], len(known)


def score(frames, answers):
    """frames: of scenes.make(); answers: (ids, boxes) a frame. Returns HOTA, DetA, AssA, IDF1 in percent, and the number of switches."""
    truth_ids, truth_count = _numbered([frame.truth_ids for frame in frames])
    given_ids, given_count = _numbered([ids for ids, _ in answers])
    data = {
        "num_timesteps": len(frames),
        "gt_ids": truth_ids,
        "tracker_ids": given_ids,
        "num_gt_ids": truth_count,
        "num_tracker_ids": given_count,
        "num_gt_dets": sum(map(len, truth_ids)),
        "num_tracker_dets": sum(map(len, given_ids)),
        "similarity_scores": [
            overlaps(frame.truth_boxes, numpy.asarray(boxes, float).reshape(-1, 4)) for frame, (_, boxes) in zip(frames, answers)
        ],
    }
    hota = HOTA().eval_sequence(data)
    quiet = {"PRINT_CONFIG": False}
    return {
        "HOTA": 100 * float(numpy.mean(hota["HOTA"])),
        "DetA": 100 * float(numpy.mean(hota["DetA"])),
        "AssA": 100 * float(numpy.mean(hota["AssA"])),
        "IDF1": 100 * float(Identity(quiet).eval_sequence(data)["IDF1"]),
        "switches": int(CLEAR(quiet).eval_sequence(data)["IDSW"]),
    }
