"""What the measurements of pipelines share: plays of bench_streams and hetero bench."""
import json
import os
import subprocess


def environment(build):
    """The plugin of this build, and choices measured by it."""
    folder = build / "benchmarks/pipeline"
    return dict(os.environ, GST_PLUGIN_PATH=str(build / "gst"), GST_REGISTRY=str(folder / "registry.bin"), GST_HETERO_CACHE_DIR=str(folder / "choices"))


def streams(build, description, count=1, warmup=3, seconds=10, stall=0):
    """bench_streams' JSON for `count` streams of one description."""
    command = [build / "benchmarks/pipeline/bench_streams", "--streams", count, "--warmup", warmup, "--seconds", seconds, "--stall", stall, description]
    done = subprocess.run([str(c) for c in command], env=environment(build), stdout=subprocess.PIPE, text=True)
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
