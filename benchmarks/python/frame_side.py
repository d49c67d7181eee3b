"""One measurement of frames.py, in a process of its own: {"way", "frames", "regions"} as JSON; prints {"seconds", "processor_seconds"} that the frames
took.

The source, the regions and the sink are the same in every way; between them an identity, or what calls Python.
"""
import json
import pathlib
import sys
import tempfile
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
FORMATTED = "video/x-raw,format=GRAY8,width=320,height=240,framerate=30/1"


def attached(count, folder):
    """A file for heteroattachroi with so many objects for each frame."""
    boxes = [{"roi_type": "car", "x": i % 200, "y": i % 150, "w": 20, "h": 30} for i in range(count)]
    file = pathlib.Path(folder) / "regions.json"
    file.write_text(json.dumps([{"objects": boxes}]))
    return f"heteroattachroi file-path={file} mode=in-loop"


def by_hetero(pad, info):
    from hetero.gst import VideoFrame
    import frame_callbacks
    frame_callbacks.process_frame(VideoFrame(info.get_buffer(), pad.get_current_caps()))
    return Gst.PadProbeReturn.OK


def main():
    asked = json.loads(sys.argv[1])
    Gst.init(None)
    middle = "identity name=middle"
    if asked["way"].startswith("element"):
        middle = f"heteropython name=middle module={HERE / 'frame_callbacks.py'}"
        if asked["way"] == "element-own":
            middle += " interpreter=own"
    with tempfile.TemporaryDirectory() as folder:
        regions = attached(asked["regions"], folder) if asked["regions"] else "identity"
        frames = asked["frames"] + 1
        pipeline = Gst.parse_launch(f"videotestsrc num-buffers={frames} pattern=black ! {FORMATTED} ! {regions} ! {middle} ! fakesink name=sink sync=false")
        times = []
        pad = pipeline.get_by_name("middle").get_static_pad("src")
        if asked["way"] == "probe":
            pad.add_probe(Gst.PadProbeType.BUFFER, by_hetero)
        elif asked["way"] == "ctypes":
            import ctypes_regions
            pad.add_probe(Gst.PadProbeType.BUFFER, ctypes_regions.probe)
        elif asked["way"] == "probe alone":
            pad.add_probe(Gst.PadProbeType.BUFFER, lambda pad, info: Gst.PadProbeReturn.OK)
        clock = Gst.SystemClock.obtain()

        # The first frame has the imports and is not counted; the last one looks at what was measured.
        def first(pad, info):
            times.append((clock.get_time(), time.process_time_ns()))
            return Gst.PadProbeReturn.REMOVE

        pipeline.get_by_name("sink").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, first)
        pipeline.set_state(Gst.State.PLAYING)
        message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        times.append((clock.get_time(), time.process_time_ns()))
        if message.type == Gst.MessageType.ERROR:
            sys.exit(f"{message.parse_error()}")
        buffer = pipeline.get_by_name("sink").get_property("last-sample").get_buffer()
        from hetero.gst import VideoFrame
        seen = len(VideoFrame(buffer).regions())
        pipeline.set_state(Gst.State.NULL)
    if seen != asked["regions"]:
        sys.exit(f"a frame has {seen} regions, not {asked['regions']}")
    wall, processor = [(end - start) / 1e9 for start, end in zip(*times)]
    print(json.dumps({"seconds": wall, "processor_seconds": processor}))


if __name__ == "__main__":
    main()
