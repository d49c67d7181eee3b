"""Random calls of what finds boxes and of their kin; the seed is HET_IR_SEED (1).

Left out where OpenVINO 2026.4.1 gives anything: selections of nothing (the last output is not written), sequences of length 0
in GatherTree; the order of equal scores.
"""

import os

import numpy as np
from case import C, op

ROUNDS = 4
STATE = np.random.RandomState(int(os.environ.get("HET_IR_SEED", "1")))


def pick(*list_):
    return list_[STATE.randint(len(list_))]


def between(low, high):
    return int(STATE.randint(low, high + 1))


def flag():
    return bool(between(0, 1))


def uniform(*shape, low=-2.0, high=2.0):
    return STATE.uniform(low, high, shape).astype(np.float32)


def boxes(*shape, size=20.0):
    first = uniform(*shape, 2, low=0, high=size * 0.6)
    return np.concatenate([first, first + uniform(*shape, 2, low=size * 0.05, high=size * 0.5)], -1)


def one(value, kind):
    return C(np.array(value if flag() else [value], kind))


def suppression():
    n, classes, count, normalized = between(1, 3), between(1, 3), pick(1, 4, 9, 16), flag()
    size = 1.0 if normalized else 20.0
    rules = {"sort_result_type": pick("classid", "score", "none"), "sort_result_across_batch": flag(), "output_type": pick("i32", "i64"), "score_threshold": pick(0.0, 0.25), "nms_top_k": pick(-1, 3, 20),
             "keep_top_k": pick(-1, 4, 1), "background_class": pick(-1, 0, 1) if classes > 1 else -1, "normalized": normalized}
    greedy = {"iou_threshold": pick(0.5, 0.1, 0.75), "nms_eta": pick(1.0, 0.75)}
    scores = uniform(n, classes, count, low=0.3, high=1)
    op("MulticlassNms", 9, [boxes(n, count, size=size), scores], {**rules, **greedy})
    first = between(0, count)
    op("MulticlassNms", 9, [boxes(classes, count, size=size), uniform(classes, count, low=0.3, high=1), C(np.array([first, count - first], np.int64))], {**rules, **greedy})
    op("MatrixNms", 8, [boxes(n, count, size=size), scores], {**rules, "decay_function": pick("linear", "gaussian"), "gaussian_sigma": pick(2.0, 0.5), "post_threshold": pick(0.0, 0.25)})
    for opset in (5, 9):
        sigma = pick([], [one(pick(0.5, 0.125), np.float32)])
        op("NonMaxSuppression", opset, [boxes(n, count), scores, one(between(1, 6), np.int64), one(pick(0.5, 0.25, 1.0), np.float32), one(pick(0.0, 0.25, 0.7), np.float32), *sigma],
           {"box_encoding": pick("corner", "center"), "sort_result_descending": flag(), "output_type": pick("i32", "i64")})
    turned = np.concatenate([uniform(n, count, 2, low=0, high=16), uniform(n, count, 2, low=1, high=14), uniform(n, count, 1, low=-3.5, high=3.5)], 2)
    op("NMSRotated", 13, [turned, scores, one(between(1, 6), np.int64), one(pick(0.5, 0.25, 0.1), np.float32), one(pick(0.0, 0.25), np.float32)],
       {"sort_result_descending": flag(), "output_type": pick("i32", "i64"), "clockwise": flag()})


def proposals():
    n, height, width, anchors, columns = between(1, 3), between(1, 4), between(1, 4), between(1, 3), pick(3, 4)
    places, scores = boxes(height, width, anchors, size=16.0), uniform(n, anchors, height, width, low=0, high=1)
    deltas, sizes = uniform(n, 4 * anchors, height, width, low=-1, high=1), np.concatenate([uniform(n, 2, low=10, high=20), uniform(n, columns - 2, low=1, high=2)], 1)
    rules = {"min_size": 1.0, "nms_threshold": pick(0.5, 0.75, 0.1), "pre_nms_count": pick(100, 5), "post_nms_count": pick(10, 3)}
    op("GenerateProposals", 9, [sizes, places, deltas, scores], {**rules, "normalized": flag(), "nms_eta": 1.0, "roi_num_type": pick("i32", "i64")})
    op("ExperimentalDetectronGenerateProposalsSingleImage", 6, [sizes[0, :3].copy(), places.reshape(-1, 4), deltas[0], scores[0]], rules)
    count, classes = pick(1, 4, 9), between(1, 4)
    op("ExperimentalDetectronDetectionOutput", 6, [boxes(count), uniform(count, classes * 4, low=-1, high=1), uniform(count, classes, low=0, high=1), uniform(1, 3, low=16, high=32)],
       {"score_threshold": pick(0.05, 0.4), "nms_threshold": pick(0.5, 0.2), "max_delta_log_wh": pick(4.135, 0.5), "num_classes": classes, "post_nms_count": pick(5, 100, 1), "max_detections_per_image": pick(10, 3, 100),
        "class_agnostic_box_regression": flag(), "deltas_weights": pick([10.0, 10.0, 5.0, 5.0], [2.0, 1.0, 4.0, 3.0])})


def detections():
    n, priors, classes, shared, in_target = between(1, 2), pick(1, 4, 12), between(1, 4), flag(), flag()
    values = np.full((1, 1 if in_target else 2, priors * 4), 0.1, np.float32)
    values[0, 0] = boxes(priors, size=1.0).reshape(-1)
    decrease = flag()
    rules = {"share_location": shared, "variance_encoded_in_target": in_target, "normalized": True, "keep_top_k": [pick(5, 1, -1, 200)], "top_k": pick(-1, 3, 10), "background_label_id": 0 if decrease else pick(0, -1, 1),
             "nms_threshold": pick(0.5, 0.25), "confidence_threshold": pick(0.01, 0.25), "clip_before_nms": flag(), "clip_after_nms": flag(), "decrease_label_id": decrease,
             "code_type": pick("caffe.PriorBoxParameter.CENTER_SIZE", "caffe.PriorBoxParameter.CORNER")}
    op("DetectionOutput", 8, [uniform(n, priors * (1 if shared else classes) * 4, low=-1, high=1), uniform(n, priors * classes, low=0, high=1), values], rules)


def regions():
    count, scale = between(1, 4), pick(1.0, 0.5)
    turned = np.concatenate([uniform(count, 2, low=-2, high=11) / scale, uniform(count, 2, low=0, high=9) / scale, uniform(count, 1, low=-3.5, high=3.5)], 1).astype(np.float32)
    op("ROIAlignRotated", 15, [uniform(2, between(1, 3), between(1, 9), between(1, 9)), turned, C(STATE.randint(0, 2, count).astype(pick(np.int32, np.int64)))],
       {"pooled_h": between(1, 4), "pooled_w": between(1, 4), "sampling_ratio": between(0, 2), "spatial_scale": scale, "clockwise_mode": flag()})
    rank = between(1, 3)
    plane, sizes = uniform(between(1, 2), between(1, 3), *(between(1, 9) for _ in range(rank))), C(np.array([between(1, 7) for _ in range(rank)], np.int64))
    op("AdaptiveAvgPool", 8, [plane, sizes])
    op("AdaptiveMaxPool", 8, [np.round(plane * 2) / 2, sizes], {"index_element_type": "i32"})
    steps, n, beams, kind = between(1, 5), between(1, 3), between(1, 4), pick(np.int32, np.float32)
    op("GatherTree", 1, [STATE.randint(0, 5, (steps, n, beams)).astype(kind), STATE.randint(0, beams, (steps, n, beams)).astype(kind), C(STATE.randint(1, steps + 1, n).astype(kind)), C(np.array(between(0, 4), kind))])


for _ in range(ROUNDS):
    suppression()
    proposals()
    detections()
    regions()
