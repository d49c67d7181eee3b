"""Shapes of tensors, and shapes with open dimensions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Optional, SupportsIndex, Union, overload

from hetero.argument_types import DimensionLike, ShapeLike

__all__ = ["Dimension", "PartialShape", "Shape", "to_dimensions"]


class Shape(tuple[int, ...]):
    """The dimensions of a tensor: a tuple of ints that also equals a list."""

    __slots__ = ()

    def __new__(cls, dims: ShapeLike = ()) -> Shape:
        sizes = to_dimensions(dims)
        if any(size < 0 for size in sizes):
            raise ValueError(f"a Shape has no open dimensions: {dims!r}; use PartialShape")
        return tuple.__new__(cls, sizes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (tuple, list)):
            return NotImplemented
        return tuple(self) == tuple(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def to_string(self) -> str:
        """As OpenVINO writes it: [1,3,224,224]."""
        return "[" + ",".join(map(str, self)) + "]"

    def __str__(self) -> str:
        return self.to_string()

    def __repr__(self) -> str:
        return f"<Shape: {self.to_string()}>"


class Dimension:
    """One dimension: a size, or -1 for an open one. Bounds (\"1..8\") are not kept: they count as open."""

    __slots__ = ("_size",)

    def __init__(self, size: DimensionLike = -1, upper: Optional[int] = None) -> None:
        self._size = _to_size(size) if upper is None or upper == size else -1

    @property
    def is_dynamic(self) -> bool:
        """Whether it is open."""
        return self._size < 0

    @property
    def is_static(self) -> bool:
        """Whether it has a size."""
        return self._size >= 0

    def get_length(self) -> int:
        """The size. Raises ValueError for an open dimension."""
        if self._size < 0:
            raise ValueError("the dimension is open: it has no length")
        return self._size

    def __len__(self) -> int:
        return self.get_length()

    @property
    def min_length(self) -> int:
        """0 for an open dimension."""
        return max(self._size, 0)

    @property
    def max_length(self) -> int:
        """-1 for an open dimension."""
        return self._size

    def __index__(self) -> int:
        return self._size

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Dimension, int)):
            return NotImplemented
        return self._size == int(other)

    def __hash__(self) -> int:
        return hash(self._size)

    def to_string(self) -> str:
        """The size, or ?."""
        return "?" if self._size < 0 else str(self._size)

    def __str__(self) -> str:
        return self.to_string()

    def __repr__(self) -> str:
        return f"<Dimension: {self.to_string()}>"


class PartialShape(Sequence[Dimension]):
    """A shape whose dimensions may be open: PartialShape([1, 3, -1, -1]), PartialShape(\"[1,3,?,?]\")."""

    __slots__ = ("_dims",)

    def __init__(self, dims: ShapeLike) -> None:
        self._dims = tuple(Dimension(size) for size in to_dimensions(dims))

    @property
    def is_dynamic(self) -> bool:
        """Whether a dimension is open."""
        return any(dim.is_dynamic for dim in self._dims)

    @property
    def is_static(self) -> bool:
        """Whether no dimension is open."""
        return not self.is_dynamic

    @property
    def rank(self) -> Dimension:
        """Number of dimensions."""
        return Dimension(len(self._dims))

    def get_shape(self) -> Shape:
        """Raises ValueError when a dimension is open."""
        return Shape(self)

    to_shape = get_shape

    def get_dimension(self, index: int) -> Dimension:
        """By number; negative ones count from the end. Raises IndexError."""
        return self._dims[index]

    @overload
    def __getitem__(self, index: SupportsIndex) -> Dimension: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Dimension, ...]: ...

    def __getitem__(self, index: Union[SupportsIndex, slice]) -> Union[Dimension, tuple[Dimension, ...]]:
        return self._dims[index]

    def __len__(self) -> int:
        return len(self._dims)

    def __iter__(self) -> Iterator[Dimension]:
        return iter(self._dims)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (PartialShape, tuple, list)):
            return NotImplemented
        return [int(dim) for dim in self] == [int(dim) for dim in other]

    def __hash__(self) -> int:
        return hash(self._dims)

    def to_string(self) -> str:
        """As OpenVINO writes it: [1,3,?,?]."""
        return "[" + ",".join(map(str, self._dims)) + "]"

    def __str__(self) -> str:
        return self.to_string()

    def __repr__(self) -> str:
        return f"<PartialShape: {self.to_string()}>"


def to_dimensions(dims: ShapeLike) -> list[int]:
    """Sizes of a shape in any form; -1 for open dimensions. Raises ValueError, TypeError."""
    if isinstance(dims, str):
        text = dims.strip()
        if text.startswith("[") and text.endswith("]"):
            text = text[1:-1]
        return [_to_size(part) for part in text.split(",")] if text.strip() else []
    if isinstance(dims, (int, Dimension)):
        raise TypeError(f"a shape is a sequence of dimensions, not {dims!r}")
    return [_to_size(dim) for dim in dims]


def _to_size(dim: DimensionLike) -> int:
    if isinstance(dim, str):
        text = dim.strip()
        if text in ("?", "-1") or re.fullmatch(r"\d*\.\.\d*", text):
            return -1
        if not text.isdigit():
            raise ValueError(f"'{dim}' is no dimension: a size, or ? for an open one")
        return int(text)
    if isinstance(dim, tuple):
        return int(dim[0]) if len(dim) == 2 and dim[0] == dim[1] else -1
    size = dim.__index__()
    if size < -1:
        raise ValueError(f"{size} is no dimension: a size, or -1 for an open one")
    return size
