"""A pipeline of the installed plugin in a process that has OpenVINO, OpenCV's DNN and onnx. Usage: beside.py first|last DOC_FOLDER."""
import pathlib
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

MODELS = pathlib.Path(sys.argv[2], "examples/models")
MODEL = MODELS / "scene_detector.onnx"


def ours():
    Gst.init(None)
    counts = {}
    for device in ("CPU", "GPU", "HETERO:GPU,CPU"):
        pipeline = Gst.parse_launch(
            f"filesrc location={sys.argv[2]}/docs/demo.jpg ! jpegdec ! videoconvert ! video/x-raw,format=NV12 "
            f"! heterodetect model={MODEL} model-proc={MODELS / 'scene_detector.json'} device={device} "
            "! heterometaconvert name=convert ! fakesink")
        objects = []
        pipeline.get_by_name("convert").get_static_pad("sink").add_probe(
            Gst.PadProbeType.BUFFER, lambda pad, info, found=objects: (found.append(regions(info.get_buffer())), Gst.PadProbeReturn.OK)[1])
        pipeline.set_state(Gst.State.PLAYING)
        message = pipeline.get_bus().timed_pop_filtered(120 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        if message is None or message.type == Gst.MessageType.ERROR:
            sys.exit(f"{device}: {message.parse_error() if message else 'nothing after two minutes'}")
        pipeline.set_state(Gst.State.NULL)
        counts[device] = objects[0]
    print("objects by device:", counts)
    assert counts["CPU"] > 0 and len(set(counts.values())) == 1, counts


def regions(buffer):
    gi.require_version("GstVideo", "1.0")
    from gi.repository import GstVideo

    count = 0
    while GstVideo.buffer_get_video_region_of_interest_meta_id(buffer, count) is not None:
        count += 1
    return count


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
