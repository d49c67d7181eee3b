"""Named values about a region or a frame."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Optional

from hetero.gst import _gst

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NUMPY_TYPES = {
    "FP16": "float16", "FP32": "float32", "FP64": "float64", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64",
    "U8": "uint8", "U16": "uint16", "U32": "uint32", "U64": "uint64", "BOOL": "bool", "BF16": "uint16",
}


class Tensor(_gst.Tensor):
    """Named values: tensor[field], which is None for a field that is not there, and tensor[field] = value.

    What elements attach has the fields that docs/metadata.md lists; scripts may add their own. Tensor(name) makes one that add_tensor()
    copies into a frame.
    """

    __slots__ = ()

    class PRECISION(enum.Enum):
        """Types of elements, with DL Streamer's numbers."""

        UNSPECIFIED = 255
        FP32 = 10
        FP16 = 11
        BF16 = 12
        FP64 = 13
        Q78 = 20
        I16 = 30
        U4 = 39
        U8 = 40
        BOOL = 41
        I4 = 49
        I8 = 50
        U16 = 60
        I32 = 70
        BIN = 71
        I64 = 72
        U64 = 73
        U32 = 74
        CUSTOM = 80

    class LAYOUT(enum.Enum):
        """Orders of dimensions, with DL Streamer's numbers."""

        ANY = 0
        NCHW = 1
        NHWC = 2
        NC = 193

    def __repr__(self) -> str:
        return repr(dict(self))

    def dims(self) -> Optional[list[int]]:
        """Dimensions of the values; None without them."""
        return self["dims"]

    def precision(self) -> Tensor.PRECISION:
        """Type of the values; UNSPECIFIED without them."""
        try:
            return self.PRECISION(self["precision"])
        except ValueError:
            return self.PRECISION.UNSPECIFIED

    def precision_as_string(self) -> str:
        """'FP32', 'U8' ...; 'UNSPECIFIED' without values."""
        return self.precision().name

    def layout(self) -> Tensor.LAYOUT:
        """Order of the dimensions; ANY where it is not told."""
        try:
            return self.LAYOUT(self["layout"])
        except ValueError:
            return self.LAYOUT.ANY

    def layout_as_string(self) -> str:
        """'NCHW', 'NHWC', 'NC' or 'ANY'."""
        return self.layout().name

    def data(self) -> Optional[NDArray[Any]]:
        """The values as a flat array of their type (bf16 as uint16), which cannot be written; reshape it by dims(). None without them."""
        content = self._bytes()
        kind = _NUMPY_TYPES.get(self.precision().name)
        if content is None or kind is None:
            return None
        import numpy  # only where it is needed: some interpreters cannot have it
        return numpy.frombuffer(content, numpy.dtype(kind))

    def model_name(self) -> Optional[str]:
        """The model that gave it."""
        return self["model_name"]

    def layer_name(self) -> Optional[str]:
        """The model's output that it is from."""
        return self["layer_name"]

    def format(self) -> Optional[str]:
        """How the values are to be read, such as 'keypoints'."""
        return self["format"]

    def type(self) -> Optional[str]:
        """The field `type`, which DL Streamer's elements set."""
        return self["type"]

    def element_id(self) -> Optional[str]:
        """The field `element_id`, which DL Streamer's elements set."""
        return self["element_id"]

    def confidence(self) -> Any:
        """0..1: how sure the model is."""
        return self["confidence"]

    def label_id(self) -> Optional[int]:
        """Number of the class in the model."""
        return self["label_id"]

    def object_id(self) -> Optional[int]:
        """The field `object_id`; who an object is tells RegionOfInterest.object_id()."""
        return self["object_id"]

    def label(self) -> Optional[str]:
        """The class. RuntimeError for a detection, whose class is RegionOfInterest.label()."""
        if self.is_detection():
            raise RuntimeError("a detection's class is RegionOfInterest.label(), not its tensor's")
        return self["label"]

    def set_label(self, label: str) -> None:
        """Says the class. RuntimeError for a detection."""
        if self.is_detection():
            raise RuntimeError("a detection's class belongs to its region; add a region with another label")
        self["label"] = label

    def is_detection(self) -> bool:
        """Whether it says where the object is."""
        return self.name() == "detection"
