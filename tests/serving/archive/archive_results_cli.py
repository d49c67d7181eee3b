#!/usr/bin/env python3
"""`hetero archive merge`, `verify` and `predict` behind real runs: archive_results_cli.py HETERO ROOT CASE. One case a run."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))
from hetero_cli import expect, run_case  # noqa: E402

CASES = {}
WIDTH, HEIGHT = 480, 288
# Equal results need equal threads.
SAME = "DETERMINISTIC=YES,INFERENCE_NUM_THREADS=1,NUM_STREAMS=1"


def case(function):
    CASES[function.__name__] = function
    return function


def launch(line, **settings):
    done = subprocess.run(["gst-launch-1.0", "-q", *line.split()], capture_output=True, timeout=120, **settings)
    assert done.returncode == 0, f"{line}\n{done.stderr.decode()[-2000:]}"
    return done.stdout


def need_elements(*names):
    for name in names:
        if subprocess.run(["gst-inspect-1.0", "--exists", name], check=False).returncode != 0:
            print(f"skipped: GStreamer has no {name} here")
            sys.exit(77)


def street(hetero):
    """Width and rows of the demo's photograph, as RGB."""
    picture = hetero.root / "examples/python/street.jpg"
    caps = launch(f"filesrc location={picture} ! jpegdec ! videoconvert ! video/x-raw,format=RGB ! fdsink fd=1")
    width = 640 if len(caps) == 640 * 384 * 3 else None
    assert width, f"street.jpg has another size: {len(caps)} bytes"
    return width, [caps[y * width * 3:(y + 1) * width * 3] for y in range(384)]


def moving_video(hetero, path, frames, encoder):
    """A view that goes over the photograph and back, so that objects come and go; a frame every 40 ms."""
    width, rows = street(hetero)
    pictures = bytearray()
    for i in range(frames):
        place = 3 * i % (2 * (width - WIDTH))
        left = min(place, 2 * (width - WIDTH) - place)
        top = (384 - HEIGHT) * i // frames
        for y in range(top, top + HEIGHT):
            pictures += rows[y][left * 3:(left + WIDTH) * 3]
    launch(f"fdsrc fd=0 ! rawvideoparse format=rgb width={WIDTH} height={HEIGHT} framerate=25/1 ! videoconvert ! {encoder} ! filesink location={path}",
           input=bytes(pictures))


def pipeline(hetero, track=""):
    return (f"filesrc location={{video}} ! decodebin ! videoconvert ! heterodetect model={hetero.detector} model-proc={hetero.detector_proc} "
            f"model-instance-id=d ie-config={SAME} {track} ! heterometaconvert add-empty-results=true "
            f"! heterometapublish file-path={{output}} file-format=json-lines ! fakesink").split()


def archive(hetero, *arguments, status=0):
    return hetero.run("archive", *arguments, status=status)


def one_process(line, video, folder):
    output = folder / f"{video.name}.reference"
    launch(" ".join(line).replace("{video}", str(video)).replace("{output}", str(output)))
    return output.read_text()


def frames_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@case
def whole_files(hetero, folder):
    need_elements("x264enc", "jpegenc")
    videos = [folder / "b.avi", folder / "a.mp4"]
    moving_video(hetero, videos[0], 12, "jpegenc ! avimux")
    moving_video(hetero, videos[1], 20, "x264enc tune=zerolatency ! mp4mux")
    broken = folder / "c.mp4"
    broken.write_bytes(videos[1].read_bytes()[:300])
    line = pipeline(hetero)
    archive(hetero, "run", *videos, broken, "-o", folder / "out", "--tries", "1", "--", *line, status=1)
    said = archive(hetero, "merge", folder / "out", "-o", folder / "all.jsonl").stderr
    expect(said, "given up: video 'c.mp4'", "has 2 of 3 shards with 32 frames, 32 lines")
    wanted = "".join(one_process(line, video, folder) for video in videos)
    assert (folder / "all.jsonl").read_text() == wanted, "merged lines are not those of one process"
    verified = archive(hetero, "verify", folder / "out").stdout
    expect(verified, "given up: video 'c.mp4'", "2 of 3 videos and 2 of 3 shards are complete and right, 32 frames; 1 given up, 0 faults")
    expect(archive(hetero, "predict", folder / "out", "--nodes", "1,2").stdout, "measured:", "speed-up")
    # What is not there yet.
    note = next((folder / "out/notes").iterdir())
    note.unlink()
    expect(archive(hetero, "merge", folder / "out", "-o", folder / "all.jsonl", status=1).stderr, "missing: video", "--allow-missing")
    assert (folder / "all.jsonl").read_text() == wanted, "a merge that failed has changed the file"
    archive(hetero, "merge", folder / "out", "-o", folder / "some.jsonl", "--allow-missing")
    expect(archive(hetero, "verify", folder / "out", status=1).stdout, "it is missing", "1 faults")
    archive(hetero, "run", "-o", folder / "out", status=1)
    archive(hetero, "merge", folder / "out", "-o", folder / "again.jsonl")
    assert (folder / "again.jsonl").read_text() == wanted, "another run gives other lines"


@case
def ranges(hetero, folder):
    need_elements("x264enc")
    video = folder / "v.mp4"
    moving_video(hetero, video, 150, "x264enc key-int-max=25 bframes=2 speed-preset=ultrafast ! mp4mux")
    line = pipeline(hetero, "! heterotrack")
    archive(hetero, "run", video, "-o", folder / "out", "--shard", "2s", "--overlap", "1s", "--", *line)
    said = archive(hetero, "merge", folder / "out", "-o", folder / "all.jsonl").stderr
    expect(said, "crossed 2 borders", "has 3 of 3 shards with 150 frames")
    expect(archive(hetero, "verify", folder / "out").stdout, "3 of 3 shards are complete and right, 150 frames; 0 given up, 0 faults")
    whole = one_process(line, video, folder)
    assert sum(len(json.loads(text).get("objects", [])) for text in whole.splitlines()) > 300, "the scene has too few objects to say anything"
    if (folder / "all.jsonl").read_text() != whole:
        # Then but for ids, and for few of these.
        ours, theirs = frames_of(folder / "all.jsonl"), [json.loads(text) for text in whole.splitlines()]
        pairs = [(one.pop("id", 0), other.pop("id", 0)) for a, b in zip(ours, theirs) for one, other in zip(a.get("objects", []), b.get("objects", []))]
        assert ours == theirs, "more than ids differ"
        known = {}
        changed = sum(known.setdefault(other, one) != one for one, other in pairs)
        assert changed <= len(pairs) / 20, f"{changed} of {len(pairs)} ids change at a border:\n{said}"
    # A faulty output is found, made anew, and gives the same.
    output = max((folder / "out/outputs").glob("*[0-9a-f].jsonl"))
    output.write_text(output.read_text().replace("0", "1", 1))
    merged = (folder / "all.jsonl").read_text()
    expect(archive(hetero, "merge", folder / "out", "-o", folder / "all.jsonl", status=1).stderr, "verify --redo")
    expect(archive(hetero, "verify", folder / "out", "--redo", status=1).stdout, "1 faults", "1 shards will be made anew")
    archive(hetero, "run", "-o", folder / "out")
    archive(hetero, "merge", folder / "out", "-o", folder / "again.jsonl")
    assert (folder / "again.jsonl").read_text() == merged, "a shard that was made anew gives other lines"


@case
def natural_differences(hetero, folder):
    """Frames that parsing and decoding count in different ways are no faults."""
    need_elements("vp8enc", "x264enc")
    videos = [folder / "hidden.webm", folder / "fields.mp4"]
    moving_video(hetero, videos[0], 30, "vp8enc auto-alt-ref=true lag-in-frames=10 deadline=1 cpu-used=8 keyframe-max-dist=15 ! webmmux")
    moving_video(hetero, videos[1], 20, "x264enc interlaced=true key-int-max=10 speed-preset=ultrafast ! mp4mux")
    for shard in ("whole", "400ms"):
        out = folder / shard
        archive(hetero, "run", *videos, "-o", out, "--shard", shard, "--", *pipeline(hetero))
        expect(archive(hetero, "verify", out).stdout, " 50 frames; 0 given up, 0 faults")
    # A pipeline that leaves frames out is told, unless that is meant.
    dropping = " ".join(pipeline(hetero)).replace("videoconvert !", "videoconvert ! videorate ! video/x-raw,framerate=5/1 !", 1).split()
    archive(hetero, "run", videos[0], "-o", folder / "rate", "--", *dropping)
    expect(archive(hetero, "verify", folder / "rate", status=1).stdout, "frames came to its sink, a decoder gives 30", "--any-frames")
    archive(hetero, "verify", folder / "rate", "--any-frames")


@case
def parquet(hetero, folder):
    need_elements("jpegenc")
    moving_video(hetero, folder / "v.avi", 4, "jpegenc ! avimux")
    archive(hetero, "run", folder / "v.avi", "-o", folder / "out", "--", *pipeline(hetero, "! heterotrack"))
    without = subprocess.run([hetero.program, "archive", "merge", folder / "out", "-o", folder / "all.parquet"], capture_output=True, text=True,
                             env={**os.environ, "PYTHONNOUSERSITE": "1", "PYTHONPATH": str(no_pyarrow(folder))}, timeout=60)
    assert without.returncode == 1 and "pip install pyarrow" in without.stderr, without.stderr
    assert not [path for path in folder.iterdir() if "parquet" in path.name], "something is left of a file that was not written"
    if subprocess.run(["python3", "-c", "import pyarrow"], capture_output=True, check=False).returncode != 0:
        print("skipped: python3 has no pyarrow (./check.sh --long archive_parquet has it)")
        sys.exit(77)
    archive(hetero, "merge", folder / "out", "-o", folder / "all.parquet")
    archive(hetero, "merge", folder / "out", "-o", folder / "frames.parquet", "--rows", "frames")
    archive(hetero, "merge", folder / "out", "-o", folder / "all.jsonl")
    frames = frames_of(folder / "all.jsonl")
    objects = [(frame["timestamp"], thing) for frame in frames for thing in frame.get("objects", [])]
    rows = read_rows(folder / "all.parquet")
    assert len(rows) == len(objects) > 4, f"{len(rows)} rows of {len(objects)} objects"
    for row, (timestamp, thing) in zip(rows, objects):
        detection = thing["detection"]
        wanted = {"video": "v.avi", "timestamp": timestamp, "object_id": thing["id"], "label": detection["label"], "label_id": detection["label_id"],
                  "confidence": detection["confidence"], "x": thing["x"], "y": thing["y"], "w": thing["w"], "h": thing["h"]}
        rest = json.loads(row.pop("rest"))
        assert row == wanted, f"{row}\nis not\n{wanted}"
        assert rest["detection"]["bounding_box"] == detection["bounding_box"], rest
    rows = read_rows(folder / "frames.parquet")
    assert [(row["timestamp"], row["objects"]) for row in rows] == [(frame["timestamp"], len(frame.get("objects", []))) for frame in frames], rows
    assert rows[0]["width"] == WIDTH and rows[0]["height"] == HEIGHT, rows[0]


def no_pyarrow(folder):
    """A folder for PYTHONPATH in which pyarrow cannot be imported."""
    place = folder / "path"
    place.mkdir()
    (place / "pyarrow.py").write_text("raise ImportError('hidden by a test')\n")
    return place


def read_rows(path):
    text = "import json, sys, pyarrow.parquet; print(json.dumps(pyarrow.parquet.read_table(sys.argv[1]).to_pylist()))"
    return json.loads(subprocess.run(["python3", "-c", text, path], capture_output=True, text=True, check=True).stdout)


@case
def usage_errors(hetero, folder):
    expect(archive(hetero, "merge", folder, status=2).stderr, "--output")
    expect(archive(hetero, "merge", folder / "nowhere", "-o", folder / "x.jsonl", status=1).stderr, "hetero archive plan")
    expect(archive(hetero, "merge", folder, "-o", folder / "x.jsonl", status=1).stderr, "has no plan")
    expect(archive(hetero, "verify", folder, status=1).stderr, "has no plan")
    expect(archive(hetero, "predict", folder, status=1).stderr, "has no plan")
    expect(archive(hetero, "predict", folder, "--nodes", "0", status=2).stderr, "--nodes")
    (folder / "v.avi").write_bytes(b"no video")
    archive(hetero, "plan", folder / "v.avi", "-o", folder / "out", "--", *pipeline(hetero))
    expect(archive(hetero, "predict", folder / "out", status=1).stderr, "nothing is measured")
    expect(archive(hetero, "merge", folder / "out", "-o", folder / "x.csv", "--allow-missing", status=2).stderr, ".jsonl or .parquet")
    expect(archive(hetero, "merge", folder / "out", "-o", folder / "out/outputs/x.jsonl", "--allow-missing", status=2).stderr, "the archive's own files")
    archive(hetero, "merge", folder / "out", "-o", folder / "x.jsonl", "--allow-missing")
    assert (folder / "x.jsonl").read_text() == "", "lines of nothing"
    (folder / "out/plan.json").write_text("{")
    expect(archive(hetero, "verify", folder / "out", status=1).stderr, "no JSON")


if __name__ == "__main__":
    run_case(CASES, "archive_results_cli.py")
