"""hetero.gst: pixels of frames as numpy arrays, of all formats, with gaps, crops and changes."""
import ctypes
import gc
import unittest

import numpy as np

import small_models
from hetero.gst import GST_PAD_PROBE_INFO_BUFFER, VideoFrame
from pipelines import Gst, GstVideo, run, samples

PACKED = {"RGB": 3, "BGR": 3, "RGBx": 4, "BGRx": 4, "RGBA": 4, "BGRA": 4, "xRGB": 4, "xBGR": 4, "ARGB": 4, "ABGR": 4, "GRAY8": 1}
STACKED = ("NV12", "NV21", "I420", "YV12")
# (rows of height 50, columns of width 322, values of a pixel, bytes of a value) of each plane
OTHERS = {"RGBP": [(50, 322, 1, 1)] * 3, "BGRP": [(50, 322, 1, 1)] * 3, "GBR": [(50, 322, 1, 1)] * 3, "GRAY16_LE": [(50, 322, 1, 2)],
          "Y444": [(50, 322, 1, 1)] * 3, "Y42B": [(50, 322, 1, 1)] + [(50, 161, 1, 1)] * 2, "P010_10LE": [(50, 322, 1, 2), (25, 161, 2, 2)],
          "NV16": [(50, 322, 1, 1), (50, 161, 2, 1)]}


def source(format, width=322, height=50):
    return f"videotestsrc num-buffers=1 pattern=ball ! video/x-raw,format={format},width={width},height={height}"


def sample_of(format, width=322, height=50):
    return samples(f"{source(format, width, height)} ! appsink name=out sync=false")[0]


def frame_of(sample):
    return VideoFrame(sample.get_buffer(), sample.get_caps())


def raw_plane(sample, plane, shape, item):
    """A plane of the sample by GStreamer's description of its format, copied row by row."""
    info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
    content = sample.get_buffer().extract_dup(0, sample.get_buffer().get_size())
    rows, row_bytes = shape[0], shape[1] * shape[2] * item
    starts = [info.offset[plane] + row * info.stride[plane] for row in range(rows)]
    joined = b"".join(content[start:start + row_bytes] for start in starts)
    return np.frombuffer(joined, f"<u{item}").reshape(shape)


def add_crop(buffer, *rect):
    """A GstVideoCropMeta, whose fields PyGObject does not show."""
    meta = buffer.add_meta(GstVideo.VideoCropMeta.get_info(), None)
    fields = (ctypes.c_uint * 4).from_address(hash(meta) + 16)
    fields[:] = rect


class Reading(unittest.TestCase):
    def test_packed_formats(self):
        for format, values in PACKED.items():
            with self.subTest(format=format):
                sample = sample_of(format)
                with frame_of(sample).data() as image:
                    self.assertEqual((image.shape, image.dtype), ((50, 322, values), np.uint8))
                    self.assertFalse(image.flags.writeable)
                    np.testing.assert_array_equal(image, raw_plane(sample, 0, image.shape, 1))
                    self.assertGreater(int(np.ptp(image)), 0)

    def test_formats_with_colour_below(self):
        for format in STACKED:
            for width, height in ((320, 50), (322, 50), (322, 52)):
                with self.subTest(format=format, width=width, height=height):
                    sample = sample_of(format, width, height)
                    colours = [(height // 2, width // 2, 2)] if format.startswith("NV") else [(height // 2, width // 2, 1)] * 2
                    wanted = [raw_plane(sample, 0, (height, width, 1), 1)]
                    wanted += [raw_plane(sample, number + 1, shape, 1) for number, shape in enumerate(colours)]
                    with frame_of(sample).data() as image:
                        self.assertEqual(image.shape, (height * 3 // 2, width, 1))
                        np.testing.assert_array_equal(image.reshape(-1), np.concatenate([plane.reshape(-1) for plane in wanted]))
                    with frame_of(sample).planes() as planes:
                        for plane, one in zip(planes, wanted):
                            np.testing.assert_array_equal(plane, one)

    def test_odd_sizes(self):
        sample = sample_of("I420", 321, 51)
        with frame_of(sample).planes() as planes:
            for number, plane in enumerate(planes):
                np.testing.assert_array_equal(plane, raw_plane(sample, number, (51, 321, 1) if number == 0 else (26, 161, 1), 1))
        with self.assertRaisesRegex(RuntimeError, "321 x 51 pixels is no single array"):
            with frame_of(sample).data():
                pass

    def test_other_formats_by_planes(self):
        formats = OTHERS if Gst.version()[:2] >= (1, 20) else {}
        for format, shapes in formats.items():
            with self.subTest(format=format):
                sample = sample_of(format)
                frame = frame_of(sample)
                with frame.planes() as planes:
                    self.assertEqual([(*plane.shape, plane.itemsize) for plane in planes], shapes)
                    for number, plane in enumerate(planes):
                        np.testing.assert_array_equal(plane, raw_plane(sample, number, shapes[number][:3], shapes[number][3]))
                with self.assertRaisesRegex(RuntimeError, f"{format} are no single array"):
                    with frame.data():
                        pass

    def test_formats_that_are_no_arrays(self):
        for format in ("v210", "NV12_64Z32"):
            with self.assertRaisesRegex(RuntimeError, f"{format} are no arrays"):
                with frame_of(sample_of(format)).planes():
                    pass

    def test_only_the_visible_part(self):
        for format in ("BGR", "NV12"):
            with self.subTest(format=format):
                sample = sample_of(format)
                with frame_of(sample).planes() as planes:
                    wanted = [np.array(plane) for plane in planes]
                del planes
                buffer = sample.get_buffer().copy_deep()
                add_crop(buffer, 20, 10, 100, 30)
                with VideoFrame(buffer, sample.get_caps()).planes() as planes:
                    np.testing.assert_array_equal(planes[0], wanted[0][10:40, 20:120])
                    if format == "NV12":
                        np.testing.assert_array_equal(planes[1], wanted[1][5:20, 10:60])
                with VideoFrame(buffer, sample.get_caps()).data() as image:
                    self.assertEqual(image.shape, (30, 100, 3) if format == "BGR" else (45, 100, 1))

    def test_a_buffer_that_is_too_small(self):
        caps = Gst.Caps.from_string("video/x-raw,format=BGR,width=100,height=50,framerate=1/1")
        with self.assertRaisesRegex(RuntimeError, "BGR, 100x50.*smaller than its format"):
            with VideoFrame(Gst.Buffer.new_allocate(None, 14999, None), caps).data():
                pass

    def test_arrays_that_are_kept(self):
        kept = []
        for _ in range(50):
            with frame_of(sample_of("BGRx")).data() as image:
                kept.append(image)
        gc.collect()
        for image in kept[1:]:
            np.testing.assert_array_equal(image, kept[0])


class Writing(unittest.TestCase):
    def written(self, format, change, crop=None):
        """The frame behind a probe that changes its pixels."""
        seen = []

        def paint(pad, info):
            with GST_PAD_PROBE_INFO_BUFFER(info) as buffer:
                frame = VideoFrame(buffer, pad.get_current_caps())
                if crop:
                    add_crop(buffer, *crop)
                with frame.data(Gst.MapFlags.WRITE) as image:
                    change(image)
                    frame.add_message("while it is mapped")

        def look(pad, info):
            frame = VideoFrame(info.get_buffer(), pad.get_current_caps())
            self.assertEqual(frame.messages(), ["while it is mapped"])
            with frame.data() as image:
                seen.append(np.array(image))

        run(f"{source(format)} ! identity name=here ! identity name=there ! fakesink", {"here": paint, "there": look})
        return seen[0]

    def test_pixels_that_were_written(self):
        for format in [*PACKED, *STACKED]:
            with self.subTest(format=format):
                with frame_of(sample_of(format)).data() as image:
                    wanted = np.array(image)
                del image

                def change(image):
                    image[5:9, 3:7] = 77
                    image[-3:] = 5
                change(wanted)
                np.testing.assert_array_equal(self.written(format, change), wanted)

    def test_in_the_visible_part_alone(self):
        def change(image):
            image[:] = 9
        np.testing.assert_array_equal(self.written("NV12", change, crop=(20, 10, 100, 30)), np.full((45, 100, 1), 9))

    def test_an_error_in_between_loses_nothing(self):
        caps = Gst.Caps.from_string("video/x-raw,format=BGR,width=100,height=50,framerate=1/1")
        frame = VideoFrame(Gst.Buffer.new_allocate(None, 15000, None), caps)
        with self.assertRaisesRegex(ValueError, "mine"):
            with frame.data(Gst.MapFlags.WRITE) as image:
                image[:] = 4
                raise ValueError("mine")
        del image
        with frame.data() as image:
            self.assertEqual(int(image.max()), 4)


if __name__ == "__main__":
    small_models.main()
