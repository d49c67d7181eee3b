"""Small ONNX files of every kind for make_corpus.py, those that ask for too much among them."""
import glob
import pathlib

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

ONNX_NODES = "/usr/share/libonnx-testdata/data/node/*/model.onnx"
MAX_BYTES = 8192


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
    yield from own_metadata_files()
    yield from foreign_files()
    yield from schema_files()
    yield from greedy_files()
    for path in sorted(glob.glob(ONNX_NODES)):
        data = pathlib.Path(path).read_bytes()
        if len(data) <= MAX_BYTES:
            yield data
            yield from with_known_inputs(path, data)


FLOATS = {"epsilon": 1e-5, "alpha": 0.5, "scale": 0.5, "threshold": 0.5, "replaced_value_float": 0.0, "mask_filter_value": -1e4}
# Attributes of the operators of ONNX Runtime that are lifted, and the shapes of their inputs.
MICROSOFT = {
    "Attention": ({"num_heads": 2, "unidirectional": 1, "qkv_hidden_sizes": [4, 4, 4]}, [(1, 2, 4), (4, 12), (12,), (1, 2)]),
    "BiasAdd": ({}, [(1, 2, 4), (4,), (1, 2, 4)]), "BiasGelu": ({}, [(1, 4), (4,)]), "BiasSplitGelu": ({}, [(1, 2, 8), (8,)]),
    "ConvTransposeWithDynamicPads": ({"kernel_shape": [2, 2]}, [(1, 2, 4, 4), (2, 2, 2, 2), (4,), (2,)]),
    "DynamicQuantizeMatMul": ({}, [(2, 4), (4, 4), (4,), (4,), (4,)]), "ExpandDims": ({}, [(2, 4), ()]), "FastGelu": ({}, [(1, 4), (4,)]),
    "FusedConv": ({"activation": "LeakyRelu", "activation_params": [0.1]}, [(1, 2, 4, 4), (2, 2, 1, 1), (2,), (1, 2, 4, 4)]),
    "FusedGemm": ({"activation": "HardSigmoid", "activation_alpha": 0.2, "activation_beta": 0.5, "transA": 1}, [(4, 2), (4, 4), (4,)]),
    "FusedMatMul": ({"alpha": 0.5, "transA": 1, "transBatchA": 1, "transBatchB": 1}, [(2, 3, 4), (2, 4, 4)]), "GatherND": ({}, [(2, 4), (1, 1)]),
    "Gelu": ({}, [(2, 4)]), "GridSample": ({"mode": "bicubic", "align_corners": 1}, [(1, 1, 4, 4), (1, 2, 2, 2)]),
    "GroupNorm": ({"groups": 2, "activation": 1, "epsilon": 1e-5}, [(1, 2, 2, 4), (4,), (4,)]), "Inverse": ({}, [(2, 2)]),
    "DynamicQuantizeLSTM": ({"hidden_size": 1}, [(2, 1, 1), (1, 1, 4), (1, 1, 4), (1, 8), (1,), (1, 1, 1), (1, 1, 1), (1, 3), (1,), (1,), (1, 4), (1, 4)]),
    "EmbedLayerNormalization": ({"epsilon": 1e-5}, [(1, 2), (1, 2), (4, 4), (2, 4), (2, 4), (4,), (4,), (1, 2), (1, 2)]),
    "MatMulIntegerToFloat": ({}, [(2, 4), (4, 4), (1,), (4,), (1,), (4,), (4,)]),
    "MatMulNBits": ({"K": 16, "N": 4, "bits": 4, "block_size": 16}, [(2, 16), (4, 1, 8), (4,), (4, 1), (16,), (4,)]),
    "MultiHeadAttention": ({"num_heads": 2, "scale": 0.5, "unidirectional": 1}, [(1, 2, 4), (1, 2, 4), (1, 2, 4), (12,), (1, 2), (1, 2, 2, 2)]),
    "NhwcConv": ({"kernel_shape": [1, 1]}, [(1, 4, 4, 2), (2, 2, 1, 1), (2,), (1, 4, 4, 2)]),
    "NhwcFusedConv": ({"kernel_shape": [1, 1], "activation": "Clip", "activation_params": [0.0, 6.0]}, [(1, 4, 4, 2), (2, 2, 1, 1), (2,), (1, 4, 4, 2)]),
    "NhwcMaxPool": ({"kernel_shape": [2, 2]}, [(1, 4, 4, 2)]), "Pad": ({"mode": "reflect"}, [(2, 4), (4,), ()]),
    "QAttention": ({"num_heads": 2}, [(1, 2, 4), (4, 12), (12,), (), (), (1, 2), (), ()]),
    "QGemm": ({"transA": 1, "transB": 1, "alpha": 0.5}, [(4, 2), (), (), (4, 4), (), (), (4,), (), ()]),
    "QLinearConv": ({"channels_last": 1, "kernel_shape": [1, 1]}, [(1, 4, 4, 2), (), (), (2, 2, 1, 1), (), (), (), (), (2,)]),
    "QLinearReduceMean": ({"axes": [1], "keepdims": 0}, [(2, 4), (), (), (), ()]), "QLinearSoftmax": ({"axis": -1, "opset": 13}, [(2, 4), (), (), (), ()]),
    "QLinearWhere": ({}, [(2, 4), (2, 4), (), (), (2, 4), (), (), (), ()]), "QuickGelu": ({"alpha": 1.7}, [(2, 4)]), "Range": ({}, [(), (), ()]),
    "RotaryEmbedding": ({"scale": 1.0, "is_packed_batching": 0}, [(1, 2, 4), (1,), (4, 2), (4, 2)]),
    "SkipGroupNorm": ({"groups": 2, "activation": 1}, [(1, 2, 2, 4), (4,), (4,), (1, 1, 1, 4), (4,)]),
    "SkipLayerNormalization": ({"epsilon": 1e-5}, [(1, 2, 4), (1, 2, 4), (4,), (4,), (4,)]),
    "SkipSimplifiedLayerNormalization": ({"epsilon": 1e-5}, [(1, 2, 4), (1, 2, 4), (4,), (4,)]),
    "TransposeMatMul": ({"alpha": 2.0}, [(2, 4), (4, 4)]), "Trilu": ({"upper": 0}, [(2, 4), ()]),
    "QLinearAdd": ({}, [(2, 4), (), (), (2, 4), (), (), (), ()]), "QLinearSigmoid": ({}, [(2, 4), (), (), (), ()]), "CropAndResize": ({}, [(1, 1, 4, 4), (1, 4), (1,), (2,)]),
    "QLinearGlobalAveragePool": ({"channels_last": 1}, [(1, 4, 4, 2), (), (), (), ()]), "QLinearConcat": ({"axis": 1}, [(), (), (2, 4), (), ()]),
    "QuantizeLinear": ({}, [(2, 4), (), ()]), "DequantizeLinear": ({}, [(2, 4), (), ()])}
MACHINE_LEARNING = {
    "ArrayFeatureExtractor": ({}, [(2, 4), (2,)]), "Binarizer": ({"threshold": 0.5}, [(2, 4)]),
    "Imputer": ({"imputed_value_floats": [1.0], "replaced_value_float": 0.0}, [(2, 4)]),
    "LabelEncoder": ({"keys_int64s": [1, 2], "values_floats": [2.0, 3.0], "default_float": 0.5}, [(2, 4)]),
    "LinearRegressor": ({"coefficients": [1.0] * 4, "intercepts": [1.0], "targets": 1, "post_transform": "SOFTMAX"}, [(2, 4)]),
    "Normalizer": ({"norm": "L2"}, [(2, 4)]), "Scaler": ({"offset": [1.0], "scale": [2.0]}, [(2, 4)])}


def foreign_files():
    """Every lifted operator with all inputs constant, with variable ones, with half of them, without attributes; as float and as u8."""
    for domain, operators in (("com.microsoft", MICROSOFT), ("ai.onnx.ml", MACHINE_LEARNING), ("", {"SimplifiedLayerNormalization": ({"epsilon": 1e-5}, [(2, 4), (4,)])})):
        for name, (attributes, shapes) in operators.items():
            names = [f"i{k}" for k in range(len(shapes))]
            # Floats, or bytes with int32 biases and int64 indices where such operators have them.
            for kinds in ((np.float32,), (np.uint8, np.float32), (np.float32, np.int64), (np.int64,)):
                arrays = [np.ones(shape, kinds[-1] if k > 0 or len(kinds) == 1 else kinds[0]) for k, shape in enumerate(shapes)]
                if kinds == (np.uint8, np.float32):  # x, x scale, x zero point, ...
                    arrays = [np.ones(shape, np.float32 if shape == () and k % 3 != 2 else np.uint8) for k, shape in enumerate(shapes)]
                constants = [numpy_helper.from_array(array, n) for array, n in zip(arrays, names)]
                ports = [h.make_tensor_value_info(n, c.data_type, s) for n, c, s in zip(names, constants, shapes)]
                domains = [domain] if domain else []
                for given, held in ((attributes, names), (attributes, names[1:]), (attributes, []), ({}, names[1:])):
                    node = h.make_node(name, names, ["y", "z"] if name.startswith("Skip") else ["y"], domain=domain, **given)
                    yield onnx_model([node], [p for p in ports if p.name not in held], [value("y", None)], [c for c in constants if c.name in held], domains=domains)
                few = names[:(len(names) + 1) // 2]
                yield onnx_model([h.make_node(name, few, ["y"], domain=domain, **attributes)], ports[:len(few)], [value("y", None)], domains=domains)


def add_metadata(message, field, **texts):
    """metadata_props of nodes (field 9) and inputs (4), which Debian 12's onnx does not know."""
    for key, text in texts.items():
        entry = onnx.StringStringEntryProto(key="het." + key, value=text).SerializeToString()
        message.MergeFromString(bytes([field << 3 | 2, len(entry)]) + entry)


def own_metadata_files():
    """What our writer adds to a model."""
    preprocess = '{"resize":"letterbox","color":"BGR","mean":[1,2,3],"scale":[4,5,6]}'
    for layout, described in (("NCHW", preprocess), ("NH?C", "{}"), ("", "{")):
        model = onnx.load_from_string(onnx_model([h.make_node("Relu", ["x"], ["r"]), h.make_node("Identity", ["r"], ["y"])], [value("x")], [value("y", None)]))
        add_metadata(model.graph.input[0], 4, layout=layout, preprocess=described)
        add_metadata(model.graph.node[0], 9, affinity="GPU", original_names="a\nb\\nc\\\\", unsupported="a reason")
        add_metadata(model.graph.node[1], 9, output="y")
        yield model.SerializeToString()


def plausible(attribute):
    """A value of the attribute's type."""
    kinds = onnx.defs.OpSchema.AttrType
    return {kinds.INT: 1, kinds.FLOAT: FLOATS.get(attribute.name, 0.5), kinds.STRING: "linear", kinds.INTS: [1, 1], kinds.FLOATS: [1.0, 1.0, 2.0, 2.0],
            kinds.STRINGS: ["Tanh", "Relu"]}.get(attribute.type)


def schema_files():
    """Every version of every operator: with all attributes, with the required ones, its inputs variable or constant."""
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain not in ("", "ai.onnx.ml") or schema.deprecated:
            continue
        most = {name: v for name, v in ((a.name, plausible(a)) for a in schema.attributes.values()) if v is not None}
        least = {name: v for name, v in most.items() if schema.attributes[name].required}
        names = [f"i{k}" for k in range(min(schema.max_input, 4))]
        outputs = [f"o{k}" for k in range(min(max(schema.min_output, 1), 3))]
        opset, domains = (schema.since_version, []) if not schema.domain else (17, [schema.domain])
        for attributes in (most, least):
            for held in ([], names[1:]):
                constants = [numpy_helper.from_array(np.ones((2,), np.int64 if k % 2 else np.float32), n) for k, n in enumerate(names) if n in held]
                ports = [value(n) for n in names if n not in held]
                node = h.make_node(schema.name, names, outputs, domain=schema.domain, **attributes)
                yield onnx_model([node], ports, [value(o, None) for o in outputs], constants, opset=opset, domains=domains)


def with_known_inputs(path, data):
    """The same model with its test's inputs as initializers: folding constants runs its operators."""
    model = onnx.load_from_string(data)
    for number, graph_input in enumerate(model.graph.input):
        content = pathlib.Path(path).parent / f"test_data_set_0/input_{number}.pb"
        if not graph_input.type.HasField("tensor_type") or not content.exists() or content.stat().st_size > MAX_BYTES:
            return
        tensor = model.graph.initializer.add()
        tensor.ParseFromString(content.read_bytes())
        tensor.name = graph_input.name
    baked = model.SerializeToString()
    if len(baked) <= MAX_BYTES:
        yield baked


def integers(name, *numbers):
    return numpy_helper.from_array(np.array(numbers, np.int64), name)


def scalar(name, number):
    return numpy_helper.from_array(np.array(number, np.int64), name)


def greedy_files():
    """Small files that ask for memory or time without end."""
    x, y = value("x"), value("y", None)
    one = numpy_helper.from_array(np.ones((1, 1), np.float32), "one")
    huge = 1 << 60
    for big in (1 << 22, 1 << 31, huge):
        yield onnx_model([h.make_node("Expand", ["one", "n"], ["y"])], [], [y], [one, integers("n", big, 2)])
        yield onnx_model([h.make_node("Tile", ["one", "n"], ["y"])], [], [y], [one, integers("n", big, 4)])
        yield onnx_model([h.make_node("ConstantOfShape", ["n"], ["y"])], [], [y], [integers("n", big, 3)])
        yield onnx_model([h.make_node("Range", ["a", "b", "c"], ["y"])], [], [y], [scalar("a", 0), scalar("b", big), scalar("c", 1)])
        yield onnx_model([h.make_node("OneHot", ["i", "n", "v"], ["y"])], [], [y], [integers("i", 1, 2), scalar("n", big), integers("v", 0, 1)])
        yield onnx_model([h.make_node("Pad", ["one", "n"], ["y"])], [], [y], [one, integers("n", 0, big, 0, 1)])
        yield onnx_model([h.make_node("EyeLike", ["m"], ["y"])], [value("m", (big, 4))], [y])
        yield onnx_model([h.make_node("HannWindow", ["n"], ["y"])], [], [y], [scalar("n", big)])
        yield onnx_model([h.make_node("Relu", ["x"], ["y"])], [value("x", (big, big, 3))], [y])
        yield onnx_model([h.make_node("MaxPool", ["x"], ["y"], kernel_shape=[big, big], pads=[big, 0, 0, big])], [x], [y])
        yield onnx_model([h.make_node("Resize", ["x", "", "", "n"], ["y"])], [x], [y], [integers("n", 1, 3, big, 4)])
    # Every node is modest, all of them together are not.
    nodes = [h.make_node("ConstantOfShape", ["n"], [f"c{i}"]) for i in range(200)] + [h.make_node("Sum", [f"c{i}" for i in range(200)], ["y"])]
    yield onnx_model(nodes, [], [y], [integers("n", 4 << 20)])
    nodes = [h.make_node("ConstantOfShape", ["n"], ["c0"])] + [h.make_node("Concat", [f"c{i}"] * 4, [f"c{i + 1}"], axis=0) for i in range(4)]
    yield onnx_model(nodes + [h.make_node("Neg", ["c4"], ["y"])], [], [y], [integers("n", 4 << 20)])
    nodes = [h.make_node("ConstantOfShape", ["n"], ["m0"])] + [h.make_node("MatMul", [f"m{i}", "m0"], [f"m{i + 1}"]) for i in range(20)]
    yield onnx_model(nodes + [h.make_node("Neg", ["m20"], ["y"])], [], [y], [integers("n", 1024, 1024)])
    nodes = [h.make_node("ConstantOfShape", ["n"], ["m"])] + [h.make_node("ReduceSum", ["m"], [f"r{i}"], keepdims=0) for i in range(300)]
    yield onnx_model(nodes + [h.make_node("Sum", [f"r{i}" for i in range(300)], ["y"])], [], [y], [integers("n", 4 << 20)])
    yield onnx_model([h.make_node("ConstantOfShape", ["n"], ["m"]), h.make_node("Einsum", ["m", "m", "m"], ["y"], equation="a,b,c->")],
                     [], [y], [integers("n", 65536)])
    # A loop without end, loops in loops, bodies in bodies, and functions that call each other.
    yes = numpy_helper.from_array(np.array(True), "yes")
    trips = scalar("trips", huge)
    steps = [h.make_node("Identity", ["go"], ["on"]), h.make_node("Neg", ["v"], ["w"])]
    for depth in (1, 12, 15, 40):
        nodes = steps
        for level in range(depth):
            body = h.make_graph(nodes, f"b{level}", [value("i", (), T.INT64), value("go", (), T.BOOL), value("v", None)],
                                [value("on", (), T.BOOL), value("w", None)])
            nodes = [h.make_node("Identity", ["go"], ["on"]), h.make_node("Loop", ["trips", "go", "v"], ["w"], body=body)]
        yield onnx_model(nodes[1:], [value("v"), value("go", (), T.BOOL)], [value("w", None)], [yes, trips])
        nodes = [h.make_node("Neg", ["x"], ["r"])]
        for level in range(depth):
            body = h.make_graph(nodes, f"b{level}", [], [value("r" if level == 0 else f"r{level}", None)])
            nodes = [h.make_node("If", ["yes"], [f"r{level + 1}"], then_branch=body, else_branch=body)] if level < 8 else [
                h.make_node("If", ["yes"], [f"r{level + 1}"], then_branch=body, else_branch=h.make_graph([h.make_node("Neg", ["x"], ["e"])], "e", [], [value("e", None)]))]
        yield onnx_model(nodes, [x], [value(f"r{depth}", None)], [yes])
    imports = [h.make_opsetid("", 19), h.make_opsetid("own", 1)]
    call = h.make_node("F0", ["x"], ["y"], domain="own")
    for width, depth in ((1, 60), (1, 80), (4, 12), (4, 2)):
        functions = []
        for level in range(depth):
            names = ["a"] + [f"t{i}" for i in range(width - 1)] + ["b"]
            inner = [h.make_node(f"F{level + 1}" if level + 1 < depth else "Neg", [names[i]], [names[i + 1]], domain="own" if level + 1 < depth else "")
                     for i in range(width)]
            functions.append(h.make_function("own", f"F{level}", ["a"], ["b"], inner, imports))
        yield onnx_model([call], [x], [y], domains=["own"], functions=functions)
    cycle = [h.make_function("own", f"F{i}", ["a"], ["b"], [h.make_node(f"F{(i + 1) % 3}", ["a"], ["b"], domain="own")], imports) for i in range(3)]
    yield onnx_model([call], [x], [y], domains=["own"], functions=cycle)
    for inner in ([], [h.make_node("Neg", ["missing"], ["b"])], [h.make_node("Add", ["a"], ["b"])], [h.make_node("Neg", ["a"], ["b"], domain="nowhere")],
                  [h.make_node("Neg", ["a"], ["a"])], [h.make_node("Neg", ["b"], ["b"])]):
        yield onnx_model([call], [x], [y], domains=["own"], functions=[h.make_function("own", "F0", ["a"], ["b"], inner, imports)])
        yield onnx_model([call], [x], [y], domains=["own"], functions=[h.make_function("own", "F0", ["a", "c"], ["b", "d"], inner, imports[:1])])
