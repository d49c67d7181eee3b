#!/usr/bin/env python3
"""Writes what the fuzzer starts from: small valid files of every kind, damaged variants, dictionaries.

Usage: make_corpus.py ROOT OUT. Every target gets a folder OUT/<target>; OUT/<name>.dict are dictionaries. The result is
the same each time. Needs Debian's python3-onnx (onnx's node test models, libonnx-testdata, are added where installed).
"""
import glob
import json
import pathlib
import random
import re
import struct
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

ONNX_NODES = "/usr/share/libonnx-testdata/data/node/*/model.onnx"
MAX_BYTES = 8192


def damaged(rng, data, count):
    """Truncated and bit-flipped variants."""
    for _ in range(count if data else 0):
        if rng.random() < 0.5:
            yield data[:rng.randrange(len(data) + 1)]
        else:
            changed = bytearray(data)
            for _ in range(rng.randint(1, 4)):
                changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            yield bytes(changed)


def onnx_model(nodes, inputs, outputs, constants=(), opset=19, domains=(), functions=(), **more):
    graph = h.make_graph(nodes, "g", inputs, outputs, initializer=list(constants), **more)
    imports = [h.make_opsetid("", opset)] + [h.make_opsetid(d, 1) for d in domains]
    return h.make_model(graph, opset_imports=imports, functions=list(functions)).SerializeToString()


def value(name, dims=(1, 3, 4, 4), kind=T.FLOAT):
    return h.make_tensor_value_info(name, kind, dims)


def onnx_files():
    x, y = value("x"), value("y", None)
    for opset in (1, 6, 7, 8, 9, 10, 11, 12, 13, 17, 18, 19):
        yield onnx_model([h.make_node("Softmax", ["x"], ["s"], axis=1), h.make_node("Relu", ["s"], ["y"])], [x], [y], opset=opset)
        yield onnx_model([h.make_node("Squeeze", ["x"], ["s"], axes=[0]), h.make_node("Add", ["s", "s"], ["y"])], [x], [y], opset=opset)
        yield onnx_model([h.make_node("Pad", ["x"], ["y"], pads=[0, 0, 1, 1, 0, 0, 1, 1], value=1.5)], [x], [y], opset=opset)
        yield onnx_model([h.make_node("Upsample", ["x"], ["y"], mode="nearest", scales=[1.0, 1.0, 2.0, 2.0])], [x], [y], opset=opset)
    # Every kind of attribute, on an operator that nobody has.
    tensor = numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3), "t")
    body = h.make_graph([h.make_node("Neg", ["x"], ["b"])], "body", [], [value("b", None)])
    sparse = h.make_sparse_tensor(numpy_helper.from_array(np.ones(2, np.float32)), numpy_helper.from_array(np.array([1, 3])), [4])
    kind = h.make_tensor_type_proto(T.FLOAT, [2, None])
    for attribute in (1, 2.5, "text", tensor, body, kind, sparse, [1, 2], [1.5, 2.5], ["a", "b"], [tensor], [body], [kind]):
        node = h.make_node("Unknown", ["x"], ["y"], domain="a.b")
        node.attribute.append(h.make_attribute("a", attribute))
        yield onnx_model([node], [x], [y], domains=["a.b"])
    # Every data type, as raw bytes and in its typed field.
    for number in T.DataType.values():
        if number == T.UNDEFINED:
            continue
        raw = T(name="c", data_type=number, dims=[2], raw_data=b"\1\0" * 16)
        typed = T(name="c", data_type=number, dims=[2], float_data=[1, 2, 3, 4], double_data=[1, 2, 3, 4], int32_data=[1, 2],
                  int64_data=[1, 2], uint64_data=[1, 2], string_data=[b"a", b"b"])
        for constant in (raw, typed):
            yield onnx_model([h.make_node("Cast", ["c"], ["y"], to=T.FLOAT)], [], [y], [constant])
    external = T(name="c", data_type=T.FLOAT, dims=[2], data_location=T.EXTERNAL)
    for key, text in (("location", "../weights.bin"), ("offset", "18446744073709551615"), ("length", "8")):
        external.external_data.add(key=key, value=text)
    yield onnx_model([h.make_node("Identity", ["c"], ["y"])], [], [y], [external])
    # A function of the file, and one that calls itself.
    for inner in ("Relu", "F"):
        function = h.make_function("own", "F", ["a"], ["b"], [h.make_node(inner, ["a"], ["b"], domain="own" if inner == "F" else "")],
                                   [h.make_opsetid("", 19), h.make_opsetid("own", 1)])
        yield onnx_model([h.make_node("F", ["x"], ["y"], domain="own")], [x], [y], domains=["own"], functions=[function])
    # Control flow.
    yes = numpy_helper.from_array(np.array(True), "yes")
    trips = numpy_helper.from_array(np.array(3), "trips")
    yield onnx_model([h.make_node("If", ["yes"], ["y"], then_branch=body, else_branch=body)], [x], [y], [yes])
    yield onnx_model([h.make_node("If", ["p"], ["y"], then_branch=body, else_branch=body)], [x, value("p", (), T.BOOL)], [y])
    steps = h.make_graph([h.make_node("Identity", ["go"], ["on"]), h.make_node("Add", ["v", "x"], ["w"]), h.make_node("Neg", ["w"], ["z"])],
                         "steps", [value("i", (), T.INT64), value("go", (), T.BOOL), value("v", None)],
                         [value("on", (), T.BOOL), value("w", None), value("z", None)])
    yield onnx_model([h.make_node("Loop", ["trips", "yes", "x"], ["l", "y"], body=steps)], [x], [y], [yes, trips])
    scan = h.make_graph([h.make_node("Add", ["s", "e"], ["t"]), h.make_node("Neg", ["e"], ["o"])], "scan",
                        [value("s", None), value("e", None)], [value("t", None), value("o", None)])
    yield onnx_model([h.make_node("Scan", ["x", "x"], ["f", "y"], body=scan, num_scan_inputs=1)], [x], [y])
    yield onnx_model([h.make_node("Relu", ["x"], ["y"])], [value("x", ("n", 3, None, 4))], [y])
    # Microsoft's and classical machine learning's operators that are lifted.
    ms = [("FusedConv", 2, {"activation": "Relu"}), ("FusedMatMul", 2, {"alpha": 0.5, "transA": 1}), ("Gelu", 1, {}), ("BiasGelu", 2, {}),
          ("FastGelu", 2, {}), ("QuickGelu", 1, {"alpha": 1.7}), ("SkipLayerNormalization", 4, {"epsilon": 1e-5}), ("QLinearAdd", 8, {}),
          ("QAttention", 8, {"num_heads": 2}), ("Attention", 4, {"num_heads": 2}), ("MultiHeadAttention", 3, {"num_heads": 2}),
          ("MatMulNBits", 4, {"K": 16, "N": 4, "bits": 4, "block_size": 16}), ("QLinearSigmoid", 5, {}), ("DynamicQuantizeMatMul", 4, {}),
          ("MatMulIntegerToFloat", 6, {}), ("QLinearGlobalAveragePool", 5, {}), ("QLinearConcat", 5, {"axis": 1}), ("CropAndResize", 4, {}),
          ("LayerNormalization", 3, {}), ("SimplifiedLayerNormalization", 2, {}), ("QuantizeLinear", 3, {}), ("DequantizeLinear", 3, {})]
    for name, count, attributes in ms:
        names = ["x"] + [f"c{i}" for i in range(1, count)]
        constants = [numpy_helper.from_array(np.ones((3, 3, 1, 1) if "Conv" in name else (4,), np.float32), n) for n in names[1:]]
        yield onnx_model([h.make_node(name, names, ["y"], domain="com.microsoft", **attributes)], [x], [y], constants, domains=["com.microsoft"])
    for name, attributes in (("Scaler", {"offset": [1.0], "scale": [2.0]}), ("Normalizer", {"norm": "L2"}), ("Binarizer", {"threshold": 0.5}),
                             ("Imputer", {"imputed_value_floats": [1.0], "replaced_value_float": 0.0}), ("ArrayFeatureExtractor", {}),
                             ("LabelEncoder", {"keys_floats": [1.0], "values_floats": [2.0]}), ("LinearRegressor", {"coefficients": [1.0] * 4})):
        yield onnx_model([h.make_node(name, ["x"], ["y"], domain="ai.onnx.ml", **attributes)], [x], [y], domains=["ai.onnx.ml"])
    for path in sorted(glob.glob(ONNX_NODES)):
        data = pathlib.Path(path).read_bytes()
        if len(data) <= MAX_BYTES:
            yield data


# Attributes that some layer of IR has; a layer reads its own and ignores the rest.
IR_ATTRIBUTES = (
    'strides="1,1" dilations="1,1" pads_begin="0,0" pads_end="0,0" auto_pad="explicit" kernel="2,2" axis="1" axes="1" group="1" '
    'keep_dims="true" num_splits="1" output_type="i64" destination_type="f16" mode="{mode}" min="-1" max="6" eps="1e-5" alpha="0.1" beta="0.5" bias="1" '
    'size="3" block_size="1" transpose_a="false" transpose_b="true" special_zero="true" begin_mask="0,0" end_mask="1,1" hidden_size="4" '
    'direction="forward" equation="abcd->acbd" rounding_type="floor" exclude-pad="true" batch_dims="0" classes="2" coords="4" num="3" mask="0,1,2" '
    'anchors="1,2,3,4,5,6" do_softmax="false" end_axis="3" variable_id="v" variable_type="f32" variable_shape="1,3,4,4" '
    'min_size="16" max_size="32" aspect_ratio="2" variance="0.1" step="8" offset="0.5" levels="256" pooled_h="2" pooled_w="2" '
    'spatial_scale="0.5" sampling_ratio="2" nms_threshold="0.5" keep_top_k="10" num_classes="2" coordinate_transformation_mode="half_pixel" '
    'nearest_mode="floor" shape_calculation_mode="scales" sort="value" index_element_type="i32" pad_mode="constant" eps_mode="inside_sqrt" '
    'normalize_variance="true" box_encoding="corner" sort_result_descending="true" auto_broadcast="numpy"')
IR_MODES = ("constant", "linear_onnx", "numpy", "bidirectional", "max", "min", "blocks_first", "erf", "half_to_even", "caffe.ResizeNearestNeighbor")


def ir_file(layer, inputs, constants, mode="constant", version=11, precision="FP32", opset="opset8", outputs=1):
    """One layer: `inputs` pictures, then constants of i64."""
    layers, edges, weights = [], [], b""
    dims = "".join(f"<dim>{d}</dim>" for d in (1, 3, 4, 4))
    kind = precision.lower()
    ports = ""
    for i in range(inputs):
        layers.append(f'<layer id="{i}" name="in{i}" type="Parameter" version="opset1"><data element_type="{kind}" shape="1,3,4,4"/>'
                      f'<output><port id="0" precision="{precision}" names="a{i}">{dims}</port></output></layer>')
        ports += f'<port id="{i}" precision="{precision}">{dims}</port>'
    for number, numbers in enumerate(constants, inputs):
        shape = str(len(numbers)) if numbers != [] and isinstance(numbers, list) else ""
        numbers = numbers if isinstance(numbers, list) else [numbers]
        data = struct.pack(f"<{len(numbers)}q", *numbers)
        dim = f"<dim>{shape}</dim>" if shape else ""
        layers.append(f'<layer id="{number}" name="c{number}" type="Const" version="opset1"><data element_type="i64" shape="{shape}" '
                      f'offset="{len(weights)}" size="{len(data)}"/><output><port id="0" precision="I64">{dim}</port></output></layer>')
        ports += f'<port id="{number}" precision="I64">{dim}</port>'
        weights += data
    last = inputs + len(constants)
    edges += [f'<edge from-layer="{i}" from-port="0" to-layer="{last}" to-port="{i}"/>' for i in range(last)]
    out = "".join(f'<port id="{last + i}" precision="{precision}">{dims}</port>' for i in range(outputs))
    layers.append(f'<layer id="{last}" name="l" type="{layer}" version="{opset}"><data {IR_ATTRIBUTES.format(mode=mode)}/>'
                  f'<input>{ports}</input><output>{out}</output></layer>')
    layers.append(f'<layer id="{last + 1}" name="r" type="Result" version="opset1"><input><port id="0" precision="{precision}">{dims}</port>'
                  '</input></layer>')
    edges.append(f'<edge from-layer="{last}" from-port="{last}" to-layer="{last + 1}" to-port="0"/>')
    xml = (f'<?xml version="1.0"?><net name="n" version="{version}"><layers>{"".join(layers)}</layers><edges>{"".join(edges)}</edges>'
           '<rt_info><model_info><labels value="a b"/></model_info></rt_info></net>').encode()
    return struct.pack("<I", len(xml)) + xml + weights


def ir_types(root):
    """The types in the reader's tables, so that every translation is reached."""
    text = "".join(p.read_text(encoding="utf-8") for p in sorted((root / "inference/readers/openvino_ir").glob("translate_*.cpp")))
    return sorted(set(re.findall(r'{"([A-Z][A-Za-z0-9]+)"', text)))


def ir_files(root):
    constants = ([], [1], [[1, 0]], [[0, 2, 3, 1]], [[1, 3, 4, 4]], [0, 1], [[0, 0, 1, 1], [0, 0, 1, 1]], [1, [1, 2]],
                 [[0, 0, 0, 0], [1, 3, 4, 4], [1, 1, 1, 1]], [2, 1, 0])
    rng = random.Random(3)
    for number, layer in enumerate(ir_types(root)):
        for inputs in (1, 2, 3, 5):
            for extra in ([], rng.choice(constants), rng.choice(constants)):
                yield ir_file(layer, inputs, extra, rng.choice(IR_MODES), 10 + number % 2, rng.choice(("FP32", "FP32", "FP16", "I32", "BOOL")),
                              rng.choice(("opset1", "opset6", "opset11", "experimental")), rng.randint(1, 3))


def npy_files():
    for kind in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1", "S4", "c8"):
        for order in "<>|":
            for shape in ("()", "(3,)", "(2, 3)", "(0, 2)"):
                head = f"{{'descr': '{order}{kind}', 'fortran_order': {shape == '(3,)'}, 'shape': {shape}, }}".encode()
                yield b"\x93NUMPY\1\0" + struct.pack("<H", len(head) + 1) + head + b"\n" + bytes(range(48))
                yield b"\x93NUMPY\2\0" + struct.pack("<I", len(head) + 1) + head + b"\n" + bytes(range(48))


def write(folder, files, rng, variants):
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted(set(files))
    for number, data in enumerate(files):
        if len(data) > MAX_BYTES * 4:
            continue
        (folder / f"{number:05}").write_bytes(data)
        for variant, changed in enumerate(damaged(rng, data, variants)):
            (folder / f"{number:05}_{variant}").write_bytes(changed)
    print(f"{folder.name}: {len(files)} files, {variants} damaged variants each")


def dictionary(path, words):
    path.write_text("".join(f'"{word}"\n' for word in sorted(words)), encoding="utf-8")


def keys(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)
    elif isinstance(value, str) and len(value) < 32 and value.isidentifier():
        yield value


def main():
    root, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    rng = random.Random(1)
    procs = [p.read_bytes() for p in sorted((root / "pipelines/models").glob("*.json"))]
    labels = [p.read_bytes() for p in sorted((root / "pipelines/models").rglob("*.txt"))] + [b"a\nb\n", b"\xef\xbb\xbfa\r\nb", b"\xff\n", b""]
    texts = ["CPU", "GPU.1", "HETERO:GPU,CPU", "nstreams=2,nthreads=4", "a=b,c", "1,3,?,?", "[1,3,-1,4]", "()", "9223372036854775807,2"]
    write(out / "onnx", onnx_files(), rng, 1)
    write(out / "openvino_ir", ir_files(root), rng, 1)
    write(out / "model_proc", procs, rng, 4)
    write(out / "labels", labels, rng, 4)
    write(out / "npy", npy_files(), rng, 1)
    write(out / "device_text", [t.encode() for t in texts], rng, 4)
    properties = re.findall(r'{"([A-Za-z0-9_.-]+)"', (root / "inference/properties.cpp").read_text(encoding="utf-8"))
    dictionary(out / "model_proc.dict", {k for p in procs for k in keys(json.loads(p))} | {"null", "true", "false", "1e400"})
    dictionary(out / "openvino_ir.dict", set(re.findall(r"[A-Za-z_-]{3,}", IR_ATTRIBUTES)) | set(ir_types(root)) | set(IR_MODES) |
               {"<layer", "<edge", "<port", "<dim>", "</dim>", "<body>", "<port_map>", "<back_edges>", "TensorIterator", "If", "Loop", "<!DOCTYPE", "&#x41;"})
    dictionary(out / "onnx.dict", {"ai.onnx", "ai.onnx.ml", "com.microsoft", "Constant", "location", "offset", "length"} | {s.name for s in onnx.defs.get_all_schemas()})
    dictionary(out / "npy.dict", {"descr", "fortran_order", "shape", "True", "False", "<f4", "|u1", ">i8"})
    dictionary(out / "device_text.dict", {*properties, "CPU", "REF", "GPU", "HETERO", "MULTI", "=", ",", ":"})
    dictionary(out / "labels.dict", {"\\x0a", "\\x0d\\x0a", "\\xef\\xbb\\xbf"})


if __name__ == "__main__":
    main()
