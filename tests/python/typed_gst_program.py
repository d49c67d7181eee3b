"""A script for heteropython and a program that reads what it has left, for mypy --strict: typed_gst_program.py. What it marks as errors has to be
found. PyGObject has no types."""
from __future__ import annotations

import json
import pathlib
from typing import TYPE_CHECKING, Any

import gi
import numpy
from numpy.typing import NDArray

from hetero.gst import GST_PAD_PROBE_INFO_BUFFER, Rect, RegionOfInterest, Tensor, VideoFrame

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402


class Marker:
    """Marks the brighter half of each frame, but for the frames before `first`."""

    def __init__(self, label: str, first: int = 0) -> None:
        self.label = label
        self.seen = -first

    def process_frame(self, frame: VideoFrame) -> bool:
        self.seen += 1
        with frame.data() as image:
            brightness: NDArray[numpy.float64] = image.mean(axis=(0, 2))
        half = brightness.size // 2
        left = half * int(brightness[:half].mean() < brightness[half:].mean())
        region = frame.add_region(left, 0, half, image.shape[0], self.label, confidence=brightness.max() / 255, extra_params={"seen": self.seen})
        region.set_object_id(numpy.int64(self.seen + 1))
        named = Tensor("brightness")
        named["values"] = [float(value) for value in brightness[:3]]
        region.add_tensor(named)["label"] = "bright"
        frame.add_message(json.dumps({"seen": self.seen}))
        return self.seen > 0


def described(region: RegionOfInterest) -> str:
    """A line for an object."""
    place: Rect[int] = region.rect()
    x, y, width, height = place
    share = region.normalized_rect().w
    classes: list[str] = [label for tensor in region.tensors() if not tensor.is_detection() and (label := tensor.label()) is not None]
    extra: dict[str, int] = json.loads(region.detection()["extra_params_json"])
    who: int | None = region.object_id()
    return f"{region.label()} {who} at {x},{y} {width}x{height}, {share:.2f} of the picture, {', '.join(classes)}, {extra}"


def all_values(tensor: Tensor) -> dict[str, object]:
    """By name, and the array of a model's output, where it is one."""
    values: dict[str, object] = dict(tensor)
    array = tensor.data()
    if array is not None and tensor.precision() is Tensor.PRECISION.FP32:
        values["array"] = array.reshape(tensor.dims() or [-1])
    return values


def remove_all(pad: Any, info: Any) -> int:
    """A probe."""
    with GST_PAD_PROBE_INFO_BUFFER(info) as buffer:
        frame = VideoFrame(buffer, caps=pad.get_current_caps())
        for message in frame.messages():
            frame.remove_message(message)
        for region in frame.regions():
            frame.remove_region(region)
    return int(Gst.PadProbeReturn.OK)


def main() -> None:
    Gst.init(None)
    kwarg = json.dumps({"label": "half", "first": 1}).replace('"', '\\"')
    pipeline = Gst.parse_launch("videotestsrc num-buffers=3 ! video/x-raw,format=RGB,width=160,height=96 ! "
                                f"heteropython module={pathlib.Path(__file__).resolve()} class=Marker kwarg=\"{kwarg}\" ! appsink name=out sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    sink = pipeline.get_by_name("out")
    while (sample := sink.emit("try-pull-sample", 20 * Gst.SECOND)) is not None:
        frame = VideoFrame(sample.get_buffer(), sample.get_caps())
        print(frame.width, frame.height, frame.format, frame.messages(), *map(described, frame.regions()))
        print(all_values(frame.regions()[0].tensors()[-1]))
    pipeline.set_state(Gst.State.NULL)


if TYPE_CHECKING:
    def mistakes(frame: VideoFrame, region: RegionOfInterest, tensor: Tensor) -> None:
        frame.add_region(1, 2, 3)  # type: ignore[call-arg]
        frame.add_region("left", 0, 10, 10)  # type: ignore[arg-type]
        frame.remove_region(tensor)  # type: ignore[arg-type]
        frame.width = 5  # type: ignore[misc]
        frame.messages()[0].label()  # type: ignore[attr-defined]
        with frame.data() as image:
            image.label()  # type: ignore[attr-defined]
        RegionOfInterest(frame)  # type: ignore[arg-type]
        VideoFrame()  # type: ignore[call-arg]
        number: int = region.label()  # type: ignore[assignment]
        name: str = region.rect().x  # type: ignore[assignment]
        region.set_object_id("7")  # type: ignore[arg-type]
        tensor["label"].upper()  # type: ignore[union-attr]
        tensor[0]  # type: ignore[call-overload]
        tensor["values"] = {}  # type: ignore[assignment]
        tensor.set_label(5)  # type: ignore[arg-type]

if __name__ == "__main__":
    main()
