"""The list of exports, and what each of them is."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

EXPORTS = []


@dataclasses.dataclass
class Input:
    """How an input is filled: by the formula of `hetero verify`'s golden folders from `low` to `high`."""

    shape: tuple = ()  # () keeps the model's own; needed where it has unbound sizes
    low: float = 0.0
    high: float = 1.0


@dataclasses.dataclass
class Export:
    """`make` writes a model into a folder and returns its file, an .onnx or an .xml.

    `inputs` says how inputs are filled, by name; "" stands for all others. `is_small`: also run on the devices that are
    slow here, GPU by OpenCL on a CPU and HETERO. `known`: why a result may differ, in the table. ONNX files are also
    converted to IR by OpenVINO, once in float32 and once with weights in float16, unless `converts` is false.
    """

    exporter: str
    task: str
    name: str
    options: str
    make: Callable[[Path], Path]
    inputs: dict = dataclasses.field(default_factory=dict)
    is_small: bool = False
    converts: bool = True
    known: str = ""

    @property
    def key(self):
        text = f"{self.exporter}.{self.name}" + (f".{self.options}" if self.options else "")
        return "".join(c if c.isalnum() or c in "._-" else "_" for c in text)


def add(exporter, task, name, options, make, **more):
    export = Export(exporter, task, name, options, make, **more)
    assert all(export.key != known.key for known in EXPORTS), export.key
    EXPORTS.append(export)
