#!/usr/bin/env python3
"""Writes the node test cases of the installed onnx package as backend test folders.

usage: onnx_node_data.py FOLDER

FOLDER/node/<case>/model.onnx and test_data_set_<k>/{input,output}_<n>.pb, as in ONNX's own backend/test/data. A folder that is
there already is replaced.
"""

import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case import node


def to_proto(value, port):
    """The protobuf message of one value of a test case, as the port's type asks for."""
    if isinstance(value, onnx.TensorProto):
        return value
    kind = port.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, port.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, port.name)
    if kind == "map_type":
        return numpy_helper.from_dict(value, port.name)
    return numpy_helper.from_array(np.asarray(value), port.name)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    warnings.simplefilter("ignore")  # cases that overflow on purpose
    folder = Path(sys.argv[1]) / "node"
    shutil.rmtree(folder, ignore_errors=True)
    cases = node.collect_testcases(None)
    for case in cases:
        target = folder / case.name
        target.mkdir(parents=True)
        (target / "model.onnx").write_bytes(case.model.SerializeToString())
        for k, (inputs, outputs) in enumerate(case.data_sets):
            data_set = target / f"test_data_set_{k}"
            data_set.mkdir()
            for what, values, ports in (
                ("input", inputs, case.model.graph.input),
                ("output", outputs, case.model.graph.output),
            ):
                for n, (value, port) in enumerate(zip(values, ports)):
                    (data_set / f"{what}_{n}.pb").write_bytes(
                        to_proto(value, port).SerializeToString()
                    )
    print(f"{len(cases)} node test cases of onnx {onnx.__version__} in {folder}")


if __name__ == "__main__":
    main()
