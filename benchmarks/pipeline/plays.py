"""What the measurements of pipelines share: plays of bench_streams and hetero bench."""
import json
import os
import subprocess


def environment(build):
    """The plugin of this build, and choices measured by it."""
    folder = build / "benchmarks/pipeline"
    return dict(os.environ, GST_PLUGIN_PATH=str(build / "gst"), GST_REGISTRY=str(folder / "registry.bin"), GST_HETERO_CACHE_DIR=str(folder / "choices"))


def streams(build, description, count=1, warmup=3, seconds=10, stall=0, tracers=""):
    """bench_streams' JSON for `count` streams of one description; tracers: GST_TRACERS."""
    command = [build / "benchmarks/pipeline/bench_streams", "--streams", count, "--warmup", warmup, "--seconds", seconds, "--stall", stall, description]
    done = subprocess.run([str(c) for c in command], env=dict(environment(build), GST_TRACERS=tracers), stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"bench_streams ended with {done.returncode}: {description}")
    return json.loads(done.stdout)


def bench(build, model, *options):
    """hetero bench's JSON."""
    command = [build / "tools/hetero", "bench", model, "-json", *options]
    return json.loads(subprocess.run([str(c) for c in command], env=environment(build), check=True, stdout=subprocess.PIPE, text=True).stdout)


def rate(phase):
    """Frames/s of all streams of a phase."""
    return sum(phase["frames"]) / phase["seconds"]


def still(width, height, pixel_format):
    """A source that costs nothing: one frame again and again, each with its own time stamp."""
    return f"videotestsrc num-buffers=1 ! video/x-raw,format={pixel_format},width={width},height={height} ! imagefreeze"


def elementary_stream(video, copies, folder):
    """The file's H.264 as a byte stream, several times over."""
    once = folder / "once.h264"
    subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={video}", "!", "parsebin", "!", "h264parse", "config-interval=-1", "!",
                    "video/x-h264,stream-format=byte-stream,alignment=au", "!", "filesink", f"location={once}"], check=True)
    stream = folder / "video.h264"
    stream.write_bytes(once.read_bytes() * copies)
    return stream


def decoder(stream, endless=False):
    """Frames of a file of elementary_stream(), endless again and again."""
    source = f"multifilesrc location={stream} loop=true" if endless else f"filesrc location={stream}"
    return f"{source} ! h264parse ! avdec_h264"


def detector(model, model_proc, config):
    """The elements that find objects with a model that all streams share."""
    return [f"heterodetect model={model} model-proc={model_proc} ie-config={config} model-instance-id=detector"]


def behind_the_detector(model, model_proc, config):
    """The elements that track objects, say something about each, and write a line of JSON a frame."""
    return ["heterotrack tracking-type=short-term-imageless",
            f"heteroclassify model={model} model-proc={model_proc} ie-config={config} model-instance-id=classifier",
            "heterometaconvert", "heterometapublish file-path=/dev/null file-format=json-lines"]
