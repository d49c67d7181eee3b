"""What Ultralytics itself finds with a model that it exported: YOLO(file).predict()."""

import contextlib
import shutil

import numpy as np
from found import Found, Object
from session import quantised_in_integers
from settled import scale_layers
from ultralytics_exports import CLASSES_PICTURE, SIZE

IS_NORMALISED = False
MASK_ENDS = "corner"  # crop_mask() compares the numbers of pixels with the box
OUR_SUPPRESSION = 0.4
SUPPRESSION = 0.7
MOST = 300  # objects, as its default
STRETCHES = ("rtdetr", "yolo26n-depth")


def spread(model, example):
    """Gives the last layers of a head such weights that scores differ well, boxes are not larger than the picture, and masks no noise."""
    import torch

    head = model.model[-1]
    layers = []  # layer, the most that it gives, biases

    def last_layers(name):
        parts = getattr(head, name, None)
        return [part[-1] for part in parts if isinstance(part, torch.nn.Sequential)] if isinstance(parts, torch.nn.ModuleList) else []

    for layer in last_layers("cv2") + last_layers("one2one_cv2"):
        bins = layer.out_channels // 4
        layers.append((layer, 3.0, torch.linspace(3, -3, bins).repeat(4) if bins > 1 else torch.tensor([4.0])))
    layers += [(layer, 6.0, torch.tensor([-3.0])) for layer in last_layers("cv3") + last_layers("one2one_cv3") if layer.out_channels == head.nc]
    if isinstance(getattr(head, "linear", None), torch.nn.Linear):
        layers.append((head.linear, 6.0, torch.tensor([0.0])))
    for name in ("dec_score_head", "enc_score_head"):
        layers += [(layer, 6.0, torch.tensor([-3.0])) for layer in flat(getattr(head, name, ()))]
    with torch.no_grad():
        for part in [*getattr(head, "cv4", ()), *getattr(head, "one2one_cv4", ())]:  # scores by likeness with texts
            if hasattr(part, "logit_scale"):
                part.logit_scale.fill_(-2.5)
                part.bias.fill_(-3.0)
        for name, parameter in model.named_parameters():
            if "proto" in name and parameter.ndim == 4:
                parameter.copy_(parameter.mean((2, 3), keepdim=True).expand_as(parameter))
    model.eval()
    head.training = True  # else only one of two branches runs; its parts stay as they are
    scale_layers(model, (example,), layers)
    head.training = False


def flat(part):
    import torch

    return [part] if isinstance(part, torch.nn.Linear) else [layer for layer in part if isinstance(layer, torch.nn.Linear)]


def placed(file, folder):
    """An IR lies with its metadata in a folder whose name says so."""
    if file.suffix != ".xml":
        return file, file
    source = next(folder.glob("*_openvino_model"))
    place = folder / "placed_openvino_model"
    place.mkdir()
    for part in (file, file.with_suffix(".bin"), source / "metadata.yaml"):
        shutil.copy(part, place / part.name)
    return place / file.name, place


class Own:
    def __init__(self, export, file, folder):
        from ultralytics import RTDETR, YOLO

        self.file, given = placed(file, folder)
        self.model = RTDETR(str(given)) if export.name.startswith("rtdetr") else YOLO(str(given), task=export.task)
        self.in_integers = YOLO(str(given), task=export.task) if "int8" in export.options else None
        self.task = export.task
        self.side = CLASSES_PICTURE if export.task == "classify" else SIZE
        short = 3 * self.side // 4
        if export.name.startswith(STRETCHES):
            self.sizes = [(self.side, self.side)] * 3
        elif export.task == "classify":  # cropped
            self.sizes = [(self.side + 16, self.side), (self.side, self.side + 24), (self.side, self.side)]
        else:
            self.sizes = [(self.side, short), (short, self.side), (self.side, self.side)]
        self.variants = {"its colours in the other order": {"swap": True}}
        self.nearly = [{"integers": True}] if self.in_integers else []
        if export.task in ("detect", "segment", "pose", "obb") and export.options not in ("nms", "IR, nms"):
            self.variants[f"its suppression at {OUR_SUPPRESSION}"] = {"suppression": OUR_SUPPRESSION}
            # It moves boxes by 7680 pixels for each class, in float32: a pixel's 64th is the last that is left of them.
            self.nearly += [{"suppression": SUPPRESSION - 1e-4}, {"suppression": SUPPRESSION + 1e-4}]

    def find(self, picture, threshold, swap=False, suppression=SUPPRESSION, integers=False):
        image = picture if swap else picture[..., ::-1]  # it takes BGR
        with quantised_in_integers() if integers else contextlib.nullcontext():
            result = (self.in_integers if integers else self.model).predict(
                np.ascontiguousarray(image), conf=max(threshold, 1e-12), iou=suppression, imgsz=self.side, rect=False, max_det=MOST,
                verbose=False, device="cpu", save=False)[0]
        if self.task == "classify":
            scores = result.probs.data.numpy()
            return Found(classes=[(int(i), float(scores[i])) for i in np.argsort(-scores)])
        if self.task == "semantic":
            return Found(class_map=values(result.semantic_mask).astype(np.int64))
        if self.task == "depth":
            return Found(depth=values(result.depth))
        if self.task == "obb":
            rows = result.obb
            boxes = rows.xywhr.numpy()
            return Found(objects=[Object((x - w / 2, y - h / 2, x + w / 2, y + h / 2), float(score), int(label), float(r))
                                  for (x, y, w, h, r), score, label in zip(boxes, rows.conf, rows.cls)])
        masks = None if result.masks is None else on_picture(result.masks.data, picture.shape[:2])
        points = None if result.keypoints is None else result.keypoints.xy.numpy()
        return Found(objects=[Object(tuple(map(float, box)), float(score), int(label), points=None if points is None else points[i],
                                     mask=None if masks is None else masks[i])
                              for i, (box, score, label) in enumerate(zip(result.boxes.xyxy, result.boxes.conf, result.boxes.cls))])


def values(data):
    data = getattr(data, "data", data)
    return data.numpy() if hasattr(data, "numpy") else np.asarray(data)


def on_picture(masks, shape):
    from ultralytics.utils import ops

    return ops.scale_masks(masks[None].float(), shape)[0].numpy() > 0.5
