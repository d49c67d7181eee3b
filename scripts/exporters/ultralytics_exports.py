"""Ultralytics: every generation and task from its YAML, exported by its own exporter."""

import shutil
from pathlib import Path

from catalogue import Input, add

SIZE = 160
CLASSES_PICTURE = 64  # classifiers


def load(name, size=SIZE):
    """A network with weights drawn at random; what its BatchNorms have seen is pictures of noise."""
    import torch
    import ultralytics
    import weights

    weights.seed()
    kind = ultralytics.RTDETR if name.startswith("rtdetr") else ultralytics.YOLOE if name.startswith("yoloe") else ultralytics.YOLO
    model = kind(f"{name}.yaml")
    if name.startswith("yoloe"):  # what set_classes() keeps of the classes' names, without the network of texts
        model.model.pe = torch.nn.functional.normalize(torch.randn(1, 80, 512), dim=-1)
    size = CLASSES_PICTURE if name.endswith("-cls") else size
    weights.settle(model.model, torch.zeros(2, 3, size, size))
    if name.startswith("rtdetr"):
        weights.sharpen(model.model, "score_head", factor=64.0)  # else rounding decides which of the classes is first
    return model, size


def calibration_pictures(folder, task):
    """A dataset in Ultralytics' layout, since theirs come from the network."""
    import weights
    import yaml
    from PIL import Image

    root = folder / "pictures"
    for part in ("train", "val"):
        for number in range(4):
            if task == "classify":
                place = root / part / f"class{number % 2}"
            else:
                place = root / "images" / part
                labels = root / "labels" / part
                labels.mkdir(parents=True, exist_ok=True)
                (labels / f"{number}.txt").write_text("0 0.5 0.5 0.2 0.2\n")
            place.mkdir(parents=True, exist_ok=True)
            Image.fromarray(weights.shown(number, SIZE)).save(place / f"{number}.png")
    if task == "classify":
        return str(root)
    (root / "data.yaml").write_text(yaml.dump({"path": str(root), "train": "images/train", "val": "images/val",
                                               "names": {i: f"class{i}" for i in range(80)}}))
    return str(root / "data.yaml")


def make(name, form, size=SIZE, **options):
    def export(folder: Path):
        model, shown = load(name, size)
        if "end2end" in options:
            model.model.model[-1].end2end = options["end2end"]
        arguments = {"format": form, "imgsz": shown, "opset": 17 if form == "onnx" else None,
                     **{k: v for k, v in options.items() if k != "end2end"}}
        if options.get("quantize") == 8:
            arguments["data"] = calibration_pictures(folder, model.task)
        model.model.pt_path = model.model.yaml_file = str(folder / f"{name}.yaml")
        made = Path(model.export(**{k: v for k, v in arguments.items() if v is not None}))
        if made.is_dir():
            made = next(made.glob("*.xml"))
        for suffix in (".xml", ".bin") if made.suffix == ".xml" else (".onnx",):
            shutil.move(str(made.with_suffix(suffix)), folder / f"model{suffix}")
        return folder / f"model{made.suffix}"

    return export


def list_exports():
    tasks = {"detect": ["yolov5n", "yolov8n", "yolov9t", "yolov10n", "yolo11n", "yolo12n", "yolo26n", "yolov3-tiny", "yolov6n", "rtdetr-l", "rtdetr-resnet50", "yolov8s-worldv2"],
             "segment": ["yolov8n-seg", "yolo11n-seg", "yolo12n-seg", "yolo26n-seg", "yoloe-v8s-seg", "yoloe-11s-seg", "yoloe-26n-seg"],
             "pose": ["yolov8n-pose", "yolo11n-pose", "yolo12n-pose", "yolo26n-pose"],
             "depth": ["yolo26n-depth"], "semantic": ["yolo26n-sem"],
             "obb": ["yolov8n-obb", "yolo11n-obb", "yolo12n-obb", "yolo26n-obb"],
             "classify": ["yolov8n-cls", "yolo11n-cls", "yolo12n-cls", "yolo26n-cls"]}
    task_of = {name: task for task, names in tasks.items() for name in names}
    small = {"yolov8n", "yolo26n", "yolov8n-cls", "yolo11n-cls"}
    picture = {"": Input((1, 3, SIZE, SIZE))}
    small_picture = {"": Input((1, 3, CLASSES_PICTURE, CLASSES_PICTURE))}

    def one(name, form, options="", **arguments):
        text = ", ".join(part for part in ("IR" if form == "openvino" else "", options) if part)
        task = task_of[name]
        add("ultralytics", task, name, text, make(name, form, **arguments),
            inputs=small_picture if task == "classify" else picture, is_small=name in small and not options)

    for name in task_of:
        for form in ("onnx", "openvino"):
            one(name, form)
    for form in ("onnx", "openvino"):
        for name in ("yolov10n", "yolo26n", "yolo26n-seg", "yolo26n-pose", "yolo26n-obb"):
            one(name, form, "one-to-many head", end2end=False)
        for name in ("yolov8n", "yolo11n", "yolo11n-seg", "yolov8n-pose", "yolo11n-obb"):
            one(name, form, "nms", nms=True)
        for name in ("yolo11n", "yolo26n", "yolov8n-seg", "yolov8n-cls"):
            one(name, form, "dynamic", dynamic=True)
    for name in ("yolo11n", "yolov8n-pose"):
        one(name, "openvino", "half", quantize=16)
    for name in ("yolov8n", "yolo11n", "yolo26n", "yolo11n-cls"):
        one(name, "openvino", "int8", quantize=8)
