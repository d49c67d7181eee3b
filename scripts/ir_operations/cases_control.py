"""Recurrent layers, bodies, state, random numbers, constants of every type."""

import numpy as np
from case import C, add, floats, integers, ints, op, random


ACTIVATIONS = {"RNN": ["tanh"], "GRU": ["sigmoid", "tanh"], "LSTM": ["sigmoid", "tanh", "tanh"]}


def sequence(kind, directions, lengths=False, **more):
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[kind]
    hidden, size, batch, time = 5, 4, 2, 3
    name = {1: more.pop("direction", "forward"), 2: "bidirectional"}[directions]
    extra = 1 if kind == "GRU" and more.get("linear_before_reset") else 0
    states = 2 if kind == "LSTM" else 1
    op(f"{kind}Sequence", 5, [
        random(batch, time, size), *(random(batch, directions, hidden, seed=i) for i in range(states)),
        *([ints(3, 2, dtype=np.int32)] if lengths else [C(ints(3, 3, dtype=np.int32))]),
        C(random(directions, gates * hidden, size)), C(random(directions, gates * hidden, hidden)),
        C(random(directions, (gates + extra) * hidden))],
        {"hidden_size": hidden, "direction": name, "activations": ACTIVATIONS[kind], **more})


def cell(kind, opset, **more):
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[kind]
    hidden, size, batch = 5, 4, 2
    extra = 1 if kind == "GRU" and more.get("linear_before_reset") else 0
    states = 2 if kind == "LSTM" else 1
    op(f"{kind}Cell", opset, [
        random(batch, size), *(random(batch, hidden, seed=i) for i in range(states)),
        C(random(gates * hidden, size)), C(random(gates * hidden, hidden)), C(random((gates + extra) * hidden))],
        {"hidden_size": hidden, **more})


for kind in ("RNN", "GRU", "LSTM"):
    sequence(kind, 1)
    sequence(kind, 1, True)
    sequence(kind, 2, True)
    sequence(kind, 1, direction="reverse")
    sequence(kind, 2)
    sequence(kind, 1, clip=0.3)
    cell(kind, {"RNN": 3, "GRU": 3, "LSTM": 4}[kind])
    cell(kind, {"RNN": 3, "GRU": 3, "LSTM": 4}[kind], clip=0.4)
for before in (True, False):
    sequence("GRU", 2, linear_before_reset=before)
    cell("GRU", 3, linear_before_reset=before)
cell("LSTM", 4, activations=["tanh", "sigmoid", "tanh"])
cell("GRU", 3, activations=["relu", "tanh"])
cell("RNN", 3, activations=["relu"])
cell("LSTM", 4, activations=["hardsigmoid", "tanh", "tanh"], activations_alpha=[0.3], activations_beta=[0.4])
cell("LSTM", 4, activations=["sigmoid", "relu", "tanh"])


def named(node, results):
    import openvino as ov
    from openvino import opset1

    made = []
    for i, output in enumerate(results):
        output.get_tensor().set_names({f"out{i}"})
        made.append(opset1.result(output))
    return made


def parameter(index, array, shape=None):
    from openvino import opset1

    node = opset1.parameter(array.shape if shape is None else shape, array.dtype)
    node.set_friendly_name(f"in{index}")
    node.output(0).get_tensor().set_names({f"in{index}"})
    return node


def if_model(inputs, constant=None):
    def build():
        import openvino as ov
        from openvino import opset8 as o

        cond, x = parameter(0, inputs[0]), parameter(1, inputs[1])
        if constant is not None:
            cond = o.constant(constant)
        made = o.if_op(cond.output(0))
        p, q = o.parameter([2, 3], np.float32), o.parameter([2, 3], np.float32)
        then = ov.Model([o.result(o.add(p, o.constant(np.float32(1))))], [p], "then")
        other = ov.Model([o.result(o.multiply(q, o.constant(np.float32(3))))], [q], "else")
        made.set_then_body(then)
        made.set_else_body(other)
        made.set_input(x.output(0), p, q)
        out = made.set_output(then.results[0], other.results[0])
        first = parameter(0, inputs[0])
        parameters = [first, x] if constant is not None else [cond, x]
        return ov.Model(named(None, [out]), parameters, "if")

    return build


for flag in (True, False):
    values = [np.array(flag), random(2, 3)]
    add("If-8", if_model(values), values)


def iterator(kind, backwards, by_condition=False):
    x, start = random(1, 5, 4), random(1, 4, seed=2)

    def build():
        import openvino as ov
        from openvino import opset5 as o

        p, s = parameter(0, x), parameter(1, start)
        part, state = o.parameter([1, 1, 4], np.float32), o.parameter([1, 4], np.float32)
        flat = o.reshape(part, o.constant(ints(1, 4)), False)
        new = o.add(o.multiply(state, o.constant(np.float32(0.5))), flat)
        r_state = o.result(new)
        r_out = o.result(o.unsqueeze(new, o.constant(ints(1))))
        body_results = [r_state, r_out]
        if kind == "loop":
            going = (o.less(o.reduce_sum(new, o.constant(ints(0, 1)), False), o.constant(np.float32(3)))
                     if by_condition else o.constant(np.array(True)))
            body_results.append(o.result(going))
        body = ov.Model(body_results, [part, state], "body")
        if kind == "loop":
            made = o.loop(o.constant(np.int64(5)).output(0), o.constant(np.array(True)).output(0))
            made.set_function(body)
            made.set_special_body_ports([-1, 2])
        else:
            made = o.tensor_iterator()
            made.set_body(body)
        if backwards:
            made.set_sliced_input(part, p.output(0), -1, -1, 1, 0, 1)
        else:
            made.set_sliced_input(part, p.output(0), 0, 1, 1, -1, 1)
        made.set_merged_input(state, s.output(0), r_state.output(0))
        last = made.get_iter_value(r_state.output(0), -1)
        outputs = [last]
        if not by_condition:
            if backwards:
                outputs.append(made.get_concatenated_slices(r_out.output(0), -1, -1, 1, 0, 1))
            else:
                outputs.append(made.get_concatenated_slices(r_out.output(0), 0, 1, 1, -1, 1))
        return ov.Model(named(None, outputs), [p, s], kind)

    add("TensorIterator-1" if kind == "ti" else "Loop-5", build, [x, start])


for backwards in (False, True):
    iterator("ti", backwards)
iterator("loop", False)
iterator("loop", False, True)


def constants():
    x = random(2, 4)
    for kind in "f16 bf16 f64 i8 u8 i16 u16 i4 u4 i64 u32 u64 nf4 f8e4m3 f8e5m2 f8e8m0 f4e2m1 u1 u2 u3 u6".split():
        def build(kind=kind):
            import openvino as ov
            from openvino import opset1 as o

            p = parameter(0, x)
            element = getattr(ov.Type, kind)
            whole = kind[0] in "iu"
            values = integers(2, 4, low=0, high=2) if whole else random(2, 4, seed=5)
            bits = ov.Tensor(element, [2, 4])
            if element.bitwidth >= 8:
                source = values.astype(np.float32)
                made = ov.op.Constant(element, ov.Shape([2, 4]), source.reshape(-1).tolist())
            else:
                raw = np.frombuffer(bits.data if False else bytes(integers(8 * element.bitwidth // 8, low=0, high=256, dtype=np.uint8)), np.uint8)
                packed = ov.Tensor(raw.copy(), ov.Shape([2, 4]), element)
                made = ov.op.Constant(packed)
            used = o.convert(made, "f32")
            return ov.Model(named(None, [o.add(p, used).output(0)]), [p], kind)

        add(f"Const_{kind}-1", build, [x])


constants()


def state():
    x = random(2, 3)

    def build():
        import openvino as ov
        from openvino import opset6 as o

        p = parameter(0, x)
        variable = ov.op.util.VariableInfo()
        variable.data_shape = ov.PartialShape([2, 3])
        variable.data_type = ov.Type.f32
        variable.variable_id = "v"
        held = ov.op.util.Variable(variable)
        read = o.read_value(o.constant(np.ones((2, 3), np.float32)), held)
        new = o.add(p, read)
        sink = o.assign(new, held)
        return ov.Model(named(None, [o.multiply(new, o.constant(np.float32(2))).output(0)]), [sink], [p], "state")

    add("ReadValue-6", build, [x])


state()
op("RandomUniform", 8, [C(ints(2, 3)), C(np.float32(0)), C(np.float32(1))], {"output_type": "f32", "global_seed": 3, "op_seed": 4}, tolerance=None)
op("RandomUniform", 8, [C(ints(2, 3)), C(np.int32(-4)), C(np.int32(9))], {"output_type": "i32", "global_seed": 3, "op_seed": 4}, tolerance=None)
op("Multinomial", 13, [random(2, 5, low=0, high=1), C(ints(3))], {"convert_type": "i64", "with_replacement": True, "log_probs": False, "global_seed": 3, "op_seed": 4}, tolerance=None)
op("Multinomial", 13, [random(2, 5, low=0, high=1), C(ints(3))], {"convert_type": "i32", "with_replacement": False, "log_probs": True, "global_seed": 3, "op_seed": 4}, tolerance=None)
