"""What the library raises. The message says what is wrong, where, and what would do instead.

All are RuntimeErrors, as OpenVINO's are, and besides the builtin that Python's users expect for the kind.
"""

__all__ = [
    "Busy", "Cancelled", "DeviceLost", "HeteroError", "Internal", "InvalidArgument", "NotFound", "NotSupported", "OutOfMemory", "ParseError",
    "ShapeMismatch", "TimedOut",
]


class HeteroError(RuntimeError):
    """A failure of the library."""


class InvalidArgument(HeteroError, ValueError):
    """A property, option, tensor or call that can never work."""


class NotFound(HeteroError, LookupError):
    """A file, name, device or port that does not exist."""


class NotSupported(HeteroError, NotImplementedError):
    """Valid input that this build, device or step does not handle."""


class ParseError(HeteroError, ValueError):
    """A malformed model, JSON, label or data file."""


class ShapeMismatch(HeteroError, ValueError):
    """Tensor types or shapes that do not fit together."""


class Busy(HeteroError):
    """The request is running; wait() for it first."""


class Cancelled(HeteroError):
    """cancel() was called."""


class TimedOut(HeteroError, TimeoutError):
    """A device did not answer in time."""


class DeviceLost(HeteroError):
    """The device failed or disappeared; another one may do the work."""


class OutOfMemory(HeteroError, MemoryError):
    """An allocation failed or a stated limit would be exceeded."""


class Internal(HeteroError):
    """A third-party library failed unexpectedly."""
