"""A small IR model with inputs: one operation, as OpenVINO's node factory makes it."""

import zlib

import numpy as np

CASES = []


class Case:
    """`build` gives an openvino.Model of these inputs; `name` is TYPE-OPSET-NUMBER."""

    def __init__(self, name, build, inputs, tolerance, unordered):
        self.name = name
        self.build = build
        self.inputs = inputs
        self.tolerance = tolerance
        self.unordered = unordered


def random(*shape, low=-2.0, high=2.0, seed=0, dtype=np.float32):
    """Numbers that depend on the arguments only."""
    state = np.random.RandomState(zlib.crc32(repr((shape, seed)).encode()))
    return state.uniform(low, high, shape).astype(dtype)


def integers(*shape, low=-5, high=6, seed=0, dtype=np.int32):
    state = np.random.RandomState(zlib.crc32(repr((shape, seed)).encode()))
    return state.randint(low, high, shape).astype(dtype)


def ints(*values, dtype=np.int64):
    return np.array(values, dtype)


def floats(*values):
    return np.array(values, np.float32)


class C:
    """An input that is a constant of the file."""

    def __init__(self, values, dtype=None):
        self.values = np.asarray(values, dtype)


def add(name, build, inputs, tolerance=1e-4, unordered=False):
    number = sum(1 for known in CASES if known.name.rsplit("-", 1)[0] == name)
    CASES.append(Case(f"{name}-{number}", build, inputs, tolerance, unordered))


def op(kind, opset, inputs, attributes=None, tolerance=1e-4, unordered=False):
    """Operation `kind` of opset number `opset`: arrays become Parameters, C(...) constants."""
    parameters = [value for value in inputs if not isinstance(value, C)]

    def build():
        import openvino as ov
        from openvino import opset1
        from openvino.utils.node_factory import NodeFactory

        nodes, sources = [], []
        for value in inputs:
            if isinstance(value, C):
                sources.append(opset1.constant(value.values))
            else:
                node = opset1.parameter(value.shape, value.dtype)
                node.set_friendly_name(f"in{len(nodes)}")
                node.output(0).get_tensor().set_names({f"in{len(nodes)}"})
                nodes.append(node)
                sources.append(node)
        made = NodeFactory(f"opset{opset}").create(
            kind, [source.output(0) for source in sources], attributes or {}
        )
        results = []
        for i, output in enumerate(made.outputs()):
            output.get_tensor().set_names({f"out{i}"})
            results.append(opset1.result(output))
        return ov.Model(results, nodes, kind)

    add(f"{kind}-{opset}", build, parameters, tolerance, unordered)
