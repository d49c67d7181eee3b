"""What single operators cost."""

from __future__ import annotations

import datetime
import enum
from typing import NamedTuple

__all__ = ["ProfilingInfo", "Status"]


class Status(enum.Enum):
    """Whether an operator ran."""

    NOT_RUN = "NOT_RUN"
    OPTIMIZED_OUT = "OPTIMIZED_OUT"
    EXECUTED = "EXECUTED"


class ProfilingInfo(NamedTuple):
    """One operator in the last execution with PERF_COUNT=YES."""

    node_name: str
    status: Status
    node_type: str
    exec_type: str
    real_time: datetime.timedelta
    cpu_time: datetime.timedelta


def make_row(node_name: str, status: str, node_type: str, exec_type: str, real_us: int, cpu_us: int) -> ProfilingInfo:
    return ProfilingInfo(node_name, Status(status), node_type, exec_type, datetime.timedelta(microseconds=real_us),
                         datetime.timedelta(microseconds=cpu_us))
