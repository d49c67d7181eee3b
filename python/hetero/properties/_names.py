"""Names of properties that can be called as OpenVINO's: name(), name(value)."""

from __future__ import annotations

from typing import Any, overload

__all__ = ["PropertyName"]


class PropertyName(str):
    """The name of a property. name() is the name itself, name(value) the pair for a configuration."""

    __slots__ = ()

    @overload
    def __call__(self) -> str: ...

    @overload
    def __call__(self, value: Any, /, *more: Any) -> tuple[str, Any]: ...

    def __call__(self, *values: Any) -> Any:
        """name() is the name as a str, name(value) the pair (name, value), name(a, b) the pair (name, (a, b))."""
        if not values:
            return str(self)
        return str(self), values[0] if len(values) == 1 else values
