"""Where operators run."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["NodeSupport", "Subgraph", "Version"]


class NodeSupport(NamedTuple):
    """Where one operator of a queried model would run, or why it cannot."""

    name: str
    type_name: str
    device: str
    """Empty when no device runs it."""
    reason: str
    """Why not, or a remark."""


class Subgraph(NamedTuple):
    """A part of a compiled model that one device runs."""

    name: str
    device: str
    nodes: list[str]
    inputs: list[str]
    outputs: list[str]
    dependencies: list[int]
    """Numbers of subgraphs that run before."""


class Version(NamedTuple):
    """Of a device."""

    description: str
    build_number: str
