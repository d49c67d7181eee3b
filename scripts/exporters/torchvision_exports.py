"""torchvision: its builders, by both of PyTorch's exporters and as IR."""

from catalogue import Input, add

CLASSIFIERS = {  # builder: size of the picture
    "alexnet": 224, "vgg11": 224, "resnet18": 64, "resnext50_32x4d": 64, "wide_resnet50_2": 64, "densenet121": 64, "inception_v3": 96,
    "googlenet": 64, "mobilenet_v2": 64, "mobilenet_v3_small": 64, "mobilenet_v3_large": 64, "mnasnet0_5": 64,
    "shufflenet_v2_x0_5": 64, "squeezenet1_1": 64, "efficientnet_b0": 64, "efficientnet_v2_s": 64, "regnet_x_400mf": 64,
    "regnet_y_400mf": 64, "convnext_tiny": 64, "vit_b_32": 224, "swin_t": 64, "swin_v2_t": 64, "maxvit_t": 224}
SEGMENTATION = {"fcn_resnet50": 64, "deeplabv3_mobilenet_v3_large": 96, "lraspp_mobilenet_v3_large": 96, "deeplabv3_resnet50": 64}
DETECTORS = {"ssdlite320_mobilenet_v3_large": 320, "ssd300_vgg16": 300, "fasterrcnn_mobilenet_v3_large_320_fpn": 160,
             "fasterrcnn_resnet50_fpn": 128, "fasterrcnn_resnet50_fpn_v2": 128, "retinanet_resnet50_fpn": 128, "fcos_resnet50_fpn": 128,
             "maskrcnn_resnet50_fpn": 128, "keypointrcnn_resnet50_fpn": 128}
# Heads whose scores are told apart only when their weights are larger than those of a network at the start of its training.
HEADS = ("cls_logits", "classification_head", "box_predictor.cls_score", "cls_score")


def make(name, size, how, is_detector=False):
    def export(folder):
        import torch
        import torchvision
        import torch_export
        import weights

        weights.seed()
        more = {}
        if is_detector:
            more = {"weights_backbone": None}
            if not name.startswith("ssd"):
                more |= {"min_size": size, "max_size": size}
        elif name in SEGMENTATION:
            more = {"weights_backbone": None}
        if name in ("googlenet", "inception_v3"):
            more = {"init_weights": True}
        group = torchvision.models.detection if is_detector else torchvision.models.segmentation if name in SEGMENTATION else torchvision.models
        model = getattr(group, name)(weights=None, **more).eval()
        example = torch.zeros(2, 3, size, size)
        weights.settle(model, example)
        if is_detector:
            # RetinaNet's scores are sigmoids, of which too many would be 1.
            weights.sharpen(model, *HEADS, factor=2.0 if name.startswith("retinanet") else 8.0)
        module = model
        if is_detector:
            class Single(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.model = model

                def forward(self, picture):
                    return self.model([picture[0]])

            module = Single()
        return torch_export.write(torch_export.Outputs(module), [example[:1]], ["images"], how, folder)

    return export


def list_exports():
    def one(task, name, size, how, **more):
        add("torchvision", task, name, {"torchscript": "", "openvino": "IR"}.get(how, how), make(name, size, how, task == "detect"),
            inputs={"": Input((1, 3, size, size))}, **more)

    for name, size in CLASSIFIERS.items():
        for how in ("torchscript", "dynamo", "openvino"):
            one("classify", name, size, how, is_small=name in ("squeezenet1_1", "mobilenet_v3_small"))
    for name, size in SEGMENTATION.items():
        for how in ("torchscript", "dynamo", "openvino"):
            one("segment", name, size, how)
    for name, size in DETECTORS.items():
        for how in ("torchscript", "openvino"):
            one("detect", name, size, how)
