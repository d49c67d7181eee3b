"""An exported file in ONNX Runtime or OpenVINO with a picture as its input."""

import contextlib

import numpy as np
from record import disturbed
from run import peers_of


def compute_in_float32():
    """OpenVINO would take bfloat16 where the processor has it, and integers for quantised models, whoever compiles a model."""
    openvino_that_computes(INFERENCE_PRECISION_HINT="f32", LP_TRANSFORMS_MODE="NO")


def openvino_that_computes(**always):
    import openvino

    plain = getattr(openvino.Core, "plain", openvino.Core)

    class Core(plain):
        def compile_model(self, model, device_name="CPU", config=None):
            return super().compile_model(model, device_name, (config or {}) | always)

    Core.plain = plain
    openvino.Core = Core


@contextlib.contextmanager
def quantised_in_integers():
    """As OpenVINO does unless told otherwise; compiles meanwhile."""
    openvino_that_computes(INFERENCE_PRECISION_HINT="f32")
    try:
        yield
    finally:
        compute_in_float32()


@contextlib.contextmanager
def inputs_off_by_a_millionth(seed):
    """What ONNX Runtime and OpenVINO get in this process, whoever calls them."""
    import onnxruntime
    import openvino

    plain_run, plain_infer = onnxruntime.InferenceSession.run, openvino.InferRequest.infer

    def run(self, names, inputs, *more, **options):
        return plain_run(self, names, disturbed(inputs, seed), *more, **options)

    def infer(self, inputs=None, *more, **options):
        named = inputs if isinstance(inputs, dict) else dict(enumerate(inputs if isinstance(inputs, (list, tuple)) else [inputs]))
        return plain_infer(self, disturbed(named, seed), *more, **options)

    onnxruntime.InferenceSession.run, openvino.InferRequest.infer = run, infer
    try:
        yield
    finally:
        onnxruntime.InferenceSession.run, openvino.InferRequest.infer = plain_run, plain_infer


def chw(picture, scale=1 / 255, mean=(0, 0, 0), deviation=(1, 1, 1), swap=False):
    """[1, 3, height, width] of a picture in RGB."""
    values = (picture[..., ::-1] if swap else picture).astype(np.float32) * np.float32(scale)
    return np.ascontiguousarray(((values - np.float32(mean)) / np.float32(deviation)).transpose(2, 0, 1)[None])


# How a picture may get in by mistake: arguments of chw().
MISTAKES = {"BGR in 0..255": {"scale": 1, "swap": True}, "RGB in 0..255": {"scale": 1}, "BGR in 0..1": {"swap": True}, "RGB in 0..1": {}}


class Session:
    """The first peer that reads the file."""

    def __init__(self, file):
        for kind in peers_of(file):
            try:
                self.peer = kind(file)
                return
            except Exception as error:  # what peers throw has no type of its own
                failure = error
        raise failure

    def run(self, values):
        return [np.asarray(v) for v in self.peer.run({self.peer.inputs[0][0]: values})]


def softmax(logits):
    e = np.exp(logits - logits.max())
    return e / e.sum()


def ranked(scores):
    return [(int(i), float(scores[i])) for i in np.argsort(-scores, kind="stable")]
