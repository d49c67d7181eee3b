#!/usr/bin/env python3
"""The plugin works in a process that also carries python3-onnx, OpenCV's DNN and ONNX Runtime.

coexistence.py PLUGIN ROOT: loads the other libraries (those installed; python3-onnx and OpenCV are
required), uses each, then runs a pipeline through the plugin, and uses each again. GStreamer is
reached with ctypes, so no bindings are needed.
"""
import ctypes
import ctypes.util
import importlib
import sys

GST_STATE_NULL, GST_STATE_PLAYING = 1, 4
GST_MESSAGE_EOS, GST_MESSAGE_ERROR = 1, 2
TIMEOUT_NS = 60 * 10**9


def use_onnx(model):
    onnx = importlib.import_module("onnx")
    onnx.checker.check_model(onnx.load(model))


def use_opencv(model):
    cv2 = importlib.import_module("cv2")
    numpy = importlib.import_module("numpy")
    net = cv2.dnn.readNetFromONNX(model)
    net.setInput(cv2.dnn.blobFromImage(numpy.zeros((192, 320, 3), numpy.uint8), size=(320, 192)))
    assert numpy.isfinite(net.forward()).all()


def use_onnxruntime(model):
    onnxruntime = importlib.import_module("onnxruntime")
    numpy = importlib.import_module("numpy")
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    first = session.get_inputs()[0]
    session.run(None, {first.name: numpy.zeros([d if isinstance(d, int) else 1 for d in first.shape], numpy.float32)})


def pointer_call(library, name, *arguments):
    function = getattr(library, name)
    function.restype = ctypes.c_void_p
    return function(*arguments)


def run_pipeline(plugin, description):
    gst = ctypes.CDLL(ctypes.util.find_library("gstreamer-1.0"))
    gst.gst_init(None, None)
    if not pointer_call(gst, "gst_plugin_load_file", plugin.encode(), None):
        sys.exit(f"GStreamer cannot load {plugin}")
    pipeline = pointer_call(gst, "gst_parse_launch", description.encode(), None)
    if not pipeline:
        sys.exit(f"GStreamer cannot make the pipeline: {description}")
    bus = pointer_call(gst, "gst_element_get_bus", ctypes.c_void_p(pipeline))
    gst.gst_element_set_state(ctypes.c_void_p(pipeline), GST_STATE_PLAYING)
    message = pointer_call(gst, "gst_bus_timed_pop_filtered", ctypes.c_void_p(bus), ctypes.c_uint64(TIMEOUT_NS),
                           GST_MESSAGE_EOS | GST_MESSAGE_ERROR)
    if not message:
        sys.exit("the pipeline did not end")
    # GstMessage: a GstMiniObject of 64 bytes, then the type.
    kind = ctypes.cast(message + 64, ctypes.POINTER(ctypes.c_int)).contents.value
    gst.gst_element_set_state(ctypes.c_void_p(pipeline), GST_STATE_NULL)
    if kind != GST_MESSAGE_EOS:
        sys.exit("the pipeline ended with an error")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    plugin, root = sys.argv[1:]
    model = f"{root}/pipelines/demo/models/scene_detector.onnx"
    used = []
    for name, use in (("onnx", use_onnx), ("cv2", use_opencv), ("onnxruntime", use_onnxruntime)):
        try:
            use(model)
        except ModuleNotFoundError:
            if name != "onnxruntime":
                raise
            print("onnxruntime is not installed: left out")
            continue
        used.append(use)
    run_pipeline(plugin, f"videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=320,height=192 ! heterodetect model={model} "
                 f"model-proc={model[:-4]}json ! fakesink")
    for use in used:
        use(model)


if __name__ == "__main__":
    main()
