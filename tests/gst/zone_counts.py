#!/usr/bin/env python3
"""heteroanalytics on the demo's scene: who crossed which line, by class and direction, as the scene itself says.

    zone_counts.py SOURCE_ROOT
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "pipelines" / "demo"))

try:
    import sprites  # noqa: E402
    from scene import Scene  # noqa: E402
except ImportError as failure:
    print(f"skipped: the scene cannot be drawn: {failure}")
    sys.exit(77)

# Parts of the picture's width at which lines stand, upwards: forward is to the right.
LINES = (0.3, 0.4, 0.5, 0.6, 0.7)
# Nobody is hidden for long in the first scene, so that detector and tracker find everyone; in the others it is the scene that says where
# who is.
DETECTED = (424242,)
TOLD = (424242, 7, 8, 9, 11)
WIDTH, HEIGHT, FRAMES = 640, 384, 200
HYSTERESIS = 6  # pixels


def true_counts(scene, lines):
    """By line, class and direction: the way of each object's middle. Whoever is at the line when the video ends has not crossed it yet."""
    counts = {}
    for track in scene.tracks:
        shown = [i for i in range(track.start, track.start + track.length) if 0 <= i < scene.frames]
        ways = [track.place(i)[1] for i in shown]
        for line in lines:
            away = ways[:1] + [x for x in ways if abs(x - line * scene.width) > HYSTERESIS]
            sides = [x >= line * scene.width for x in away]
            for before, after in zip(sides, sides[1:]):
                if before != after:
                    key = (f"at {line}", track.label, "forward" if after else "backward")
                    counts[key] = counts.get(key, 0) + 1
    return counts


def told_objects(scene):
    """What heteroattachroi reads: the whole of each object, also where another one hides it, with an id of its own."""
    frames = []
    for index in range(scene.frames):
        objects = []
        for number, track in enumerate(scene.tracks, 1):
            if not track.start <= index < track.start + track.length:
                continue
            _, x, bottom, scale = track.place(index)
            width, height = (size * scale for size in sprites.SIZES[track.label])
            box = {"x_min": (x - width / 2) / scene.width, "x_max": (x + width / 2) / scene.width,
                   "y_min": (bottom - height) / scene.height, "y_max": bottom / scene.height}
            objects.append({"id": number, "detection": {"bounding_box": box, "confidence": 1, "label": track.label}})
        frames.append({"objects": objects})
    return frames


def run(scene, objects, folder):
    """The messages of a pipeline, and what the last one counts by line, class and direction."""
    tripwires = [{"id": f"at {line}", "units": "relative", "anchor": "center", "points": [{"x": line, "y": 1}, {"x": line, "y": 0}]}
                 for line in LINES]
    config, found = Path(folder) / "lines.json", Path(folder) / "found.json"
    config.write_text(json.dumps({"tripwires": tripwires, "hysteresis": HYSTERESIS}), encoding="utf-8")
    caps = f"width={scene.width} height={scene.height} framerate={scene.fps}/1"
    source = f"fdsrc fd=0 ! rawvideoparse format=bgr {caps} ! {objects} "
    pipeline = (f"{source} ! heteroanalytics config={config} ! heterometaconvert add-empty-results=true ! "
                f"heterometapublish file-format=json-lines file-path={found} ! fakesink")
    with subprocess.Popen(["gst-launch-1.0", "-q"] + pipeline.split(), stdin=subprocess.PIPE) as process:
        for index in range(scene.frames):
            picture = scene.render(index)[0].tobytes() if "heterodetect" in objects else bytes(scene.width * scene.height * 3)
            process.stdin.write(picture)
        process.stdin.close()
        if process.wait() != 0:
            sys.exit(f"gst-launch-1.0 ended with {process.returncode}")
    messages = [json.loads(line) for line in found.read_text(encoding="utf-8").splitlines()]
    if len(messages) != scene.frames:
        sys.exit(f"{len(messages)} messages of {scene.frames} frames")
    counts = {}
    for line in messages[-1]["tripwires"]:
        for label, of_class in line["classes"].items():
            for direction in ("forward", "backward"):
                if of_class[direction]:
                    counts[(line["tripwire_id"], label, direction)] = of_class[direction]
    # Each crossing stands on one frame, too.
    on_frames = sum(len(thing.get("tripwire_crossings", [])) for message in messages for thing in message.get("objects", []))
    if on_frames != sum(counts.values()):
        sys.exit(f"{on_frames} crossings on frames, {sum(counts.values())} counted")
    return counts


def compare(scene, what, found):
    truth = true_counts(scene, LINES)
    print(f"scene {scene.seed}, {what}: {sum(truth.values())} crossings, {sum(found.values())} found")
    wrong = [key for key in sorted(set(truth) | set(found)) if truth.get(key) != found.get(key)]
    for key in wrong:
        print(f"  {key}: {truth.get(key, 0)} in the scene, {found.get(key, 0)} found")
    return bool(wrong)


def main():
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        model = ROOT / "pipelines/demo/models/scene_detector"
        detect = f"heterodetect model={model}.onnx model-proc={model}.json ! heterotrack"
        for seed in DETECTED:
            scene = Scene(seed, WIDTH, HEIGHT, FRAMES)
            failed |= compare(scene, "detected", run(scene, detect, folder))
        for seed in TOLD:
            scene = Scene(seed, WIDTH, HEIGHT, FRAMES)
            regions = Path(folder) / "regions.json"
            regions.write_text(json.dumps(told_objects(scene)), encoding="utf-8")
            failed |= compare(scene, "told", run(scene, f"heteroattachroi file-path={regions}", folder))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
