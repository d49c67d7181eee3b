#!/usr/bin/env python3
"""The installed package hetero with the demonstration's models. Usage: python_package.py MODELS PICTURE [FOLDER].

A picture through VisionModel, tensors on CPU beside the reference device. With FOLDER, the third-party libraries that the package has
brought have to be mapped from there, and none of them from elsewhere. Needs numpy and Pillow.
"""
import importlib
import pathlib
import re
import sys

import hetero
import numpy
from PIL import Image

# Of these, C's and C++'s own apart, a process has only what the package brings.
LIBRARIES = ("libhetinference", "libdnnl", "libgomp", "libhwloc", "libhwy", "libfmt", "libpugixml", "libOpenCL", "libcrypto")


def mapped_libraries():
    maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
    return sorted(set(re.findall(r"/\S+\.so\S*", maps)))


def objects(models, picture):
    model = hetero.VisionModel(str(models / "scene_detector.onnx"), "CPU", model_proc=str(models / "scene_detector.json"))
    labels = sorted(str(label) for label in model(picture, format="RGB").objects["label"])
    print("objects:", ", ".join(labels))
    assert len(labels) >= 3 and "truck" in labels, labels


def tensors(models, picture):
    model = hetero.Core().read_model(str(models / "scene_detector.onnx"))
    batch, channels, height, width = model.inputs[0].shape
    source = numpy.asarray(Image.fromarray(picture).resize((width, height)), dtype=numpy.float32).transpose(2, 0, 1)[None] / 255
    assert source.shape == (batch, channels, height, width), source.shape
    precise = {"INFERENCE_PRECISION_HINT": "f32"}
    on_cpu, on_ref = (hetero.compile_model(model, device, precise if device == "CPU" else {})(source)[0] for device in ("CPU", "REF"))
    difference = float(numpy.abs(on_cpu - on_ref).max())
    print(f"output {'x'.join(map(str, on_cpu.shape))}: CPU differs from REF by {difference:.2g} at most, of {numpy.abs(on_ref).max():.3g}")
    assert difference <= 1e-3, difference


def pipelines():
    """hetero.gst is a package of its own, and where it is missing that is told."""
    if (pathlib.Path(hetero.__file__).parent / "gst").is_dir():
        return
    try:
        importlib.import_module("hetero.gst")
    except ModuleNotFoundError as failure:
        print(failure)
        assert failure.name == "hetero.gst" and "gstreamer1.0-hetero-python" in str(failure)
    else:
        raise AssertionError("hetero.gst was imported from nowhere")


def main():
    models, picture = pathlib.Path(sys.argv[1]), numpy.asarray(Image.open(sys.argv[2]).convert("RGB"))
    print(f"hetero {hetero.get_version()} of {pathlib.Path(hetero.__file__).parent}, Python {sys.version.split()[0]}, numpy {numpy.__version__}")
    devices = hetero.Core().available_devices
    print("devices:", ", ".join(devices))
    assert "CPU" in devices and "REF" in devices, devices
    objects(models, picture)
    tensors(models, picture)
    pipelines()
    if len(sys.argv) > 3:
        folder = str(pathlib.Path(sys.argv[3]).resolve())
        mapped = [path for path in mapped_libraries() if pathlib.Path(path).name.startswith(LIBRARIES)]
        elsewhere = [path for path in mapped if not path.startswith(folder) and "/numpy" not in path and "/pillow" not in path]
        print(f"{len(mapped)} libraries of {folder}, {len(elsewhere)} of elsewhere {' '.join(elsewhere)}")
        assert len(mapped) >= len(LIBRARIES) and not elsewhere, mapped


main()
