#!/usr/bin/env python3
"""Makes an export a test of the project: without its large weights, with what the peer computes for drawn ones.

usage: strip.py EXPORTER KEY FOLDER

Writes FOLDER/model.onnx (or model.xml and model.bin) and the golden folder's files beside it. tests/exports/fill_weights.cpp fills the weights
in again; both draw the same.
"""

import importlib
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import record
from catalogue import EXPORTS

LEAST = 64  # elements that are drawn
KEPT_OUTPUTS = 2000  # values of an output


def drawn(count, mean, deviation, number):
    i = np.arange(count, dtype=np.uint64) + np.uint64(7919 * number)
    noise = ((i * np.uint64(2654435761)) % np.uint64(1 << 32)) >> np.uint64(24)
    return np.float32(mean) + np.float32(deviation) * np.sqrt(np.float32(3)) * (noise.astype(np.float32) / np.float32(127.5) - np.float32(1))


class Drawer:
    """Gives every tensor its own numbers, of its mean and deviation."""

    def __init__(self):
        self.count = 0

    def __call__(self, values):
        values = values.astype(np.float32)
        mean, deviation = np.float32(f"{values.mean():.4g}"), np.float32(f"{values.std():.4g}")
        self.count += 1
        return f"drawn {mean:.4g} {deviation:.4g} {self.count}", drawn(values.size, mean, deviation, self.count)


def worth_drawing(values):
    return values.dtype in (np.float32, np.float16) and values.size >= LEAST and np.isfinite(values).all() and values.std() > 0


def strip_onnx(file, folder, whole):
    import onnx
    from onnx import numpy_helper

    model = onnx.load(file)
    draw = Drawer()
    filled = onnx.ModelProto()
    filled.CopyFrom(model)
    for tensor, full in zip(model.graph.initializer, filled.graph.initializer):
        values = numpy_helper.to_array(tensor)
        tensor.doc_string = full.doc_string = ""
        if not worth_drawing(values):
            continue
        text, new = draw(values)
        full.CopyFrom(numpy_helper.from_array(new.astype(values.dtype).reshape(values.shape), tensor.name))
        for field in ("raw_data", "float_data", "int32_data"):
            tensor.ClearField(field)
        tensor.doc_string = text
    for node in model.graph.node:  # stack traces
        del node.metadata_props[:]
        node.doc_string = ""
    for value in list(model.graph.value_info):
        model.graph.value_info.remove(value)
    onnx.save(model, folder / "model.onnx")
    onnx.save(filled, whole / "model.onnx")
    return whole / "model.onnx"


def strip_ir(file, folder, whole):
    types = {"f32": np.float32, "f16": np.float16}
    content = file.with_suffix(".bin").read_bytes()
    tree = ElementTree.parse(file)
    draw, small, large = Drawer(), bytearray(), []
    for data in tree.iter("data"):
        if "offset" not in data.attrib:
            continue
        offset, size = int(data.get("offset")), int(data.get("size"))
        piece = content[offset:offset + size]
        kind = types.get(data.get("element_type"))
        values = np.frombuffer(piece, kind) if kind else np.zeros(0)
        if kind and worth_drawing(values):
            text, new = draw(values)
            data.set("drawn", text)
            large.append((data, new.astype(kind).tobytes()))
        else:
            data.set("offset", str(len(small)))
            small += piece + bytes(-len(piece) % 8)
    for info in list(tree.getroot().findall("rt_info")):
        tree.getroot().remove(info)
    whole_content = bytearray(small)
    for data, piece in large:
        data.set("offset", str(len(whole_content)))
        whole_content += piece + bytes(-len(piece) % 8)
    for place, bin_content in ((folder, small), (whole, whole_content)):
        tree.write(place / "model.xml")
        (place / "model.bin").write_bytes(bin_content)
    return whole / "model.xml"


def main():
    exporter, key, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    importlib.import_module(f"{exporter}_exports").list_exports()
    export = next(e for e in EXPORTS if e.key == key)
    folder.mkdir(parents=True, exist_ok=True)
    record.KEPT = KEPT_OUTPUTS
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as whole:
        file = export.make(Path(made))
        whole = Path(whole)
        file = (strip_ir if file.suffix == ".xml" else strip_onnx)(file, folder, whole)
        peer = record.OpenVino(file) if file.suffix == ".xml" else record.OnnxRuntime(file)
        values, described = record.fill(peer, export.inputs)
        record.golden(Path(folder.name) / file.name, peer, described, peer.run(values), folder)


if __name__ == "__main__":
    main()
