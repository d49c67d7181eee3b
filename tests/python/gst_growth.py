"""Memory of hetero.gst and heteropython: frames and regions in every way that scripts use them, and no growth.

10,000 frames of each kind of callback, in the second half of which the process may not grow by more than 2 MiB in all. With HET_SANITIZED set it
is printed only: sanitizers keep freed memory.
"""
import gc
import os
import pathlib
import tempfile
import unittest

import small_models
from pipelines import Gst, play

FRAMES = 10_000
ALLOWED_KIB = 2048
IS_CHECKED = not os.environ.get("HET_SANITIZED")

SCRIPT = '''
import numpy as np
from hetero.gst import Tensor

kept = None


def read(frame):
    for region in frame.regions():
        region.rect(), region.normalized_rect(), region.label(), region.label_id(), region.confidence(), region.object_id(), region.parent_id()
        for tensor in region.tensors():
            dict(tensor), repr(tensor), tensor.data(), tensor.dims()
    frame.tensors(), frame.messages(), frame.width, frame.format, frame.pts


def change(frame):
    region = frame.add_region(1, 2, 30, 40, "car", 0.5, extra_params={"a": 1})
    inner = frame.add_region(0.1, 0.1, 0.1, 0.1, "wheel", 0.5, normalized=True, parent=region)
    tensor = inner.add_tensor("classification")
    tensor["label"], tensor["list"], tensor["data_buffer"] = "round", [1.5, 2.5], bytes(1000)
    inner.add_tensor(Tensor("more"))
    region.set_object_id(5)
    frame.add_tensor("scene")["label"] = "day"
    frame.add_message("one")
    frame.add_message("two")
    frame.remove_message("one")
    frame.remove_region(region)


def pixels(frame):
    with frame.data() as image:
        int(image[0, 0, 0])
    with frame.data(2) as image:
        image[:5] = 1
    with frame.planes() as planes:
        planes[0].sum()


def keep(frame):
    global kept
    if kept is not None:
        before, regions, image = kept
        assert regions[-1].rect().w == 22 and regions[-1].tensors() is not None and int(image.max()) <= 255 and before.width == 64
    with frame.data() as image:
        kept = frame, frame.regions(), image


buffers = []


def gi_objects(frame):
    # Those that came back to the source's pool would have later times.
    times = [buffer.pts for buffer in buffers]
    assert times == sorted(set(times)) and all(time < frame.pts for time in times), times
    frame.buffer.pts, frame.caps.to_string(), frame.video_info().width, frame.video_meta()
    buffers.append(frame.buffer)
    del buffers[:-8]


def drop(frame):
    return False


def errors(frame):
    for wrong in (lambda: frame.add_region(-10, 0, 5, 5), lambda: frame.remove_message("x"), lambda: frame.regions()[0].set_object_id(-1),
                  lambda: frame.add_tensor("1"), lambda: Tensor()["a"]["b"], lambda: frame.add_tensor().__setitem__("dims", [1, "x"])):
        try:
            wrong()
        except Exception as failure:
            str(failure)
'''


def resident_kib():
    gc.collect()
    return next(int(line.split()[1]) for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS:"))


class Growth(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.script = pathlib.Path(self.folder.name) / "growing.py"
        self.script.write_text(SCRIPT)

    def grown(self, function, format):
        pipeline = Gst.parse_launch(
            f"videotestsrc num-buffers={FRAMES} pattern=black ! video/x-raw,format={format},width=64,height=48 ! heteroattachroi roi=5,5,20,20 ! "
            f"heteroattachroi roi=8,8,30,30 ! heteropython name=python module={self.script} function={function} ! fakesink name=sink sync=false")
        sizes = []

        def count(pad, info):
            count.frames += 1
            if count.frames in (FRAMES // 2, FRAMES):
                sizes.append(resident_kib())
            return Gst.PadProbeReturn.OK

        count.frames = 0
        # Before the element, as it may drop the frame.
        pipeline.get_by_name("python").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, count)
        play(pipeline, timeout=240)
        return sizes[1] - sizes[0]

    def test_growth(self):
        total = 0
        for function in ("read", "change", "pixels", "keep", "gi_objects", "drop", "errors"):
            for format in ("BGR", "NV12") if function == "pixels" else ("BGR",):
                kib = self.grown(function, format)
                print(f"{function} {format}: {kib} KiB in {FRAMES // 2} frames", flush=True)
                total += max(kib, 0)
        if IS_CHECKED:
            self.assertLess(total, ALLOWED_KIB)


if __name__ == "__main__":
    small_models.main()
