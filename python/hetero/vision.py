"""Pictures in, what is on them out."""

from __future__ import annotations

import collections
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Optional, TypeVar, Union, overload

from hetero._hetero import CompiledModel, PendingResult, TrackerCore, VisionModelCore, VisionSettings
from hetero.argument_types import Config, Path, PictureLike, Region, ShapeLike
from hetero.vision_results import VisionResult

__all__ = ["PendingVisionResult", "Tracker", "VisionModel", "inspect"]

Labels = Union[Path, list[str], tuple[str, ...], None]
PictureT = TypeVar("PictureT", bound=PictureLike)


@overload
def inspect(model: Path, device: str = "CPU", *, text: Literal[False] = False, config: Optional[Config] = None, labels: Labels = None,
            model_proc: Optional[Path] = None, preparation: Optional[Config] = None, reshape: Optional[Mapping[str, ShapeLike]] = None,
            width: int = 0, height: int = 0, custom_library: Optional[Path] = None, raw: bool = False) -> dict[str, Any]: ...


@overload
def inspect(model: Path, device: str = "CPU", *, text: Literal[True], config: Optional[Config] = None, labels: Labels = None,
            model_proc: Optional[Path] = None, preparation: Optional[Config] = None, reshape: Optional[Mapping[str, ShapeLike]] = None,
            width: int = 0, height: int = 0, custom_library: Optional[Path] = None, raw: bool = False) -> str: ...


def inspect(model: Path, device: str = "CPU", *, text: bool = False, config: Optional[Config] = None, labels: Labels = None,
            model_proc: Optional[Path] = None, preparation: Optional[Config] = None, reshape: Optional[Mapping[str, ShapeLike]] = None,
            width: int = 0, height: int = 0, custom_library: Optional[Path] = None, raw: bool = False) -> Union[str, dict[str, Any]]:
    """How pictures get into a model and how its results are read, why so, and what else fits, as a dict; with text=True as text.

    It works for models, too, for which VisionModel wants to be told something first. The other arguments are those of VisionModel.
    Raises NotFound, ParseError.
    """
    settings = VisionSettings(model, device, config, labels, model_proc, preparation, reshape, width, height, custom_library, raw)
    return _told(settings, text)


def _told(settings: VisionSettings, text: bool) -> Union[str, dict[str, Any]]:
    told = settings.inspect(not text)
    if text:
        return told
    found: dict[str, Any] = json.loads(told)
    return found


class PendingVisionResult:
    """A picture on its way, from VisionModel.start()."""

    def __init__(self, pending: PendingResult, labels: list[str]) -> None:
        self._pending = pending
        self._labels = labels

    def wait(self) -> VisionResult:
        """Waits for the end; Ctrl-C ends the wait. Raises what the execution failed with."""
        return VisionResult(self._pending.wait(), self._labels)

    def is_done(self) -> bool:
        """Whether the end has come."""
        return self._pending.is_done()


class VisionModel:
    """A model that finds, classifies, segments or reads, ready for pictures.

        model = hetero.VisionModel("yolox_nano.onnx", device="HETERO:GPU,CPU")
        for found in model(cv2.imread("street.jpg")):
            print(found["label"], found["score"], found["box"])

    How pictures get in and results are read is taken from the model, its metadata and its shapes, as the elements of GStreamer do; what they
    leave open has to be said (inspect() tells what). Threads may share it.

    device: "CPU", "GPU", "HETERO:GPU,CPU" ...
    config: properties of the device. labels: a list of texts, or the path of a file with one a line. model_proc: the path of a descriptor in
    DL Streamer's format. preparation: keys of OpenVINO's model_info that win (resize_type, mean_values ...). reshape: shapes by input name.
    width, height: of the model's input in pixels, where it leaves them open. custom_library: the path of a decoder of one's own.
    raw: True for the outputs as they are (result.tensors).
    Raises NotFound, ParseError, NotSupported; InvalidArgument when something has to be said.
    """

    def __init__(self, model: Path, device: str = "CPU", *, config: Optional[Config] = None, labels: Labels = None,
                 model_proc: Optional[Path] = None, preparation: Optional[Config] = None, reshape: Optional[Mapping[str, ShapeLike]] = None,
                 width: int = 0, height: int = 0, custom_library: Optional[Path] = None, raw: bool = False) -> None:
        self._settings = VisionSettings(model, device, config, labels, model_proc, preparation, reshape, width, height, custom_library, raw)
        self._core = VisionModelCore(self._settings)
        self._labels = self._core.labels

    def __call__(self, picture: PictureLike, *, format: str = "", matrix: str = "bt601", full_range: bool = False, region: Region = None,
                 threshold: float = 0.0) -> VisionResult:
        """Runs the model on a picture and waits.

        picture: an array of uint8, (height, width, 3) BGR as OpenCV has it, RGB from torch and other libraries by DLPack; (3, height, width);
        (height, width) grey; a PIL image; with format="NV12" or "I420" an array (height * 3 / 2, width), or a tuple of planes. format: NV12,
        I420, P010, RGB, BGR, RGBx, BGRx, RGBA, BGRA, RGBP, BGRP, GBR, GRAY8, YUY2, UYVY. The memory is used where it lies when pixels lie side
        by side.
        matrix, full_range: of YUV: bt601, bt709 or bt2020, and whether Y uses 0..255.
        region: (x, y, width, height), the part of the picture that the model sees; results are in pixels of the picture all the same.
        threshold: scores below are left out; 0 leaves the model's own.
        Raises InvalidArgument saying what is wrong with the picture.
        """
        raw = self._core.infer(picture, format, matrix, full_range, region, threshold)
        return VisionResult(raw, self._labels)

    def start(self, picture: PictureLike, *, format: str = "", matrix: str = "bt601", full_range: bool = False, region: Region = None,
              threshold: float = 0.0) -> PendingVisionResult:
        """The same without waiting. The picture must not change before the end."""
        pending = self._core.start(picture, format, matrix, full_range, region, threshold)
        return PendingVisionResult(pending, self._labels)

    def stream(self, pictures: Iterable[PictureT], *, requests: int = 0, format: str = "", matrix: str = "bt601",
               full_range: bool = False, region: Region = None, threshold: float = 0.0) -> Iterator[tuple[PictureT, VisionResult]]:
        """Pairs of picture and result, in order, with several requests in flight: as many as the device wants, or `requests`.

        The other arguments are those of __call__(). The next pictures are fetched before a result is given out, so each
        has to have memory of its own.
        """
        count = requests or int(self.compiled_model.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
        running: collections.deque[tuple[PictureT, PendingVisionResult]] = collections.deque()
        for picture in pictures:
            running.append((picture, self.start(picture, format=format, matrix=matrix, full_range=full_range, region=region,
                                                 threshold=threshold)))
            if len(running) >= count:
                first, pending = running.popleft()
                yield first, pending.wait()
        for first, pending in running:
            yield first, pending.wait()

    @overload
    def inspect(self, *, text: Literal[False] = False) -> dict[str, Any]: ...

    @overload
    def inspect(self, *, text: Literal[True]) -> str: ...

    def inspect(self, *, text: bool = False) -> Union[str, dict[str, Any]]:
        """How pictures get in and results are read, why so, and what else fits, as a dict; with text=True as text."""
        return _told(self._settings, text)

    @property
    def labels(self) -> list[str]:
        """Names of the classes, by label_id; empty where nothing tells them."""
        return self._labels

    @property
    def input_size(self) -> tuple[int, int]:
        """Width and height of the model's picture input, in pixels."""
        return self._core.input_size

    @property
    def compiled_model(self) -> CompiledModel:
        """The model behind it, for properties and requests of one's own."""
        return self._core.compiled_model

    def __repr__(self) -> str:
        return f"<VisionModel: {self.compiled_model!r}>"


class Tracker:
    """Who is who from picture to picture, for one stream.

    type: "zero-term" connects objects by where they are; "short-term-imageless" the same; "deep-sort" by feature vectors, and place;
    "byte-track" and "oc-sort" by place, and they follow objects through pictures in which the detector is not sure: call the VisionModel
    with threshold=0.1.
    config, deep_sort: KEY=VALUE,... as heterotrack and gvatrack take them. Raises InvalidArgument.
    """

    def __init__(self, type: str = "zero-term", config: str = "", deep_sort: str = "") -> None:
        self._core = TrackerCore(type, config, deep_sort)

    def update(self, result: VisionResult, features: Optional[Sequence[Sequence[float]]] = None) -> VisionResult:
        """Writes who it is into objects["object_id"], from 1 on; 0: not sure yet. features: a vector per object, for deep-sort.

        byte-track and oc-sort take objects out of the result: those below track_threshold (0.5) that are none that is known.
        """
        rows = result.objects
        rows["object_id"] = self._core.update(rows["box"], rows["score"], rows["label_id"], [str(label) for label in rows["label"]], features)
        if (rows["object_id"] < 0).any():
            result.keep(rows["object_id"] >= 0)
        return result

    def reset(self) -> None:
        """Forgets everything; ids begin at 1 again."""
        self._core.reset()
