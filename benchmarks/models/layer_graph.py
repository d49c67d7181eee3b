"""The layers of an ONNX file: what each node is (its kind), its multiply-adds, bytes and shapes.

A kind says what a layer is, never how a runtime names or runs it.
"""
import dataclasses
import math

FEW = 100  # pixels or rows, at most, of a product with few of them

CONVOLUTIONS = ("first convolution", "1x1, one pixel (gates)", "1x1, 2 to 100 pixels", "1x1, many pixels", "dense 3x3 and larger", "grouped", "depthwise 3x3",
                "depthwise 5x5", "depthwise 7x7 and larger", "depthwise, more outputs than inputs", "transposed convolution")
MATMUL_MANY, MATMUL_FEW = "matmul, many rows", "matmul, at most 100 rows"
ATTENTION, NORM, SOFTMAX, GLOBAL_POOL, POOL, RESIZE = "attention", "norm", "softmax", "global pooling", "window pooling", "resize"
JOIN, TAIL, ELEMENTWISE, COPY, OTHER = "concat, split, slice", "detection tail, gather", "elementwise", "transposes, pads, casts", "other"
CONSTANT, GATE, REORDER = "constants not folded", "multiply by a gate", "reorders by the runtime"

# A fused node is what the first of these kinds among its parts is.
RANK = {kind: rank for rank, kind in enumerate((*CONVOLUTIONS, ATTENTION, MATMUL_MANY, MATMUL_FEW, NORM, SOFTMAX, POOL, GLOBAL_POOL, RESIZE, TAIL, JOIN, GATE, ELEMENTWISE, OTHER, COPY, REORDER, CONSTANT))}

KIND_OF_OPERATOR = {
    **dict.fromkeys(("LayerNormalization", "InstanceNormalization", "GroupNormalization", "LpNormalization", "RMSNormalization", "SimplifiedLayerNormalization",
                     "SkipLayerNormalization", "LRN", "MVN", "RMS", "NormalizeL2", "GroupNorm", "InstanceNorm"), NORM),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool", "ReduceMean", "ReduceMax", "ReduceSum", "ReduceL2", "Reduce", "ReduceMin", "ReduceProd"), GLOBAL_POOL),
    **dict.fromkeys(("MaxPool", "AveragePool", "Pooling", "AvgPool", "AdaptivePooling"), POOL),
    **dict.fromkeys(("Resize", "Upsample", "Interpolate", "GridSample"), RESIZE),
    **dict.fromkeys(("Softmax", "LogSoftmax"), SOFTMAX),
    **dict.fromkeys(("Concat", "Split", "Slice", "Concatenation", "StridedSlice", "VariadicSplit"), JOIN),
    **dict.fromkeys(("TopK", "Gather", "GatherND", "GatherElements", "ScatterND", "ScatterElements", "NonMaxSuppression", "NonZero", "ArgMax", "OneHot", "CumSum", "Mod",
                     "ScatterUpdate", "ScatterNDUpdate", "ScatterElementsUpdate"), TAIL),
    **dict.fromkeys(("Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand", "Tile", "Pad", "Cast", "Convert", "Identity",
                     "DepthToSpace", "SpaceToDepth", "Roll", "Preprocess", "Broadcast", "ShuffleChannels", "Input", "Output", "MemoryInput"), COPY),
    **dict.fromkeys(("Reorder", "ReorderInput", "ReorderOutput"), REORDER),
    **dict.fromkeys(("Relu", "LeakyRelu", "PRelu", "Sigmoid", "HardSigmoid", "HardSwish", "Swish", "Mish", "Gelu", "QuickGelu", "BiasGelu", "FastGelu", "Elu", "Selu", "Softplus",
                     "Tanh", "Erf", "Clip", "Add", "Sub", "Subtract", "Mul", "Multiply", "Div", "Divide", "Pow", "Sqrt", "Exp", "Log", "Neg", "Abs", "Sin", "Cos", "Min", "Max",
                     "Reciprocal", "Floor", "Ceil", "Round", "Equal", "Greater", "Less", "Not", "And", "Or", "Where", "Select", "BatchNormalization", "Sum", "Mean", "Eltwise",
                     "Math", "Subgraph", "Chain", "GreaterOrEqual", "LessOrEqual", "Sign", "IsNaN", "Rsqrt"), ELEMENTWISE),
    **dict.fromkeys(("ScaledDotProductAttention", "Attention", "MultiHeadAttention", "MHA", "SDPA"), ATTENTION),
    **dict.fromkeys(("MatMul", "Gemm", "FullyConnected", "FusedMatMul", "FusedGemm"), MATMUL_MANY),
    **dict.fromkeys(("ConvTranspose", "Deconvolution"), "transposed convolution"),
    **dict.fromkeys(("Conv", "FusedConv", "Convolution", "GroupConvolution"), "dense 3x3 and larger"),
}
PRODUCTS = ("Conv", "ConvTranspose", "MatMul", "Gemm")
PRODUCT_KINDS = (*CONVOLUTIONS, ATTENTION, MATMUL_MANY, MATMUL_FEW)


@dataclasses.dataclass
class Layer:
    name: str
    operator: str
    kind: str
    macs: int
    inputs: list
    outputs: list
    shapes: str


def elements(shape):
    return math.prod(shape) if shape else 1


def convolution_kind(data, weight, result, groups, transposed):
    """By window, groups, channels and pixels. `weight`: O, I/groups, window."""
    window, channels, pixels = weight[2:], data[1], elements(result[2:])
    if transposed:
        return "transposed convolution"
    if groups > 1:
        if groups == channels:
            side = max(window)
            if weight[0] > groups:
                return "depthwise, more outputs than inputs"
            return "depthwise 3x3" if side <= 4 else "depthwise 5x5" if side <= 6 else "depthwise 7x7 and larger"
        return "grouped"
    if channels <= 4:
        return "first convolution"
    if elements(window) > 1:
        return "dense 3x3 and larger"
    return "1x1, one pixel (gates)" if pixels == 1 else "1x1, 2 to 100 pixels" if pixels <= FEW else "1x1, many pixels"


class LayerGraph:
    """The layers of a file, found by the names of nodes and of the tensors that they write."""

    def __init__(self, file, shapes=None):
        import onnx

        model = onnx.load(str(file))
        for value in model.graph.input:
            for d in value.type.tensor_type.shape.dim:
                if not d.HasField("dim_value"):
                    d.dim_value = 1
        model = onnx.shape_inference.infer_shapes(model, data_prop=True)
        self.shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in (*model.graph.input, *model.graph.value_info, *model.graph.output)}
        self.constants = {}
        for i in model.graph.initializer:
            self.shapes[i.name] = self.constants[i.name] = list(i.dims)
        self.producer, self.readers, self.layers = {}, {}, []
        nodes = list(model.graph.node)
        for node in nodes:
            if all(not i or i in self.constants for i in node.input):
                for o in node.output:
                    self.constants[o] = self.shapes.get(o, [])
        self.constant_names = {n.name for n in nodes if all(o in self.constants for o in n.output)}
        self.nodes = [n for n in nodes if not all(o in self.constants for o in n.output)]
        for node in self.nodes:
            for o in node.output:
                self.producer[o] = node
            for i in node.input:
                self.readers.setdefault(i, []).append(node)
        self.by_name = {}
        for node in self.nodes:
            layer = self.layer(node)
            self.layers.append(layer)
            self.by_name[node.name] = layer
        for layer in self.layers:
            for o in layer.outputs:
                self.by_name.setdefault(o, layer)
        self.tensor_layer = {o: layer for layer in self.layers for o in layer.outputs}
        self.outputs = {o.name for o in model.graph.output}

    def is_gate(self, node, result):
        """Whether a computed value for each channel multiplies many pixels of it."""
        gate = [*result[:2], 1, 1]
        return len(result) == 4 and result != gate and any(self.shapes.get(i) == gate and i not in self.constants for i in node.input)

    def is_product(self, node):
        return node.op_type == "MatMul" and not any(i in self.constants for i in node.input)

    def near_product(self, node, forward, hops=6):
        """Whether a product of two computed tensors is found through elementwise operators and copies."""
        following = [r for o in node.output for r in self.readers.get(o, ())] if forward else [self.producer[i] for i in node.input if i in self.producer]
        for other in following:
            if self.is_product(other):
                return True
            if hops and KIND_OF_OPERATOR.get(other.op_type) in (ELEMENTWISE, COPY) and self.near_product(other, forward, hops - 1):
                return True
        return False

    def layer(self, node):
        shape = lambda k, of: self.shapes.get(of[k], []) if k < len(of) else []  # noqa: E731
        data, weight, result = shape(0, node.input), shape(1, node.input), shape(0, node.output)
        kind, macs = KIND_OF_OPERATOR.get(node.op_type, OTHER), 0
        text = "x".join(map(str, data)) + "->" + "x".join(map(str, result))
        attributes = {a.name: a for a in node.attribute}
        if node.op_type in ("Conv", "ConvTranspose") and len(weight) > 2 and len(result) > 2:
            groups = attributes["group"].i if "group" in attributes else 1
            kind = convolution_kind(data, weight, result, groups, node.op_type != "Conv")
            macs = elements(result) * elements(weight[1:]) if node.op_type == "Conv" else elements(data) * elements(weight[1:])
            strides = list(attributes["strides"].ints) if "strides" in attributes else [1]
            text += f" w{'x'.join(map(str, weight[2:]))} s{strides[0]} g{groups}"
        elif node.op_type in ("MatMul", "Gemm"):
            depth = data[-1] if data else 0
            if node.op_type == "Gemm" and "transA" in attributes and attributes["transA"].i:
                depth = data[0]
            macs = elements(result) * depth
            kind = ATTENTION if self.is_product(node) else MATMUL_FEW if elements(result[:-1]) <= FEW else MATMUL_MANY
            text += f" k{depth}"
        elif node.op_type == "Mul" and self.is_gate(node, result):
            kind = GATE
        elif node.op_type == "Softmax":
            kind = ATTENTION if self.near_product(node, True) and self.near_product(node, False) else SOFTMAX
        return Layer(node.name, node.op_type, kind, macs, list(node.input), list(node.output), text)

    def find(self, name):
        """The layer that a runtime's node is, by the node's name or a part of it; None where it's none of the file's."""
        if name in self.by_name:
            return self.by_name[name]
        for mark in ("_nchwc", "/MatMulAddFusion", "/WithoutBiases", "/BiasAdd", "/DequantizationAdd"):
            if name.endswith(mark) and name[:-len(mark)] in self.by_name:
                return self.by_name[name[:-len(mark)]]
        if "/" in name[1:]:
            return self.find(name[:name.rindex("/")]) if name.rindex("/") > 0 else None
        return None

    def product_of(self, layer):
        """The product or convolution that ends in this layer, where a runtime folded the one into the other; None where there is none."""
        for _ in range(6):
            if layer is None or layer.operator in PRODUCTS:
                return layer
            layer = next((self.tensor_layer[i] for i in layer.inputs if i in self.tensor_layer), None)
        return None

    def main(self, layers):
        """The layer that a fused node counts as: of the first kind in rank, and of these the one with most multiply-adds."""
        return min(layers, key=lambda layer: (RANK[layer.kind], -layer.macs))

    def bytes(self, layers, size):
        """Of what the fused layers read and write, with `size` bytes a value."""
        inside = {o for layer in layers for o in layer.outputs}
        names = {l.name for l in layers}
        read = {i for layer in layers for i in layer.inputs if i and i not in inside}
        written = {o for layer in layers for o in layer.outputs if o in self.outputs or any(r.name not in names for r in self.readers.get(o, ()))}
        return size * sum(elements(self.shapes.get(t, [])) for t in read | written)
