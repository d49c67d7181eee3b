#!/usr/bin/env python3
"""Does the shards of an archive on a Ray cluster: hetero-archive-ray DIR [--address ADDRESS].

On each NUMA node of the cluster an actor keeps a process `hetero-archive worker`, and with it the models. Which shards are missing, done or
given up is in DIR alone, which all nodes see: a run that was ended, or whose nodes were lost, goes on with the next one. Actors that die are
started again, those of new nodes are added, and a shard that was under way there is done by another.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

MOST_LOSSES = 10
EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_LEFT = 0, 1, 2, 3
# What workers have in their environment as the one who starts this has it; all else is as on the node.
PASSED_ON = re.compile(r"GST_(?!DEBUG).*|HETERO_.*|XDG_CACHE_HOME|LD_LIBRARY_PATH")


def read_json(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


class Archive:
    """What the folder says; it alone knows what is done."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).absolute()
        plan = read_json(self.folder / "plan.json")
        if plan is None:
            raise SystemExit(f"hetero-archive-ray: {self.folder} has no plan that can be read; make one with hetero archive plan")
        self.frames = {shard["key"]: shard["frames"] for shard in plan["shards"]}

    def is_done(self, key):
        return (self.folder / "notes" / f"{key}.json").exists()

    def is_given_up(self, key):
        failures = read_json(self.folder / "failures" / f"{key}.json")
        return bool(failures and failures["given_up"])

    def note_crash(self, key, error, most):
        """As `hetero archive run` does; true when it was the last try."""
        path = self.folder / "failures" / f"{key}.json"
        failures = read_json(path) or {"key": key, "tries": []}
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        failures["tries"].append({"time": now, "host": os.uname().nodename, "kind": "crash", "error": error})
        failures["given_up"] = len(failures["tries"]) >= most
        aside = path.with_name(f".{key}.{os.uname().nodename}.{os.getpid()}.part")
        aside.write_text(json.dumps(failures, indent=1) + "\n", encoding="utf-8")
        aside.rename(path)
        return failures["given_up"]


class ShardQueue:
    """Which shard is next. One that was under way when its worker ended is a suspect: it is done again, alone in a worker, so that the one
    to blame is known; after `tries` failures it is given up."""

    def __init__(self, archive, tries):
        self.archive, self.tries = archive, tries
        self.waiting = collections.deque(key for key in archive.frames if not archive.is_done(key) and not archive.is_given_up(key))
        self.suspects = collections.deque()
        self.losses = collections.Counter()
        self.done = set()
        self.failed = {}

    def take(self, under_way):
        """For a worker with so many shards under way; nothing where there is none for it. The second value: nothing beside it."""
        if self.suspects:
            return (self.suspects.popleft(), True) if under_way == 0 else (None, False)
        while self.waiting:
            key = self.waiting.popleft()
            if key not in self.done and key not in self.failed:
                return key, False
        return None, False

    def answered(self, key, answer):
        if "done" in answer or self.archive.is_done(key):
            self.done.add(key)
        elif answer.get("given_up"):
            self.failed[key] = answer["error"]
        else:
            self.waiting.append(key)

    def worker_ended(self, key, was_alone, how):
        if self.archive.is_done(key):  # it was noted, the answer was lost
            self.done.add(key)
            return
        if was_alone:
            error = f"the process that had it alone ended with {how}"
            if self.archive.note_crash(key, error, self.tries):
                self.failed[key] = error
                return
        self.suspects.append(key)

    def actor_lost(self, key):
        """With its node, or alone: not the shard's doing, unless that goes on and on."""
        self.losses[key] += 1
        if self.archive.is_done(key):
            self.done.add(key)
        elif self.losses[key] > MOST_LOSSES:
            self.failed[key] = f"{self.losses[key]} actors were lost while it was under way; it is left missing"
        else:
            self.waiting.appendleft(key)

    def is_empty(self):
        return not self.waiting and not self.suspects


class Worker:
    """A process `hetero-archive worker`, started when it is needed. An actor on Ray; called from several threads."""

    def __init__(self, command, folder):
        self.command = command
        if not (pathlib.Path(folder) / "plan.json").exists():
            raise FileNotFoundError(f"{os.uname().nodename} sees no {folder}/plan.json: all nodes need the archive's folder at this path")
        self.lock = threading.Lock()  # of all below
        self.process = None
        self.answers = {}

    def do(self, key):
        """The worker's answer, or {"ended": HOW} where it ended without one."""
        arrived = threading.Event()
        slot = {}
        with self.lock:
            try:
                if self.process is None:
                    self._start()
                self.answers[key] = (arrived, slot)
                self.process.stdin.write(json.dumps({"shard": key}) + "\n")
                self.process.stdin.flush()
            except OSError as failure:
                self.answers.pop(key, None)
                return {"ended": str(failure)}
        arrived.wait()
        return slot["answer"]

    def stop(self):
        """What is under way is dropped."""
        with self.lock:
            process = self.process
        if process:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()

    def _start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()

    def _read(self, process):
        unread = None
        for line in process.stdout:
            try:
                answer = json.loads(line)
                key = answer.get("done") or answer.get("failed")
            except (ValueError, AttributeError):
                unread = line.strip()
                process.kill()
                break
            with self.lock:
                waiting = self.answers.pop(key, None)
            if waiting:
                waiting[1]["answer"] = answer
                waiting[0].set()
        status = process.wait()
        process.stdout.close()
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        if unread is not None:
            how = f"an answer that is none: '{unread[:200]}'"
        with self.lock:
            left, self.answers, self.process = self.answers, {}, None
            try:
                process.stdin.close()
            except OSError:
                pass  # what was not yet written nobody reads
        for arrived, slot in left.values():
            slot["answer"] = {"ended": how}
            arrived.set()


def numa_nodes():
    """Numbers of this machine's NUMA nodes with processors that this process may use, and how many those are."""
    usable = os.sched_getaffinity(0)
    found = {}
    for folder in pathlib.Path("/sys/devices/system/node").glob("node[0-9]*"):
        text = (folder / "cpulist").read_text(encoding="ascii").strip()
        numbers = set()
        for part in filter(None, text.split(",")):
            first, _, last = part.partition("-")
            numbers.update(range(int(first), int(last or first) + 1))
        if numbers & usable:
            found[int(folder.name[4:])] = len(numbers & usable)
    return found or {None: len(usable)}


class Actor:
    """The driver's side of one."""

    def __init__(self, handle, node_id, name):
        self.handle, self.node_id, self.name = handle, node_id, name
        self.under_way = {}  # reference: (key, nothing beside it)
        self.is_alone = False
        self.rests_until = 0


class Cluster:
    """Actors on all NUMA nodes of all nodes that live."""

    def __init__(self, ray, options, environment):
        self.ray, self.options, self.environment = ray, options, environment
        self.actors = []
        self.asked = {}  # node: reference to its NUMA nodes
        self.known = set()

    def look(self):
        """Adds the actors of new nodes and drops those of lost ones; returns these."""
        alive = {node["NodeID"]: node for node in self.ray.nodes() if node["Alive"]}
        lost = [actor for actor in self.actors if actor.node_id not in alive]
        self.actors = [actor for actor in self.actors if actor.node_id in alive]
        for identity in alive.keys() - self.known - self.asked.keys():
            ask = self.ray.remote(num_cpus=0)(numa_nodes)
            self.asked[identity] = ask.options(scheduling_strategy=self._on(identity)).remote()
        for identity, reference in list(self.asked.items()):
            if identity not in alive:
                del self.asked[identity]
            elif self.ray.wait([reference], timeout=0)[0]:
                del self.asked[identity]
                self._add_node(alive[identity], reference)
        return lost

    def _add_node(self, node, reference):
        try:
            found = self.ray.get(reference)
        except self.ray.exceptions.RayError as failure:
            print(f"{node['NodeManagerHostname']} does not answer and is left out for now: {failure}", file=sys.stderr)
            return
        self.known.add(node["NodeID"])
        cpus = node["Resources"].get("CPU", 0) / len(found)
        for number in sorted(found, key=str):
            command = [self.options.program, "worker", str(self.options.folder), "--at-once", str(self.options.at_once),
                       "--tries", str(self.options.tries), "--stall", self.options.stall]
            if number is not None:
                command += ["--node", str(number)]
            actor = self.ray.remote(Worker).options(
                num_cpus=cpus, num_gpus=self.options.gpus, max_restarts=-1, max_concurrency=self.options.at_once + 1,
                runtime_env={"env_vars": self.environment}, scheduling_strategy=self._on(node["NodeID"])).remote(command, str(self.options.folder))
            name = f"{node['NodeManagerHostname']}, NUMA node {number}"
            self.actors.append(Actor(actor, node["NodeID"], name))
            print(f"{name}: an actor with {cpus:g} processors", file=sys.stderr)

    def _on(self, identity):
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # Ray's own modules come with it

        return NodeAffinitySchedulingStrategy(identity, soft=False)


class Run:
    """Deals shards to actors until nothing is left."""

    def __init__(self, ray, archive, queue, cluster, at_once):
        self.ray, self.archive, self.queue, self.cluster, self.at_once = ray, archive, queue, cluster, at_once
        self.began = self.told = self.looked = time.monotonic()
        self.frames = 0
        self.is_stopped = False
        self.total = len(queue.waiting)

    def until_done(self):
        self._look()
        while not self.is_stopped and not (self.queue.is_empty() and not self._references()):
            if time.monotonic() - self.looked > 2:
                self._look()
            for actor in self.cluster.actors:
                self._fill(actor)
            references = self._references()
            if references:
                for reference in self.ray.wait(list(references), num_returns=len(references), timeout=0.1)[0]:
                    self._finish(references[reference], reference)
            else:
                time.sleep(0.1)
            if time.monotonic() - self.told > 5:
                self._tell()
        self._tell()

    def _references(self):
        return {reference: actor for actor in self.cluster.actors for reference in actor.under_way}

    def _look(self):
        self.looked = time.monotonic()
        for actor in self.cluster.look():
            print(f"{actor.name} is lost, with {len(actor.under_way)} shards under way", file=sys.stderr)
            for key, _ in actor.under_way.values():
                self.queue.actor_lost(key)

    def _fill(self, actor):
        if not actor.under_way:
            actor.is_alone = False
        if time.monotonic() < actor.rests_until:
            return
        while len(actor.under_way) < self.at_once and not actor.is_alone:
            key, actor.is_alone = self.queue.take(len(actor.under_way))
            if key is None:
                return
            actor.under_way[actor.handle.do.remote(key)] = (key, actor.is_alone)

    def _finish(self, actor, reference):
        key, was_alone = actor.under_way.pop(reference)
        try:
            answer = self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as failure:  # the actor has a reason, such as a folder that it does not see
            raise SystemExit(f"hetero-archive-ray: {actor.name}: {failure}") from failure
        except self.ray.exceptions.RayError as failure:
            if "FileNotFoundError" in str(failure):  # it could not begin
                raise SystemExit(f"hetero-archive-ray: {actor.name}: {failure}") from failure
            print(f"{actor.name} does not answer: {str(failure).splitlines()[0]}", file=sys.stderr)
            actor.rests_until = time.monotonic() + 3
            self.queue.actor_lost(key)
            return
        if "ended" in answer:
            print(f"{actor.name}: its process ended with {answer['ended']}", file=sys.stderr)
            self.queue.worker_ended(key, was_alone, answer["ended"])
            return
        if "failed" in answer:
            print(f"{actor.name}: shard {key}: {answer['error']}", file=sys.stderr)
        self.frames += answer.get("frames", 0)
        self.queue.answered(key, answer)

    def _tell(self):
        self.told = time.monotonic()
        elapsed = self.told - self.began
        ended = len(self.queue.done) + len(self.queue.failed)
        text = f"{ended} of {self.total} shards, {len(self.queue.failed)} of them given up, {self.frames} frames, {self.frames / max(elapsed, 1e-3):.1f} frames/s"
        left = sum(frames for key, frames in self.archive.frames.items() if key in self._left())
        if self.frames and left:
            text += f", {left * elapsed / self.frames:.0f} s left"
        print(text, file=sys.stderr, flush=True)

    def _left(self):
        under_way = {key for actor in self.cluster.actors for key, _ in actor.under_way.values()}
        return under_way | set(self.queue.waiting) | set(self.queue.suspects)

    def end(self):
        """Workers drop what is under way, and actors end."""
        stopping = [actor.handle.stop.remote() for actor in self.cluster.actors]
        if stopping:
            self.ray.wait(stopping, num_returns=len(stopping), timeout=30)
        for actor in self.cluster.actors:
            self.ray.kill(actor.handle)


def parse_options():
    parser = argparse.ArgumentParser(prog="hetero-archive-ray", description=__doc__.splitlines()[0])
    parser.add_argument("folder", metavar="DIR", type=pathlib.Path, help="folder of the archive, with a plan, at the same path on all nodes")
    parser.add_argument("--address", default="auto", help="of the Ray cluster; auto (default): that of this machine")
    parser.add_argument("--program", default=str(pathlib.Path(__file__).resolve().parent / "hetero-archive"),
                        help="hetero-archive as the nodes see it; the one beside this program unless given")
    parser.add_argument("--at-once", type=int, default=2, help="shards under way together in an actor (2)")
    parser.add_argument("--tries", type=int, default=3, help="of a shard, until it is given up (3)")
    parser.add_argument("--stall", default="60s", help="a shard without a new frame for so long has failed (60s)")
    parser.add_argument("--gpus", type=float, default=0, help="Ray's GPU resources of an actor (0)")
    options = parser.parse_args()
    if options.at_once < 1 or options.tries < 1 or options.gpus < 0:
        parser.error("--at-once and --tries take 1 and more, --gpus 0 and more")
    options.folder = options.folder.absolute()
    return options


def main():
    options = parse_options()
    archive = Archive(options.folder)
    queue = ShardQueue(archive, options.tries)
    given_up = sum(archive.is_given_up(key) for key in archive.frames)
    if queue.is_empty():
        print(f"nothing is missing; {given_up} shards were given up", file=sys.stderr)
        return EXIT_FAILED if given_up else EXIT_DONE
    try:
        import ray  # only here: help and refusals do without
    except ImportError as failure:
        print(f"hetero-archive-ray: this Python ({sys.executable}) has no Ray ({failure}); pip install ray", file=sys.stderr)
        return EXIT_USAGE
    ray.init(address=options.address, log_to_driver=True, logging_level="warning")
    environment = {name: value for name, value in os.environ.items() if PASSED_ON.fullmatch(name)}
    run = Run(ray, archive, queue, Cluster(ray, options, environment), options.at_once)

    def stop(_number, _frame):
        run.is_stopped = True
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        run.until_done()
    finally:
        run.end()
        ray.shutdown()
    for key, reason in queue.failed.items():
        print(f"given up: shard {key}: {reason}", file=sys.stderr)
    if run.is_stopped and len(queue.done) + len(queue.failed) < run.total:
        print("stopped; the same command goes on", file=sys.stderr)
        return EXIT_LEFT
    return EXIT_FAILED if queue.failed or given_up else EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
