"""What anomalib itself finds with an exported file: OpenVINOInferencer, which takes both forms."""

import dataclasses

import numpy as np
from anomalib_exports import MODELS
from found import Found

IS_NORMALISED = True


class Own:
    def __init__(self, export, file, folder):
        from anomalib.deploy import OpenVINOInferencer

        self.file = file
        self.inferencer = OpenVINOInferencer(file, device="CPU", config={"INFERENCE_PRECISION_HINT": "f32"})
        side = MODELS[export.name][1]
        self.side, self.sizes = side, [(side, side)] * 3
        self.variants = {"its colours in the other order": {"swap": True}, "BGR in 0..255": {"swap": True, "factor": 255.0}}

    def find(self, picture, threshold, swap=False, factor=1.0):
        import cv2

        # It does not scale; callers do.
        shown = picture if picture.shape[:2] == (self.side, self.side) else cv2.resize(picture, (self.side, self.side))
        values = (shown[..., ::-1] if swap else shown).astype(np.float32) / 255
        if factor == 1.0:
            result = self.inferencer.predict(values)
            score, label, mask = result.pred_score, result.pred_label, result.pred_mask
        else:  # it brings what is larger than 1 back into 0..1
            named = self.inferencer.post_process(self.inferencer.model(factor * values.transpose(2, 0, 1)[None]))
            score, label, mask = (named[name] for name in ("pred_score", "pred_label", "pred_mask"))
        found = Found(anomaly=(float(np.ravel(score)[0]), bool(np.ravel(label)[0])))
        if np.ndim(mask := np.squeeze(mask)) == 2:
            found.class_map = mask.astype(np.int64)
        return found

    @staticmethod
    def adapted(found):
        """Our results have a class, normal or not, instead of an anomaly, and a map where it is not normal."""
        if not found.classes:
            return found
        label, score = found.classes[0]
        class_map = np.zeros((1, 1), np.int64) if found.class_map is None and not label else found.class_map
        return dataclasses.replace(found, classes=None, class_map=class_map, anomaly=(score if label else 1 - score, bool(label)))
