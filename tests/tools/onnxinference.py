#!/usr/bin/env python3
"""What `hetero inspect --modelinfo` writes, read by GStreamer's own onnxinference: onnxinference.py HETERO ROOT CASE.

Needs GStreamer 1.28 or newer with that element; else a case is skipped (exit status 77, with the reason).
"""
import configparser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from hetero_cli import expect, run_case

CASES = {}


def case(function):
    """A case gets a folder, which is removed."""
    CASES[function.__name__] = function
    return function


def need_onnxinference():
    try:
        version = subprocess.run(["gst-launch-1.0", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        skip(f"needs gst-launch-1.0: {error}")
    found = [int(part) for part in re.search(r"GStreamer (\d+)\.(\d+)", version).groups()]
    if found < [1, 28]:
        skip(f"needs GStreamer 1.28, which reads .modelinfo files; this is {found[0]}.{found[1]}")
    if subprocess.run(["gst-inspect-1.0", "--exists", "onnxinference"]).returncode != 0:
        skip("needs the element onnxinference (Debian: gstreamer1.0-plugins-bad with libonnxruntime)")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def described(hetero, folder, model, status=0):
    """A copy of the model with the file beside it, and what was said of it on stderr. Status None: any."""
    copy = folder / model.name
    shutil.copyfile(model, copy)
    arguments = ["inspect", copy, "--modelinfo", f"{copy}.modelinfo"]
    if status is None:
        return copy, subprocess.run([hetero.program, *map(str, arguments)], capture_output=True, text=True, timeout=300).stderr
    return copy, hetero.run(*arguments, status=status).stderr


def launch(model, picture="video/x-raw"):
    """Status and output of a pipeline of one frame."""
    environment = dict(os.environ, GST_REGISTRY=str(model.parent / "registry.bin"), GST_DEBUG="onnxinference:2,modelinfo:2", GST_DEBUG_NO_COLOR="1")
    done = subprocess.run(
        ["gst-launch-1.0", "-v", "videotestsrc", "num-buffers=1", "!", "videoconvert", "!", "videoscale", "!", picture, "!", "onnxinference",
         "name=network", f"model-file={model}", "!", "fakesink"], env=environment, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def tensors(model, picture="video/x-raw"):
    """The caps of the element's output after a frame went through, without escapes."""
    status, output = launch(model, picture)
    assert status == 0, output[-4000:]
    assert "WARN" not in output and "ERROR" not in output, output[-4000:]
    caps = re.search(r"network\.GstPad:src: caps = (.*)", output)
    assert caps and "tensors" in caps.group(1), output[-4000:]
    return caps.group(1).replace("\\", "")


def tensor_group(hetero, model):
    return json.loads(hetero.run("inspect", model, "--json").stdout)["tensor_group"]


def export(name):
    return pathlib.Path(os.environ["HET_BUILD_ROOT"]) / "tests/exports/models" / name / "model.onnx"


@case
def detector(hetero, folder):
    """The demo's detector, whose outputs nobody else knows: they have their own names."""
    model, _ = described(hetero, folder, pathlib.Path(hetero.detector))
    group = tensor_group(hetero, model)
    caps = tensors(model)
    expect(caps, group["id"])
    for tensor in group["tensors"]:
        expect(caps, f"tensor-id=(string){tensor['id']}", f"dims-order=(string){tensor['dims_order']}")


@case
def objects(hetero, folder):
    model, told = described(hetero, folder, export("yolo26n"))
    expect(told, "keep their aspect ratio")
    expect(tensors(model), "yolo-v8-out=(", "tensor-id=(string)yolo-v8-out", "dims-order=(string)col-major", "type=(string)float32")


@case
def classes(hetero, folder):
    model, told = described(hetero, folder, export("yolov8n-cls"))
    expect(told, "largest middle part")
    expect(tensors(model), "tensor-id=(string)classification-generic-softmaxed-out")


@case
def faces(hetero, folder):
    model, _ = described(hetero, folder, hetero.shared_data() / "models/onnx/ultraface_rfb_320.onnx")
    name = "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out"
    expect(tensors(model), name, f"tensor-id=(string){name}-scores", "tensor-id=(string)ssd-mobilenet-v1-variant-1-out-boxes")


@case
def open_size(hetero, folder):
    """A model that leaves the size of pictures open, and several outputs of several sizes; B, G, R is told."""
    model, told = described(hetero, folder, hetero.shared_data() / "models/onnx/yunet_n_dynamic.onnx", status=1)
    expect(told, "channels are B, G, R")
    expect(tensors(model, "video/x-raw,width=320,height=256"), "tensor-id=(string)cls_8", "tensor-id=(string)kps_32")


@case
def grey(hetero, folder):
    model, told = described(hetero, folder, hetero.shared_data() / "models/onnx/mnist-8.onnx", status=1)
    assert "B, G, R" not in told, told
    tensors(model)


@case
def refused(hetero, folder):
    """What the notes say that it cannot do it cannot do."""
    model, told = described(hetero, folder, hetero.shared_data() / "models/onnx/squeezenet1.1_fp16.onnx", status=1)
    expect(told, "its pictures are float16, onnxinference fills uint8 and float32")
    status, output = launch(model)
    assert status != 0 and "nsupported input" in output, output[-4000:]


def open_sides(model):
    """Caps with a size where the model leaves a side open: then the element asks for none."""
    parser = configparser.ConfigParser()
    parser.read(f"{model}.modelinfo")
    shape = next(parser[name]["dims"].split(",") for name in parser.sections() if parser[name].get("dir") == "input")
    planar = len(shape) == 4 and shape[1] in ("1", "3")
    height, width = shape[2:4] if planar else shape[1:3]
    if "-1" not in (height, width):
        return "video/x-raw"
    return f"video/x-raw,height={height if height != '-1' else 256},width={width if width != '-1' else 320}"


@case
def every_model(hetero, folder):
    """Of the shared models that take pictures those run of which no note says that they cannot."""
    limits = ("runs models with one", "onnxinference fills", "gives it one picture", "onnxinference takes float32")
    ran, refusals = 0, 0
    for model in sorted((hetero.shared_data() / "models/onnx").glob("*.onnx")):
        copy, told = described(hetero, folder, model, status=None)
        if not pathlib.Path(f"{copy}.modelinfo").exists():
            expect(told, "picture input")
            continue
        limited = any(limit in told for limit in limits)
        status, output = launch(copy, open_sides(copy))
        assert (status != 0) == limited, f"{model.name}: {told}\n{output[-3000:]}"
        ran, refusals = ran + (not limited), refusals + limited
    assert ran >= 15 and refusals >= 2, (ran, refusals)


if __name__ == "__main__":
    if sys.argv[1:] != ["--list"]:
        need_onnxinference()
    run_case(CASES, "onnxinference.py")
