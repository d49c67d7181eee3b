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
        # Some are exported for more than one picture: the same in all places.
        dimension = self.inferencer.model.inputs[0].partial_shape[0]
        places = dimension.get_length() if dimension.is_static else 1
        predicted = self.inferencer.model(np.repeat(factor * values.transpose(2, 0, 1)[None], places, axis=0))
        named = {name: value for names, value in zip(predicted.names(), predicted.to_tuple()) for name in names}
        found = Found(anomaly=(float(np.ravel(named["pred_score"])[0]), bool(np.ravel(named["pred_label"])[0])))
        if "pred_mask" in named:
            found.class_map = np.squeeze(named["pred_mask"][0]).astype(np.int64)
        return found

    @staticmethod
    def adapted(found):
        """Our results have a class, normal or not, instead of an anomaly, and a map where it is not normal."""
        if not found.classes:
            return found
        label, score = found.classes[0]
        class_map = np.zeros((1, 1), np.int64) if found.class_map is None and not label else found.class_map
        return dataclasses.replace(found, classes=None, class_map=class_map, anomaly=(score if label else 1 - score, bool(label)))
