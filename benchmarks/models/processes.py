"""Programs that measure, each in a process of its own whose end tells how it failed."""
import re
import signal
import subprocess

# A compile and a measurement; nothing of the lists takes a minute.
TIMEOUT_S = 300


class Failure(Exception):
    """`kind`: "refused" with the program's last words, "crashed (signal 11, SIGSEGV)" or "timed out"."""

    def __init__(self, kind, words=""):
        super().__init__(f"{kind}: {words}" if words else kind)
        self.kind, self.words = kind, words


def last_line(text):
    """Files by their names alone: result files are read on other machines."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return re.sub(r"(?<!\S)/(?:[^\s/]+/)+", "", lines[-1])[:160] if lines else ""


def execute(command, timeout_s=TIMEOUT_S, **options):
    """What it prints; a Failure says how it ended otherwise."""
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, errors="replace", timeout=timeout_s, **options)
    except subprocess.TimeoutExpired:
        raise Failure("timed out", f"after {timeout_s} s") from None
    if done.returncode < 0:
        number = -done.returncode
        name = signal.Signals(number).name if number in set(signal.Signals) else "?"
        raise Failure(f"crashed (signal {number}, {name})", last_line(done.stderr))
    if done.returncode != 0:
        raise Failure("refused", last_line(done.stderr) or f"status {done.returncode}")
    return done.stdout
