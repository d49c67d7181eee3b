"""What arguments may be: names for annotations of one's own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Protocol, SupportsIndex, TypeVar, Union

from numpy.typing import DTypeLike, NDArray

from hetero._hetero import ConstOutput, Output, Type
from hetero.properties._names import PropertyName

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
else:
    ReadableBuffer = Union[bytes, bytearray, memoryview]

__all__ = [
    "ArrayLike", "Config", "DimensionLike", "Inputs", "ModelSource", "Path", "PictureLike", "PortKey", "Region", "ShapeLike", "SupportsArray",
    "SupportsArrayInterface", "SupportsDlpack", "TypeLike", "WeightsSource",
]


class SupportsDlpack(Protocol):
    """An array of another library, such as a torch.Tensor in host memory."""

    def __dlpack__(self) -> Any:
        """A capsule with the tensor."""

    def __dlpack_device__(self) -> tuple[Any, Any]:
        """Where it lies."""


class SupportsArray(Protocol):
    """What numpy.asarray() takes."""

    def __array__(self) -> NDArray[Any]:
        """The numpy array."""


class SupportsArrayInterface(Protocol):
    """The same in numpy's older protocol, such as an image of PIL."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """The array as numpy describes it."""


class _SupportsGetvalue(Protocol):
    """io.BytesIO."""

    def getvalue(self) -> bytes: ...


class _SupportsSerialize(Protocol):
    """onnx.ModelProto."""

    def SerializeToString(self) -> bytes: ...  # noqa: N802


Path = Union[str, os.PathLike[str]]
"""Of a file or folder."""

ArrayLike = Union[ReadableBuffer, SupportsDlpack, SupportsArray, SupportsArrayInterface, float, list[Any], tuple[Any, ...]]
"""What a tensor is made of: an array, a Tensor, a buffer, a number or lists of numbers."""

PictureLike = Union[ReadableBuffer, SupportsDlpack, SupportsArray, SupportsArrayInterface, list[Any], tuple[Any, ...]]
"""One array, an image of PIL, or an array per plane in a list or tuple."""

Region = Optional[Sequence[float]]
"""(x, y, width, height) in pixels of the picture; None is all of it."""

DimensionLike = Union[SupportsIndex, str, tuple[int, int]]
"""A size; -1 or "?" for an open one; (least, most)."""

ShapeLike = Union[str, Sequence[DimensionLike]]
"""A sequence of dimensions, Shape, PartialShape or text: "[1,3,?,?]"."""

TypeLike = Union[Type, DTypeLike]
"""A Type, its name or a dtype of numpy."""

PortKey = Union[SupportsIndex, str, ConstOutput, Output]
"""An input or output by number, name or port."""

Key = TypeVar("Key", bound=PortKey)

Inputs = Union[ArrayLike, Mapping[Key, ArrayLike], None]
"""Inputs of an execution: a dict by number, name or port, a list by position, or the only one; None leaves them."""

Config = Union[dict[str, Any], dict[PropertyName, Any], list[tuple[str, Any]], list[tuple[PropertyName, Any]], tuple[str, Any]]
"""Properties: a dict, or tuples of a name and a value."""

ModelSource = Union[Path, ReadableBuffer, _SupportsGetvalue, _SupportsSerialize]
"""A model: a path, bytes, an io.BytesIO or an onnx.ModelProto."""

WeightsSource = Union[Path, ReadableBuffer, _SupportsGetvalue]
"""Weights of a model: a path, bytes or an io.BytesIO."""
