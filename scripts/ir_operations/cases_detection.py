"""Boxes, regions that detectors propose, text decoding."""

import numpy as np
from case import C, floats, integers, ints, op, random


def boxes(count, seed=0, size=20.0):
    """Corners of boxes in a picture of `size`; some overlap."""
    first = random(count, 2, low=0, high=size * 0.6, seed=seed)
    sides = random(count, 2, low=size * 0.1, high=size * 0.4, seed=seed + 1)
    return np.concatenate([first, first + sides], 1)


B = np.stack([boxes(12), boxes(12, 5)])
S = random(2, 3, 12, low=0, high=1)
ONE = lambda value, kind: C(np.array(value, kind))
for opset in (1, 3, 4, 5, 9):
    types = {} if opset == 1 else {"output_type": "i32"}
    for encoding in ("corner", "center"):
        for sort in (True, False):
            op("NonMaxSuppression", opset, [B, S, ONE(4, np.int64), ONE(0.3, np.float32), ONE(0.2, np.float32)],
               {"box_encoding": encoding, "sort_result_descending": sort, **types})
for sigma in (0.5, 0.1):
    for sort in (True, False):
        op("NonMaxSuppression", 5, [B, S, ONE(6, np.int64), ONE(0.5, np.float32), ONE(0.1, np.float32), ONE(sigma, np.float32)], {"box_encoding": "corner", "sort_result_descending": sort})
        op("NonMaxSuppression", 9, [B, S, ONE(9, np.int64), ONE(1, np.float32), ONE(0.1, np.float32), ONE(sigma, np.float32)], {"box_encoding": "center", "sort_result_descending": sort})
for opset in (5, 9):
    op("NonMaxSuppression", opset, [B, S, ONE(8, np.int64), ONE(0.2, np.float32), ONE(0, np.float32), ONE(0.125, np.float32)], {"box_encoding": "center"})
op("NonMaxSuppression", 5, [B, S, ONE(100, np.int64), ONE(0.3, np.float32)])
op("NonMaxSuppression", 9, [B[..., [2, 3, 0, 1]].copy(), S, ONE(5, np.int64), ONE(0.4, np.float32)])
ROTATED = np.concatenate([random(2, 12, 2, low=0, high=20), random(2, 12, 2, low=2, high=8, seed=1), random(2, 12, 1, seed=2)], 2)
for clockwise in (True, False):
    for sort in (True, False):
        op("NMSRotated", 13, [ROTATED, S, ONE(5, np.int64), ONE(0.3, np.float32), ONE(0.1, np.float32)], {"sort_result_descending": sort, "output_type": "i64", "clockwise": clockwise})
for opset in (8, 9):
    for sort in ("classid", "score", "none"):
        for across in (True, False):
            op("MulticlassNms", opset, [B, S], {"sort_result_type": sort, "sort_result_across_batch": across, "output_type": "i64", "iou_threshold": 0.3, "score_threshold": 0.2, "nms_top_k": 8, "keep_top_k": 9, "background_class": 1, "nms_eta": 1.0, "normalized": True})
    op("MulticlassNms", opset, [B, S], {"sort_result_type": "classid", "output_type": "i32", "iou_threshold": 0.6, "score_threshold": 0.2, "nms_top_k": -1, "keep_top_k": -1, "background_class": -1, "nms_eta": 0.8, "normalized": False})
APART = np.array([[[0, 0, 4, 4], [4.5, 0, 8.5, 4], [8, 0.5, 12, 4], [0, 5, 4, 9]]], np.float32)
for kind, opset, rules in (("MulticlassNms", 9, {"iou_threshold": 0.05, "nms_eta": 1.0}), ("MatrixNms", 8, {"decay_function": "linear", "gaussian_sigma": 2.0, "post_threshold": 0.0})):
    op(kind, opset, [APART, random(1, 2, 4, low=0.2, high=1)], {"sort_result_type": "score", "output_type": "i64", "score_threshold": 0.1, "nms_top_k": -1, "keep_top_k": -1, "background_class": -1, "normalized": False, **rules})
FLAT = np.stack([boxes(7, i * 3) for i in range(3)])
op("MulticlassNms", 9, [FLAT, random(3, 7, low=0, high=1), C(ints(4, 3))], {"sort_result_type": "score", "output_type": "i64", "iou_threshold": 0.3, "score_threshold": 0.1, "nms_top_k": -1, "keep_top_k": -1, "background_class": -1, "nms_eta": 1.0, "normalized": True})
for decay in ("linear", "gaussian"):
    for sort in ("classid", "score", "none"):
        for across in (True, False):
            op("MatrixNms", 8, [B, S], {"sort_result_type": sort, "sort_result_across_batch": across, "output_type": "i64", "score_threshold": 0.1, "nms_top_k": 8, "keep_top_k": 9, "background_class": 0, "decay_function": decay, "gaussian_sigma": 2.0, "post_threshold": 0.05, "normalized": across})
    op("MatrixNms", 8, [B, S], {"sort_result_type": "score", "output_type": "i32", "score_threshold": 0.0, "nms_top_k": -1, "keep_top_k": -1, "background_class": -1, "decay_function": decay, "gaussian_sigma": 0.5, "post_threshold": 0.0, "normalized": True})

PRIORS = boxes(10, 3, 1.0)
VARIANCES = np.tile(floats(0.1, 0.1, 0.2, 0.2), 10)
DETECT = {"background_label_id": 0, "top_k": 20, "keep_top_k": [8], "code_type": "caffe.PriorBoxParameter.CENTER_SIZE", "share_location": True, "nms_threshold": 0.4, "confidence_threshold": 0.3, "normalized": True}
LOGITS, CONFIDENCE = random(2, 40, low=-0.5, high=0.5), random(2, 30, low=0, high=1)
P = np.stack([PRIORS.reshape(-1), VARIANCES])[None]
for opset in (1, 8):
    base = {**DETECT, **({"num_classes": 3} if opset == 1 else {})}
    op("DetectionOutput", opset, [LOGITS, CONFIDENCE, P], base)
    op("DetectionOutput", opset, [LOGITS, CONFIDENCE, P], {**base, "code_type": "caffe.PriorBoxParameter.CORNER", "clip_after_nms": True})
    op("DetectionOutput", opset, [LOGITS, CONFIDENCE, P], {**base, "decrease_label_id": True, "clip_before_nms": True})
    op("DetectionOutput", opset, [random(2, 120, low=-0.5, high=0.5), CONFIDENCE, P], {**base, "share_location": False})
    op("DetectionOutput", opset, [LOGITS, CONFIDENCE, P[:, :1].copy()], {**base, "variance_encoded_in_target": True})
for opset in (1, 8):
    prior = {"min_size": [16.0, 30.0], "max_size": [32.0, 60.0], "aspect_ratio": [2.0, 3.0], "density": [], "fixed_ratio": [], "fixed_size": [], "clip": False, "flip": True, "step": 16.0, "offset": 0.5, "variance": [0.1, 0.1, 0.2, 0.2], "scale_all_sizes": True}
    op("PriorBox", opset, [C(ints(3, 4)), C(ints(48, 64))], prior)
    op("PriorBox", opset, [C(ints(3, 4)), C(ints(48, 64))], {**prior, "clip": True, "flip": False, "step": 0.0, "scale_all_sizes": False})
    op("PriorBox", opset, [C(ints(3, 4)), C(ints(48, 64))], {**prior, "min_size": [], "max_size": [], "fixed_size": [8.0, 16.0], "density": [2.0, 1.0], "aspect_ratio": [1.0]})
    op("PriorBox", opset, [C(ints(3, 4)), C(ints(48, 64))], {**prior, "min_size": [], "max_size": [], "fixed_size": [8.0, 16.0], "fixed_ratio": [1.0], "density": [2.0, 1.0], "aspect_ratio": [1.0]})
op("PriorBox", 8, [C(ints(3, 4)), C(ints(48, 64))], {**prior, "min_max_aspect_ratios_order": False})
op("PriorBoxClustered", 1, [C(ints(3, 4)), C(ints(48, 64))], {"width": [10.0, 20], "height": [12.0, 30], "clip": True, "step": 16.0, "step_w": 0.0, "step_h": 0.0, "offset": 0.5, "variance": [0.1, 0.1, 0.2, 0.2]})
op("PriorBoxClustered", 1, [C(ints(3, 4)), C(ints(48, 64))], {"width": [10.0, 20], "height": [12.0, 30], "clip": False, "step": 0.0, "step_w": 0.0, "step_h": 0.0, "offset": 0.5, "variance": [0.1]})
PROPOSE = {"base_size": 16, "pre_nms_topn": 60, "post_nms_topn": 12, "nms_thresh": 0.7, "feat_stride": 16, "min_size": 4, "ratio": [0.5, 1.0, 2.0], "scale": [1.0, 2.0], "clip_before_nms": True, "clip_after_nms": False, "normalize": False, "box_size_scale": 1.0, "box_coordinate_scale": 1.0, "framework": ""}
for opset in (1, 4):
    for change in ({}, {"framework": "tensorflow", "box_size_scale": 5.0, "box_coordinate_scale": 10.0}, {"clip_after_nms": True, "clip_before_nms": False, "normalize": True}):
        op("Proposal", opset, [random(1, 12, 4, 5, low=0, high=1), random(1, 24, 4, 5, low=-0.3, high=0.3), C(floats(64, 80, 1))], {**PROPOSE, **change})

ANCHORS = boxes(4 * 5 * 3, 7).reshape(4, 5, 3, 4)
DELTAS, SCORES = random(2, 12, 4, 5, low=-0.4, high=0.4), random(2, 3, 4, 5, low=0, high=1)
for normalized in (True, False):
    op("GenerateProposals", 9, [C(np.array([[20, 20, 1], [18, 22, 1]], np.float32)), ANCHORS, DELTAS, SCORES], {"min_size": 1.0, "nms_threshold": 0.6, "pre_nms_count": 40, "post_nms_count": 10, "normalized": normalized, "nms_eta": 1.0, "roi_num_type": "i32"})
op("ExperimentalDetectronGenerateProposalsSingleImage", 6, [C(floats(20, 20, 1)), ANCHORS.reshape(-1, 4), DELTAS[0], SCORES[0]], {"min_size": 1.0, "nms_threshold": 0.6, "pre_nms_count": 40, "post_nms_count": 10})
op("ExperimentalDetectronGenerateProposalsSingleImage", 6, [C(floats(20, 20, 1)), ANCHORS.reshape(-1, 4), DELTAS[0], SCORES[0]], {"min_size": 5.0, "nms_threshold": 0.3, "pre_nms_count": 10, "post_nms_count": 20})
for scale in (1.0, 1.8):
    op("GenerateProposals", 9, [np.array([[20, 20, scale]] * 2, np.float32), ANCHORS, DELTAS, SCORES], {"min_size": 4.0, "nms_threshold": 0.6, "pre_nms_count": 20, "post_nms_count": 30, "normalized": False, "nms_eta": 1.0, "roi_num_type": "i64"})
    op("ExperimentalDetectronGenerateProposalsSingleImage", 6, [floats(20, 20, scale), ANCHORS.reshape(-1, 4), DELTAS[0] * 2, SCORES[0]], {"min_size": 2.0, "nms_threshold": 0.1, "pre_nms_count": 60, "post_nms_count": 8})
PRIORS3 = random(3, 4)
for flatten in (True, False):
    op("ExperimentalDetectronPriorGridGenerator", 6, [PRIORS3, random(1, 2, 4, 5), random(1, 3, 60, 100)], {"flatten": flatten, "h": 0, "w": 0, "stride_x": 0.0, "stride_y": 0.0})
    op("ExperimentalDetectronPriorGridGenerator", 6, [PRIORS3, random(1, 2, 4, 5), random(1, 3, 60, 100)], {"flatten": flatten, "h": 4, "w": 5, "stride_x": 32.0, "stride_y": 16.0})
PYRAMID = [random(1, 2, 200 // s, 200 // s, seed=s) for s in (4, 8, 16)]
LARGE = boxes(6, 2, 200.0)
LARGE[1] = [0, 0, 199, 180]
LARGE[2] = [10, 10, 20, 22]
for aligned in (True, False):
    for ratio in (2, 0):
        op("ExperimentalDetectronROIFeatureExtractor", 6, [LARGE, *PYRAMID], {"output_size": 3, "sampling_ratio": ratio, "pyramid_scales": [4, 8, 16], "aligned": aligned})
op("ExperimentalDetectronTopKROIs", 6, [boxes(8), random(8, low=0, high=1)], {"max_rois": 5})
for agnostic in (False, True):
    classes = 4
    for threshold in (0.05, 0.4):
        op("ExperimentalDetectronDetectionOutput", 6, [boxes(9, 4), random(9, classes * 4, low=-0.5, high=0.5), random(9, classes, low=0, high=1), C(np.array([[20, 20, 1]], np.float32))], {"score_threshold": threshold, "nms_threshold": 0.4, "max_delta_log_wh": 4.135, "num_classes": classes, "post_nms_count": 6, "max_detections_per_image": 12, "class_agnostic_box_regression": agnostic, "deltas_weights": [10.0, 10.0, 5.0, 5.0]})
FLAT_REGIONS = boxes(9, 4)
FLAT_REGIONS[2, 2] = FLAT_REGIONS[2, 0]
for rows in (5, 40):
    op("ExperimentalDetectronDetectionOutput", 6, [FLAT_REGIONS, random(9, 16, low=-1, high=1), random(9, 4, low=0, high=1), C(np.array([[12, 14, 1]], np.float32))], {"score_threshold": 0.3, "nms_threshold": 0.5, "max_delta_log_wh": 4.135, "num_classes": 4, "post_nms_count": 6, "max_detections_per_image": rows, "class_agnostic_box_regression": False, "deltas_weights": [1.0, 1.0, 1.0, 1.0]})

for merge in (True, False):
    MASK = np.ones((7, 2), np.float32)
    MASK[5:, 1] = 0
    op("CTCGreedyDecoder", 1, [random(7, 2, 4), C(MASK)], {"ctc_merge_repeated": merge})
    op("CTCGreedyDecoderSeqLen", 6, [random(2, 7, 4), C(ints(7, 4, dtype=np.int32))], {"merge_repeated": merge, "classes_index_type": "i32", "sequence_length_type": "i64"})
    op("CTCGreedyDecoderSeqLen", 6, [random(2, 7, 4), C(ints(7, 4, dtype=np.int32)), C(np.int32(0))], {"merge_repeated": merge, "classes_index_type": "i64", "sequence_length_type": "i32"})
    for collapse in (True, False):
        for unique in (True, False):
            op("CTCLoss", 4, [random(3, 8, 5), C(ints(8, 7, 5, dtype=np.int32)), C(np.array([[0, 1, 1, 2, 0, 0, 0, 0], [3, 3, 3, 0, 0, 0, 0, 0], [2, 1, 2, 1, 0, 0, 0, 0]], np.int32)), C(ints(4, 3, 2, dtype=np.int32))], {"preprocess_collapse_repeated": collapse, "ctc_merge_repeated": merge, "unique": unique})
            op("CTCLoss", 4, [random(3, 8, 5), C(ints(8, 7, 5, dtype=np.int32)), C(np.array([[2, 1, 1, 2, 1, 1, 1, 1], [3, 3, 3, 1, 1, 1, 1, 1], [2, 1, 2, 1, 1, 1, 1, 1]], np.int32)), C(ints(4, 3, 2, dtype=np.int32)), C(np.int32(0))], {"preprocess_collapse_repeated": collapse, "ctc_merge_repeated": merge, "unique": unique})
