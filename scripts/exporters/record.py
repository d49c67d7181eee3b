"""What a peer computes for a model, as a golden folder of `hetero verify`."""

import json
import math

import numpy as np

KEPT = 100_000  # values of an output

NUMPY_OF_ONNX = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16,
                 "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(uint8)": np.uint8, "tensor(int8)": np.int8,
                 "tensor(bool)": np.bool_}


def formula(shape, dtype, low, high):
    """The values of `hetero verify`'s golden folders (shared by every language; ../../tools/golden_run.cpp)."""
    count = math.prod(shape)
    i = np.arange(count, dtype=np.uint64)
    noise = ((i * np.uint64(2654435761)) % np.uint64(1 << 32)) >> np.uint64(24)
    value = noise.astype(np.int64)
    if len(shape) == 4:
        a, b, c, d = np.unravel_index(np.arange(count), shape)
        value = (3 * ((40 * b + 3 * c + 5 * d + ((c * d) >> 5)) & 255) + value) >> 2
    low, high = np.float32(low), np.float32(high)
    return (low + (high - low) * value.astype(np.float32) / np.float32(255)).astype(dtype).reshape(shape)


# A peer is a session on one file: `inputs` are (name, shape with None for unbound sizes, dtype), `outputs` names, `title` what it is.
class OnnxRuntime:
    def __init__(self, file, shapes=None):
        import onnxruntime

        self.title = f"onnxruntime {onnxruntime.__version__}"
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        self.session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        self.inputs = [(v.name, [d if isinstance(d, int) else None for d in v.shape], NUMPY_OF_ONNX[v.type])
                       for v in self.session.get_inputs()]
        self.outputs = [v.name for v in self.session.get_outputs()]

    def run(self, values):
        return self.session.run(None, values)


class OpenVino:
    def __init__(self, file, shapes=None):
        import openvino

        self.title = f"openvino {openvino.__version__.split('-')[0]}"
        core = openvino.Core()
        model = core.read_model(file)
        if shapes:
            model.reshape({name: list(shape) for name, shape in shapes.items()})
        self.inputs = [(sorted(p.get_names())[0] if p.get_names() else p.node.friendly_name,
                        [None if d.is_dynamic else d.get_length() for d in p.partial_shape],
                        p.element_type.to_dtype()) for p in model.inputs]
        self.outputs = [sorted(p.get_names())[0] if p.get_names() else "" for p in model.outputs]
        self.compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

    def run(self, values):
        request = self.compiled.create_infer_request()
        request.infer({i: values[name] for i, (name, _, _) in enumerate(self.inputs)})
        return [np.array(request.get_output_tensor(i).data) for i in range(len(self.outputs))]


def fill(peer, wanted):
    """Values of all inputs, and their description for golden.json."""
    values, described = {}, []
    for name, shape, dtype in peer.inputs:
        how = wanted.get(name) or wanted[""]
        shape = [s if d is None else d for s, d in zip(how.shape or [None] * len(shape), shape)]
        if any(d is None for d in shape):
            raise ValueError(f"the list of exports gives no shape to input '{name}'")
        values[name] = formula(shape, dtype, how.low, how.high)
        described.append({"name": name, "type": np.dtype(dtype).name, "shape": shape, "lo": how.low, "hi": how.high})
    return values, described


def golden(file, peer, described, outputs, folder):
    """Writes golden.json and the outputs."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for i, (name, value) in enumerate(zip(peer.outputs, outputs)):
        value = np.asarray(value)
        flat = value.reshape(-1).astype(np.float32 if value.dtype in (np.float16, np.float64) else value.dtype)
        stride = max(1, math.ceil(flat.size / KEPT))
        np.save(folder / f"output_{i}.npy", flat[::stride])
        finite = flat[np.isfinite(flat)] if flat.dtype.kind == "f" else flat
        row = {"name": name, "type": value.dtype.name, "shape": list(value.shape), "file": f"output_{i}.npy", "stride": stride}
        row["min"] = float(finite.min()) if finite.size else 0.0
        row["max"] = float(finite.max()) if finite.size else 0.0
        row["argmax"] = int(np.argmax(flat)) if flat.size else 0
        rows.append(row)
    (folder / "golden.json").write_text(json.dumps(
        {"model": str(file), "source": peer.title, "inputs": described, "outputs": rows}, indent=1))


def disturbed(values, seed):
    """The inputs with numbers off by a part in a million at most."""
    generator = np.random.default_rng(seed)
    return {name: (value * (1 + 1e-6 * generator.uniform(-1, 1, value.shape))).astype(value.dtype) if value.dtype.kind == "f" else value
            for name, value in values.items()}


def difference(actual, expected):
    """Where two peers do not give the same; empty where they do, by the bounds of `hetero verify`."""
    for i, (a, e) in enumerate(zip(actual, expected)):
        a, e = np.asarray(a), np.asarray(e)
        if a.shape != e.shape:
            return f"output {i} has shape {list(a.shape)} and {list(e.shape)}"
        a, e = a.astype(np.float64).ravel(), e.astype(np.float64).ravel()
        both = np.isfinite(a) & np.isfinite(e)
        if not np.array_equal(np.isfinite(a), np.isfinite(e)):
            return f"output {i} is finite in other places"
        spread = (np.ptp(e[both]) or abs(e[both]).max()) if both.any() else 0
        worst = np.abs(a[both] - e[both]).max() if both.any() else 0
        if worst > max(1e-3 * spread, 2 ** -22):
            return f"output {i} differs by {worst / spread if spread else worst:.2g} of its range"
    return ""
