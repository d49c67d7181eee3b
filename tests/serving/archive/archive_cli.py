#!/usr/bin/env python3
"""`hetero archive plan`, `run`, `status` and `worker` as users and schedulers meet them: archive_cli.py HETERO ROOT CASE. One case a run."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))
from hetero_cli import expect, run_case  # noqa: E402

CASES = {}
# The encoder and the container, and the elements that they need.
FORMATS = {
    "h264.mp4": "x264enc key-int-max=25 bframes=2 ! mp4mux",
    "open.mkv": "x264enc key-int-max=25 bframes=3 option-string=open-gop=1 ! h264parse ! matroskamux",
    "vp8.webm": "vp8enc keyframe-max-dist=20 auto-alt-ref=true lag-in-frames=10 deadline=1 ! webmmux",
    "theora.ogv": "theoraenc keyframe-freq=20 keyframe-force=20 ! oggmux",
    "mjpeg.avi": "jpegenc ! avimux",
    "h264.ts": "x264enc key-int-max=25 ! h264parse ! mpegtsmux",
}
PLAIN = ("filesrc location={video} ! decodebin ! heterometaconvert source={name} add-empty-results=true "
         "! heterometapublish file-path={output} file-format=json-lines ! fakesink").split()
# So slow that there is time to disturb it, 50 frames/s.
SLOW = " ".join(PLAIN).replace("decodebin !", "decodebin ! identity sleep-time=20000 !").split()


def case(function):
    CASES[function.__name__] = function
    return function


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def exists(element):
    return subprocess.run(["gst-inspect-1.0", "--exists", element], check=False).returncode == 0


def make_video(path, line=FORMATS["mjpeg.avi"], frames=100):
    caps = "video/x-raw,format=I420,width=160,height=120,framerate=25/1"
    words = f"videotestsrc pattern=ball num-buffers={frames} ! {caps} ! {line} ! filesink location={path}".split()
    words[-1] = f"location={path}"
    subprocess.run(["gst-launch-1.0", "-q", *words], check=True, timeout=60)


def make_formats(folder):
    """A video of each format that can be made here; the others are named."""
    made = []
    for name, line in FORMATS.items():
        missing = [part.split()[0] for part in line.split(" ! ") if not exists(part.split()[0])]
        if missing:
            print(f"without {name}: GStreamer has no {missing[0]} here")
            continue
        make_video(folder / name, line)
        made.append(name)
    return made


def archive(hetero, *arguments, status=0):
    done = hetero.run("archive", *arguments, status=status)
    return done.stdout, done.stderr


def state(hetero, folder, status=0):
    return json.loads(archive(hetero, "status", "--json", folder, status=status)[0])


def plan_of(folder):
    return json.loads((folder / "plan.json").read_text())


def outputs(folder):
    """Of each video its lines, shard behind shard."""
    plan = plan_of(folder)
    texts = {}
    for video in plan["videos"]:
        files = [folder / "outputs" / (plan["shards"][shard]["key"] + ".jsonl") for shard in video["shards"]]
        texts[video["name"]] = b"".join(file.read_bytes() for file in files if file.exists())
    return texts


def file_times(folder):
    return {file.name: file.stat().st_mtime_ns for file in (folder / "outputs").iterdir()}


def assert_no_parts(folder):
    parts = [str(file) for file in folder.rglob("*.part")]
    assert not parts, parts


def by_gst_launch(hetero, line, video, name, folder):
    output = folder / "alone.jsonl"
    values = {"{video}": str(video), "{name}": name, "{output}": str(output)}
    words = []
    for word in line:
        for placeholder, value in values.items():
            word = word.replace(placeholder, value)
        words.append(word)
    subprocess.run(["gst-launch-1.0", "-q", *words], check=True, timeout=60)
    return output.read_bytes()


class Running:
    """`hetero archive run` in the background, its messages in a file."""

    def __init__(self, hetero, folder, *arguments, **environment):
        self.log = folder / f"run-{time.monotonic_ns()}.txt"
        with self.log.open("w") as log:
            self.process = subprocess.Popen([hetero.program, "archive", "run", *map(str, arguments)], stdout=log, stderr=log,
                                            env=os.environ | environment)

    def workers(self):
        return self.children(b"worker")

    def children(self, command):
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) if entry.name.isdigit() else 0
            except (OSError, ValueError, IndexError):
                continue
            if parent == self.process.pid and words[1:2] == [command]:
                found.append(int(entry.name))
        return found

    def wait_until(self, condition, seconds=30):
        limit = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < limit and self.process.poll() is None, self.log.read_text()
            time.sleep(0.02)

    def wait(self, status):
        assert self.process.wait(60) == status, f"exit status {self.process.returncode}, not {status}:\n{self.log.read_text()}"
        return self.log.read_text()


def is_running(process):
    """Not one that has ended and that nobody has waited for: a container's first process may not do that."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def is_writing(out):
    return any(file.stat().st_size > 0 for file in (out / "outputs").glob("*.part"))


@case
def whole_videos(hetero, folder):
    """Byte by byte what gst-launch-1.0 writes; five that are broken are named with their reasons and stop nothing; again does nothing."""
    names = make_formats(folder)
    made = (folder / names[0]).read_bytes()
    (folder / "broken_garbage.mp4").write_bytes(os.urandom(20000))
    (folder / "broken_zero.mp4").write_bytes(b"")
    (folder / "broken_cut.mp4").write_bytes(made[:3000])
    (folder / "broken_folder.mp4").mkdir()
    subprocess.run("gst-launch-1.0 -q audiotestsrc num-buffers=20 ! wavenc ! filesink".split() + [f"location={folder}/broken_sound.wav"], check=True)
    out = folder / "out"
    line = [*"filesrc location={video} ! decodebin ! videoconvert ! heterodetect".split(), f"model={hetero.detector}",
            f"model-proc={hetero.detector_proc}", "model-instance-id=one", "ie-config=DETERMINISTIC=YES", *" ".join(PLAIN).split("decodebin ")[1].split()]
    _, said = archive(hetero, "run", f"{folder}/*.*", "-o", out, "--", *line, status=1)
    found = outputs(out)
    for name in names:
        assert found[name] == by_gst_launch(hetero, line, folder / name, name, folder), f"{name} differs"
        assert found[name].count(b"\n") == 100, name
    status = state(hetero, out, status=1)
    given_up = {entry["video"]: entry for entry in status["given_up"]}
    assert set(given_up) == {f"broken_{what}" for what in ("garbage.mp4", "zero.mp4", "cut.mp4", "folder.mp4", "sound.wav")}, given_up
    assert all(entry["tries"] == 3 and entry["kind"] == "error" and entry["error"] for entry in given_up.values()), given_up
    assert status["done"] == len(names) and status["missing"] == 0 and status["frames_done"] == 100 * len(names), status
    expect(said, "given up: broken_zero.mp4: error: ")
    assert_no_parts(out)
    times = file_times(out)
    archive(hetero, "run", "-o", out, status=1)
    assert file_times(out) == times
    archive(hetero, "run", "-o", out, "--retry-failed", "--tries", "1", status=1)
    assert {entry["tries"] for entry in state(hetero, out, status=1)["given_up"]} == {1}


@case
def range_shards(hetero, folder):
    """Shard behind shard the same lines as the whole video, with overlap or without; one of open groups of pictures stays whole."""
    names = make_formats(folder)
    videos = [folder / name for name in names]
    archive(hetero, "run", *videos, "-o", folder / "whole", "--", *PLAIN)
    archive(hetero, "run", *videos, "-o", folder / "bare", "--shard", "600ms", "--overlap", "0", "--", *PLAIN)
    archive(hetero, "run", *videos, "-o", folder / "ranges", "--shard", "600ms", "--overlap", "500ms", "--", *PLAIN)
    whole, ranges = outputs(folder / "whole"), outputs(folder / "ranges")
    assert outputs(folder / "bare") == whole
    plan = plan_of(folder / "ranges")
    for video in plan["videos"]:
        name = video["name"]
        assert len(video["shards"]) >= 3 or name == "open.mkv", f"{name} has {len(video['shards'])} shards"
        assert ranges[name] == whole[name], f"{name} differs"
        frames = 0
        for index in video["shards"]:
            shard = plan["shards"][index]
            note = json.loads((folder / "ranges/notes" / (shard["key"] + ".json")).read_text())
            assert note["frames"] == shard["frames"], (name, shard, note)
            frames += note["frames"]
            if shard["start_ns"] > 0:
                assert shard["from_ns"] < shard["start_ns"], shard
                overlap = (folder / "ranges/outputs" / (shard["key"] + ".overlap.jsonl")).read_text().splitlines()
                times = [json.loads(line)["timestamp"] for line in overlap]
                assert times and times[0] == shard["from_ns"] and max(times) < shard["start_ns"], (name, shard, times)
        assert frames == 100, name
    assert_no_parts(folder / "ranges")


@case
def changes(hetero, folder):
    """Only what has changed is done again: a video, the pipeline, a model; a rename of the folder is none."""
    model = folder / "model.json"
    model.write_text("1")
    (folder / "in").mkdir()
    for name in ("a.avi", "b.avi"):
        make_video(folder / "in" / name, frames=20 if name == "a.avi" else 30)
    out = folder / "out"
    line = " ".join(PLAIN).replace("decodebin !", f"decodebin ! identity name={model} !").split()

    def run(words):
        archive(hetero, "run", f"{folder}/in/*.avi", "-o", out, "--", *words)
        return [shard["key"] for shard in plan_of(out)["shards"]]

    first = run(line)
    times = file_times(out)
    make_video(folder / "in/b.avi", frames=40)
    second = run(line)
    assert second[0] == first[0] and second[1] != first[1]
    assert outputs(out)["b.avi"].count(b"\n") == 40
    assert file_times(out)[first[0] + ".jsonl"] == times[first[0] + ".jsonl"], "a.avi was done again"
    model.write_text("2")
    third = run(line)
    assert not set(third) & set(second)
    fourth = run(PLAIN)
    assert not set(fourth) & set(third)
    # What has changed since it was planned is no matter of the plan that is there.
    archive(hetero, "plan", f"{folder}/in/*.avi", "-o", folder / "later", "--", *line)
    model.write_text("3")
    expect(archive(hetero, "run", "-o", folder / "later", status=2)[1], "plan again")
    archive(hetero, "plan", f"{folder}/in/*.avi", "-o", folder / "later", "--", *PLAIN)
    with (folder / "in/b.avi").open("ab") as video:
        video.write(b"more")
    _, said = archive(hetero, "run", "-o", folder / "later", "--tries", "1", status=1)
    expect(said, "given up: b.avi: error: ", "plan again")
    make_video(folder / "in/b.avi", frames=40)
    # Back to what was: all is there.
    times = file_times(out)
    assert run(PLAIN) == fourth and file_times(out) == times
    (folder / "in").rename(folder / "moved")
    archive(hetero, "plan", f"{folder}/moved/*.avi", "-o", out, "--", *PLAIN)
    assert [shard["key"] for shard in plan_of(out)["shards"]] == fourth
    # An output that is gone or cut off is missing.
    (out / "outputs" / (fourth[0] + ".jsonl")).write_text("{")
    assert state(hetero, out, status=3)["missing"] == 1
    archive(hetero, "run", "-o", out)
    assert outputs(out)["a.avi"].count(b"\n") == 20


@case
def killed_run(hetero, folder):
    """kill -9 in mid-run: workers go, too; again does what is missing."""
    for i in range(4):
        make_video(folder / f"{i}.avi", frames=60)
    out = folder / "out"
    archive(hetero, "plan", f"{folder}/*.avi", "-o", out, "--", *SLOW)
    running = Running(hetero, folder, "-o", out, "--at-once", "1")
    running.wait_until(lambda: state(hetero, out, status=3)["done"] >= 1 and is_writing(out))
    workers = running.workers()
    running.process.kill()
    running.process.wait(10)
    limit = time.monotonic() + 15
    while any(is_running(worker) for worker in workers):
        assert time.monotonic() < limit, "workers outlive their run"
        time.sleep(0.05)
    assert_no_parts(out)
    times = file_times(out)
    assert 1 <= len(times) < 4, times
    archive(hetero, "run", "-o", out)
    assert {name: file_times(out)[name] for name in times} == times
    assert all(text.count(b"\n") == 60 for text in outputs(out).values())


@case
def killed_worker(hetero, folder):
    """A worker that is killed with several shards under way: all are done, and nobody is blamed."""
    for i in range(3):
        make_video(folder / f"{i}.avi", frames=50 + i)
    out = folder / "out"
    archive(hetero, "plan", f"{folder}/*.avi", "-o", out, "--", *SLOW)
    running = Running(hetero, folder, "-o", out, "--instances", "1")
    running.wait_until(lambda: is_writing(out))
    os.kill(running.workers()[0], signal.SIGKILL)
    expect(running.wait(0), "signal 9", "one by one")
    assert [text.count(b"\n") for text in outputs(out).values()] == [50, 51, 52]
    assert not list((out / "failures").iterdir())


@case
def crashes(hetero, folder):
    """A shard whose worker crashes again and again is given up; the others are done."""
    make_video(folder / "good.avi", frames=20)
    make_video(folder / "poison.avi", frames=400)
    out = folder / "out"
    archive(hetero, "plan", f"{folder}/*.avi", "-o", out, "--", *SLOW)
    running = Running(hetero, folder, "-o", out, "--instances", "1", "--tries", "2")
    poison = plan_of(out)["shards"][1]["key"]
    killed = set()
    limit = time.monotonic() + 40
    while running.process.poll() is None:
        assert time.monotonic() < limit, running.log.read_text()
        is_under_way = any(poison in file.name for file in (out / "outputs").glob("*.part"))
        is_good_done = state(hetero, out, status=3)["done"] == 1 if is_under_way and not (out / f"failures/{poison}.json").exists() else True
        if is_under_way and is_good_done:
            for worker in set(running.workers()) - killed:
                killed.add(worker)
                os.kill(worker, signal.SIGABRT)  # GStreamer has a handler of SIGSEGV while it loads plugins
        time.sleep(0.05)
    expect(running.wait(1), "given up: poison.avi: crash: ", "signal 6")
    status = state(hetero, out, status=1)
    assert status["done"] == 1 and len(status["given_up"]) == 1 and status["given_up"][0]["tries"] == 2, status


@case
def planning_crashes(hetero, folder):
    """A video that crashes the process that plans is planned without a scan, those that were scanned beside it are not blamed."""
    make_video(folder / "good.avi", frames=20)
    with (folder / "poison.avi").open("wb") as poison:
        poison.truncate(1 << 30)  # takes a second or more to read
    out = folder / "out"
    running = Running(hetero, folder, f"{folder}/*.avi", "-o", out, "--tries", "1", "--", *PLAIN, LD_PRELOAD=os.environ["HET_SEGFAULT_TRAP"])
    # By a signal, and by GStreamer's exit where a plugin crashes while it is loaded.
    ways = [(signal.SIGABRT, "planning ended with signal 6"), (signal.SIGUSR1, "planning ended with exit status 255")]
    crashes = 0

    def scans():
        found = {}
        for file in (out / "scans").glob("[!.]*.json"):
            record = json.loads(file.read_text())
            found[record["uri"].rsplit("/", 1)[1]] = record
        return found

    limit = time.monotonic() + 60
    while crashes < len(ways):
        assert time.monotonic() < limit and running.process.poll() is None, running.log.read_text()
        if scans().get("poison.avi", {}).get("unfinished") == crashes + 1:
            way, said = ways[crashes]
            for child in running.children(b"plan"):
                os.kill(child, way)
            running.wait_until(lambda: said in running.log.read_text())
            crashes += 1
        time.sleep(0.01)
    expect(running.wait(1), "given up: poison.avi: error: ")
    known = scans()
    expect(known["poison.avi"]["error"], "the process that parsed it crashed or was killed, 2 times")
    assert known["good.avi"]["error"] is None and known["good.avi"]["unfinished"] == 0 and known["good.avi"]["frames"] == 20, known["good.avi"]
    assert state(hetero, out, status=1)["done"] == 1


@case
def stalls(hetero, folder):
    """A source from which nothing comes: given up in time, the others are done."""
    make_video(folder / "good.avi", frames=20)
    os.mkfifo(folder / "fifo.avi")
    out = folder / "out"
    _, said = archive(hetero, "run", f"{folder}/*.avi", "-o", out, "--tries", "1", "--stall", "1s", "--", *PLAIN, status=1)
    status = state(hetero, out, status=1)
    assert status["done"] == 1, status
    assert [(entry["video"], entry["kind"]) for entry in status["given_up"]] == [("fifo.avi", "stall")], status
    expect(said, "no regular file", "given up: fifo.avi: stall: ")


@case
def stopped(hetero, folder):
    """SIGTERM: exit status 3, or 4 where no shard has ended, nothing half left; again goes on."""
    for i in range(3):
        make_video(folder / f"{i}.avi", frames=100)
    out = folder / "out"
    archive(hetero, "plan", f"{folder}/*.avi", "-o", out, "--", *SLOW)
    running = Running(hetero, folder, "-o", out, "--instances", "1")
    running.wait_until(lambda: is_writing(out))
    begin = time.monotonic()
    running.process.terminate()
    expect(running.wait(4), "stopping")
    assert time.monotonic() - begin < 8
    assert_no_parts(out)
    assert state(hetero, out, status=3)["missing"] == 3
    running = Running(hetero, folder, "-o", out, "--instances", "1", "--at-once", "1")
    running.wait_until(lambda: any((out / "notes").glob("[0-9a-f]*.json")))
    running.process.terminate()
    running.wait(3)
    assert state(hetero, out, status=3)["missing"] in (1, 2)
    archive(hetero, "run", "-o", out)
    assert all(text.count(b"\n") == 100 for text in outputs(out).values())


@case
def two_runs(hetero, folder):
    """Two on the same folder at once: both end well, nothing is mixed."""
    for i in range(4):
        make_video(folder / f"{i}.avi", frames=30 + i)
    out = folder / "out"
    archive(hetero, "plan", f"{folder}/*.avi", "-o", out, "--", *SLOW)
    runs = [Running(hetero, folder, "-o", out, "--instances", "1") for _ in range(2)]
    for running in runs:
        running.wait(0)
    assert [text.count(b"\n") for text in outputs(out).values()] == [30, 31, 32, 33]
    assert state(hetero, out)["done"] == 4
    assert_no_parts(out)


@case
def parts(hetero, folder):
    for i in range(5):
        make_video(folder / f"{i}.avi", frames=10)
    out = folder / "out"
    archive(hetero, "run", f"{folder}/*.avi", "-o", out, "--part", "2/2", "--", *PLAIN)
    assert state(hetero, out, status=3)["done"] == 2
    archive(hetero, "run", "-o", out, "--part", "1/2")
    assert state(hetero, out)["done"] == 5
    archive(hetero, "run", "-o", out, "--part", "9/9")
    for wrong in ("0/2", "3/2", "1", "1/0", "a/b", "1/2x"):
        expect(archive(hetero, "run", "-o", out, "--part", wrong, status=2)[1], wrong)


@case
def worker_answers(hetero, folder):
    """One answer for each order, whatever it is; what pipelines print is none."""
    make_video(folder / "a.avi", frames=10)
    (folder / "b.avi").write_bytes(b"nothing")
    out = folder / "out"
    line = " ".join(PLAIN).replace("! fakesink", "! heterofpscounter ! fakesink").split()
    archive(hetero, "plan", f"{folder}/*.avi", "-o", out, "--", *line)
    good, bad = (shard["key"] for shard in plan_of(out)["shards"])
    orders = [json.dumps({"shard": key}) for key in (good, bad, bad, "0123", good)] + ["what?", '{"shard": 1}']
    done = subprocess.run([hetero.program, "archive", "worker", out, "--tries", "2"], input="\n".join(orders), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(orders), answers
    goods = [answer for answer in answers if answer.get("done") == good]
    assert len(goods) == 2 and all(answer["frames"] == 10 for answer in goods), answers
    bads = [answer for answer in answers if answer.get("failed") == bad]
    assert [answer["given_up"] for answer in bads] == [False, True] and all(answer["kind"] == "error" for answer in bads), answers
    assert sum("plan" in answer.get("error", "") for answer in answers if answer.get("failed") == "0123") == 1, answers
    # A signal drops what is under way.
    archive(hetero, "plan", folder / "a.avi", "-o", folder / "slow", "--", *" ".join(SLOW).replace("20000", "2000000").split())
    with subprocess.Popen([hetero.program, "archive", "worker", folder / "slow"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:
        worker.stdin.write(json.dumps({"shard": plan_of(folder / "slow")["shards"][0]["key"]}) + "\n")
        worker.stdin.flush()
        limit = time.monotonic() + 20
        while not list((folder / "slow/outputs").glob("*.part")):
            assert time.monotonic() < limit
            time.sleep(0.02)
        worker.terminate()
        assert worker.wait(15) == 3 and worker.stdout.read() == ""
    assert_no_parts(folder / "slow")


@case
def words(hetero, folder):
    """Names with all that shells and GStreamer know, lists, globs, twice the same."""
    places = folder / "all of it"
    places.mkdir()
    strange = ["a b.avi", "quote\"d'.avi", "bang!(1).avi", "umläut.avi", "back\\slash.avi"]
    for name in strange:
        make_video(folder / "plain.avi", frames=5)
        (folder / "plain.avi").rename(places / name)
    (folder / "videos.txt").write_text(f"# a comment\n\n{places}/a b.avi\n{folder}/missing.avi\n{places}/u*.avi\n")
    out = folder / "out dir"
    _, said = archive(hetero, "run", folder / "videos.txt", f"{places}/*.avi", f"file://{places}/a%20b.avi", "-o", out, "--tries", "1", "--", *PLAIN,
                      status=1)
    plan = plan_of(out)
    assert sorted(video["name"] for video in plan["videos"]) == sorted([f"all of it/{name}" for name in strange] + ["missing.avi"]), plan["videos"]
    found = outputs(out)
    for name in strange:
        lines = found[f"all of it/{name}"].decode().splitlines()
        assert len(lines) == 5 and json.loads(lines[0])["source"] == f"all of it/{name}", (name, lines)
    expect(said, "given up: missing.avi: error: ")
    done = subprocess.run([hetero.program, "archive", "plan", "-", "-o", folder / "piped", "--", *PLAIN], input=f"{places}/a b.avi\n", text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0 and len(plan_of(folder / "piped")["videos"]) == 1, done.stderr


@case
def full_disk(hetero, folder):
    """No room, then no right to write: the run says so and blames no video; with both it goes on. Reading needs no right to write."""
    disk = folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", disk], capture_output=True, check=False).returncode != 0:
        skip("no file system can be mounted here")
    try:
        make_video(folder / "a.avi", frames=50)
        make_video(folder / "b.avi", frames=60)
        archive(hetero, "plan", f"{folder}/*.avi", "-o", disk / "out", "--", *PLAIN)
        filler = disk / "filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        _, said = archive(hetero, "run", "-o", disk / "out", status=1)
        expect(said, "room")
        filler.unlink()
        assert not list((disk / "out/failures").iterdir())

        def mount_again(how):
            subprocess.run(["mount", "-o", f"remount,{how}", disk], check=True)

        mount_again("ro")
        expect(archive(hetero, "run", "-o", disk / "out", status=1)[1], str(disk / "out"), "Read-only")
        assert state(hetero, disk / "out", status=3)["missing"] == 2
        expect(archive(hetero, "plan", f"{folder}/*.avi", "-o", disk / "out", "--", *PLAIN, status=1)[1], str(disk / "out"), "Read-only")
        mount_again("rw")
        assert not list((disk / "out/failures").iterdir())
        archive(hetero, "run", "-o", disk / "out")
        mount_again("ro")
        assert state(hetero, disk / "out")["done"] == 2
        archive(hetero, "merge", disk / "out", "-o", folder / "merged.jsonl")
        archive(hetero, "verify", disk / "out")
        expect(archive(hetero, "merge", disk / "out", "-o", disk / "merged.jsonl", status=1)[1], str(disk / "merged.jsonl"), "Read-only")
        assert [text.count(b"\n") for text in outputs(disk / "out").values()] == [50, 60]
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


@case
def wrong_usage(hetero, folder):
    make_video(folder / "a.avi", frames=5)
    video = folder / "a.avi"
    out = folder / "out"

    def wrong(*arguments, status=2):
        return archive(hetero, *arguments, status=status)[1]

    expect(wrong(), "run", "plan", "worker")
    expect(wrong("rnu"), "rnu")
    expect(archive(hetero, "--help")[0], "plan", "status")
    expect(archive(hetero, "run", "--help")[0], "--part", "--stall", "--instances")
    expect(wrong("plan", video, "-o", out), "--")
    expect(wrong("plan", video, "-o", out, "--", "filesrc", "location={video}", "!", "fakesink"), "{output}")
    expect(wrong("plan", video, "-o", out, "--shard", "ten", "--", *PLAIN), "ten")
    expect(wrong("plan", folder / "none.avi", "-o", out, "--", *PLAIN, status=1), "none.avi")
    expect(wrong("plan", f"{folder}/*.mov", "-o", out, "--", *PLAIN, status=1), "*.mov")
    expect(wrong("run", "-o", folder / "nothing", status=1), "hetero archive plan")
    expect(wrong("run", video, "-o", out), "pipeline")
    expect(wrong("status", folder, status=1), "plan")
    assert not out.exists()
    archive(hetero, "plan", video, "-o", out, "--", *PLAIN)
    expect(wrong("run", "-o", out, "--instances", "0"), "instances")
    expect(wrong("run", "-o", out, "--cpus", "9999"), "9999")
    # A pipeline that writes something else is told so.
    for line, reason in ((" ".join(PLAIN).replace("json-lines", "json"), "json-lines"), (" ".join(PLAIN).replace("heterometaconvert", "hetrometaconvert"),
                                                                                     "heterometaconvert")):
        archive(hetero, "run", video, "-o", folder / "odd", "--tries", "1", "--", *line.split(), status=1)
        given_up = state(hetero, folder / "odd", status=1)["given_up"]
        assert len(given_up) == 1 and reason in given_up[0]["error"], given_up
    (out / "plan.json").write_text("{\"format\": 1")
    expect(wrong("run", "-o", out, status=1), "plan.json")


if __name__ == "__main__":
    run_case(CASES, "archive_cli.py")
