"""Programs with the tracer heterometrics, and what they answer, for the tests beside this."""
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request


class Served:
    """A gst-launch-1.0 line under the tracer, at a port that is free. Ends with the `with` block."""

    def __init__(self, line, parameters="", tracers="heterometrics({})", environment=None, errors=None):
        both = ",".join(part for part in ("port=0", parameters) if part)
        self.environment = {**os.environ, "GST_TRACERS": tracers.format(both), **(environment or {})}
        self.command = ["gst-launch-1.0", "-q", "-e", *line.split()] if isinstance(line, str) else line
        self.errors_path = errors

    def __enter__(self):
        self.process = subprocess.Popen(self.command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
        self.said = []
        self.url = None
        while self.url is None:
            line = self.process.stderr.readline()
            assert line, f"it ended without a port: {self.process.wait()}\n" + "".join(self.said)
            self.said.append(line)
            found = re.search(r"metrics at (http://\S+)/metrics", line)
            self.url = found and found.group(1)
        self.port = int(self.url.rsplit(":", 1)[1])
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.said.append(self.process.stderr.read())
        self.process.stderr.close()
        self.process.stdout.close()

    def get(self, path="/metrics", accept=None, method="GET"):
        """(status, text) of an answer."""
        request = urllib.request.Request(self.url + path, headers={"Accept": accept} if accept else {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as problem:
            return problem.code, problem.read().decode()

    def value(self, series):
        """Of the one line that begins so; None without it."""
        found = re.search(r"^" + re.escape(series) + r" (\S+)$", self.get()[1], re.MULTILINE)
        return float(found.group(1)) if found else None

    def wait_until(self, condition, seconds=60):
        limit = time.monotonic() + seconds
        while not condition():
            assert self.process.poll() is None, f"it ended: {self.process.stderr.read()}"
            assert time.monotonic() < limit, f"not within {seconds} s; it tells:\n{self.get()[1][-6000:]}"
            time.sleep(0.1)

    def wait_for_frames(self, count=5, element="fakesink0"):
        series = f'gst_sink_buffers_total{{pipeline="pipeline0",element="{element}"}}'
        self.wait_until(lambda: (self.value(series) or 0) >= count)
