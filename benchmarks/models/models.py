"""The models that are measured, and their inputs: the former list, and the tuning and test half of architectures.py."""
import dataclasses
import hashlib
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable

import numpy

import architectures
from processes import Failure, execute

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REQUIREMENTS = "scripts/exporters/torch.txt"
LISTS = ("former", "tuning", "test")
# Types of a measurement and the form of the file that it takes.
FORMS = {"f32": "float", "bf16": "float", "int8_ort": "int8_ort", "int8_nncf": "int8_nncf"}
# An export, or a quantiser with its calibration.
MAKING_S = 1200

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


@dataclasses.dataclass
class Cell:
    """A row to be measured. `type` is what stands in tables, `precision` what is not quantised computes in; provide() gives the Model or raises NotMade."""
    list: str
    name: str
    type: str
    precision: str
    provide: Callable


class NotMade(Exception):
    """An exporter or a quantiser cannot make the file, and why."""


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


def former_cells(data, folder, precisions):
    """Quantised models have one row: float32 for the rest of them."""
    return [Cell("former", model.name, "int8" if model.quantised else precision, precision, lambda model=model: model)
            for model in find_models(data, folder) for precision in (["f32"] if model.quantised else [p for p in precisions if FORMS[p] == "float"])]


def input_range(architecture, name):
    """(low, high) of the values that an input is measured and calibrated with."""
    if name in ("attention_mask", "token_type_ids"):
        return (1.0, 1.0) if name == "attention_mask" else (0.0, 0.0)
    if name == "input_ids":
        return 0.0, 95.0
    is_detector = architecture.exporter == "ultralytics" or architecture.builder.startswith("ssdlite")
    return (0.0, 1.0) if is_detector else (-2.0, 2.0)


def read_ports(file, architecture):
    """Inputs of an ONNX file; a first dimension that it leaves open becomes 1, another the architecture's size."""
    import onnx

    graph = onnx.load(file).graph
    constants = {constant.name for constant in graph.initializer}
    ports = []
    for value in graph.input:
        if value.name not in constants:
            tensor = value.type.tensor_type
            shape = [d.dim_value or (architecture.size if k else 1) for k, d in enumerate(tensor.shape.dim)]
            ports.append(Port(value.name, str(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)), shape, *input_range(architecture, value.name)))
    return ports


class Exporters:
    """Makes the files of architectures, those missing, in the interpreter of scripts/exporters."""

    def __init__(self, folder):
        self.folder, self.models = folder, folder / "models"
        self.has_environment = False

    def file(self, name, form):
        return self.models / (f"{name}.onnx" if form == "float" else f"{name}.{form}.onnx")

    def provide(self, architecture, form):
        file = self.file(architecture.name, form)
        if not file.exists():
            self.make(architecture, form)
        return Model(architecture.name, file, read_ports(file, architecture), form != "float")

    def make(self, architecture, form):
        """What was refused once is not tried again with the same scripts and packages."""
        scripts = (HERE / "make_architectures.py", ROOT / REQUIREMENTS, *sorted((ROOT / "scripts/exporters").glob("*_export*.py")))
        state = hashlib.sha256(b"".join(file.read_bytes() for file in scripts)).hexdigest()
        refusal = self.models / f"{architecture.name}.{form}.refused"
        if refusal.exists() and refusal.read_text().partition("\n")[0] == state:
            raise NotMade(refusal.read_text().partition("\n")[2])
        if not self.has_environment:
            subprocess.run(["bash", "-c", '. "$1" && python_environment "$2" -r "$3"', "models.py", ROOT / "scripts/environment.sh", self.folder / "torch", REQUIREMENTS], check=True, cwd=ROOT)
            self.has_environment = True
        print(f"# making {architecture.name} {form}", file=sys.stderr, flush=True)
        environment = {**os.environ, "YOLO_OFFLINE": "true", "YOLO_AUTOINSTALL": "false", "YOLO_CONFIG_DIR": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            execute([self.folder / "torch/bin/python", HERE / "make_architectures.py", self.models, architecture.name, form], MAKING_S, env=environment)
        except Failure as failure:
            if failure.kind == "refused":
                refusal.write_text(f"{state}\n{failure}")
            raise NotMade(str(failure)) from None
        refusal.unlink(missing_ok=True)


def wider_cells(half, exporters, types):
    return [Cell(half, a.name, kind, "bf16" if kind == "bf16" else "f32", lambda a=a, kind=kind: exporters.provide(a, FORMS[kind]))
            for a in architectures.list_architectures() if a.half == half for kind in types]


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
