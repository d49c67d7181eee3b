"""A pipeline of the installed plugin in a process that has OpenVINO, OpenCV's DNN and onnx. Usage: beside.py first|last DOC_FOLDER."""
import json
import pathlib
import sys
import tempfile

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

MODELS = pathlib.Path(sys.argv[2], "examples/models")
MODEL = MODELS / "scene_detector.onnx"


def ours():
    Gst.init(None)
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        for device in ("CPU", "GPU", "HETERO:GPU,CPU"):
            found = pathlib.Path(folder, "found.json")
            pipeline = Gst.parse_launch(
                f"filesrc location={sys.argv[2]}/docs/demo.jpg ! jpegdec ! videoconvert ! video/x-raw,format=NV12 "
                f"! heterodetect model={MODEL} model-proc={MODELS / 'scene_detector.json'} device={device} "
                f"! heterometaconvert ! heterometapublish file-path={found} file-format=json-lines ! fakesink")
            pipeline.set_state(Gst.State.PLAYING)
            message = pipeline.get_bus().timed_pop_filtered(120 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
            if message is None or message.type == Gst.MessageType.ERROR:
                sys.exit(f"{device}: {message.parse_error() if message else 'nothing after two minutes'}")
            pipeline.set_state(Gst.State.NULL)
            counts[device] = len(json.loads(found.read_text().splitlines()[0])["objects"])
    print("objects by device:", counts)
    assert counts["CPU"] > 0 and len(set(counts.values())) == 1, counts


def theirs():
    import cv2
    import numpy
    import onnx
    import openvino

    onnx.checker.check_model(onnx.load(MODEL))
    compiled = openvino.Core().compile_model(MODEL, "CPU")
    picture = numpy.random.default_rng(1).random([d if isinstance(d, int) else d.get_length() for d in compiled.input(0).shape], dtype=numpy.float32)
    wanted = compiled([picture])
    network = cv2.dnn.readNetFromONNX(str(MODEL))
    network.setInput(picture)
    outputs = network.forward(network.getUnconnectedOutLayersNames())
    print("OpenVINO", openvino.__version__, "OpenCV", cv2.__version__, "onnx", onnx.__version__, "outputs:", len(wanted), len(outputs))


steps = [ours, theirs] if sys.argv[1] == "first" else [theirs, ours]
for step in [*steps, *steps]:
    step()
