"""A PyTorch module as an ONNX file by either exporter of PyTorch, or as IR by OpenVINO's PyTorch front end."""

import torch

OPSETS = {"torchscript": 17, "dynamo": 18}


class Outputs(torch.nn.Module):
    """Dictionaries and lists, which exporters do not agree on, as a tuple of tensors."""

    def __init__(self, model, parts=None, keywords=None):
        super().__init__()
        self.model, self.parts, self.keywords = model, parts, keywords

    def forward(self, *inputs):
        found = self.model(**dict(zip(self.keywords, inputs))) if self.keywords else self.model(*inputs)
        if isinstance(found, torch.Tensor):
            return found
        if isinstance(found, (list, tuple)):
            if len(found) == 1 and isinstance(found[0], dict):
                found = found[0]
            else:
                return tuple(f for f in found if isinstance(f, torch.Tensor))
        names = self.parts or list(found.keys())
        return tuple(found[name] for name in names if isinstance(found[name], torch.Tensor))


def write(module, examples, names, how, folder):
    """`how`: "torchscript", "dynamo" or "openvino". Returns the file."""
    module = module.eval()
    if how == "openvino":
        import openvino

        with torch.no_grad():
            model = openvino.convert_model(module, example_input=tuple(examples), input=[list(e.shape) for e in examples])
        openvino.save_model(model, folder / "model.xml", compress_to_fp16=False)
        return folder / "model.xml"
    file = folder / "model.onnx"
    # PyTorch's own kernel of a whole encoder layer, which has no ONNX.
    torch.backends.mha.set_fastpath_enabled(False)
    with torch.no_grad():
        torch.onnx.export(module, tuple(examples), str(file), input_names=names, opset_version=OPSETS[how],
                          dynamo=how == "dynamo", **({"external_data": False} if how == "dynamo" else {}))
    return file
