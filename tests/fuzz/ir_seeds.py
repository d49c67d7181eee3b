"""Small OpenVINO IR files for make_corpus.py: every type of layer that the reader knows, in the form of openvino_ir.cpp."""
import random
import re
import struct


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
    text = "".join(p.read_text(encoding="utf-8") for p in sorted((root / "inference/readers/openvino_ir/translations").glob("*.cpp")))
    types = sorted(set(re.findall(r'{"([A-Z][A-Za-z0-9]+)"', text)))
    assert types, "no table of types found"
    return types


def ir_files(root):
    yield from control_files()
    yield from valid_files()
    constants = ([], [1], [[1, 0]], [[0, 2, 3, 1]], [[1, 3, 4, 4]], [0, 1], [[0, 0, 1, 1], [0, 0, 1, 1]], [1, [1, 2]],
                 [[0, 0, 0, 0], [1, 3, 4, 4], [1, 1, 1, 1]], [2, 1, 0])
    rng = random.Random(3)
    for number, layer in enumerate(ir_types(root)):
        for inputs in (1, 2, 3, 5):
            for extra in ([], rng.choice(constants), rng.choice(constants)):
                yield ir_file(layer, inputs, extra, rng.choice(IR_MODES), 10 + number % 2, rng.choice(("FP32", "FP32", "FP16", "I32", "BOOL")),
                              rng.choice(("opset1", "opset6", "opset11", "experimental")), rng.randint(1, 3))


class Net:
    """A graph of IR; a port is (layer, output). Inputs of a layer are numbered first, as the format wants."""

    def __init__(self):
        self.layers, self.edges, self.weights = [], [], b""
        self.ports, self.first = {}, {}  # precision and shape by (layer, output); id of a layer's first output

    def layer(self, kind, data="", inputs=(), outputs=(), opset="opset8", children=""):
        number = len(self.layers)
        text = f'<layer id="{number}" name="{kind}{number}" type="{kind}" version="{opset}">' + (f"<data {data}/>" if data else "") + children
        for tag, ports, first in (("input", [self.ports[i] for i in inputs], 0), ("output", outputs, len(inputs))):
            dims = "".join(f'<port id="{first + i}" precision="{p}">' + "".join(f"<dim>{d}</dim>" for d in s) + "</port>" for i, (p, s) in enumerate(ports))
            text += f"<{tag}>{dims}</{tag}>" if ports else ""
        self.layers.append(text + "</layer>")
        for i, (source, output) in enumerate(inputs):
            self.edges.append(f'<edge from-layer="{source}" from-port="{self.first[source] + output}" to-layer="{number}" to-port="{i}"/>')
        self.first[number] = len(inputs)
        for i, port in enumerate(outputs):
            self.ports[number, i] = port
        return number, 0

    def input(self, shape, kind="f32"):
        return self.layer("Parameter", f'element_type="{kind}" shape="{",".join(map(str, shape))}"', (), [(PRECISIONS[kind], shape)], "opset1")

    def constant(self, shape, numbers, kind="f32"):
        data = struct.pack(f"<{len(numbers)}{FORMATS[kind]}", *numbers)
        self.weights += bytes(-len(self.weights) % 8)
        text = f'element_type="{kind}" shape="{",".join(map(str, shape))}" offset="{len(self.weights)}" size="{len(data)}"'
        self.weights += data
        return self.layer("Const", text, (), [(PRECISIONS[kind], shape)], "opset1")

    def result(self, *ports):
        for port in ports:
            self.layer("Result", "", [port], (), "opset1")
        return len(self.layers) - 1

    def body(self, tag):
        return f"<{tag}><layers>{''.join(self.layers)}</layers><edges>{''.join(self.edges)}</edges></{tag}>"

    def file(self, version=11, tail=""):
        xml = self.body("net").replace("<net>", f'<?xml version="1.0"?><net name="n" version="{version}">').replace("</net>", tail + "</net>").encode()
        return struct.pack("<I", len(xml)) + xml + self.weights


PRECISIONS = {"f32": "FP32", "f16": "FP16", "i64": "I64", "i32": "I32", "u8": "U8", "boolean": "BOOL"}
FORMATS = {"f32": "f", "i64": "q", "i32": "i", "u8": "B", "boolean": "?"}


def mapping(tag, port, layer, more=""):
    return f'<{tag} external_port_id="{port}" internal_layer_id="{layer[0] if isinstance(layer, tuple) else layer}" {more}/>'


def iterator(slicing, keep=""):
    """A running sum of the slices of x; all sums, or with `keep` the last one."""
    inner = Net()
    part, total = inner.input((1, 1)), inner.input((1, 1))
    result = inner.result(inner.layer("Add", "", [part, total], [("FP32", (1, 1))]))
    net = Net()
    x = net.input((1, 3))
    inputs = [x, net.constant((1, 1), [10])]
    children = ("<port_map>" + mapping("input", 0, part, f'axis="1" {slicing}') + mapping("input", 1, total) +
                mapping("output", 2, result, f'axis="1" {slicing}' if not keep else "") + mapping("output", 3, result) + "</port_map>"
                f'<back_edges><edge from-layer="{result}" to-layer="{total[0]}"/></back_edges>' + inner.body("body"))
    layer = net.layer("TensorIterator", "", inputs, [("FP32", (1, 3)), ("FP32", (1, 1))], children=children)
    net.result(layer, (layer[0], 1))
    return net


def loop(trips, limit=2, kind="i64"):
    inner = Net()
    number, total, bound = inner.input((1,), kind), inner.input((1,), kind), inner.input((1,), kind)
    following = inner.layer("Add", "", [total, number], [(PRECISIONS[kind], (1,))])
    again = inner.layer("Less", "", [following, bound], [("BOOL", (1,))])
    again_result = inner.result(following, again)
    net = Net()
    start = net.input((1,), kind)
    inputs = [net.constant((), [trips], "i64"), net.constant((), [True], "boolean"), start, net.constant((1,), [limit], kind)]
    children = ("<port_map>" + mapping("input", -1, number, 'purpose="current_iteration"') + mapping("input", 2, total) + mapping("input", 3, bound) +
                mapping("output", -1, again_result, 'purpose="execution_condition"') + mapping("output", 4, again_result - 1) +
                mapping("output", 5, again_result - 1, 'axis="0" start="0" end="-1" stride="1" part_size="1"') + "</port_map>"
                f'<back_edges><edge from-layer="{again_result - 1}" to-layer="{total[0]}"/></back_edges>' + inner.body("body"))
    layer = net.layer("Loop", "", inputs, [(PRECISIONS[kind], (1,)), (PRECISIONS[kind], (trips if 0 < trips < 99 else -1,))], children=children)
    net.result(layer, (layer[0], 1))
    return net


def branches(depth, known=None):
    """x + x or x * x, in branches of branches."""
    def branch(level, kind):
        net = Net()
        x, c = net.input((2,)), net.input((), "boolean")
        if level == 0:
            y = net.layer(kind, "", [x, x], [("FP32", (2,))])
        else:
            y = choice(net, c, x, level - 1)
        return net, (x, c, net.result(y))

    def choice(net, c, x, level):
        children = ""
        for name, kind in (("then", "Add"), ("else", "Multiply")):
            inner, (inner_x, inner_c, result) = branch(level, kind)
            children += (f"<{name}_port_map>" + mapping("input", 1, inner_x) + mapping("input", 2, inner_c) + mapping("output", 3, result) +
                         f"</{name}_port_map>" + inner.body(f"{name}_body"))
        return net.layer("If", "", [c, x, c], [("FP32", (2,))], children=children)

    net = Net()
    c = net.input((), "boolean") if known is None else net.constant((), [known], "boolean")
    net.result(choice(net, c, net.input((2,)), depth))
    return net


def layer_of(kind, data, *inputs, outputs=1, opset="opset8", shape=(1, 3, 4, 4), version=11, element="f32"):
    """One layer; a tuple is a shape of an input, a list is a constant of integers, floats of a constant follow their shape in a dict."""
    net = Net()
    ports = []
    for given in inputs:
        if isinstance(given, tuple):
            ports.append(net.input(given, element))
        elif isinstance(given, dict):
            (dims, numbers), = given.items()
            count = 1
            for d in dims:
                count *= d
            ports.append(net.constant(dims, (list(numbers) * count)[:count]))
        else:
            ports.append(net.constant((len(given),) if isinstance(given, list) else (), given if isinstance(given, list) else [given], "i64"))
    layer = net.layer(kind, data, ports, [(PRECISIONS[element], shape)] * outputs, opset)
    net.result(*[(layer[0], i) for i in range(outputs)])
    return net.file(version)


def control_files():
    plain = 'start="0" end="-1" stride="1" part_size="1"'
    for slicing in (plain, 'start="-1" end="0" stride="-1" part_size="1"', 'start="0" end="-1" stride="2" part_size="2"'):
        yield iterator(slicing).file()
        yield iterator(slicing, keep="last").file(10)
    for trips in (0, 1, 5, -1, 1 << 60):
        yield loop(trips).file()
        yield loop(trips, 1 << 30, "i64" if trips else "i32").file()
    for depth in (0, 1, 3):
        for known in (None, True, False):
            yield branches(depth, known).file()


def valid_files():
    """Layers with inputs that fit, so that everything behind the reader runs."""
    x = (1, 3, 4, 4)
    weights = {(2, 3, 2, 2): [0.5, -1]}
    window = 'strides="1,1" dilations="1,1" pads_begin="0,0" pads_end="1,1"'
    for more in ("", 'auto_pad="same_upper"', 'auto_pad="valid"', 'auto_pad="odd"'):
        yield layer_of("Convolution", f"{window} {more}", x, weights)
        yield layer_of("ConvolutionBackpropData", f"{window} {more}", (1, 2, 4, 4), weights)
        yield layer_of("ConvolutionBackpropData", f"{window} {more}", (1, 2, 4, 4), weights, [6, 6])
        yield layer_of("GroupConvolution", f"{window} {more}", x, {(3, 1, 1, 2, 2): [1]})
        yield layer_of("GroupConvolutionBackpropData", f"{window} {more}", x, {(3, 1, 1, 2, 2): [1]}, [6, 6])
        yield layer_of("DeformableConvolution", f'{window} {more} group="1" deformable_group="1"', x, (1, 8, 4, 4), weights, (1, 4, 4, 4))
        for rounding in ("floor", "ceil", "ceil_torch"):
            pool = f'{window} {more} kernel="3,3" rounding_type="{rounding}"'
            yield layer_of("MaxPool", pool.replace('strides="1,1"', 'strides="3,3"'), x)
            yield layer_of("MaxPool", f'{pool} axis="2" index_element_type="i32"', x, outputs=2)
            yield layer_of("AvgPool", f'{pool} exclude-pad="true"', x)
            yield layer_of("AvgPool", pool.replace('strides="1,1"', 'strides="3,3"') + ' exclude-pad="false"', x)
    for kind in ("AdaptiveAvgPool", "AdaptiveMaxPool"):
        for wanted in ([1, 1], [2, 2], [3, 3]):
            yield layer_of(kind, "", x, wanted)
    sizes = {"LSTM": 4, "GRU": 3, "RNN": 1}
    for name, gates in sizes.items():
        for before in ("true", "false") if name == "GRU" else ("false",):
            bias = gates + (before == "true")
            data = f'hidden_size="2" linear_before_reset="{before}" clip="1" activations="sigmoid,tanh,relu"'.replace(',relu"', ',tanh"' if gates == 4 else '"')
            if gates == 1:
                data = data.replace("sigmoid,tanh", "tanh")
            states = [(1, 2)] * (2 if gates == 4 else 1)
            yield layer_of(f"{name}Cell", data, (1, 3), *states, {(gates * 2, 3): [1]}, {(gates * 2, 2): [1]}, {(bias * 2,): [1]},
                           outputs=len(states), shape=(1, 2))
            for direction, count in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
                states = [(1, count, 2)] * (2 if gates == 4 else 1)
                yield layer_of(f"{name}Sequence", f'{data} direction="{direction}"', (1, 5, 3), *states, [5], {(count, gates * 2, 3): [1]},
                               {(count, gates * 2, 2): [1]}, {(count, bias * 2): [1]}, outputs=1 + len(states), shape=(1, count, 5, 2))
    for mode in ("nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow", "bicubic_pillow"):
        for by in ("sizes", "scales"):
            for coordinates, rounding in (("half_pixel", "simple"), ("tf_half_pixel_for_nn", "floor"), ("asymmetric", "ceil")):
                data = (f'mode="{mode}" shape_calculation_mode="{by}" coordinate_transformation_mode="{coordinates}" nearest_mode="{rounding}" '
                        'antialias="false" pads_begin="0,0,0,0" pads_end="0,0,1,0" cube_coeff="-0.75"')
                yield layer_of("Interpolate", data, x, [8, 8], {(2,): [2, 2]}, [2, 3], opset="opset4", shape=(1, 3, 8, 8))
                yield layer_of("Interpolate", data, x, {(2,): [2, 2]} if by == "scales" else [8, 8], [2, 3], opset="opset11", shape=(1, 3, 8, 8))
        yield layer_of("Interpolate", f'mode="{mode}" axes="2,3" align_corners="false"', x, [8, 8], opset="opset1", shape=(1, 3, 8, 8))
    for masks in ('begin_mask="0,1" end_mask="1,0"', 'new_axis_mask="1" shrink_axis_mask="0,1"', 'ellipsis_mask="1" shrink_axis_mask="0,1"', ""):
        yield layer_of("StridedSlice", masks, x, [1, 0], [2, 3], [1, -1])
        yield layer_of("StridedSlice", masks, x, [0, 1 << 62], [0, 3])
    for mode in ("constant", "edge", "reflect", "symmetric"):
        yield layer_of("Pad", f'pad_mode="{mode}"', x, [0, 0, 1, 1], [0, 0, 1, 1])
    yield layer_of("Gather", 'batch_dims="1"', (2, 3, 4), (2, 5), [2])
    yield layer_of("Gather", 'batch_dims="-1"', (2, 3, 4), [1], [1])
    yield layer_of("ScatterUpdate", "", x, [1, 2], (1, 3, 2, 4), [2])
    yield layer_of("ScatterElementsUpdate", 'reduction="sum" use_init_val="true"', x, [1], x, [1])
    yield layer_of("ScatterNDUpdate", 'reduction="prod"', x, [0], (3, 4, 4))
    yield layer_of("OneHot", 'axis="-1"', [1, 2], 4, {(): [1]}, {(): [0]})
    yield layer_of("VariadicSplit", "", x, [1], [1, -1], outputs=2)
    yield layer_of("Split", 'num_splits="3"', x, [1], outputs=3)
    yield layer_of("Broadcast", 'mode="explicit"', (3,), [1, 3, 4, 4], [1])
    yield layer_of("Broadcast", 'mode="bidirectional"', x, [2, 3, 4, 4])
    yield layer_of("Tile", "", x, [2, 1])
    yield layer_of("Tile", "", (3,), [2, 1, 4])
    yield layer_of("Roll", "", x, [1, -2], [2, 3])
    yield layer_of("Reverse", 'mode="mask"', x, [0, 1])
    yield layer_of("Eye", 'output_type="f32"', 3, 4, 1, [2])
    yield layer_of("Range", 'output_type="i64"', 0, 10, 2)
    yield layer_of("TopK", 'axis="1" mode="max" sort="value" index_element_type="i64"', x, 2, outputs=2)
    yield layer_of("NonMaxSuppression", 'box_encoding="center" sort_result_descending="true"', (1, 6, 4), (1, 2, 6), 3, {(): [0.5]}, {(): [0.1]}, outputs=3)
    yield layer_of("NonMaxSuppression", 'box_encoding="corner"', (1, 6, 4), (1, 2, 6), 3, shape=(12, 3))
    for kind in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2"):
        yield layer_of(kind, 'keep_dims="true"', x, [2, 3])
    for eps in ("inside_sqrt", "OUTSIDE_SQRT"):
        for axes in ([2, 3], [1, 2, 3], [3]):
            yield layer_of("MVN", f'eps="1e-9" eps_mode="{eps}" normalize_variance="true"', x, axes)
    yield layer_of("MVN", 'across_channels="true" normalize_variance="false"', x)
    yield layer_of("NormalizeL2", 'eps="1e-9" eps_mode="add"', x, [1])
    yield layer_of("LRN", 'alpha="1" beta="0.75" bias="1" size="3"', x, [1])
    yield layer_of("BatchNormInference", 'epsilon="0.001"', x, *[{(3,): [1]}] * 4)
    yield layer_of("BatchNormInference", 'eps="0.001"', {(3,): [1]}, {(3,): [1]}, x, {(3,): [1]}, {(3,): [1]})
    yield layer_of("FakeQuantize", 'levels="256"', x, *[{(1,): [v]} for v in (0, 1, 0, 1)])
    yield layer_of("MatMul", 'transpose_a="true" transpose_b="true"', (4, 2), {(3, 4): [1]})
    yield layer_of("Einsum", 'equation="ij,jk->ik"', (4, 2), (2, 3))
    yield layer_of("DepthToSpace", 'block_size="2" mode="depth_first"', (1, 8, 2, 2))
    yield layer_of("SpaceToDepth", 'block_size="2" mode="depth_first"', x)
    yield layer_of("ShuffleChannels", 'axis="1" group="3"', x)
    yield layer_of("ShuffleChannels", 'axis="0" group="1"', x)
    yield layer_of("Bucketize", 'output_type="i32" with_right_bound="false"', x, {(3,): [1, 2, 3]})
    yield layer_of("PReLU", "", x, {(3,): [0.1]})
    yield layer_of("Selu", "", x, {(1,): [1.5]}, {(1,): [1]})
    yield layer_of("HardSigmoid", "", x, {(1,): [0.2]}, {(1,): [0.5]})
    yield layer_of("Clamp", 'min="-1.5" max="6"', x, element="i32")
    yield layer_of("Divide", 'm_pythondiv="true"', x, x, element="i32")
    yield layer_of("Add", 'auto_broadcast="pdpd" axis="1"', x, (3,))
    yield layer_of("ReadValue", 'variable_id="v" variable_type="f32" variable_shape="1,3,4,4"', x, opset="opset6")
    yield layer_of("ROIAlign", 'pooled_h="2" pooled_w="2" sampling_ratio="2" spatial_scale="1" mode="avg" aligned_mode="half_pixel_for_nn"', x, (2, 4), [0, 0])
    yield layer_of("PriorBox", 'min_size="16" max_size="32" aspect_ratio="2" flip="true" clip="true" step="8" offset="0.5" variance="0.1"', [4, 4], [32, 32])
    yield layer_of("RegionYolo", 'axis="1" end_axis="3" coords="4" classes="2" num="1" do_softmax="true" mask="0" anchors="1,2"', (1, 7, 4, 4))
    for depth in ("f16", "u8", "boolean"):
        net = Net()
        net.result(net.layer("Convert", 'destination_type="f32"', [net.input((2, 2), depth)], [("FP32", (2, 2))]))
        yield net.file(10, '<rt_info><model_info><labels value="a b"/></model_info><attribute name="layout" layout="[N,C,H,W]"/></rt_info>')
