"""What transformers' own processors find with an exported file. Beside it lie config.json and preprocessor_config.json."""

import types

import numpy as np
from PIL import Image
from found import Found, Object, at_size
from session import Session, ranked, softmax
from settled import scale_layers
from transformers_exports import DETR, MODELS, SIZE

IS_NORMALISED = True

ALIKE = ("DabDetr", "MaskFormer", "Mask2Former")
SQUARE = {"height": SIZE, "width": SIZE}
# Processor by the name of the model; arguments but the size.
PROCESSORS = {
    "detr": "Detr", "conditional_detr": "ConditionalDetr", "deformable_detr": "DeformableDetr", "table_transformer": "Detr",
    "dab_detr": "ConditionalDetr", "rt_detr": "RTDetr", "rt_detr_v2": "RTDetr", "d_fine": "RTDetr", "rf_detr": "RfDetr", "yolos": "Yolos",
    "segformer": "Segformer", "mask2former": "Mask2Former", "maskformer": "MaskFormer", "upernet_convnext": "Segformer", "mobilevit_deeplab": "MobileViT",
    "dpt": "DPT", "depth_anything": "DPT", "glpn": "GLPN", "vitpose": "VitPose", "vit": "ViT", "swin": "ViT", "swinv2": "ViT", "beit": "Beit",
    "convnextv2": "ConvNext", "mobilevitv2": "MobileViT", "efficientnet": "EfficientNet"}
CROPPED = {"MobileViT": {"size": {"shortest_edge": SIZE}, "crop_size": SQUARE}, "ConvNext": {"size": {"shortest_edge": SIZE}},
           "Beit": {"size": SQUARE, "crop_size": SQUARE}, "VitPose": {"size": {"height": SIZE, "width": 96}}, "GLPN": {}}


def spread(model, *examples):
    """Gives the heads of detectors such weights that scores and boxes differ well, and queries that differ where they begin as zeros."""
    import torch

    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(("detection_tokens", "position_embeddings")):
                parameter.normal_(std=0.5)
    most, means = {DETR["num_labels"]: 4.0, DETR["num_labels"] + 1: 4.0, 4: 1.5}, None
    if any(type(module).__name__.startswith(ALIKE) for module in model.modules()):
        enliven(model)
        most[4], means = 0.3, torch.tensor([0.0])  # six layers add to a box
    layers = [(module, 4.0 if name.endswith("class_predictor") else most[module.out_features], means) for name, module in model.named_modules()
              if isinstance(module, torch.nn.Linear) and (module.out_features in most or name.endswith("class_predictor"))]
    model.eval()
    scale_layers(model, examples, layers)


def enliven(model):
    """Larger weights in the decoder: with those that it begins with, attention takes all there is alike, and so each query ends the same."""
    import torch

    with torch.no_grad():
        for name, module in model.named_modules():
            if isinstance(module, torch.nn.Linear) and ("decoder" in name or "mask_embed" in name):
                module.weight.normal_(std=2 * module.in_features ** -0.5)
            elif isinstance(module, torch.nn.MultiheadAttention):
                module.in_proj_weight.normal_(std=2 * module.embed_dim ** -0.5)
            elif isinstance(module, torch.nn.Embedding):
                module.weight.normal_()


class Own:
    def __init__(self, export, file, folder):
        import transformers

        self.file, self.name, self.task = file, export.name, export.task
        build, self.parts = next((b, p) for _, name, b, p in MODELS if name == export.name)
        model = build()
        model.config.architectures = [type(model).__name__]
        model.config.save_pretrained(folder)
        kind = PROCESSORS[export.name]
        self.processor = getattr(transformers, f"{kind}ImageProcessor")(**CROPPED.get(kind, {"size": SQUARE}))
        self.processor.save_pretrained(folder)
        self.session = Session(file)
        self.shape = (SIZE, 96 if export.name == "vitpose" else SIZE)
        self.sizes = [self.shape[::-1]] * 3
        self.variants = {"its colours in the other order": {"swap": True}, "BGR in 0..255": {"swap": True, "do_rescale": False, "do_normalize": False},
                         "RGB in 0..1": {"do_normalize": False}, "BGR in 0..1": {"swap": True, "do_normalize": False}}

        if self.task == "detect":
            self.variants["one class for each box"] = {"once": True}

    def find(self, picture, threshold, swap=False, once=False, **preparation):
        height, width = picture.shape[:2]
        boxes = [[[width * 0.1, height * 0.1, width * 0.8, height * 0.8]]]  # the whole picture: it takes a quarter more
        if self.name == "vitpose":
            preparation["boxes"] = boxes
        if (height, width) == self.shape:
            preparation |= {"do_affine_transform": False} if self.name == "vitpose" else {"do_resize": False, "do_center_crop": False}
        if self.name == "glpn" and (height, width) != self.shape:  # it takes any size, the export does not
            picture = np.array(Image.fromarray(picture).resize(self.shape[::-1], Image.Resampling.BILINEAR))
        shown = np.ascontiguousarray(picture[..., ::-1]) if swap else picture
        if not preparation.get("do_rescale", True):
            shown = shown.astype(np.float32)
        values = self.processor(images=shown, return_tensors="np", **preparation)["pixel_values"]
        found = self.read(self.session.run(values.astype(np.float32)), threshold, (height, width), boxes)
        if once:  # the best stands first
            found.objects = list({o.box: o for o in reversed(found.objects)}.values())
        return found

    def read(self, outputs, threshold, size, boxes):
        import torch

        outputs = types.SimpleNamespace(**{part: torch.from_numpy(o.copy()) for part, o in zip(self.parts, outputs)})
        if self.task == "classify":
            return Found(classes=ranked(softmax(outputs.logits[0].numpy())))
        if self.task == "segment":
            class_map = self.processor.post_process_semantic_segmentation(outputs)[0].numpy()
            # Mask2Former's are enlarged to 384x384 whatever the model: at the size of the masks again.
            return Found(class_map=at_size(class_map, outputs.masks_queries_logits.shape[-2:]) if self.name == "mask2former" else class_map)
        if self.task == "depth":
            return Found(depth=self.processor.post_process_depth_estimation(outputs)[0]["predicted_depth"].numpy())
        if self.task == "pose":
            body = self.processor.post_process_pose_estimation(outputs, boxes=boxes)[0][0]
            return Found(objects=[Object((0.0, 0.0, size[1], size[0]), float(body["scores"].mean()), 0, points=body["keypoints"].numpy())])
        result = self.processor.post_process_object_detection(outputs, threshold=threshold, target_sizes=[size])[0]
        return Found(objects=[Object(tuple(map(float, box)), float(score), int(label))
                              for box, score, label in zip(result["boxes"], result["scores"], result["labels"])])
