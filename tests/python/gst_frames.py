"""hetero.gst: regions, tensors and messages of buffers, in both forms of metadata, against heterometaconvert's JSON and a model."""
import gc
import random
import unittest
import warnings

import numpy as np

import small_models
from hetero.gst import GST_PAD_PROBE_INFO_BUFFER, TRANSFORM_IP_BUFFER, RegionOfInterest, Tensor, VideoFrame
from pipelines import DETECT, FORMS, SOURCE, Gst, GstAnalytics, GstVideo, parsed, run, samples

CAPS = Gst.Caps.from_string("video/x-raw,format=BGR,width=100,height=50,framerate=1/1")


def new_buffer(form=FORMS[-1]):
    """One whose regions get this form, as its first one has it."""
    buffer = Gst.Buffer.new_allocate(None, 15000, None)
    if form == "roi" and len(FORMS) > 1:
        GstVideo.buffer_add_video_region_of_interest_meta(buffer, "first", 0, 0, 1, 1).id = 1
    return buffer


def new_frame(form=FORMS[-1]):
    """With the regions that it begins with."""
    frame = VideoFrame(new_buffer(form), CAPS)
    return frame, len(frame.regions())


class Detections(unittest.TestCase):
    """What heterodetect attached, beside the JSON that heterometaconvert makes of it."""

    def test_regions_say_what_the_json_says(self):
        for form in FORMS:
            with self.subTest(form=form):
                found = samples(f"{SOURCE} ! {DETECT} metadata-form={form} ! heterotrack ! heterometaconvert ! appsink name=out sync=false")
                self.assertEqual(len(found), 3)
                for sample in found:
                    frame = VideoFrame(sample.get_buffer(), caps=sample.get_caps())
                    told, = parsed(frame.messages())
                    self.assertGreater(len(told["objects"]), 1)
                    regions = frame.regions()
                    self.assertEqual(len(regions), len(told["objects"]))
                    for region, wanted in zip(regions, told["objects"]):
                        self.same(region, wanted)

    def same(self, region, wanted):
        self.assertIsInstance(region, RegionOfInterest)
        self.assertEqual(tuple(region.rect()), tuple(wanted[key] for key in "xywh"))
        self.assertEqual(region.label(), wanted["roi_type"])
        self.assertEqual(region.object_id(), wanted.get("id"))
        self.assertEqual(region.region_id(), wanted["region_id"])
        self.assertIsNone(region.parent_id())
        self.assertEqual(region.label_id(), wanted["detection"]["label_id"])
        box = wanted["detection"]["bounding_box"]
        self.assertAlmostEqual(region.confidence(), wanted["detection"]["confidence"], 6)
        np.testing.assert_allclose(region.normalized_rect(), [box["x_min"], box["y_min"], box["x_max"] - box["x_min"], box["y_max"] - box["y_min"]],
                                   atol=1e-6)
        detection = region.detection()
        self.assertTrue(detection.is_detection())
        self.assertEqual(detection["x_min"], region.normalized_rect().x)
        self.assertEqual([tensor.name() for tensor in region.tensors()], ["detection"])
        with self.assertRaisesRegex(RuntimeError, "RegionOfInterest.label"):
            detection.label()

    def test_raw_outputs_of_the_whole_picture(self):
        model = small_models.demo_model()
        found = samples(f"{SOURCE} ! heteroinference model={model} model-proc={model.with_suffix('.json')} ! appsink name=out sync=false")
        frame = VideoFrame(found[0].get_buffer(), caps=found[0].get_caps())
        self.assertEqual(frame.regions(), [])
        tensors = frame.tensors()
        self.assertGreater(len(tensors), 0)
        for tensor in tensors:
            self.assertEqual(tensor.precision(), Tensor.PRECISION.FP32)
            values = tensor.data()
            self.assertEqual(values.dtype, np.float32)
            self.assertEqual(values.size, np.prod(tensor.dims()))
            self.assertTrue(np.isfinite(values).all())
            self.assertGreater(np.ptp(values), 0)
            self.assertFalse(values.flags.writeable)
            self.assertTrue(tensor.layer_name())
            self.assertTrue(tensor.model_name())


class Changes(unittest.TestCase):
    def test_an_added_region_is_there_for_elements(self):
        for form in FORMS:
            with self.subTest(form=form):
                told = []

                def add(pad, info):
                    with GST_PAD_PROBE_INFO_BUFFER(info) as buffer:
                        frame = VideoFrame(buffer, caps=pad.get_current_caps())
                        region = frame.add_region(10, 20, 30, 40, "sign", 0.75)
                        tensor = region.add_tensor("classification")
                        tensor["attribute_name"] = "text"
                        tensor["label"] = "stop"
                        region.set_object_id(9)
                        inner = frame.add_region(12, 22, 3, 4, "letter", 0.5, parent=region)
                        self.assertEqual(inner.parent_id(), region.region_id())
                        frame.add_message('{"mine": 1}')

                run(f"{SOURCE} ! {DETECT} metadata-form={form} ! identity name=here ! heterometaconvert ! identity name=there ! fakesink",
                    {"here": add, "there": lambda pad, info: told.append(parsed(VideoFrame(info.get_buffer()).messages()))})
                self.assertEqual(len(told), 3)
                for mine, objects in told:
                    self.assertEqual(mine, {"mine": 1})
                    sign, letter = objects["objects"][-2:]
                    self.assertEqual([sign[key] for key in ("x", "y", "w", "h", "roi_type", "id")], [10, 20, 30, 40, "sign", 9])
                    self.assertEqual(sign["text"]["label"], "stop")
                    self.assertAlmostEqual(sign["detection"]["confidence"], 0.75)
                    self.assertEqual(letter["parent_id"], sign["region_id"])

    def test_a_removed_region_is_gone_for_elements(self):
        for form in FORMS:
            with self.subTest(form=form):
                told = []
                kept = []

                def remove(pad, info):
                    with GST_PAD_PROBE_INFO_BUFFER(info) as buffer:
                        frame = VideoFrame(buffer, caps=pad.get_current_caps())
                        regions = frame.regions()
                        others = [(other.rect(), other.label(), other.confidence(), repr(other.tensors())) for other in regions[1:]]
                        frame.remove_region(regions[0])
                        kept.append([region.rect() for region in regions[1:]])
                        self.assertEqual([(other.rect(), other.label(), other.confidence(), repr(other.tensors())) for other in regions[1:]], others)
                        with self.assertRaisesRegex(RuntimeError, "was removed"):
                            regions[0].confidence()
                        with self.assertRaisesRegex(RuntimeError, "was removed"):
                            frame.remove_region(regions[0])

                run(f"{SOURCE} ! {DETECT} metadata-form={form} ! identity name=here ! heterometaconvert ! identity name=there ! fakesink",
                    {"here": remove, "there": lambda pad, info: told.extend(parsed(VideoFrame(info.get_buffer()).messages()))})
                self.assertEqual(len(told), 3)
                for message, rects in zip(told, kept):
                    self.assertGreater(len(rects), 0)
                    self.assertEqual([tuple(entry[key] for key in "xywh") for entry in message["objects"]], [tuple(rect) for rect in rects])

    def test_children_of_a_removed_region_stay(self):
        for form in FORMS:
            with self.subTest(form=form):
                frame, first = new_frame(form)
                parent = frame.add_region(0, 0, 50, 50, "a")
                other = frame.add_region(0, 0, 10, 10, "b")
                child = frame.add_region(5, 5, 10, 10, "c", parent=parent)
                grandchild = frame.add_region(6, 6, 2, 2, "d", parent=child)
                frame.remove_region(parent)
                self.assertEqual([region.label() for region in frame.regions()[first:]], ["b", "c", "d"])
                for region in (child, frame.regions()[first + 1]):
                    self.assertIsNone(region.parent_id())
                self.assertEqual(grandchild.parent_id(), child.region_id())
                self.assertEqual(other.rect(), (0, 0, 10, 10))

    def test_random_changes_beside_a_model(self):
        for form in FORMS:
            for seed in range(20):
                with self.subTest(form=form, seed=seed):
                    self.change(random.Random(seed), form)

    def change(self, chance, form):
        frame, first = new_frame(form)
        model = []
        for step in range(80):
            what = chance.choice(["add", "add", "tensor", "field", "remove", "id", "read", "again", "message"])
            if what == "add":
                label = chance.choice(["car", "person", "", "schön"])
                parent = chance.choice([None] + model)
                region = frame.add_region(chance.randrange(90), chance.randrange(40), 5, 5, label, 0.5, parent=parent and parent["region"])
                model.append({"region": region, "label": label, "rect": region.rect(), "tensors": [], "id": None, "parent": parent})
            elif what == "again":
                for entry, region in zip(model, frame.regions()[first:]):
                    entry["region"] = region
            elif what == "message":
                frame.add_message(str(step))
                frame.remove_message(str(step))
            elif model:
                entry = chance.choice(model)
                if what == "tensor":
                    tensor = entry["region"].add_tensor(f"t{step}")
                    tensor["step"] = step
                    entry["tensors"].append((tensor, step))
                elif what == "field" and entry["tensors"]:
                    chance.choice(entry["tensors"])[0]["more"] = [1.5, 2.5]
                elif what == "id":
                    entry["id"] = step
                    entry["region"].set_object_id(step)
                elif what == "remove":
                    frame.remove_region(entry["region"])
                    model.remove(entry)
                    for other in model:
                        if other["parent"] is entry:
                            other["parent"] = None
            self.check(frame, first, model)
        gc.collect()

    def check(self, frame, first, model):
        regions = frame.regions()[first:]
        self.assertEqual(len(regions), len(model))
        for region, entry in zip(regions, model):
            for one in (region, entry["region"]):
                self.assertEqual((one.label(), one.rect(), one.object_id()), (entry["label"], entry["rect"], entry["id"]))
                self.assertEqual(one.parent_id(), entry["parent"] and entry["parent"]["region"].region_id())
            self.assertEqual([tensor["step"] for tensor, _ in entry["tensors"]], [step for _, step in entry["tensors"]])
            names = [tensor.name() for tensor in region.tensors()]
            self.assertEqual(names[0], "detection")
            for _, step in entry["tensors"]:
                self.assertIn(f"t{step}", names)

    def test_places(self):
        frame, _ = new_frame()
        self.assertEqual(frame.add_region(0.25, 0.5, 0.5, 0.25, normalized=True).rect(), (25, 25, 50, 13))
        with self.assertWarnsRegex(UserWarning, r"clipped: \[-10.0"):
            region = frame.add_region(-10, 40, 30, 30)
        self.assertEqual(region.rect(), (0, 40, 20, 10))
        self.assertEqual(region.normalized_rect(), (0.0, 0.8, 0.2, 0.19999999999999996))
        for place in ((100, 0, 5, 5), (-5, 0, 5, 5), (0, 0, 0, 5), (0, 0, -3, 5), (float("nan"), 0, 1, 1), (0, 0, float("inf"), 1)):
            with self.assertRaises(ValueError, msg=place):
                frame.add_region(*place)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(UserWarning):
                frame.add_region(90, 0, 50, 5)
        self.assertEqual(len(frame.regions()), 2)
        detection = frame.add_region(0, 0, 2, 2, "x", extra_params={"speed": 3}).detection()
        self.assertEqual(detection["extra_params_json"], '{"speed": 3}')

    def test_the_whole_picture(self):
        for form in FORMS:
            with self.subTest(form=form):
                frame, first = new_frame(form)
                tensor = frame.add_tensor("classification")
                tensor["label"] = "day"
                frame.add_tensor(tensor)["label"] = "night"
                self.assertEqual([one.label() for one in frame.tensors()], ["day", "night"])
                frame.add_region(1, 1, 5, 5, "x")
                self.assertEqual([region.label() for region in frame.regions()[first:]], ["x"])
                self.assertEqual(tensor.label(), "day")


class Values(unittest.TestCase):
    def test_fields(self):
        tensor = Tensor("mine")
        values = {"flag": True, "number": -3, "large": 1 << 40, "text": "schön", "real": 0.1, "bytes": b"\0abc", "list": [1, 2], "reals": [1.0, 2.0],
                  "mixed": [1, 2.5], "texts": ["a", "b"], "nested": [[1], [2]], "none": []}
        for key, value in values.items():
            tensor[key] = value
        self.assertEqual(dict(tensor), {**values, "mixed": [1.0, 2.5]})
        self.assertEqual(tensor.fields(), list(values))
        self.assertEqual(len(tensor), len(values))
        self.assertIs(tensor["flag"], True)
        tensor["number"] = np.int64(7)
        tensor["real"] = np.float32(0.5)
        self.assertEqual((tensor["number"], tensor["real"]), (7, 0.5))
        del tensor["text"]
        self.assertFalse(tensor.has_field("text"))
        self.assertIsNone(tensor["text"])
        tensor["zero"] = 0
        self.assertTrue(tensor.has_field("zero"))
        self.assertEqual(eval(repr(tensor)), dict(tensor))

    def test_values_that_do_not_fit(self):
        tensor = Tensor()
        for value, kind in ((object(), TypeError), ({}, TypeError), ([1, "a"], TypeError), (1 << 70, OverflowError), (None, TypeError), ("\udc80", UnicodeEncodeError)):
            with self.assertRaises(kind, msg=repr(value)):
                tensor["field"] = value
        for value in ([-1], [1 << 40]):
            with self.assertRaises(OverflowError):
                tensor["dims"] = value
        for name in ("", "1a", "a%b", "ä"):
            with self.assertRaises(ValueError, msg=name):
                tensor[name] = 1
        for name in ("1a", "a%b"):
            with self.assertRaises(ValueError):
                Tensor(name)
            with self.assertRaises(ValueError):
                tensor.set_name(name)
        with self.assertRaises(TypeError):
            tensor[1] = 2
        self.assertEqual(dict(tensor), {})

    def test_values_of_others(self):
        text = "odd, a=(uint)7, b=(gint64)-5, c=(guint64)18446744073709551615, d=(float)0.5, e=(fraction)1/2, f={(int)1,(int)2}, g=<(string)x,(string)y>"
        tensor = Tensor(Gst.Structure.from_string(text)[0])
        self.assertEqual([tensor[key] for key in "abcd"], [7, -5, 18446744073709551615, 0.5])
        self.assertEqual((tensor["f"], tensor["g"]), ([1, 2], ["x", "y"]))
        self.assertEqual((tensor["e"].num, tensor["e"].denom), (1, 2))

    def test_tensors_with_values(self):
        frame, _ = new_frame()
        values = np.arange(6, dtype=np.float32)
        tensor = frame.add_region(0, 0, 5, 5, "x").add_tensor("tensor")
        self.assertIsNone(tensor.data())
        self.assertEqual(tensor.precision(), Tensor.PRECISION.UNSPECIFIED)
        tensor["precision"] = Tensor.PRECISION.FP32.value
        tensor["dims"] = [2, 3]
        tensor["layout"] = Tensor.LAYOUT.NC.value
        tensor["data_buffer"] = values.tobytes()
        np.testing.assert_array_equal(tensor.data(), values)
        self.assertEqual((tensor.precision_as_string(), tensor.layout_as_string(), tensor.dims()), ("FP32", "NC", [2, 3]))


class Buffers(unittest.TestCase):
    def test_formats(self):
        buffer = new_buffer()
        info = GstVideo.VideoInfo.new_from_caps(CAPS)
        for frame in (VideoFrame(buffer, CAPS), VideoFrame(buffer, caps=CAPS), VideoFrame(buffer, info), VideoFrame(buffer, video_info=info)):
            self.assertEqual((frame.width, frame.height, frame.format), (100, 50, "BGR"))
            self.assertEqual(frame.video_info().width, 100)
        plain = VideoFrame(Gst.Buffer.new_allocate(None, 10, None))
        self.assertEqual((plain.width, plain.video_info(), plain.caps, plain.pts), (None, None, None, None))
        with self.assertRaisesRegex(RuntimeError, "format of this buffer is not known"):
            plain.add_region(0, 0, 1, 1)
        with self.assertRaisesRegex(RuntimeError, "format of this buffer is not known"):
            with plain.data():
                pass
        encoded = VideoFrame(Gst.Buffer.new_allocate(None, 10, None), Gst.Caps.from_string("image/jpeg"))
        self.assertIsNone(encoded.video_info())
        encoded.add_message("x")
        self.assertEqual(encoded.messages(), ["x"])

    def test_video_meta_tells_the_format(self):
        buffer = Gst.Buffer.new_allocate(None, 15000, None)
        GstVideo.buffer_add_video_meta(buffer, GstVideo.VideoFrameFlags.NONE, GstVideo.VideoFormat.BGR, 100, 50)
        frame = VideoFrame(buffer)
        self.assertEqual((frame.width, frame.height, frame.format), (100, 50, "BGR"))
        self.assertEqual(frame.video_meta().width, 100)

    def test_wrong_arguments(self):
        with self.assertRaisesRegex(TypeError, "Gst.Buffer is needed, not int"):
            VideoFrame(5)
        with self.assertRaisesRegex(TypeError, "Gst.Buffer is needed, not Caps"):
            VideoFrame(CAPS)
        with self.assertRaisesRegex(TypeError, "GstVideo.VideoInfo or Gst.Caps"):
            VideoFrame(new_buffer(), "BGR")
        with self.assertRaises(TypeError):
            RegionOfInterest()
        frame, _ = new_frame()
        with self.assertRaisesRegex(TypeError, "RegionOfInterest, not str"):
            frame.remove_region("a")
        with self.assertRaisesRegex(RuntimeError, "of another frame"):
            frame.remove_region(new_frame()[0].add_region(0, 0, 1, 1))
        with self.assertRaisesRegex(TypeError, "of this frame"):
            frame.add_region(0, 0, 1, 1, parent=new_frame()[0].add_region(0, 0, 1, 1))
        region = frame.add_region(0, 0, 1, 1)
        for number in (-1, 1 << 31):
            with self.assertRaises(ValueError):
                region.set_object_id(number)
        with self.assertRaises(TypeError):
            frame.add_message(5)
        with self.assertRaisesRegex(RuntimeError, "no such message"):
            frame.remove_message("a")
        with self.assertRaisesRegex(TypeError, "PadProbeInfo"):
            with GST_PAD_PROBE_INFO_BUFFER(5):
                pass

    def test_what_others_use_is_not_changed(self):
        sample = Gst.Sample.new(new_buffer(), CAPS, None, None)
        frame = VideoFrame(sample.get_buffer(), sample.get_caps())
        for change in (lambda: frame.add_region(0, 0, 1, 1), lambda: frame.add_message("x"), lambda: frame.add_tensor("x")):
            with self.assertRaisesRegex(RuntimeError, "used in .* places.*GST_PAD_PROBE_INFO_BUFFER"):
                change()
        with self.assertRaisesRegex(RuntimeError, "used in .* places"):
            with frame.data(Gst.MapFlags.WRITE):
                pass
        with frame.data() as image:
            with self.assertRaises(ValueError):
                image[0] = 1

    def test_regions_tensors_and_arrays_outlive_the_frame(self):
        def parts():
            frame, _ = new_frame()
            region = frame.add_region(1, 2, 3, 4, "kept")
            region.add_tensor("t")["field"] = 5
            with frame.data(Gst.MapFlags.WRITE) as image:
                image[:] = 7
            with frame.data() as image:
                return region, region.tensors()[-1], image
        kept = [parts() for _ in range(20)]
        gc.collect()
        for region, tensor, image in kept:
            self.assertEqual((region.label(), region.detection().name(), tensor["field"], int(image.sum())), ("kept", "detection", 5, 7 * 15000))

    def test_two_frames_of_a_buffer_know_of_each_other(self):
        buffer = new_buffer("analytics" if len(FORMS) > 1 else "roi")
        one, other = VideoFrame(buffer, CAPS), VideoFrame(buffer)
        one.add_region(0, 0, 1, 1, "a")
        second = one.add_region(0, 0, 1, 1, "b")
        first, again = other.regions()
        tensors = again.tensors()
        other.remove_region(first)
        self.assertEqual([region.label() for region in one.regions()], ["b"])
        self.assertEqual((second.detection()["x_max"], tensors[0]["x_max"], other.width), (0.01, 0.01, 100))

    def test_a_buffer_that_a_probe_kept(self):
        kept = []

        def keep(pad, info):
            with GST_PAD_PROBE_INFO_BUFFER(info) as buffer:
                VideoFrame(buffer, pad.get_current_caps()).add_region(0, 0, 9, 9, "kept")
                kept.append(buffer)

        run(f"{SOURCE} ! identity name=here ! fakesink", {"here": keep})
        gc.collect()
        for buffer in kept:
            region, = VideoFrame(buffer).regions()
            self.assertEqual(region.label(), "kept")
            self.assertGreater(buffer.get_size(), 1000)

    def test_a_probe_changes_a_copy_of_what_others_use(self):
        seen = {"other": 0, "own": 0}

        def change(pad, info):
            with GST_PAD_PROBE_INFO_BUFFER(info) as buffer:
                frame = VideoFrame(buffer, pad.get_current_caps())
                frame.add_region(0, 0, 9, 9)
                seen["own"] += len(frame.regions())

        def look(pad, info):
            seen["other"] += len(VideoFrame(info.get_buffer()).regions())

        run(f"{SOURCE} ! tee name=t t. ! queue ! identity name=here ! fakesink t. ! queue ! identity name=there ! fakesink", {"here": change, "there": look})
        self.assertEqual(seen, {"other": 0, "own": 3})

    def test_transform_of_python(self):
        import gi
        gi.require_version("GstBase", "1.0")
        from gi.repository import GObject, GstBase

        class Marker(GstBase.BaseTransform):
            __gstmetadata__ = ("Marker", "Filter", "Adds a region", "tests")
            __gsttemplates__ = (Gst.PadTemplate.new("src", Gst.PadDirection.SRC, Gst.PadPresence.ALWAYS, Gst.Caps.new_any()),
                                Gst.PadTemplate.new("sink", Gst.PadDirection.SINK, Gst.PadPresence.ALWAYS, Gst.Caps.new_any()))

            def do_transform_ip(self, buffer):
                with TRANSFORM_IP_BUFFER(buffer):
                    VideoFrame(buffer, self.sinkpad.get_current_caps()).add_region(1, 1, 5, 5, "marked")
                return Gst.FlowReturn.OK

        GObject.type_register(Marker)
        Gst.Element.register(None, "hetero_test_marker", 0, Marker)
        labels = []
        run(f"{SOURCE} ! hetero_test_marker ! identity name=there ! fakesink",
            {"there": lambda pad, info: labels.extend(region.label() for region in VideoFrame(info.get_buffer()).regions())})
        self.assertEqual(labels, ["marked"] * 3)
        # A Gst.Buffer with a reference of its own, as older PyGObject gives them.
        sample = Gst.Sample.new(new_buffer(), CAPS, None, None)
        buffer = sample.get_buffer()
        with TRANSFORM_IP_BUFFER(buffer):
            VideoFrame(buffer, CAPS).add_message("x")
        with self.assertRaisesRegex(RuntimeError, "used in"):
            VideoFrame(buffer).add_message("y")

    def test_appsrc(self):
        pipeline = Gst.parse_launch(f"appsrc name=in caps={CAPS.to_string().replace(' ', '')} ! heterometaconvert ! appsink name=out")
        frame, _ = new_frame()
        frame.add_region(1, 2, 3, 4, "pushed", 0.5)
        pipeline.set_state(Gst.State.PLAYING)
        pipeline.get_by_name("in").emit("push-buffer", frame.buffer)
        sample = pipeline.get_by_name("out").emit("pull-sample")
        pipeline.set_state(Gst.State.NULL)
        told, = parsed(VideoFrame(sample.get_buffer()).messages())
        self.assertIn("pushed", [entry["roi_type"] for entry in told["objects"]])


class Gstgva(unittest.TestCase):
    def test_scripts_find_their_module(self):
        from hetero.gst import _gstgva
        _gstgva.install()
        import gstgva
        import gstgva.util
        from gstgva.region_of_interest import RegionOfInterest as Named
        self.assertIs(gstgva.VideoFrame, VideoFrame)
        self.assertIs(Named, RegionOfInterest)
        self.assertIs(gstgva.util.GST_PAD_PROBE_INFO_BUFFER, GST_PAD_PROBE_INFO_BUFFER)
        frame, _ = new_frame()
        self.assertIs(frame._VideoFrame__buffer, frame.buffer)


@unittest.skipIf("analytics" not in FORMS, f"GStreamer {Gst.version_string()} has no GstAnalyticsRelationMeta with all that is needed here (from 1.26 on)")
class Analytics(unittest.TestCase):
    """What other elements attach, by GStreamer's own functions."""

    def setUp(self):
        self.buffer = Gst.Buffer.new_allocate(None, 15000, None)
        meta = GstAnalytics.buffer_add_analytics_relation_meta(self.buffer)
        from gi.repository import GLib
        quark = GLib.quark_from_string
        _, self.first = meta.add_od_mtd(quark("first"), 1, 2, 3, 4, 0.5)
        _, cls = meta.add_one_cls_mtd(0.25, quark("red"))
        meta.set_relation(GstAnalytics.RelTypes.RELATE_TO, self.first.id, cls.id)
        _, second = meta.add_od_mtd(quark("second"), 5, 6, 7, 8, 0.75)
        _, cls = meta.add_one_cls_mtd(0.5, quark("blue"))
        meta.set_relation(GstAnalytics.RelTypes.RELATE_TO, second.id, cls.id)
        _, track = meta.add_tracking_mtd(12, 0)
        meta.set_relation(GstAnalytics.RelTypes.RELATE_TO, second.id, track.id)
        _, of_all = meta.add_one_cls_mtd(0.5, quark("day"))
        del meta

    def test_they_are_read(self):
        frame = VideoFrame(self.buffer, CAPS)
        first, second = frame.regions()
        self.assertEqual((first.label(), first.confidence(), tuple(first.rect())), ("first", 0.5, (1, 2, 3, 4)))
        self.assertEqual([(tensor.name(), tensor.label(), tensor.confidence()) for tensor in second.tensors()], [("classification", "blue", 0.5)])
        self.assertEqual((second.object_id(), first.object_id()), (12, None))
        self.assertEqual([tensor.label() for tensor in frame.tensors()], ["day"])

    def test_one_is_removed(self):
        frame = VideoFrame(self.buffer, CAPS)
        first, second = frame.regions()
        frame.remove_region(first)
        self.assertEqual((second.label(), second.object_id(), [tensor.label() for tensor in second.tensors()]), ("second", 12, ["blue"]))
        self.assertEqual([tensor.label() for tensor in frame.tensors()], ["day"])
        meta = GstAnalytics.buffer_get_analytics_relation_meta(self.buffer)
        # The object, its class, its track, and the class of the whole picture: no class of what went.
        self.assertEqual(meta.get_length() if hasattr(meta, "get_length") else GstAnalytics.relation_get_length(meta), 4)

    def test_changes_are_seen_by_others(self):
        frame = VideoFrame(self.buffer, CAPS)
        first, _ = frame.regions()
        first.set_object_id(3)
        tensor = first.add_tensor("classification")
        tensor["label"] = "green"
        region = frame.add_region(1, 1, 9, 9, "third", 0.5)
        again = frame.regions()
        self.assertEqual([one.label() for one in again], ["first", "second", "third"])
        self.assertEqual(again[0].object_id(), 3)
        self.assertIn("green", [one.label() for one in again[0].tensors() if not one.is_detection()])
        self.assertEqual(region.region_id(), again[2].region_id())


if __name__ == "__main__":
    small_models.main()
