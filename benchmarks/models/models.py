"""The models that are measured, and their inputs."""
import dataclasses
import json
import pathlib
import subprocess
import sys

import numpy

# Of data/architectures; these also as int8 (QDQ, made by ONNX Runtime's own tool).
INT8_ARCHITECTURES = ("mobilenet_v2", "resnet18", "resnet50")
INCEPTION_SIDE = 299
ONNX = ("deeplab_v3_257", "deimv2_atto_320", "fastestdet_352", "kws_qdq_int8", "mobilenet_v2_qoperator_int8", "nanodet_m_320", "person_reid_0288_nhwc",
        "ppocr_rec_en_number_v2", "road_segmentation_0001", "squeezenet1.1_fp16", "ultraface_rfb_320", "yolox_nano", "yunet_n_320")
IR = ("face-detection-retail-0004--FP16-INT8", "face-detection-retail-0004--FP32", "person-detection-retail-0013--FP16", "person-reidentification-retail-0287--FP16-INT8",
      "person-vehicle-bike-detection-2000--FP16-INT8", "road-segmentation-adas-0001--FP32", "vehicle-attributes-recognition-barrier-0039--FP16")
QUICK = ("googlenet", "mobilenet_v2", "resnet18", "resnet50", "resnet50_int8", "mobilenet_v2_int8", "shufflenet_v2_x1_0", "yolox_nano", "ultraface_rfb_320", "person-detection-retail-0013--FP16")


@dataclasses.dataclass
class Port:
    name: str
    type: str
    shape: list
    low: float = 0.0
    high: float = 1.0


@dataclasses.dataclass
class Model:
    name: str
    file: pathlib.Path
    inputs: list
    quantised: bool


def make_architectures(data, folder, python):
    """Fills the weights of data/architectures into `folder`, those missing."""
    folder.mkdir(parents=True, exist_ok=True)
    script = data.parent / "tools/fill_weights.py"
    for source in sorted((data / "architectures").glob("*.onnx")):
        wanted = [source.name] + ([source.stem + "_int8.onnx"] if source.stem in INT8_ARCHITECTURES else [])
        if not all((folder / name).exists() for name in wanted):
            done = subprocess.run([python, script, *(["--int8"] if len(wanted) > 1 else []), folder, source.stem], capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{script.name} could not make {source.stem}:\n{done.stderr[-2000:]}")


def find_models(data, folder):
    """Architectures from `folder`, then the listed models of shared data with the shapes of their golden folders."""
    models = []
    for file in sorted(folder.glob("*.onnx")):
        side = INCEPTION_SIDE if file.stem.startswith("inception") else 224
        models.append(Model(file.stem, file, [Port("input", "float32", [1, 3, side, side], -2.0, 2.0)], file.stem.endswith("_int8")))
    for kind, names in (("onnx", ONNX), ("ir", IR)):
        for name in names:
            golden = json.loads((data / "expected/golden" / kind / name / "golden.json").read_text())
            ports = [Port(p["name"], p["type"], p["shape"], *((p["fill"], p["fill"]) if "fill" in p else (p["lo"], p["hi"]))) for p in golden["inputs"]]
            models.append(Model(name, data / golden["model"], ports, "int8" in name.lower()))
    return models


def write_inputs(model, folder):
    """{port: file.npy}: the golden folders' smooth picture with noise (data/expected/golden/README.md)."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for k, port in enumerate(model.inputs):
        index = numpy.arange(int(numpy.prod(port.shape)), dtype=numpy.uint64).reshape(port.shape)
        values = ((index * 2654435761) % 2**32) >> 24
        if len(port.shape) == 4:
            _, b, c, d = numpy.indices(port.shape, dtype=numpy.uint64, sparse=True)
            values = (3 * ((40 * b + 3 * c + 5 * d + ((c * d) >> 5)) & 255) + values) >> 2
        array = (numpy.float32(port.low) + numpy.float32(port.high - port.low) * values.astype("f4") / 255).astype(port.type)
        files[port.name] = folder / f"input_{k}.npy"
        numpy.save(files[port.name], array)
    return files
