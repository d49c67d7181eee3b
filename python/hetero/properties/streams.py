"""Executions at the same time."""

import enum

from hetero.properties._names import PropertyName

__all__ = ["Num", "num"]


class Num(str, enum.Enum):
    """Numbers of streams that the device chooses."""
    AUTO = "AUTO"
    NUMA = "NUMA"


num = PropertyName("NUM_STREAMS")
