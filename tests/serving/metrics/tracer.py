#!/usr/bin/env python3
"""The tracer heterometrics as users meet it: tracer.py SOURCE_ROOT BUILD_ROOT."""
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from served import Served  # noqa: E402

ROOT, BUILD = (pathlib.Path(argument).absolute() for argument in sys.argv[1:3])
MODELS = ROOT / "pipelines/demo/models"
DETECT = f"heterodetect threshold=0.1 model={MODELS}/scene_detector.onnx model-proc={MODELS}/scene_detector.json"
LIVE = "videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=30/1"
SMALL = "videotestsrc is-live=true ! video/x-raw,width=64,height=64,framerate=30/1 ! fakesink"


def run(command, tracers, **environment):
    return subprocess.run(command, env={**os.environ, "GST_TRACERS": tracers, **environment}, capture_output=True, text=True, timeout=60)


def two_free_ports():
    """The first of two ports on end that nobody has. They lie below those that the kernel gives to whoever asks for any."""
    for base in random.sample(range(20000, 32000, 2), 100):
        try:
            with socket.create_server(("127.0.0.1", base)), socket.create_server(("127.0.0.1", base + 1)):
                return base
        except OSError:
            continue
    raise AssertionError("no two ports on end are free")


class Tracer(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="metrics_"))
        self.addCleanup(shutil.rmtree, self.folder)

    def test_a_pipeline_without_an_element_of_ours_is_told(self):
        with Served(SMALL) as served:
            served.wait_for_frames()
            status, text = served.get()
            self.assertEqual(status, 200)
            self.assertTrue(text.endswith("# EOF\n"))
            self.assertIn('target_info{service_name="gst-hetero"', text)
            self.assertEqual(served.value('gst_pipeline_state{pipeline="pipeline0",state="playing"}'), 1)
            self.assertGreater(served.value("process_resident_memory_bytes"), 1 << 20)
            self.assertGreater(served.value("process_threads"), 1)
            self.assertAlmostEqual(served.value("process_start_time_seconds"), time.time(), delta=60)
            self.assertEqual(served.get("/health/ready"), (200, "ready\n"))
            self.assertEqual(served.get("/health/live"), (200, "live\n"))
            self.assertEqual(served.get("/else")[0], 404)
            self.assertEqual(served.get("/metrics", method="POST")[0], 405)
            self.assertEqual(served.get("/metrics", method="HEAD"), (200, ""))
        self.assertEqual(served.process.returncode, 0, "".join(served.said))

    def test_values_go_up_with_the_frames(self):
        with Served(f"{LIVE} ! {DETECT} name=find ! heterometaconvert ! heterometapublish file-path=/dev/null ! fakesink",
                    "latency=pipeline+element") as served:
            served.wait_for_frames()
            series = ['gst_source_buffers_total{pipeline="pipeline0",element="videotestsrc0"}', 'hetero_frames_analysed_total{pipeline="pipeline0",element="find"}',
                      'gst_pipeline_latency_seconds_count{pipeline="pipeline0",source="videotestsrc0",sink="fakesink0"}',
                      'hetero_element_part_duration_seconds_count{element="find",part="decode"}', 'hetero_device_executions_total{device="CPU"}',
                      'hetero_device_busy_seconds_total{device="CPU"}', "process_cpu_seconds_total"]
            before = {name: served.value(name) for name in series}
            for name in series:
                limit = time.monotonic() + 20
                while served.value(name) <= before[name]:
                    self.assertLess(time.monotonic(), limit, name)
                    time.sleep(0.1)
            self.assertEqual(served.value('hetero_device_lost{device="CPU"}'), 0)

    def test_batches_are_seen_by_their_fill(self):
        line = f"videotestsrc num-buffers=100000 ! video/x-raw,width=320,height=240 ! {DETECT} device=BATCH:CPU(4) nireq=8 ! fakesink"
        with Served(line) as served:
            served.wait_for_frames(200)
            text = served.get()[1]
            frames, executions = (float(re.search(name + r'_total{device="CPU"} (\S+)', text).group(1))
                                  for name in ("hetero_device_frames", "hetero_device_executions"))
            self.assertGreater(frames / executions, 3)
            self.assertLessEqual(frames / executions, 4)

    def test_latency_lines_are_those_of_a_tracer(self):
        done = run(["gst-launch-1.0", "-q", *"videotestsrc num-buffers=3 ! identity ! fakesink".split()], "heterometrics(port=0,latency=pipeline+element)",
                   GST_DEBUG="GST_TRACER:7", GST_DEBUG_NO_COLOR="1")
        lines = [line for line in done.stderr.splitlines() if ":0:: hetero-latency, " in line]
        self.assertEqual(len(lines), 3, done.stderr)
        self.assertRegex(lines[0], r"hetero-latency, source=\(string\)videotestsrc0, sink=\(string\)fakesink0, time=\(guint64\)[1-9]")
        elements = re.findall(r":0:: hetero-element-latency, element=\(string\)(\w+), time=\(guint64\)[1-9]", done.stderr)
        self.assertEqual(elements, ["identity0"] * 3)

    def test_what_is_wrong_is_said_and_nothing_else_changes(self):
        done = run(["gst-launch-1.0", "-q", *"videotestsrc num-buffers=3 ! fakesink".split()], "heterometrics(port=0,colour=red)")
        self.assertEqual(done.returncode, 0)
        self.assertIn("tracer heterometrics: 'colour=red' is not taken; there are port=NUMBER", done.stderr)
        for parameters, reason in {"address=localhost": "'localhost' is no address", "port=0,address=192.0.2.1": "cannot listen at 192.0.2.1 port 0"}.items():
            done = run(["gst-launch-1.0", "-q", *"videotestsrc num-buffers=3 ! fakesink".split()], f"heterometrics({parameters})")
            self.assertEqual(done.returncode, 0)
            self.assertIn(reason, done.stderr)
            self.assertIn("nothing is served", done.stderr)

    def test_a_port_that_is_taken_is_said(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            done = run(["gst-launch-1.0", "-q", *"videotestsrc num-buffers=3 ! fakesink".split()], f"heterometrics(port={port})")
            self.assertEqual(done.returncode, 0)
            self.assertIn(f"cannot listen at 127.0.0.1 port {port}: Address already in use; another process serves there; give port=0", done.stderr)

    def test_only_this_machine_is_answered_unless_told_otherwise(self):
        with Served(SMALL) as served:
            self.assertTrue(served.url.startswith("http://127.0.0.1:"))
            with self.assertRaises(OSError):
                socket.create_connection(("127.0.0.2", served.port), timeout=2)
        with Served(SMALL, "address=0.0.0.0") as served, socket.create_connection(("127.0.0.2", served.port), timeout=2):
            pass

    def test_looking_at_the_plugin_serves_nothing(self):
        done = subprocess.run(["gst-inspect-1.0", "heterometrics"], env={**os.environ, "GST_TRACERS": ""}, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("heterometrics", done.stdout)
        self.assertNotIn("metrics at", done.stderr)
        self.assertNotIn("cannot listen", done.stderr)

    def test_both_tracers_hear_of_every_frame(self):
        trace = self.folder / "trace.json"
        with Served(f"{LIVE} ! {DETECT} name=find ! fakesink", tracers=f"heterotrace(file={trace});heterometrics({{}})") as served:
            served.wait_for_frames(20)
            counted = served.value('hetero_element_part_duration_seconds_count{element="find",part="decode"}')
            self.assertGreater(counted, 10)
        self.assertGreaterEqual(trace.read_text().count('"cat":"decode"'), counted)

    def test_two_pipelines_of_a_process_are_apart(self):
        program = """
import gi, time
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
lines = [Gst.parse_launch(f"videotestsrc is-live=true ! video/x-raw,framerate={rate}/1 ! fakesink name=out") for rate in (10, 30)]
for name, line in zip(("slow", "fast"), lines):
    line.set_name(name)
    line.set_state(Gst.State.PLAYING)
time.sleep(60)
"""
        with Served(["/usr/bin/python3", "-c", program]) as served:
            def frames(name):
                return served.value(f'gst_sink_buffers_total{{pipeline="{name}",element="out"}}') or 0
            served.wait_until(lambda: frames("fast") > 2 * frames("slow") > 20)

    def test_a_child_without_exec_neither_serves_nor_keeps_the_port(self):
        program = """
import gi, os, time
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
line = Gst.parse_launch("videotestsrc is-live=true ! fakesink")
line.set_state(Gst.State.PLAYING)
time.sleep(0.5)
here, there = os.pipe()
for _ in range(20):
    if os.fork() == 0:
        os.write(there, b"1")
        time.sleep(30)
        os._exit(0)
for _ in range(20):
    os.read(here, 1)  # until then a child may be one that has not run at all
print("forked", flush=True)
time.sleep(60)
"""
        with Served(["/usr/bin/python3", "-c", program]) as served:
            self.assertEqual(served.process.stdout.readline(), "forked\n")
            served.wait_for_frames()
            self.assertEqual(served.get("/health/ready")[0], 200)
            served.process.kill()
            served.process.wait()
            # The children live, and the port is free.
            socket.create_server(("127.0.0.1", served.port)).close()

    def test_a_program_that_ends_without_deinit_ends_well(self):
        program = """
import gi, threading, time, urllib.request
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
lines = [Gst.parse_launch("videotestsrc is-live=true ! queue ! fakesink") for _ in range(3)]
for line in lines:
    line.set_state(Gst.State.PLAYING)
time.sleep(0.5)
for line in lines[:2]:
    line.set_state(Gst.State.NULL)
"""
        for _ in range(5):
            with Served(["/usr/bin/python3", "-c", program]) as served:
                while served.process.poll() is None:
                    try:
                        served.get()
                    except OSError:
                        break
                self.assertEqual(served.process.wait(20), 0)

    def test_hostile_requests_do_no_harm(self):
        with Served(f"{LIVE} ! {DETECT} ! fakesink") as served:
            served.wait_for_frames()
            address = ("127.0.0.1", served.port)
            for bytes_sent in (b"", b"GET", b"GET /metrics HTTP/1.1\r\nHost: x\r\n", b"\0" * 4096, b"\xff\xfe\r\n\r\n", b"GET " + b"/" * 100000 + b" HTTP/1.1\r\n\r\n",
                               b"GET /metrics HTTP/1.1\r\n" + b"X: " + b"a" * 1000000 + b"\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n",
                               b"".join(b"X%d: y\r\n" % i for i in range(20000)), b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n" + b"x" * 100000,
                               b"GET /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"GET /%00%ff/../metrics HTTP/1.1\r\nHost: x\r\n\r\n"):
                with socket.create_connection(address, timeout=5) as connection:
                    try:
                        connection.sendall(bytes_sent)
                    except OSError:
                        pass  # it was refused in the middle
                self.assertEqual(served.get("/health/live")[0], 200, bytes_sent[:60])
            before = served.value("process_resident_memory_bytes")
            crowd = []
            for _ in range(1000):
                one = socket.socket()
                one.setblocking(False)
                one.connect_ex(address)
                crowd.append(one)
            time.sleep(1)
            self.assertLess(len(os.listdir(f"/proc/{served.process.pid}/fd")), 120)
            for one in crowd:
                one.close()
            self.assertEqual(served.get("/health/ready")[0], 200)
            self.assertLess(served.value("process_open_fds"), 120)
            self.assertLess(served.value("process_resident_memory_bytes") - before, 32 << 20)
            frames = served.value('gst_sink_buffers_total{pipeline="pipeline0",element="fakesink0"}')
            limit = time.monotonic() + 20
            while served.value('gst_sink_buffers_total{pipeline="pipeline0",element="fakesink0"}') <= frames:
                self.assertLess(time.monotonic(), limit, "no frame comes any more")

    def test_a_slow_sender_is_let_go_and_others_are_answered(self):
        with Served(SMALL) as served:
            served.wait_for_frames()
            ends = threading.Event()

            def drip():
                """A byte every 2 s: never quiet for long. How long it was listened to."""
                begin = time.monotonic()
                with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
                    connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: ")
                    try:
                        while not ends.wait(2):
                            connection.sendall(b"a")
                            connection.settimeout(0.01)
                            try:
                                if connection.recv(100) == b"":
                                    break
                            except socket.timeout:
                                pass
                    except OSError:
                        pass
                return time.monotonic() - begin

            with concurrent.futures.ThreadPoolExecutor(20) as pool:
                slow = [pool.submit(drip) for _ in range(20)]
                time.sleep(1)
                self.assertEqual(served.get()[0], 200)
                try:
                    for one in slow:
                        self.assertLess(one.result(timeout=25), 16)
                finally:
                    ends.set()

    def test_commands_of_the_guides_work_word_for_word(self):
        for page in ("README.md", "docs/metrics.md"):
            block = re.search(r"\n\n((?:    .*\n)*?    GST_TRACERS=\"heterometrics(?:.|\n)*?kill \$!\n)", (ROOT / page).read_text()).group(1)
            commands = re.sub(r"^    ", "", block, flags=re.MULTILINE)
            # Another build folder, a port that is free, and as long as the machine takes.
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = str(free.getsockname()[1])
            self.assertIn("sleep 5;", commands)
            address = f"http://127.0.0.1:{port}"
            played = (f"for i in $(seq 200); do curl -s {address}/metrics | grep -q 'frames_analysed_total.* [1-9]' && "
                      f"curl -s {address}/health/ready | grep -qx ready && break; sleep 0.2; done;")
            commands = commands.replace("$PWD/build/", f"{BUILD}/").replace("9464", port).replace("sleep 5;", played)
            done = subprocess.run(["bash", "-c", commands], cwd=ROOT, capture_output=True, text=True, timeout=60)
            self.assertRegex(done.stdout, r'hetero_frames_analysed_total{pipeline="pipeline0",element="heterodetect0"} [1-9]', done.stderr)
            self.assertIn("\nready\n", done.stdout)

    def test_instances_of_hetero_launch_have_ports_of_their_own(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("two instances need two processors")
        base = two_free_ports()
        environment = {**os.environ, "GST_TRACERS": f"heterometrics(port={base})", "XDG_RUNTIME_DIR": str(self.folder)}
        line = "videotestsrc is-live=true ! video/x-raw,width=64,height=64,framerate=30/1 ! fakesink"
        process = subprocess.Popen([str(BUILD / "tools/hetero"), "launch", "--instances", "2", "--", *line.split()], env=environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        try:
            said, pids = "", {}
            limit = time.monotonic() + 60
            while len(re.findall("plays after", said)) < 2:
                assert time.monotonic() < limit and process.poll() is None, said
                said += process.stderr.readline()
            for number in (0, 1):
                self.assertIn(f"[{number}] tracer heterometrics: metrics at http://127.0.0.1:{base + number}/metrics", said)
                text = urllib.request.urlopen(f"http://127.0.0.1:{base + number}/metrics", timeout=20).read().decode()
                self.assertIn(f'hetero_instance_restarts_total{{instance="{number}"}} 0\n', text)
                self.assertIn(f'service_instance_id="{number}"', text)
                pids[number] = int(re.search(r'process_pid="(\d+)"', text).group(1))
            os.kill(pids[1], 9)
            while len(re.findall("plays after", said)) < 3:
                assert time.monotonic() < limit, said
                said += process.stderr.readline()
            text = urllib.request.urlopen(f"http://127.0.0.1:{base + 1}/metrics", timeout=20).read().decode()
            self.assertIn('hetero_instance_restarts_total{instance="1"} 1\n', text)
        finally:
            process.terminate()
            process.communicate(timeout=30)


if __name__ == "__main__":
    sys.argv[1:] = sys.argv[3:]
    unittest.main(verbosity=2)
