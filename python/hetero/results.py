"""What an execution returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, SupportsIndex, Union

from numpy.typing import NDArray

from hetero._hetero import ConstOutput

__all__ = ["InferResult"]


class InferResult(Mapping[ConstOutput, NDArray[Any]]):
    """Numpy arrays by output: result[0], result[\"name\"], result[compiled_model.output(0)].

    Iterating gives the outputs (ConstOutput), as OpenVINO's results do.
    """

    __slots__ = ("_arrays", "_ports")

    def __init__(self, ports: tuple[ConstOutput, ...], arrays: list[NDArray[Any]]) -> None:
        self._ports = ports
        self._arrays = arrays

    def __getitem__(self, key: Union[SupportsIndex, str, ConstOutput]) -> NDArray[Any]:
        if isinstance(key, str):
            for port, array in zip(self._ports, self._arrays):
                if port.any_name == key:
                    return array
            raise KeyError(f"{key!r}; there are {', '.join(port.any_name for port in self._ports)}")
        if isinstance(key, ConstOutput):
            if key not in self._ports:
                raise KeyError(key)
            return self._arrays[key.index]
        try:
            index = key.__index__()
        except AttributeError:
            raise TypeError(f"an output is meant by number, name or port, not by {key!r}") from None
        if not 0 <= index < len(self._arrays):
            raise KeyError(f"there are {len(self._arrays)} outputs, none has number {index}")
        return self._arrays[index]

    def __iter__(self) -> Iterator[ConstOutput]:
        return iter(self._ports)

    def __len__(self) -> int:
        return len(self._arrays)

    def names(self) -> tuple[set[str], ...]:
        """The names of each output."""
        return tuple(port.names for port in self._ports)

    def to_dict(self) -> dict[ConstOutput, NDArray[Any]]:
        """The arrays by output."""
        return dict(zip(self._ports, self._arrays))

    def to_tuple(self) -> tuple[NDArray[Any], ...]:
        """The arrays in the order of the outputs."""
        return tuple(self._arrays)

    def __repr__(self) -> str:
        return repr(self.to_dict())
