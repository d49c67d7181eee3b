#!/usr/bin/env python3
"""Counts objects in a running pipeline by a pad probe: how often each label is seen, and how many objects they are.

    python3 examples/python/gst/probe_counter.py out/demo/scene.mp4

heterotrack gives each object an id that it keeps over frames. Totals are printed at the end of the video, and on Ctrl-C.
"""

from __future__ import annotations

import argparse
import pathlib
import signal
import sys
from collections import Counter, defaultdict
from typing import Any

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst

from hetero.gst import VideoFrame

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import demo_files

PIPELINE = "filesrc name=source ! decodebin ! heterodetect name=detector ! heterotrack ! fakesink name=sink"


class Totals:
    """What the probe has seen. Only the streaming thread counts; it is read when the pipeline has ended."""

    def __init__(self) -> None:
        self.frames = 0
        self.seen: Counter[str] = Counter()
        self.ids: defaultdict[str, set[int]] = defaultdict(set)

    def count(self, pad: Gst.Pad, probe: Gst.PadProbeInfo) -> Gst.PadProbeReturn:
        """On the streaming thread, for each frame: the pipeline waits for it."""
        self.frames += 1
        for region in VideoFrame(probe.get_buffer(), caps=pad.get_current_caps()).regions():
            self.seen[region.label()] += 1
            object_id = region.object_id()
            if object_id is not None:
                self.ids[region.label()].add(object_id)
        return Gst.PadProbeReturn.OK

    def print(self) -> None:
        print(f"{self.frames} frames")
        for label, times in self.seen.most_common():
            print(f"{label}: seen {times} times, ids: {len(self.ids[label])}")


def run(pipeline: Gst.Pipeline) -> str:
    """Until the end of the video or Ctrl-C. The message of an element that failed, or nothing."""
    loop = GLib.MainLoop()
    problems: list[str] = []

    def on_error(_bus: Gst.Bus, message: Gst.Message) -> None:
        problems.append(f"{message.src.get_name()}: {message.parse_error().gerror.message}")
        loop.quit()

    def on_interrupt() -> bool:
        # The pipeline ends as a video does: what is in flight is still counted.
        pipeline.send_event(Gst.Event.new_eos())
        return GLib.SOURCE_REMOVE

    bus = pipeline.get_bus()
    bus.add_signal_watch()
    bus.connect("message::error", on_error)
    bus.connect("message::eos", lambda _bus, _message: loop.quit())
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGINT, on_interrupt)
    pipeline.set_state(Gst.State.PLAYING)
    print("counting until the end of the video, or Ctrl-C", flush=True)
    try:
        loop.run()
    finally:
        pipeline.set_state(Gst.State.NULL)
        bus.remove_signal_watch()
    return problems[0] if problems else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("video", help="what decodebin reads; ./demo.sh makes out/demo/scene.mp4")
    parser.add_argument("--model", default=str(demo_files.DETECTOR), help="ONNX or OpenVINO IR")
    parser.add_argument("--model-proc", help="says what the model's results mean; by default the .json beside the model, if there is one")
    parser.add_argument("--realtime", action="store_true", help="no faster than the video is played")
    options = parser.parse_args()

    Gst.init(None)
    pipeline: Any = Gst.parse_launch(PIPELINE)
    pipeline.get_by_name("source").set_property("location", options.video)
    detector = pipeline.get_by_name("detector")
    detector.set_property("model", options.model)
    detector.set_property("model-proc", options.model_proc or demo_files.descriptor_of(options.model))
    sink = pipeline.get_by_name("sink")
    sink.set_property("sync", options.realtime)
    totals = Totals()
    sink.get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, totals.count)
    problem = run(pipeline)
    if problem:
        sys.exit(f"probe_counter.py: {problem}")
    totals.print()


if __name__ == "__main__":
    main()
