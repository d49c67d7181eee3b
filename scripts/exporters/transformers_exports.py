"""transformers: vision models with configurations of a few small layers, so that graphs are whole and weights are not."""

from catalogue import Input, add

SIZE = 128


def backbone():
    from transformers import ResNetConfig

    return ResNetConfig(embedding_size=16, hidden_sizes=[32, 48, 64, 96], depths=[1, 1, 1, 1], layer_type="basic",
                        out_features=["stage2", "stage3", "stage4"])


def rt_backbone(kind="RTDetrResNetConfig"):
    import transformers

    return getattr(transformers, kind)(embedding_size=32, hidden_sizes=[32, 48, 64, 96], depths=[1, 1, 1, 1], layer_type="basic",
                                       out_features=["stage2", "stage3", "stage4"])


VIT = dict(hidden_size=48, num_hidden_layers=3, num_attention_heads=3, intermediate_size=96, image_size=SIZE, patch_size=16)
DETR = dict(d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=64, decoder_ffn_dim=64, num_queries=20, num_labels=11)
DETR_PARTS = ["logits", "pred_boxes"]


def detr(kind):
    def build():
        import transformers

        config = getattr(transformers, f"{kind}Config")(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None,
                                                        backbone_config=backbone(), **DETR)
        return getattr(transformers, f"{kind}ForObjectDetection")(config)

    return build


def rt_detr(kind, backbone_kind="RTDetrResNetConfig"):
    def build():
        import transformers

        channels = [48, 64, 96]
        config = getattr(transformers, f"{kind}Config")(
            backbone_config=rt_backbone(backbone_kind), backbone=None, use_timm_backbone=False, use_pretrained_backbone=False,
            encoder_hidden_dim=48, encoder_in_channels=channels, encoder_ffn_dim=64, encoder_attention_heads=4, d_model=48,
            decoder_in_channels=[48, 48, 48], decoder_ffn_dim=64, decoder_attention_heads=4, decoder_layers=2, num_queries=20, num_labels=11,
            anchor_image_size=None)
        return getattr(transformers, f"{kind}ForObjectDetection")(config)

    return build


def d_fine():
    import transformers

    inner = transformers.HGNetV2Config(stem_channels=[3, 16, 16], stage_in_channels=[16, 32, 48, 64], stage_mid_channels=[16, 16, 24, 32],
                                       stage_out_channels=[32, 48, 64, 96], stage_num_blocks=[1, 1, 1, 1], hidden_sizes=[32, 48, 64, 96],
                                       depths=[1, 1, 1, 1], out_features=["stage2", "stage3", "stage4"])
    config = transformers.DFineConfig(
        backbone_config=inner, encoder_hidden_dim=48, encoder_in_channels=[48, 64, 96], encoder_ffn_dim=64, encoder_attention_heads=4,
        d_model=48, decoder_in_channels=[48, 48, 48], decoder_ffn_dim=64, decoder_attention_heads=4, decoder_layers=2, num_queries=20,
        num_labels=11)
    return transformers.DFineForObjectDetection(config)


def rf_detr():
    import transformers

    inner = transformers.RfDetrDinov2Config(hidden_size=48, num_hidden_layers=4, num_attention_heads=3, image_size=SIZE, patch_size=16,
                                            num_windows=2, out_features=["stage2", "stage4"])
    config = transformers.RfDetrConfig(backbone_config=inner, d_model=64, decoder_layers=2, decoder_self_attention_heads=4,
                                       decoder_cross_attention_heads=4, decoder_ffn_dim=64, num_queries=20, group_detr=1, num_labels=11)
    return transformers.RfDetrForObjectDetection(config)


def simple(model, config, **settings):
    def build():
        import transformers

        return getattr(transformers, model)(getattr(transformers, config)(**settings))

    return build


def segmenter(kind):
    def build():
        import transformers

        swin = transformers.SwinConfig(image_size=SIZE, embed_dim=24, depths=[1, 1, 1, 1], num_heads=[1, 2, 4, 8], window_size=4,
                                       out_features=["stage1", "stage2", "stage3", "stage4"])
        if kind == "Mask2Former":
            config = transformers.Mask2FormerConfig(backbone_config=swin, feature_size=32, mask_feature_size=32, hidden_dim=32,
                                                    encoder_feedforward_dim=48, encoder_layers=2, decoder_layers=3, num_attention_heads=4,
                                                    dim_feedforward=48, num_queries=10, num_labels=7)
            return transformers.Mask2FormerForUniversalSegmentation(config)
        decoder = transformers.DetrConfig(**(DETR | {"num_queries": 10}))
        config = transformers.MaskFormerConfig(backbone_config=swin, decoder_config=decoder, fpn_feature_size=32, mask_feature_size=32, num_labels=7)
        return transformers.MaskFormerForInstanceSegmentation(config)

    return build


def upernet():
    import transformers

    inner = transformers.ConvNextConfig(**STAGES, out_features=["stage1", "stage2", "stage3", "stage4"])
    return transformers.UperNetForSemanticSegmentation(transformers.UperNetConfig(
        backbone_config=inner, hidden_size=32, auxiliary_channels=16, auxiliary_in_channels=32, num_labels=7))


def dpt():
    import transformers

    return transformers.DPTForDepthEstimation(transformers.DPTConfig(**VIT | {"num_hidden_layers": 4}, backbone_out_indices=[0, 1, 2, 3],
                                                                     neck_hidden_sizes=[16, 24, 32, 48], fusion_hidden_size=24))


def depth_anything():
    import transformers

    inner = transformers.Dinov2Config(hidden_size=48, num_hidden_layers=4, num_attention_heads=3, image_size=SIZE, patch_size=16,
                                      out_indices=[1, 2, 3, 4], reshape_hidden_states=False, apply_layernorm=True)
    return transformers.DepthAnythingForDepthEstimation(transformers.DepthAnythingConfig(
        backbone_config=inner, patch_size=16, reassemble_hidden_size=48, neck_hidden_sizes=[16, 24, 32, 48], fusion_hidden_size=24))


def vitpose():
    import transformers

    inner = transformers.VitPoseBackboneConfig(image_size=[128, 96], hidden_size=48, num_hidden_layers=3, num_attention_heads=3,
                                               out_indices=[3])
    return transformers.VitPoseForPoseEstimation(transformers.VitPoseConfig(backbone_config=inner, num_labels=17, use_simple_decoder=False))


def clip(kind):
    def build():
        import transformers

        text = dict(vocab_size=99, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=16)
        if kind == "CLIP":
            text |= {"eos_token_id": 98, "bos_token_id": 97, "projection_dim": 24}
        else:
            text |= {"hidden_size": VIT["hidden_size"]}
        return getattr(transformers, f"{kind}Model")(getattr(transformers, f"{kind}Config")(text_config=text, vision_config=dict(VIT)))

    return build


SEGFORMER = dict(depths=[1, 1, 1, 1], hidden_sizes=[16, 24, 32, 48], decoder_hidden_size=32, num_labels=7)
STAGES = dict(depths=[1, 1, 1, 1], hidden_sizes=[16, 24, 32, 48])
WORDS = dict(vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, max_position_embeddings=32)

# task, name, builder, outputs that are kept (None: all)
MODELS = [
    ("detect", "detr", detr("Detr"), DETR_PARTS),
    ("detect", "conditional_detr", detr("ConditionalDetr"), DETR_PARTS),
    ("detect", "deformable_detr", detr("DeformableDetr"), DETR_PARTS),
    ("detect", "table_transformer", detr("TableTransformer"), DETR_PARTS),
    ("detect", "dab_detr", simple("DabDetrForObjectDetection", "DabDetrConfig", num_labels=DETR["num_labels"], num_queries=DETR["num_queries"]), DETR_PARTS),
    ("detect", "rt_detr", rt_detr("RTDetr"), DETR_PARTS),
    ("detect", "rt_detr_v2", rt_detr("RTDetrV2"), DETR_PARTS),
    ("detect", "d_fine", d_fine, DETR_PARTS),
    ("detect", "rf_detr", rf_detr, DETR_PARTS),
    ("detect", "yolos", simple("YolosForObjectDetection", "YolosConfig", **VIT | {"image_size": [SIZE, SIZE]}, num_detection_tokens=20, num_labels=11), DETR_PARTS),
    ("segment", "segformer", simple("SegformerForSemanticSegmentation", "SegformerConfig", **SEGFORMER), ["logits"]),
    ("segment", "mask2former", segmenter("Mask2Former"), ["class_queries_logits", "masks_queries_logits"]),
    ("segment", "maskformer", segmenter("MaskFormer"), ["class_queries_logits", "masks_queries_logits"]),
    ("segment", "upernet_convnext", upernet, ["logits"]),
    ("segment", "mobilevit_deeplab", simple("MobileViTForSemanticSegmentation", "MobileViTConfig", image_size=SIZE, num_labels=7), ["logits"]),
    ("depth", "dpt", dpt, ["predicted_depth"]),
    ("depth", "depth_anything", depth_anything, ["predicted_depth"]),
    ("depth", "glpn", simple("GLPNForDepthEstimation", "GLPNConfig", depths=[1, 1, 1, 1], hidden_sizes=[16, 24, 32, 48], num_attention_heads=[1, 2, 4, 8], decoder_hidden_size=16), ["predicted_depth"]),
    ("pose", "vitpose", vitpose, ["heatmaps"]),
    ("embed", "clip", clip("CLIP"), ["logits_per_image", "text_embeds", "image_embeds"]),
    ("embed", "siglip", clip("Siglip"), ["logits_per_image"]),
    ("embed", "dinov2", simple("Dinov2Model", "Dinov2Config", hidden_size=48, num_hidden_layers=3, num_attention_heads=3, image_size=SIZE, patch_size=16), ["last_hidden_state"]),
    ("embed", "dinov3_vit", simple("DINOv3ViTModel", "DINOv3ViTConfig", hidden_size=48, intermediate_size=96, num_hidden_layers=3, num_attention_heads=3, image_size=SIZE, patch_size=16), ["last_hidden_state"]),
    ("embed", "dinov3_convnext", simple("DINOv3ConvNextModel", "DINOv3ConvNextConfig", **STAGES), ["last_hidden_state"]),
    ("classify", "vit", simple("ViTForImageClassification", "ViTConfig", **VIT), ["logits"]),
    ("classify", "swin", simple("SwinForImageClassification", "SwinConfig", image_size=SIZE, embed_dim=24, depths=[1, 1], num_heads=[1, 2], window_size=4), ["logits"]),
    ("classify", "swinv2", simple("Swinv2ForImageClassification", "Swinv2Config", image_size=SIZE, embed_dim=24, depths=[1, 1], num_heads=[1, 2], window_size=4), ["logits"]),
    ("classify", "beit", simple("BeitForImageClassification", "BeitConfig", **VIT), ["logits"]),
    ("classify", "convnextv2", simple("ConvNextV2ForImageClassification", "ConvNextV2Config", **STAGES), ["logits"]),
    ("classify", "mobilevitv2", simple("MobileViTV2ForImageClassification", "MobileViTV2Config", image_size=SIZE), ["logits"]),
    ("classify", "efficientnet", simple("EfficientNetForImageClassification", "EfficientNetConfig", image_size=SIZE), ["logits"]),
    ("text", "bert", simple("BertModel", "BertConfig", **WORDS), ["last_hidden_state"]),
    ("text", "distilbert", simple("DistilBertForSequenceClassification", "DistilBertConfig", vocab_size=99, dim=32, n_layers=2, n_heads=4, hidden_dim=64, max_position_embeddings=32), ["logits"]),
]


def make(name, build, parts, how):
    def export(folder):
        import torch
        import torch_export
        import weights

        weights.seed()
        model = build().eval()
        picture, words = torch.zeros(2, 3, SIZE, 96 if name == "vitpose" else SIZE), torch.ones(2, 12, dtype=torch.int64)
        if name in ("clip", "siglip"):
            examples, keywords = [words, picture], ["input_ids", "pixel_values"]
        elif name in ("bert", "distilbert"):
            examples, keywords = [words, words], ["input_ids", "attention_mask"]
        else:
            examples, keywords = [picture], ["pixel_values"]
        module = torch_export.Outputs(model, parts, keywords)
        weights.settle(module, *examples)
        return torch_export.write(module, [e[:1] for e in examples], keywords, how, folder)

    return export


def list_exports():
    for task, name, build, parts in MODELS:
        shape = (1, 3, SIZE, 96 if name == "vitpose" else SIZE)
        inputs = {"": Input(shape, -2.0, 2.0), "input_ids": Input((1, 12), 0, 95), "attention_mask": Input((1, 12), 1, 1)}
        for how in ("torchscript", "dynamo", "openvino"):
            add("transformers", task, name, {"torchscript": "", "openvino": "IR"}.get(how, how), make(name, build, parts, how),
                inputs=inputs, is_small=name in ("segformer", "vit", "d_fine"))
