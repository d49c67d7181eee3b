"""timm: a small member of each of its families."""

from catalogue import Input, add

NAMES = {
    "resnet18": 64, "resnetv2_50": 64, "seresnext26d_32x4d": 64, "res2net50_26w_4s": 64, "skresnet18": 64, "ecaresnet26t": 64,
    "regnety_002": 64, "regnetz_b16": 64, "mobilenetv3_small_050": 64, "mobilenetv4_conv_small": 64, "mobilenetv4_hybrid_medium": 64,
    "efficientnet_lite0": 64, "tf_efficientnetv2_b0": 64, "mixnet_s": 64, "ghostnetv2_100": 64, "lcnet_050": 64,
    "hardcorenas_a": 64, "rexnet_100": 64, "dla34": 64, "hrnet_w18_small": 64, "vovnet39a": 64, "cspresnet50": 64, "darknet53": 64,
    "convnextv2_atto": 64, "inception_next_atto": 64, "repvgg_a0": 64, "mobileone_s0": 64, "fastvit_t8": 64, "repvit_m0_9": 64,
    "efficientvit_b0": 64, "efficientvit_m0": 224, "vit_tiny_patch16_224": 224, "deit_tiny_patch16_224": 224, "cait_xxs24_224": 224,
    "xcit_nano_12_p16_224": 224, "beit_base_patch16_224": 224, "swin_tiny_patch4_window7_224": 224, "swinv2_cr_tiny_ns_224": 224,
    "twins_pcpvt_small": 224, "pvt_v2_b0": 64, "poolformer_s12": 64, "poolformerv2_s12": 64, "edgenext_xx_small": 64, "mobilevit_xxs": 64,
    "mobilevitv2_050": 64, "coatnet_nano_rw_224": 224, "maxvit_nano_rw_256": 256, "levit_128s": 224, "visformer_tiny": 224,
    "crossvit_tiny_240": 240, "mixer_s32_224": 224, "resmlp_12_224": 224, "gmlp_ti16_224": 224, "sequencer2d_s": 224,
    "focalnet_tiny_srf": 64, "davit_tiny": 64, "nest_tiny": 224, "gcvit_xxtiny": 224, "eva02_tiny_patch14_224": 224,
    "starnet_s1": 64, "hgnetv2_b0": 64, "tiny_vit_5m_224": 224, "hiera_tiny_224": 224, "test_vit": 160}


# Backbones as persons are told apart with them: without classes, vectors of length 1 or as they are.
EMBEDDINGS = {"resnet18": "normalised", "mobilenetv3_small_050": "", "vit_tiny_patch16_224": "normalised"}
PERSON = (256, 128)  # height, width


def normalised(model):
    import torch

    class Normalised(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, pictures):
            return torch.nn.functional.normalize(self.model(pictures), dim=1)

    return Normalised()


def make_embedding(name, kind, how):
    def export(folder):
        import timm
        import torch
        import torch_export
        import weights

        weights.seed()
        more = {"img_size": PERSON} if name.startswith("vit") else {}
        model = timm.create_model(name, pretrained=False, num_classes=0, **more).eval()
        example = torch.zeros(2, 3, *PERSON)
        weights.settle(model, example)
        module = normalised(model) if kind == "normalised" else model
        return torch_export.write(torch_export.Outputs(module), [example[:1]], ["pixel_values"], how, folder)

    return export


def make(name, size, how):
    def export(folder):
        import timm
        import torch
        import torch_export
        import weights

        weights.seed()
        arguments = {"exportable": True} if how != "openvino" else {}
        model = timm.create_model(name, pretrained=False, **arguments).eval()
        example = torch.zeros(2, 3, size, size)
        weights.settle(model, example)
        return torch_export.write(torch_export.Outputs(model), [example[:1]], ["pixel_values"], how, folder)

    return export


def list_exports():
    for name, size in NAMES.items():
        add("timm", "classify", name, "dynamo", make(name, size, "dynamo"), inputs={"": Input((1, 3, size, size))})
    for name in ("mobilenetv4_hybrid_medium", "fastvit_t8", "swin_tiny_patch4_window7_224", "mobilevit_xxs", "levit_128s", "sequencer2d_s",
                 "crossvit_tiny_240", "efficientvit_m0", "ghostnetv2_100", "convnextv2_atto"):
        size = NAMES[name]
        for how in ("torchscript", "openvino"):
            add("timm", "classify", name, {"torchscript": "", "openvino": "IR"}[how], make(name, size, how),
                inputs={"": Input((1, 3, size, size))}, is_small=name in ("fastvit_t8", "mobilevit_xxs"))
    for name, kind in EMBEDDINGS.items():
        for how in ("torchscript", "dynamo", "openvino"):
            options = ", ".join(part for part in ({"torchscript": "", "openvino": "IR"}.get(how, how), "embedding", kind) if part)
            add("timm", "re-identification", name, options, make_embedding(name, kind, how), inputs={"": Input((1, 3, *PERSON))})
