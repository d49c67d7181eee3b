"""What ONNX Runtime's own tools make of a model: its optimiser, its quantisers, its converter to float16."""

from catalogue import Input, add

SIZE = 64
VECTOR = 32


def networks():
    """name: (module, examples, inputs)"""
    import torch
    from torch import nn

    class Recurrent(nn.Module):
        def __init__(self, kind, **more):
            super().__init__()
            self.cell = kind(VECTOR, 24, batch_first=False, **more)
            self.head = nn.Linear(24 * (2 if more.get("bidirectional") else 1), 7)

        def forward(self, x):
            return self.head(self.cell(x)[0])

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(99, VECTOR)
            self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(VECTOR, 4, 64, batch_first=True, activation="gelu"), 2,
                                                enable_nested_tensor=False)

        def forward(self, ids):
            return self.layers(self.words(ids))

    steps = {"": Input((10, 2, VECTOR), -1.0, 1.0)}
    return {
        "LSTM": (lambda: Recurrent(nn.LSTM), lambda: torch.zeros(10, 2, VECTOR), steps),
        "LSTM of two directions": (lambda: Recurrent(nn.LSTM, bidirectional=True, num_layers=2), lambda: torch.zeros(10, 2, VECTOR), steps),
        "GRU": (lambda: Recurrent(nn.GRU), lambda: torch.zeros(10, 2, VECTOR), steps),
        "encoder": (Encoder, lambda: torch.ones(1, 9, dtype=torch.int64), {"": Input((1, 9), 0, 95)}),
        "resnet18": (None, lambda: torch.zeros(1, 3, SIZE, SIZE), {"": Input((1, 3, SIZE, SIZE))}),
        "mobilenet_v3_small": (None, lambda: torch.zeros(1, 3, SIZE, SIZE), {"": Input((1, 3, SIZE, SIZE))}),
        "vit": (None, lambda: torch.zeros(1, 3, 128, 128), {"": Input((1, 3, 128, 128))}),
        "bert": (None, lambda: torch.ones(1, 12, dtype=torch.int64), {"input_ids": Input((1, 12), 0, 95), "attention_mask": Input((1, 12), 1, 1)}),
    }


def source(name, folder):
    """The float model that the tools begin with."""
    import torch
    import torch_export
    import weights

    if name in ("vit", "bert"):
        import transformers_exports

        _, _, build, parts = next(m for m in transformers_exports.MODELS if m[1] == name)
        return transformers_exports.make(name, build, parts, "torchscript")(folder)
    if name in ("resnet18", "mobilenet_v3_small"):
        import torchvision_exports

        return torchvision_exports.make(name, SIZE, "torchscript")(folder)
    weights.seed()
    torch.backends.mha.set_fastpath_enabled(False)  # one operator for a whole layer, which the exporter does not know
    build, example, inputs = networks()[name]
    return torch_export.write(build().eval(), [example()], ["x"], "torchscript", folder)


class Pictures:
    """Calibration by noise."""

    def __init__(self, file, inputs):
        import numpy as np
        import record

        peer = record.OnnxRuntime(file)
        generator = np.random.default_rng(0)
        values, _ = record.fill(peer, inputs)
        self.samples = iter([{name: generator.permutation(v.ravel()).reshape(v.shape) for name, v in values.items()} for _ in range(4)])

    def get_next(self):
        return next(self.samples, None)


def make(name, tool):
    def export(folder):
        import onnx
        import onnxruntime
        from onnxruntime import quantization

        file = source(name, folder)
        target = folder / "made.onnx"
        inputs = networks()[name][2]
        if tool == "dynamic":
            quantization.quantize_dynamic(file, target)
        elif tool == "dynamic, uint8, per channel":
            quantization.quantize_dynamic(file, target, per_channel=True, weight_type=quantization.QuantType.QUInt8)
        elif tool in ("QDQ", "QOperator", "QDQ, 16 bits"):
            from onnxruntime.quantization.shape_inference import quant_pre_process

            prepared = folder / "prepared.onnx"
            quant_pre_process(str(file), str(prepared), skip_symbolic_shape=True)
            form = quantization.QuantFormat.QOperator if tool == "QOperator" else quantization.QuantFormat.QDQ
            kind = quantization.QuantType.QUInt16 if tool.endswith("16 bits") else quantization.QuantType.QUInt8
            quantization.quantize_static(str(prepared), str(target), Pictures(prepared, inputs), quant_format=form, per_channel=True,
                                         activation_type=kind, weight_type=quantization.QuantType.QInt8)
        elif tool.startswith("4 bits"):
            from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

            kinds = ("MatMul", "Gather") if tool == "4 bits, embeddings" else None
            quantiser = MatMulNBitsQuantizer(onnx.load(file), block_size=16, is_symmetric=False, op_types_to_quantize=kinds)
            quantiser.process()
            onnx.save(quantiser.model.model, target)
        elif tool in ("FP4", "NF4"):
            from onnxruntime.quantization.matmul_bnb4_quantizer import MatMulBnb4Quantizer

            quantiser = MatMulBnb4Quantizer(onnx.load(file), ["FP4", "NF4"].index(tool), block_size=16)
            quantiser.process()
            onnx.save(quantiser.model.model, target)
        elif tool == "float16":
            from onnxruntime.transformers.float16 import convert_float_to_float16

            onnx.save(convert_float_to_float16(onnx.load(file), keep_io_types=True), target)
        elif tool == "transformers.optimizer":
            from onnxruntime.transformers import optimizer

            made = optimizer.optimize_model(str(file), model_type=name, num_heads=0, hidden_size=0, opt_level=0)
            made.save_model_to_file(str(target))
        else:
            options = onnxruntime.SessionOptions()
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
            options.optimized_model_filepath = str(target)
            onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        return target

    return export


def list_exports():
    tools = {"LSTM": ["dynamic", "dynamic, uint8, per channel", "extended", "float16"],
             "LSTM of two directions": ["dynamic"], "GRU": ["dynamic", "extended"],
             "encoder": ["dynamic", "4 bits", "4 bits, embeddings", "FP4", "NF4", "extended", "float16"],
             "bert": ["dynamic", "4 bits", "extended", "transformers.optimizer"],
             "vit": ["dynamic", "QDQ", "QOperator", "extended", "transformers.optimizer"],
             "resnet18": ["QDQ", "QOperator", "extended", "QDQ, 16 bits", "float16", "dynamic"],
             "mobilenet_v3_small": ["QDQ", "QOperator", "extended", "dynamic"]}
    inputs = {name: how for name, (_, _, how) in networks().items()}
    for name, list_of_tools in tools.items():
        for tool in list_of_tools:
            task = "classify" if name in ("resnet18", "mobilenet_v3_small", "vit") else "text"
            # Operators of com.microsoft are ONNX Runtime's own.
            add("onnxruntime", task, name, tool, make(name, tool), inputs=inputs[name], converts=False)
