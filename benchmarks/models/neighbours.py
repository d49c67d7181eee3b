"""Programs that share the cores with what is measured."""
import contextlib
import subprocess
import sys

STREAM = "stream_1080p.h264"
SECONDS, FRAMES_PER_SECOND = 20, 30


@contextlib.contextmanager
def running(commands):
    started = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for command in commands]
    try:
        yield
        ended = [one.args for one in started if one.poll() is not None]
    finally:
        for one in started:
            one.kill()
            one.wait()
    if ended:
        sys.exit(f"a program that was to run beside the measurement ended: {ended[0]}")


def crowd(count):
    """Processes that do nothing but want a core each."""
    return running([[sys.executable, "-c", "while True: pass"]] * count)


def make_stream(folder):
    """A 1080p H.264 stream of moving rings, a key frame a second, some 6 Mbit/s; made once. Decoding it takes a fifth of a core."""
    file = folder / STREAM
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        source = f"videotestsrc pattern=zone-plate kx2=12 ky2=12 kt=6 num-buffers={SECONDS * FRAMES_PER_SECOND} ! video/x-raw,format=I420,width=1920,height=1080,framerate={FRAMES_PER_SECOND}/1"
        encoder = f"x264enc speed-preset=veryfast bitrate=8000 key-int-max={FRAMES_PER_SECOND} ! video/x-h264,stream-format=byte-stream,profile=high"
        subprocess.run(["gst-launch-1.0", "-q", *f"{source} ! {encoder} ! filesink location={part}".split()], check=True)
        part.rename(file)
    return file


def decoder(folder):
    """A process that decodes the stream at its rate, again and again."""
    return running([f"gst-launch-1.0 multifilesrc location={make_stream(folder)} loop=true ! h264parse ! avdec_h264 ! fakesink sync=true".split()])


@contextlib.contextmanager
def beside(arguments):
    """All that --crowd and --decoder ask for."""
    with contextlib.ExitStack() as stack:
        if arguments.crowd:
            stack.enter_context(crowd(arguments.crowd))
        if arguments.decoder:
            stack.enter_context(decoder(arguments.out))
        yield
