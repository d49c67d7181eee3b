"""What torchvision's reference code finds with an exported file: the transforms of a builder's weights, and boxes as the graph gives them."""

import numpy as np
from found import Found, Object
from session import MISTAKES, Session, chw, ranked, softmax
from settled import DEVIATION, MEAN, scale_layers
from torchvision_exports import CLASSIFIERS, DETECTORS, SEGMENTATION

IS_NORMALISED = False
COCO = 91  # classes


def spread(model, *examples):
    """Gives the heads of detectors such weights that scores differ well."""
    import torch

    layers = []
    for name, module in model.named_modules():
        given = getattr(module, "out_features", getattr(module, "out_channels", 0))
        if isinstance(module, (torch.nn.Linear, torch.nn.Conv2d)) and given % COCO == 0 and given:
            layers.append((module, 6.0, None))
    model.eval()
    scale_layers(model, examples, layers)


class Own:
    def __init__(self, export, file, folder):
        self.file, self.task = file, export.task
        self.session = Session(file)
        self.side = (CLASSIFIERS | SEGMENTATION | DETECTORS)[export.name]
        self.sizes = [(self.side, self.side)] * 3
        self.usual = {} if export.task == "detect" else {"mean": MEAN, "deviation": DEVIATION}
        self.variants = {name: {"how": how} for name, how in MISTAKES.items() if how != self.usual}
        if self.usual:
            self.variants["its colours in the other order"] = {"how": self.usual | {"swap": True}}

    def find(self, picture, threshold, how=None):
        shown = picture if picture.shape[:2] == (self.side, self.side) else scaled(picture, self.side, self.task)
        outputs = self.session.run(chw(shown, **(self.usual if how is None else how)))
        if self.task == "classify":
            return Found(classes=ranked(softmax(outputs[0][0])))
        if self.task == "segment":
            return Found(class_map=outputs[0][0].argmax(0))
        return Found(objects=objects(outputs, threshold, picture.shape, shown.shape))


def scaled(picture, side, task):
    """As the transforms of its weights do (224 of 232 pixels), but detectors, which scale in the graph, and segmenters, whose export has a
    fixed size: those are stretched."""
    from PIL import Image
    from torchvision.transforms import functional

    image = Image.fromarray(picture)
    if task != "classify":
        return np.array(image.resize((side, side), Image.Resampling.BILINEAR))
    return np.array(functional.center_crop(functional.resize(image, side * 232 // 224), side))


def objects(outputs, threshold, shape, shown):
    """boxes, labels, scores, and masks or keypoints, in an order that differs among its detectors."""
    boxes = next(o for o in outputs if o.ndim == 2 and o.shape[1] == 4)
    labels = next(o for o in outputs if o.ndim == 1 and o.dtype.kind == "i")
    scores = next(o for o in outputs if o.ndim == 1 and o.dtype.kind == "f")
    masks = next((o for o in outputs if o.ndim == 4), None)
    points = next((o for o in outputs if o.ndim == 3), None)
    factors = np.array([shape[1] / shown[1], shape[0] / shown[0]])
    return [Object(tuple(boxes[i] * np.tile(factors, 2)), float(scores[i]), int(labels[i]), mask=None if masks is None else on_picture(masks[i, 0], shape),
                   points=None if points is None else points[i, :, :2] * factors)
            for i in range(len(boxes)) if scores[i] >= threshold]


def on_picture(mask, shape):
    import cv2

    return (mask if mask.shape == shape[:2] else cv2.resize(mask, (shape[1], shape[0]))) >= 0.5
