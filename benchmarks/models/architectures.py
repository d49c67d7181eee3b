"""The wider list: architectures with random weights, in two halves. It was fixed before any of them was measured.

Speed is tuned on the tuning half and judged on the test half. Who looks into a model of the test half (profiles it, reads its layers, times
its kernels) moves its line to the tuning half in the same commit.
"""

import dataclasses

PICTURE, WORDS = "picture", "words"


@dataclasses.dataclass(frozen=True)
class Architecture:
    """`exporter` and `builder` as scripts/exporters has them; `size`: of the square picture, or the number of words."""

    name: str
    exporter: str
    builder: str
    size: int
    half: str


# exporter: {builder: size}
TUNING = {
    "torchvision": {
        "densenet121": 224, "efficientnet_b0": 224, "resnext50_32x4d": 224, "mnasnet0_5": 224, "shufflenet_v2_x1_5": 224, "regnet_x_400mf": 224,
        "deeplabv3_mobilenet_v3_large": 320, "ssdlite320_mobilenet_v3_large": 320},
    "timm": {
        "convnext_nano": 224, "regnety_008": 224, "resnetv2_50": 224, "resnet26d": 224, "skresnet18": 224, "ese_vovnet19b_dw": 224, "cspresnet50": 224,
        "hgnetv2_b0": 224, "mobilenetv4_hybrid_medium": 224, "mixnet_s": 224, "ghostnet_100": 224, "hardcorenas_a": 224, "repvgg_a0": 224,
        "fastvit_t8": 256, "efficientvit_b0": 224, "edgenext_x_small": 256, "mobilevit_xs": 256, "vit_tiny_patch16_224": 224, "xcit_nano_12_p16_224": 224,
        "swin_tiny_patch4_window7_224": 224, "twins_svt_small": 224, "poolformer_s12": 224, "coatnet_nano_rw_224": 224, "levit_128s": 224,
        "crossvit_tiny_240": 240, "mixer_s32_224": 224, "focalnet_tiny_srf": 224, "gcvit_xxtiny": 224, "hiera_tiny_224": 224},
    "ultralytics": {"yolov5n": 640, "yolov9t": 640, "yolo11n": 640, "yolo26n": 640, "yolo11n-pose": 640, "yolov8n-seg": 640},
    "transformers": {"rtdetr_r18": 640, "segformer_b0": 512, "dinov2_small": 224, "minilm_l6": 128},
}
TEST = {
    "torchvision": {
        "densenet169": 224, "efficientnet_v2_s": 224, "mobilenet_v3_small": 224, "regnet_y_400mf": 224, "wide_resnet50_2": 224,
        "lraspp_mobilenet_v3_large": 320},
    "timm": {
        "convnextv2_atto": 224, "inception_next_atto": 224, "regnetz_b16": 224, "seresnext26d_32x4d": 224, "ecaresnet26t": 224, "res2net50_26w_4s": 224,
        "dla34": 224, "hrnet_w18_small": 224, "cspdarknet53": 256, "efficientnet_lite0": 224, "mobilenetv4_conv_small": 224, "ghostnetv2_100": 224,
        "lcnet_100": 224, "rexnet_100": 224, "fbnetc_100": 224, "mobileone_s0": 224, "repvit_m0_9": 224, "efficientvit_m2": 224, "efficientformerv2_s0": 224,
        "mobilevitv2_075": 256, "deit_small_patch16_224": 224, "cait_xxs24_224": 224, "swin_s3_tiny_224": 224, "swinv2_cr_tiny_ns_224": 224, "pvt_v2_b1": 224,
        "poolformerv2_s12": 224, "maxvit_nano_rw_256": 256, "visformer_tiny": 224, "resmlp_12_224": 224, "davit_tiny": 224, "tiny_vit_5m_224": 224,
        "starnet_s2": 224, "eva02_tiny_patch14_224": 224},
    "ultralytics": {"yolov8n": 640, "yolov10n": 640, "yolo12n": 640},
    "transformers": {"yolos_tiny": 256, "distilbert": 128},
}


def is_of(list_name, model):
    """Whether a row of this model belongs to the list: models leave the test half."""
    return list_name == "former" or any(a.name == model and a.half == list_name for a in list_architectures())


def list_architectures():
    """All, in the order of their names within a half."""
    found = [Architecture(f"{exporter}.{builder}", exporter, builder, size, half)
             for half, table in (("tuning", TUNING), ("test", TEST)) for exporter, builders in table.items() for builder, size in builders.items()]
    assert len({a.name for a in found}) == len(found), "an architecture stands in both halves"
    return sorted(found, key=lambda a: (a.half != "tuning", a.name))
