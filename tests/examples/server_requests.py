#!/usr/bin/env python3
"""The server example as a process: what it answers to pictures, several at once, and to what is none.

Usage: server_requests.py EXAMPLE PICTURE
"""
import concurrent.futures
import importlib.util
import json
import pathlib
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request

for module in ("fastapi", "uvicorn", "cv2"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: this Python has no {module}")
        sys.exit(77)


class Server:
    """The process, with the address that it listens on."""

    def __init__(self, example):
        self.process = subprocess.Popen([sys.executable, "-B", example, "--port", "0"], stderr=subprocess.PIPE, text=True)
        self.lines = []
        for line in self.process.stderr:
            self.lines.append(line)
            if address := re.search(r"running on (http://\S+)", line):
                self.address = address[1]
                break
        else:
            sys.exit("the server does not start:\n" + "".join(self.lines))
        threading.Thread(target=lambda: self.lines.extend(self.process.stderr), daemon=True).start()

    def ask(self, path, body=None, **headers):
        """The status and the answer."""
        request = urllib.request.Request(self.address + path, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)


def expect(what, told, wanted):
    print(f"{what}: {told}")
    if not wanted:
        sys.exit(f"{what} is not as it should be")


def check(server, picture):
    status, health = server.ask("/health")
    expect("health", health, status == 200 and health["status"] == "ready" and "truck" in health["labels"])
    status, one = server.ask("/objects", picture)
    labels = sorted(found["label"] for found in one["objects"])
    expect("one picture", one, status == 200 and labels == ["bicycle", "car", "person", "person", "truck"] and one["width"] == 640)
    status, few = server.ask("/objects?threshold=0.945", picture, **{"Content-Type": "image/jpeg"})
    expect("a threshold", few, status == 200 and 0 < len(few["objects"]) < len(labels))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: server.ask("/objects", picture), range(64)))
    expect("64 pictures, 8 at once", f"{sum(answer == (200, one) for answer in answers)} the same", all(answer == (200, one) for answer in answers))
    for what, path, body, code, text in [
            ("no picture", "/objects", b"no picture", 400, "10 bytes are no picture"),
            ("nothing", "/objects", b"", 400, "0 bytes"),
            ("half a picture's header", "/objects", picture[:100], 400, "no picture"),
            ("a bad threshold", "/objects?threshold=7", picture, 400, "threshold 7 is not in 0..1"),
            ("a threshold in words", "/objects?threshold=high", picture, 422, "threshold"),
            ("too much", "/objects", bytes(20_000_001), 413, "20000000 bytes")]:
        status, answer = server.ask(path, body)
        expect(what, f"{status} {answer}", status == code and text in json.dumps(answer))
    status, again = server.ask("/objects", picture)
    expect("a picture after these", status, again == one)


def main():
    server = Server(sys.argv[1])
    try:
        check(server, pathlib.Path(sys.argv[2]).read_bytes())
    finally:
        status = server.end()
        print("".join(server.lines))
    if "Traceback" in "".join(server.lines):
        sys.exit("the server has told of an exception")
    expect("the end by Ctrl-C", status, status in (0, -signal.SIGINT, 130))


if __name__ == "__main__":
    main()
