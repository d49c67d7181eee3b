"""Heads as OpenVINO Training Extensions (Geti) export them for Model API, around networks of torchvision: boxes with their
scores in one tensor, feature vectors and saliency maps beside logits, and Model API's `model_info` in the file."""

from catalogue import Input, add

SIZE = 96


def networks():
    """name: (what model_info calls it, module)"""
    import torch
    import torchvision
    import weights
    from torch import nn

    class Classifier(nn.Module):
        """Logits, and what explains them: mean features, and their activations scaled to bytes."""

        def __init__(self, hierarchical):
            super().__init__()
            self.network = torchvision.models.mobilenet_v3_small(weights=None, num_classes=6)
            self.hierarchical = hierarchical

        def forward(self, x):
            features = self.network.features(x)
            vector = features.mean((2, 3), keepdim=True)
            logits = self.network.classifier(vector.flatten(1))
            if self.hierarchical:
                logits = torch.cat([logits[:, :2].softmax(1), logits[:, 2:4].softmax(1), logits[:, 4:].sigmoid()], 1)
            maps = features[:, :6]
            low, high = maps.amin((2, 3), keepdim=True), maps.amax((2, 3), keepdim=True)
            return logits, vector, (255 * (maps - low) / (high - low + 1e-12)).to(torch.uint8)

    class Detector(nn.Module):
        """Boxes [1, n, 5] with the score last, labels [1, n], and masks where there are any."""

        def __init__(self, network):
            super().__init__()
            self.network = network

        def forward(self, x):
            found = self.network([x[0]])[0]
            boxes = torch.cat([found["boxes"], found["scores"].unsqueeze(1)], 1)
            parts = (boxes.unsqueeze(0), found["labels"].unsqueeze(0))
            return (*parts, found["masks"].squeeze(1).unsqueeze(0)) if "masks" in found else parts

    class Segmenter(nn.Module):
        """Logits of the size of the picture, and a feature vector."""

        def __init__(self):
            super().__init__()
            self.network = torchvision.models.segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=4)

        def forward(self, x):
            return self.network(x)["out"], self.network.backbone(x)["high"].mean((2, 3), keepdim=True)

    detection = torchvision.models.detection
    more = {"weights": None, "weights_backbone": None, "min_size": SIZE, "max_size": SIZE}
    weights.seed()
    return {
        "multi-class": ("Classification", lambda: Classifier(False)),
        "hierarchical": ("Classification", lambda: Classifier(True)),
        "detection": ("ssd", lambda: Detector(detection.fasterrcnn_mobilenet_v3_large_320_fpn(**more))),
        "instance": ("MaskRCNN", lambda: Detector(detection.maskrcnn_resnet50_fpn(**more))),
        "semantic": ("Segmentation", Segmenter),
    }


TASKS = {"multi-class": "classify", "hierarchical": "classify", "detection": "detect", "instance": "segment", "semantic": "segment"}


def make(name, how):
    def export(folder):
        import torch
        import torch_export
        import weights

        kind, build = networks()[name]
        module = build().eval()
        example = torch.zeros(2, 3, SIZE, SIZE)
        weights.settle(module, example)
        weights.sharpen(module, "cls_score", factor=32.0)  # so that some boxes pass
        file = torch_export.write(module, [example[:1]], ["image"], how, folder)
        info = {"model_type": kind, "labels": " ".join(f"label_{i}" for i in range(6)), "resize_type": "standard", "scale_values": "255"}
        if how == "openvino":
            import openvino

            model = openvino.Core().read_model(file)
            for key, value in info.items():
                model.set_rt_info(value, ["model_info", key])
            (folder / "named").mkdir()
            openvino.save_model(model, folder / "named" / file.name, compress_to_fp16=False)
            for part in (folder / "named").iterdir():
                part.replace(folder / part.name)
        else:
            import onnx

            model = onnx.load(file)
            for key, value in info.items():
                model.metadata_props.add(key=f"model_info {key}", value=value)
            onnx.save(model, file)
        return file

    return export


def list_exports():
    for name, task in TASKS.items():
        for how in ("torchscript", "openvino"):
            add("otx", task, name, {"torchscript": "", "openvino": "IR"}[how], make(name, how), inputs={"": Input((1, 3, SIZE, SIZE))},
                is_small=name == "multi-class")
