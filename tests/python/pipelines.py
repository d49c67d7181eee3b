"""GStreamer for this folder's tests: pipelines that run to their end, and what their buffers carry."""
import json
import pathlib
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402,F401

ROOT = pathlib.Path(__file__).parents[2]
PICTURE = ROOT / "examples/python/street.jpg"
DETECTOR = ROOT / "pipelines/demo/models/scene_detector.onnx"
DESCRIPTOR = DETECTOR.with_suffix(".json")
SOURCE = f"filesrc location={PICTURE} ! jpegdec ! imagefreeze num-buffers=3 ! videoconvert"
DETECT = f"heterodetect model={DETECTOR} model-proc={DESCRIPTOR} threshold=0.3"

Gst.init(None)

try:
    gi.require_version("GstAnalytics", "1.0")
    from gi.repository import GstAnalytics
except (ImportError, ValueError):
    GstAnalytics = None

# The forms that metadata can have here, as the values of metadata-form.
FORMS = ["roi"] if GstAnalytics is None or Gst.version()[:2] < (1, 26) else ["roi", "analytics"]


class PipelineError(Exception):
    def __init__(self, error, debug):
        super().__init__(error.message)
        self.debug = debug


def play(pipeline, timeout=60):
    """Until the end of the stream; raises the element's error. Returns the other messages' structures."""
    bus = pipeline.get_bus()
    structures = []
    pipeline.set_state(Gst.State.PLAYING)
    try:
        while True:
            message = bus.timed_pop(timeout * Gst.SECOND)
            if message is None:
                raise TimeoutError(f"the pipeline did not end in {timeout} s")
            if message.type == Gst.MessageType.EOS:
                return structures
            if message.type == Gst.MessageType.ERROR:
                raise PipelineError(*message.parse_error())
            if message.get_structure() is not None:
                structures.append(message.get_structure().to_string())
    finally:
        pipeline.set_state(Gst.State.NULL)


def run(line, probes=None, timeout=60):
    """Plays a line; probes: {element: function(pad, info) of buffers at its src pad}."""
    pipeline = Gst.parse_launch(line)
    failures = []
    for name, function in (probes or {}).items():
        def guarded(pad, info, function=function):
            try:
                function(pad, info)
            except BaseException as failure:  # what a probe raises is only printed by PyGObject
                failures.append(failure)
            return Gst.PadProbeReturn.OK
        pipeline.get_by_name(name).get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, guarded)
    try:
        return play(pipeline, timeout)
    finally:
        if failures:
            raise failures[0]


def samples(line, timeout=60):
    """The samples of the appsink `out`."""
    pipeline = Gst.parse_launch(line)
    sink = pipeline.get_by_name("out")
    pipeline.set_state(Gst.State.PLAYING)
    found = []
    until = time.monotonic() + timeout
    try:
        while True:
            sample = sink.emit("try-pull-sample", Gst.SECOND // 10)
            if sample is not None:
                found.append(sample)
                continue
            message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
            if message is not None:
                raise PipelineError(*message.parse_error())
            if sink.get_property("eos"):
                return found
            if time.monotonic() > until:
                raise TimeoutError(f"the pipeline did not end in {timeout} s")
    finally:
        pipeline.set_state(Gst.State.NULL)


def parsed(messages):
    return [json.loads(message) for message in messages]
