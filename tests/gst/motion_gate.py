#!/usr/bin/env python3
"""The gate of heteromotiondetect before a real detector, on drawn scenes that are still for 80 % of the time.

    motion_gate.py ROOT

The objects that are found with the gate beside those found without it, frame by frame and against what was drawn; how many frames were
analysed; how old results are.
"""
import json
import pathlib
import sys
import tempfile

try:
    import cv2
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
except (ImportError, ValueError) as missing:
    print(f"skipped: {missing}; it needs python3-opencv, python3-gi and gir1.2-gstreamer-1.0")
    sys.exit(77)

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "pipelines/demo"))
import scene  # noqa: E402

WIDTH, HEIGHT, FRAMES, FPS = 320, 192, 500, 30
SEEDS = (100001, 100002, 100003, 100004)
MAX_AGE_MS = 500


def draw(seed, path):
    """Writes the frames as I420; returns the boxes that are to be found in each."""
    drawn = scene.Scene(seed, WIDTH, HEIGHT, FRAMES, FPS, busy=0.2)
    truth = []
    with open(path, "wb") as file:
        for index in range(FRAMES):
            picture, objects = drawn.render(index)
            file.write(cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420).tobytes())
            truth.append([o for o in objects if not o.get("ignore")])
    return truth


def play(path, gate, folder):
    """The objects of each frame, the element's statistics and the largest age of a result."""
    model = ROOT / "pipelines/demo/models/scene_detector"
    found = folder / "found.json"
    pipeline = Gst.parse_launch(
        f"filesrc location={path} blocksize={WIDTH * HEIGHT * 3 // 2} ! rawvideoparse format=i420 width={WIDTH} height={HEIGHT} framerate={FPS}/1 "
        f"! heteromotiondetect name=motion gate={gate} add-regions=false max-age={MAX_AGE_MS} "
        f"! heterodetect name=detect model={model}.onnx model-proc={model}.json "
        f"! heterometaconvert add-empty-results=true ! heterometapublish file-format=json-lines file-path={found} ! fakesink")
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(300 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    if message is None or message.type != Gst.MessageType.EOS:
        raise SystemExit(f"no EOS: {message.parse_error() if message else 'after 300 s'}")
    stats = pipeline.get_by_name("motion").get_property("stats")
    analysed = pipeline.get_by_name("detect").get_property("stats").get_uint64("frames-analysed").value
    pipeline.set_state(Gst.State.NULL)
    objects = [json.loads(line).get("objects", []) for line in found.read_text().splitlines()]
    return objects, stats, analysed


def overlap(box, found):
    x, y, w, h = (found[key] for key in ("x", "y", "w", "h"))
    width = min(box[2], x + w) - max(box[0], x)
    height = min(box[3], y + h) - max(box[1], y)
    if width <= 0 or height <= 0:
        return 0.0
    both = width * height
    return both / (w * h + (box[2] - box[0]) * (box[3] - box[1]) - both)


def recalled(truth, objects):
    """How many of the drawn objects were found."""
    return sum(any(o["detection"]["label"] == wanted["label"] and overlap(wanted["box"], o) >= 0.5 for o in frame)
               for wanted_ones, frame in zip(truth, objects) for wanted in wanted_ones)


def main():
    Gst.init(None)
    wanted = plain = gated = still = 0
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for seed in SEEDS:
            path = folder / "scene.i420"
            truth = draw(seed, path)
            without, _, all_frames = play(path, False, folder)
            behind, stats, analysed = play(path, True, folder)
            if not len(without) == len(behind) == all_frames == FRAMES:
                failures.append(f"seed {seed}: {len(without)} and {len(behind)} frames, {all_frames} analysed; {FRAMES} went in")
            marked = stats.get_uint64("frames-still").value
            if analysed != FRAMES - marked:
                failures.append(f"seed {seed}: {analysed} frames analysed, {marked} of {FRAMES} were still")
            counts = sum(map(len, truth)), recalled(truth, without), recalled(truth, behind)
            print(f"seed {seed}: {counts[0]} objects drawn, {counts[1]} found, {counts[2]} with the gate; {marked} of {FRAMES} frames still")
            wanted, plain, gated, still = wanted + counts[0], plain + counts[1], gated + counts[2], still + marked
    print(f"recall with the gate over that without: {gated / plain:.4f}; still: {still / (len(SEEDS) * FRAMES):.3f}")
    if plain < 0.8 * wanted:
        failures.append(f"the detector alone finds {plain} of {wanted}: the scenes say nothing")
    if gated < 0.99 * plain:
        failures.append(f"{gated} of {plain} objects are found with the gate, less than 99 %")
    if still < 0.6 * len(SEEDS) * FRAMES:
        failures.append(f"{still} frames of {len(SEEDS) * FRAMES} were still, less than 60 %")
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
