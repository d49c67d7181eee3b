#!/usr/bin/env python3
"""Writes architectures with random weights as ONNX: make_architectures.py FOLDER NAME FORM...

Run by an interpreter of scripts/exporters (./check.sh --long exporters makes it). NAME is of architectures.py. FORM is `float`, `int8_ort`
(QDQ by ONNX Runtime's quantiser, u8 values, s8 weights per channel) or `int8_nncf` (QDQ by NNCF); the file is FOLDER/NAME.onnx or
FOLDER/NAME.FORM.onnx. It appears when it is whole.
"""

import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts/exporters")]
import architectures  # noqa: E402  (beside this file)

CALIBRATION = 8  # pictures of noise
VOCABULARY = 1000


def ultralytics_network(architecture, folder):
    import ultralytics_exports

    return ultralytics_exports.make(architecture.builder, "onnx", size=architecture.size)(folder)


def torchvision_network(architecture, folder):
    import torchvision_exports as exports

    return exports.make(architecture.builder, architecture.size, "torchscript" if architecture.builder in exports.DETECTORS else "dynamo",
                        architecture.builder in exports.DETECTORS)(folder)


def timm_network(architecture, folder):
    import timm_exports

    return timm_exports.make(architecture.builder, architecture.size, "dynamo")(folder)


def transformers_network(architecture, folder):
    import torch
    import torch_export
    import transformers
    import weights

    words = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536, "vocab_size": VOCABULARY}
    build, keywords, parts = {
        "rtdetr_r18": (lambda: transformers.RTDetrForObjectDetection(transformers.RTDetrConfig(
            backbone_config=transformers.RTDetrResNetConfig(hidden_sizes=[64, 128, 256, 512], depths=[2, 2, 2, 2], layer_type="basic",
                                                            out_features=["stage2", "stage3", "stage4"]),
            backbone=None, use_timm_backbone=False, use_pretrained_backbone=False, encoder_in_channels=[128, 256, 512], decoder_layers=3, anchor_image_size=None,
            hidden_expansion=0.5)), ["pixel_values"], ["logits", "pred_boxes"]),
        "dinov2_small": (lambda: transformers.Dinov2Model(transformers.Dinov2Config(
            hidden_size=384, num_hidden_layers=12, num_attention_heads=6, image_size=architecture.size, patch_size=14)), ["pixel_values"], ["last_hidden_state"]),
        "minilm_l6": (lambda: transformers.BertModel(transformers.BertConfig(**words)), ["input_ids", "attention_mask"], ["last_hidden_state"]),
        "segformer_b0": (lambda: transformers.SegformerForSemanticSegmentation(transformers.SegformerConfig(num_labels=150)), ["pixel_values"], ["logits"]),
        "yolos_tiny": (lambda: transformers.YolosForObjectDetection(transformers.YolosConfig(
            hidden_size=192, num_hidden_layers=12, num_attention_heads=3, intermediate_size=768, image_size=[architecture.size, architecture.size])),
            ["pixel_values"], ["logits", "pred_boxes"]),
        "distilbert": (lambda: transformers.DistilBertForSequenceClassification(transformers.DistilBertConfig(vocab_size=VOCABULARY)),
                       ["input_ids", "attention_mask"], ["logits"]),
    }[architecture.builder]
    weights.seed()
    model = build().eval()
    size = architecture.size
    examples = [torch.zeros(2, 3, size, size)] if keywords == ["pixel_values"] else [torch.ones(2, size, dtype=torch.int64)] * 2
    module = torch_export.Outputs(model, parts, keywords)
    weights.settle(module, *examples)
    return torch_export.write(module, [e[:1] for e in examples], keywords, "dynamo", folder)


def samples(file, architecture):
    """Noise in the ranges that the inputs are measured with."""
    import numpy
    import record

    import models

    generator = numpy.random.default_rng(0)
    for _ in range(CALIBRATION):
        values = {}
        for name, shape, dtype in record.OnnxRuntime(file).inputs:
            low, high = models.input_range(architecture, name)
            values[name] = generator.uniform(low, high, [1 if d is None else d for d in shape]).astype(dtype)
        yield values


def quantise_by_onnxruntime(file, architecture, folder):
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(quantization.CalibrationDataReader):
        def __init__(self, values):
            self.values = values

        def get_next(self):
            return next(self.values, None)

    prepared, target = folder / "prepared.onnx", folder / "quantised.onnx"
    quant_pre_process(str(file), str(prepared), skip_symbolic_shape=True)
    quantization.quantize_static(str(prepared), str(target), Reader(samples(prepared, architecture)), quant_format=quantization.QuantFormat.QDQ, per_channel=True,
                                 activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8)
    return target


def quantise_by_nncf(file, architecture, folder):
    import nncf
    import onnx

    more = {"model_type": nncf.ModelType.TRANSFORMER} if any(word in architecture.name for word in ("vit", "swin", "bert", "dino", "deit", "minilm", "yolos", "segformer", "detr")) else {}
    quantised = nncf.quantize(onnx.load(file), nncf.Dataset(list(samples(file, architecture))), subset_size=CALIBRATION, **more)
    target = folder / "quantised.onnx"
    onnx.save(quantised, target)
    return target


EXPORTERS = {"ultralytics": ultralytics_network, "torchvision": torchvision_network, "timm": timm_network, "transformers": transformers_network}
QUANTISERS = {"int8_ort": quantise_by_onnxruntime, "int8_nncf": quantise_by_nncf}


def main():
    target, name, forms = pathlib.Path(sys.argv[1]).absolute(), sys.argv[2], sys.argv[3:]
    architecture = next(a for a in architectures.list_architectures() if a.name == name)
    target.mkdir(parents=True, exist_ok=True)
    files = {form: target / (f"{name}.onnx" if form == "float" else f"{name}.{form}.onnx") for form in ("float", *QUANTISERS)}
    for form in ["float", *(f for f in forms if f != "float")]:
        if files[form].exists():
            continue
        with tempfile.TemporaryDirectory(dir=target) as folder:
            os.chdir(folder)
            made = EXPORTERS[architecture.exporter](architecture, pathlib.Path(folder)) if form == "float" else QUANTISERS[form](files["float"], architecture, pathlib.Path(folder))
            made.replace(files[form])
            os.chdir(target)


if __name__ == "__main__":
    main()
