#!/usr/bin/env python3
"""The plugin beside other libraries that read models: python3-onnx (with its protobuf), OpenCV's DNN and,
where it is installed, ONNX Runtime, all in one process, before and after a pipeline has run.

Usage: one_process.py SOURCE_ROOT. Exit status 77 means skipped, with the reason printed.
"""
import ctypes
import importlib
import os
import pathlib
import sys

GST_MESSAGE_EOS = 1 << 0
GST_MESSAGE_ERROR = 1 << 1
GST_STATE_NULL = 1
GST_STATE_PLAYING = 4
GST_SECOND = 10**9


def play(gst, description):
    """Plays a pipeline to its end; returns the type of the message that ended it."""
    gst.gst_parse_launch.restype = ctypes.c_void_p
    gst.gst_element_get_bus.restype = ctypes.c_void_p
    gst.gst_bus_timed_pop_filtered.restype = ctypes.c_void_p
    gst.gst_bus_timed_pop_filtered.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int]
    pipeline = ctypes.c_void_p(gst.gst_parse_launch(description.encode(), None))
    bus = ctypes.c_void_p(gst.gst_element_get_bus(pipeline))
    gst.gst_element_set_state(pipeline, GST_STATE_PLAYING)
    message = gst.gst_bus_timed_pop_filtered(bus, 120 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR)
    # GstMessage begins with a GstMiniObject of 64 bytes, then its type.
    kind = ctypes.cast(message + 64, ctypes.POINTER(ctypes.c_int)).contents.value if message else 0
    gst.gst_element_set_state(pipeline, GST_STATE_NULL)
    if message:
        gst.gst_mini_object_unref(ctypes.c_void_p(message))
    gst.gst_object_unref(bus)
    gst.gst_object_unref(pipeline)
    return kind


def restart_with_sanitizer():
    """A sanitizer's runtime has to be there before Python starts; what Python leaks is not looked at."""
    runtime = os.environ.pop("HET_PRELOAD", None)
    if runtime is None:
        return
    if "tsan" in runtime:
        print("skipped: ThreadSanitizer does not know GLib's locks here (see glib_locks.cpp)")
        sys.exit(77)
    os.environ["LD_PRELOAD"] = runtime
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    os.execv(sys.executable, [sys.executable, *sys.argv])


def main():
    restart_with_sanitizer()
    root = pathlib.Path(sys.argv[1])
    model = root / "pipelines/demo/models/scene_detector.onnx"
    others = {}
    for name in ("onnx.checker", "cv2", "numpy", "onnxruntime"):
        try:
            others[name] = importlib.import_module(name)
        except ImportError:
            print(f"{name} is not installed")
    if not {"onnx.checker", "cv2", "numpy"} <= others.keys():
        print("skipped: python3-onnx and python3-opencv are needed")
        return 77

    def use_others():
        picture = others["numpy"].full((1, 3, 192, 320), 100, others["numpy"].float32)
        others["onnx.checker"].check_model(str(model))
        net = others["cv2"].dnn.readNetFromONNX(str(model))
        net.setInput(picture)
        outputs = [net.forward()]
        if "onnxruntime" in others:
            session = others["onnxruntime"].InferenceSession(str(model), providers=["CPUExecutionProvider"])
            outputs += session.run(None, {"images": picture})
        return outputs

    before = use_others()
    os.environ.setdefault("GST_REGISTRY_FORK", "no")  # the plugin is loaded into this very process
    gst = ctypes.CDLL("libgstreamer-1.0.so.0")
    gst.gst_init(None, None)
    kind = play(gst, "videotestsrc num-buffers=20 ! video/x-raw,width=320,height=192 ! heterodetect "
                f"model={model} model-proc={model.with_suffix('.json')} ! heterowatermark ! fakesink")
    if kind != GST_MESSAGE_EOS:
        print(f"the pipeline ended with message type {kind}, not EOS")
        return 1
    after = use_others()
    if not all((a == b).all() for a, b in zip(before, after)):
        print("another library computes something else after the plugin has run")
        return 1
    print(f"in one process: the plugin, {', '.join(sorted(others))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
