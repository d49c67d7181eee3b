#!/usr/bin/env python3
"""Short videos in many codecs and containers, some of them broken: videos.py FOLDER COUNT BROKEN.

The scenes are the demo's, so that its detector finds objects that move. What is there already stays.
"""
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "pipelines/demo"))
from scene import Scene  # noqa: E402

WIDTH, HEIGHT, FRAMES_PER_SECOND = 320, 192, 30
SCENES, SCENE_FRAMES = 4, 330
KEY_FRAMES = 30  # the longest way between two
# What is behind videoconvert, and the name's end. Key frames once a second, so that ranges have where to begin.
KINDS = [
    (f"x264enc speed-preset=veryfast key-int-max={KEY_FRAMES} ! h264parse ! mp4mux", "mp4"),
    (f"x264enc speed-preset=ultrafast bframes=2 b-adapt=false key-int-max={KEY_FRAMES} ! h264parse ! matroskamux", "mkv"),
    (f"x265enc speed-preset=ultrafast key-int-max={KEY_FRAMES} option-string=pools=2:log-level=none ! h265parse ! mp4mux", "mp4"),
    (f"vp8enc deadline=1 cpu-used=8 keyframe-max-dist={KEY_FRAMES} ! webmmux", "webm"),
    (f"vp9enc deadline=1 cpu-used=8 keyframe-max-dist={KEY_FRAMES} ! matroskamux", "mkv"),
    (f"x264enc speed-preset=ultrafast bframes=0 key-int-max={KEY_FRAMES} ! h264parse ! mpegtsmux", "ts"),
    (f"avenc_mpeg4 gop-size={KEY_FRAMES} bitrate=600000 ! avimux", "avi"),
    ("jpegenc quality=80 ! qtmux", "mov"),
    (f"theoraenc quality=40 keyframe-force={KEY_FRAMES} ! oggmux", "ogv"),
    ("mpeg2enc format=3 bitrate=1500 ! mpegvideoparse ! mpegtsmux", "ts"),
]


def pipeline(source, kind, target):
    command = f"gst-launch-1.0 -q {source} ! {kind} ! filesink".split()
    return [*command, f"location={target}"]


def write_video(target, kind, frames):
    aside = target.with_name("." + target.name)
    source = (f"fdsrc fd=0 ! rawvideoparse format=bgr width={WIDTH} height={HEIGHT} framerate={FRAMES_PER_SECOND}/1 "
              "! videoconvert ! video/x-raw,format=I420")
    subprocess.run(pipeline(source, kind, aside), input=b"".join(frames), check=True, stderr=subprocess.DEVNULL)
    aside.rename(target)


def write_broken(folder, whole):
    """Five ways to be broken, by name; `whole` is an MP4 that is not."""
    content = whole.read_bytes()
    (folder / "broken_empty.mp4").write_bytes(b"")
    (folder / "broken_text.mkv").write_text("This is no video.\n" * 200, encoding="utf-8")
    (folder / "broken_half.mp4").write_bytes(content[:len(content) // 2])  # its index is at the end
    (folder / "broken_codec.mp4").write_bytes(content.replace(b"avc1", b"zzz1"))
    sound = folder / "broken_sound.mkv"
    subprocess.run(pipeline("audiotestsrc num-buffers=100", "vorbisenc ! matroskamux", sound), check=True, stderr=subprocess.DEVNULL)


def main():
    folder, count, broken = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    if broken not in (0, 5) or count <= broken:
        sys.exit("videos.py: BROKEN is 0 or 5, and COUNT is more")
    if (folder / ".complete").exists() and (folder / ".complete").read_text() == f"{count} {broken}\n":
        return
    folder.mkdir(parents=True, exist_ok=True)
    dice = random.Random(27)
    scenes = []
    for seed in range(SCENES):
        scene = Scene(seed + 500, WIDTH, HEIGHT, SCENE_FRAMES, FRAMES_PER_SECOND)
        scenes.append([scene.render(index)[0].tobytes() for index in range(SCENE_FRAMES)])
    for number in range(count - broken):
        kind, ending = KINDS[number % len(KINDS)]
        length = dice.randint(40, 150)
        start = dice.randint(0, SCENE_FRAMES - length)
        scene = scenes[dice.randrange(SCENES)]
        target = folder / f"video_{number:03}.{ending}"
        if not target.exists():
            write_video(target, kind, scene[start:start + length])
    if broken:
        write_broken(folder, folder / "video_000.mp4")
    (folder / ".complete").write_text(f"{count} {broken}\n")


if __name__ == "__main__":
    main()
