#!/usr/bin/env python3
"""Archives on real clusters of this machine: cluster_check.py BUILD FOLDER PIECE, a piece of the long checks archive_slurm and archive_ray.

FOLDER keeps the videos, the results of one process and each piece's archive; RAY names the program ray for pieces of Ray.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import merged_files
from page_commands import MODEL, assert_merged, page_commands, page_folder, run_commands

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[3]
NODES = 3
BROKEN = {"broken_codec.mp4", "broken_empty.mp4", "broken_half.mp4", "broken_sound.mkv", "broken_text.mkv"}
# Equal results need equal threads.
SAME = "DETERMINISTIC=YES,INFERENCE_NUM_THREADS=1,NUM_STREAMS=1"
MOST_SECONDS = 1500
PIECES = {}


def piece(function):
    PIECES[function.__name__] = function
    return function


class Work:
    def __init__(self, build, folder):
        self.build, self.folder = build.resolve(), folder.resolve()
        self.program = self.build / "tools/hetero-archive"
        self.videos = self.folder / "videos"
        self.merged = self.folder / "one_process.jsonl"
        os.environ.update(GST_PLUGIN_PATH=str(self.build / "gst"), GST_HETERO_CACHE_DIR="", GST_REGISTRY=str(self.folder / "registry.bin"))

    def pipeline(self, extra=""):
        models = ROOT / "pipelines/demo/models"
        return (f"filesrc location={{video}} ! decodebin ! videoconvert {extra} ! heterodetect model={models}/scene_detector.onnx "
                f"model-proc={models}/scene_detector.json model-instance-id=detector ie-config={SAME} ! heterotrack "
                "! heterometaconvert source={name} add-empty-results=true ! heterometapublish file-path={output} file-format=json-lines "
                "! fakesink").split()

    def archive(self, *arguments, status=0):
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
        assert status is None or done.returncode == status, f"hetero archive {arguments[0]} ended with {done.returncode}, not {status}:\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def new_archive(self, name, *options, videos="*", extra=""):
        """The folder of an archive with a plan, none of it done."""
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        print(self.archive("plan", self.videos / videos, "-o", place, *options, "--", *self.pipeline(extra)).splitlines()[-1])
        return place

    def wait_for_notes(self, place, count, alive=lambda: True):
        limit = time.monotonic() + MOST_SECONDS
        while notes(place) < count:
            assert alive(), f"it ended with {notes(place)} shards done; more than {count} were expected"
            assert time.monotonic() < limit, f"only {notes(place)} shards are done after {MOST_SECONDS} s"
            time.sleep(0.1)

    def check(self, place, is_whole):
        """The archive's merged file beside that of one process, and that the broken videos are told."""
        merged = place.with_suffix(".jsonl")
        said = self.archive("merge", place, "-o", merged)
        given_up = {line.split("'")[1]: line for line in said.splitlines() if "given up: video" in line}
        assert set(given_up) == BROKEN, f"given up were {sorted(given_up)}"
        for line in given_up.values():
            print(line[:180])
        print(said.splitlines()[-1])
        print(self.archive("verify", place).splitlines()[-1])
        difference = merged_files.first_difference(merged, self.merged)
        if difference is None:
            print(f"{merged.name} is equal to what one process gives, byte by byte: {merged.stat().st_size} bytes")
        assert not is_whole or difference is None, f"{merged} is not what one process gives: {difference}"
        if not is_whole:
            crossings, joined, several = merged_files.compare_ranges(merged, self.merged, place / "plan.json")
            print(f"{joined} of {crossings} crossings joined; objects with several ids: {several or 'none'}")
            assert crossings > 100 and joined >= 0.95 * crossings, "fewer than 95 % of the crossings are joined"


def notes(place):
    return sum(1 for path in (place / "notes").glob("[0-9a-f]*.json"))


@piece
def one_process(work):
    """What all others are to give: one process, one shard after the other; some videos by gst-launch-1.0 besides."""
    place = work.new_archive("one_process")
    work.archive("run", "-o", place, "--instances", 1, "--at-once", 1, "--stall", "5s", status=1)
    work.archive("merge", place, "-o", work.merged)
    plan = json.loads((place / "plan.json").read_text(encoding="utf-8"))
    output = work.folder / "gst_launch.jsonl"
    compared = [video for video in plan["videos"] if video["name"].endswith(("0.mp4", "1.mkv", "4.mkv", "5.ts", "6.avi", "8.ogv"))][::3]
    for video in compared:
        values = {"{video}": video["path"], "{name}": video["name"], "{output}": str(output)}
        words = work.pipeline()
        for name, value in values.items():
            words = [word.replace(name, value) for word in words]
        output.unlink(missing_ok=True)
        subprocess.run(["gst-launch-1.0", "-q", *words], check=True, timeout=120, stdout=subprocess.DEVNULL)
        key = plan["shards"][video["shards"][0]]["key"]
        difference = merged_files.first_difference(place / "outputs" / f"{key}.jsonl", output)
        assert difference is None, f"{video['name']} by gst-launch-1.0: {difference}"
    print(f"{len(compared)} of the videos by gst-launch-1.0: equal")


class Slurm:
    SCRIPT = HERE / "slurm_cluster.sh"

    def __init__(self, folder):
        self.folder = folder

    def order(self, *words):
        subprocess.run([self.SCRIPT, words[0], self.folder, *words[1:]], check=True, timeout=120)

    def run(self, *words):
        return subprocess.run([self.SCRIPT, "run", self.folder, *map(str, words)], check=True, timeout=120, stdout=subprocess.PIPE, text=True).stdout

    def submit(self, script, *options):
        return self.run("sbatch", "--parsable", *options, script).strip()

    def tasks(self, job):
        """State and node of each task that is known."""
        lines = self.run("squeue", "-h", "-a", "-r", "-t", "all", "-j", job, "-o", "%K %T %N").splitlines()
        return {int(number): (state, rest[0] if rest else "") for number, state, *rest in map(str.split, lines) if number.isdigit()}

    def is_over(self, *jobs):
        unfinished = ("PENDING", "RUNNING", "COMPLETING", "REQUEUED", "SIGNALING", "CONFIGURING", "SUSPENDED")
        return not any(state in unfinished for job in jobs for state, _ in self.tasks(job).values())

    def wait_for_state(self, job, wanted):
        """Of a job that is no array."""
        limit = time.monotonic() + 60
        while (state := self.run("squeue", "-h", "-t", "all", "-j", job, "-o", "%T").strip()) != wanted:
            assert time.monotonic() < limit, f"job {job} is {state}, not {wanted}"
            time.sleep(0.5)

    def wait(self, *jobs):
        limit = time.monotonic() + MOST_SECONDS
        while not self.is_over(*jobs):
            assert time.monotonic() < limit, f"after {MOST_SECONDS} s not all tasks have ended: {[self.tasks(job) for job in jobs]}"
            for job in jobs:
                self.release(job)
            time.sleep(1)

    def release(self, job):
        """As an operator does it: a task that was being started when the controller was killed is held then, and its node drained."""
        for line in self.run("squeue", "-h", "-a", "-r", "-t", "PD", "-j", job, "-o", "%K %r").splitlines():
            number, _, reason = line.partition(" ")
            if "requeued held" not in reason:
                continue
            print(f"task {number} is released: {reason}")
            self.run("scontrol", "release", f"{job}_{number}")
            for node in self.run("sinfo", "-h", "-N", "-t", "drain", "-o", "%N").split():
                self.run("scontrol", "update", f"nodename={node}", "state=resume")


@contextlib.contextmanager
def cluster(kind, folder, nodes):
    shutil.rmtree(folder, ignore_errors=True)
    done = subprocess.run([kind.SCRIPT, "start", folder, str(nodes)], stdout=subprocess.PIPE, text=True, timeout=300, check=False)
    if done.returncode == 77:
        print(f"skipped: {done.stdout.strip()}")
        sys.exit(0)
    try:
        assert done.returncode == 0, f"no cluster: {done.stdout}"
        yield kind(folder)
    finally:
        subprocess.run([kind.SCRIPT, "end", folder], check=False, timeout=60)


def write_script(work, place, *options):
    script = work.folder / f"{place.name}.sbatch"
    script.write_text(work.archive("slurm", place, *options), encoding="utf-8")
    return script


def slurm_with_accidents(work, place):
    """A node is killed, a task is cancelled and submitted again, the controller is killed and started again, all in mid-run."""
    shards = len(json.loads((place / "plan.json").read_text(encoding="utf-8"))["shards"])
    script = write_script(work, place, "--tasks", 12, "--cpus-per-task", os.cpu_count(), "--mem", "1G", "--time", "1h", "--stall", "20s")
    with cluster(Slurm, work.folder / "slurm", NODES) as slurm:
        job = slurm.submit(script)

        def node_and_task(other=""):
            return next((node, task) for task, (state, node) in slurm.tasks(job).items() if state == "RUNNING" and node != other)

        def cancel_one(lost):
            """One that was not just about to end by itself."""
            while True:
                _, task = node_and_task(lost)
                slurm.run("scancel", f"{job}_{task}")
                while (state := slurm.tasks(job)[task][0]) in ("RUNNING", "COMPLETING"):
                    time.sleep(0.2)
                if state == "CANCELLED":
                    return task

        work.wait_for_notes(place, shards // 6, lambda: not slurm.is_over(job))
        lost, task = node_and_task()
        slurm.order("kill_node", lost)
        print(f"{lost} is killed with task {task}, {notes(place)} of {shards} shards are done")
        work.wait_for_notes(place, shards // 4, lambda: not slurm.is_over(job))
        cancelled = cancel_one(lost)
        again = slurm.submit(script, f"--array={cancelled}")
        print(f"task {cancelled} is cancelled and submitted again, {notes(place)} shards are done")
        work.wait_for_notes(place, shards // 3, lambda: not slurm.is_over(job))
        slurm.order("restart_controller")
        print(f"the controller was killed and is started again, {notes(place)} shards are done")
        time.sleep(20)  # in which the lost node is noticed
        slurm.order("start_node", lost)
        slurm.wait(job, again)
        states = slurm.tasks(job)
        print(f"tasks: {sorted(states.items())}")
        assert any((place / "logs").iterdir()), "no logs"
    hosts = {json.loads(path.read_text(encoding="utf-8"))["host"] for path in (place / "notes").glob("[0-9a-f]*.json")}
    assert hosts == {f"n{number}" for number in range(1, NODES + 1)}, f"shards were done on {hosts}"
    # Whatever a task was lost with.
    work.archive("run", "-o", place, "--stall", "20s", status=1)


@piece
def slurm_whole(work):
    place = work.new_archive("slurm_whole")
    slurm_with_accidents(work, place)
    work.check(place, is_whole=True)


@piece
def slurm_ranges(work):
    place = work.new_archive("slurm_ranges", "--shard", "1s")
    slurm_with_accidents(work, place)
    work.check(place, is_whole=False)


@piece
def slurm_time_limit(work):
    """Tasks that take longer than they may stop, come again and end; the job behind them merges. The folder's name wants quoting.
    One whose first shard takes longer than it may says so and does not come again."""
    # Two shards at once take 15 s and a task's ten more than a minute; Slurm's clock gives a start 30 to 60 s.
    place = work.new_archive("it's \"100 %\" of $HOME", videos="video_0[01]?.*", extra="! identity sleep-time=150000")
    endless = work.new_archive("endless", videos="video_000.*", extra="! identity sleep-time=5000000")
    script = write_script(work, place, "--tasks", 2, "--time", "2min", "--stop-before", "60s", "--stall", "60s")
    merged = work.folder / "by the job.jsonl"
    after = work.folder / "merge.sbatch"
    after.write_text(work.archive("slurm", place, "--merge", merged), encoding="utf-8")
    merged.unlink(missing_ok=True)
    stuck = write_script(work, endless, "--tasks", 1, "--time", "2min", "--stop-before", "60s", "--stall", "60s")
    with cluster(Slurm, work.folder / "slurm", 1) as slurm:
        job = slurm.submit(script)
        behind = slurm.submit(after, f"--dependency=afterany:{job}")
        slurm.wait(job)
        states = slurm.tasks(job)
        assert {state for state, _ in states.values()} == {"COMPLETED"}, f"tasks: {states}"
        slurm.wait_for_state(behind, "COMPLETED")
        in_vain = slurm.submit(stuck)
        slurm.wait(in_vain)
        assert {state for state, _ in slurm.tasks(in_vain).values()} == {"FAILED"}, f"tasks: {slurm.tasks(in_vain)}"
        restarts = [line.strip() for task in states for line in slurm.run("scontrol", "show", "job", f"{job}_{task}").splitlines() if "Restarts" in line]
    print(f"each task was put back: {restarts}")
    assert len(restarts) == 2 and not any("Restarts=0" in line for line in restarts), restarts
    assert any((place / "logs").iterdir()), "no logs"
    log = "".join(path.read_text(encoding="utf-8") for path in (endless / "logs").iterdir())
    assert "no shard has ended within the time limit" in log, log
    lines = merged.read_text(encoding="utf-8").splitlines()
    names = {f"video_0{number:02}" for number in range(20)}
    wanted = [line for line in work.merged.read_text(encoding="utf-8").splitlines() if json.loads(line)["source"][:9] in names]
    assert lines == wanted, f"the merged file has {len(lines)} lines, not the {len(wanted)} of one process"


@piece
def slurm_page(work):
    """docs/archive_slurm.md, word for word."""
    folder = page_folder(work, "archive_slurm")
    commands = page_commands("archive_slurm", MODEL, ("--tasks 50 --cpus-per-task 8 --mem 8G", "--tasks 2 --cpus-per-task 1 --mem 1G"))
    waits = "while squeue -h | grep -q .; do sleep 1; done\n"
    first, status, again = commands.partition("hetero archive status out")
    with cluster(Slurm, work.folder / "slurm", 1):
        in_slurm = (Slurm.SCRIPT, "run", work.folder / "slurm")
        run_commands(first + waits, folder, *in_slurm)
        run_commands(status + again + "\n" + waits, folder, *in_slurm)
    assert_merged(folder)


@piece
def parallel_page(work):
    """docs/archive_parallel.md, word for word, with a processor a slot."""
    folder = page_folder(work, "archive_parallel")
    work.archive("plan", folder / "videos/*", "-o", folder / "out", "--", *work.pipeline())
    run_commands(page_commands("archive_parallel", ("$((4 * {%} - 4))-$((4 * {%} - 1))", "$(({%} - 1))")), folder)
    assert_merged(folder)


@piece
def parallel(work):
    """GNU parallel with two slots of a processor each, ended in mid-run and run again."""
    place = work.new_archive("parallel")
    line = f"'{work.program}' run -o '{place}' --part {{}}/6 --stall 20s --cpus $(({{%}} - 1))"
    command = ["parallel", "--will-cite", "-j", "2", "--termseq", "TERM,20000,KILL", line, ":::", *"123456"]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    work.wait_for_notes(place, 40, lambda: run.poll() is None)
    run.send_signal(signal.SIGTERM)  # it begins no others
    run.send_signal(signal.SIGTERM)  # it ends those that run
    run.wait(60)
    done = notes(place)
    print(f"ended with {done} of 200 shards done")
    assert done < 195, "it was not ended in mid-run"
    run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=MOST_SECONDS, check=False)
    assert run.returncode in range(1, 7), f"parallel ended with {run.returncode}, not the number of parts with broken videos:\n{run.stderr}"
    work.check(place, is_whole=True)


class Ray:
    SCRIPT = HERE / "ray_cluster.sh"

    def __init__(self, folder):
        self.folder = folder
        self.address = subprocess.run([self.SCRIPT, "address", folder], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def order(self, *words):
        subprocess.run([self.SCRIPT, words[0], self.folder, *words[1:]], check=True, timeout=120)


def workers(place):
    """Processes that do shards of this archive."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (path / "cmdline").read_bytes().split(b"\0")
            if b"worker" in words and str(place).encode() in words:
                found.append(int(path.name))
    return found


def ray_with_accidents(work, place):
    """A worker is killed, then a node, which comes back; Ctrl-C, and the same command again."""
    shards = len(json.loads((place / "plan.json").read_text(encoding="utf-8"))["shards"])
    python = pathlib.Path(os.environ["RAY"]).with_name("python")
    log = place.with_suffix(".log")
    with cluster(Ray, work.folder / "ray", 2) as ray, log.open("w", encoding="utf-8") as output:
        command = [python, ROOT / "serving/archive/schedulers/hetero_archive_ray.py", place, "--address", ray.address,
                   "--program", work.program, "--stall", "20s"]

        def start():
            return subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)

        run = start()
        work.wait_for_notes(place, shards // 6, lambda: run.poll() is None)
        os.kill(workers(place)[0], signal.SIGKILL)
        print(f"a worker is killed, {notes(place)} of {shards} shards are done")
        work.wait_for_notes(place, shards // 4, lambda: run.poll() is None)
        ray.order("kill_node", "r2")
        print(f"r2 is killed, {notes(place)} shards are done")
        work.wait_for_notes(place, shards // 3, lambda: run.poll() is None)
        run.send_signal(signal.SIGINT)
        status = run.wait(120)
        assert status == 3, f"after Ctrl-C the status is {status}; {log}"
        assert not workers(place), "workers are left after Ctrl-C"
        print(f"after Ctrl-C {notes(place)} shards are done")
        run = start()
        work.wait_for_notes(place, shards // 2, lambda: run.poll() is None)
        ray.order("start_node", "r2")
        status = run.wait(MOST_SECONDS)
        assert status == 1, f"with broken videos the status is {status}; {log}"
    hosts = {json.loads(path.read_text(encoding="utf-8"))["host"] for path in (place / "notes").glob("[0-9a-f]*.json")}
    assert hosts == {"r1", "r2"}, f"shards were done on {hosts}"
    print(log.read_text(encoding="utf-8").splitlines()[-1][:180])


@piece
def ray_page(work):
    """docs/archive_ray.md, word for word behind the installation, with the cluster's own start."""
    folder = page_folder(work, "archive_ray")
    python = pathlib.Path(os.environ["RAY"]).with_name("python")
    program = f"{python} {ROOT}/serving/archive/schedulers/hetero_archive_ray.py"
    with cluster(Ray, work.folder / "ray", 2) as ray:
        commands = page_commands("archive_ray", MODEL, ("python3 /usr/bin/hetero-archive-ray out", f"{program} out --program {work.program}"), ("FIRST:6379", ray.address))
        run_commands(commands[commands.index("hetero archive plan"):], folder)
    assert_merged(folder)


@piece
def ray_whole(work):
    place = work.new_archive("ray_whole")
    ray_with_accidents(work, place)
    work.check(place, is_whole=True)


@piece
def ray_ranges(work):
    place = work.new_archive("ray_ranges", "--shard", "1s")
    ray_with_accidents(work, place)
    work.check(place, is_whole=False)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # clusters are ended
    build, folder, name = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    print(f"== {name}", flush=True)
    began = time.monotonic()
    try:
        PIECES[name](Work(build, folder))
    except AssertionError as failure:
        sys.exit(f"{name}: {failure}")
    print(f"{name}: passed in {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
