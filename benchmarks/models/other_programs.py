"""How much of the cores' time other programs take while something of ours runs."""
import os
import pathlib
import resource
import time


def busy_seconds():
    """Processor time that all programs of this machine, or others on its host, have taken."""
    user, nice, system, _, _, irq, soft, steal = (int(n) for n in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9])
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    """Of this process and of those that it has waited for."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)))


class Share:
    """Of all cores' time since it was made."""

    def __init__(self):
        self.start, self.busy, self.own = time.monotonic(), busy_seconds(), own_seconds()

    def now(self):
        others = (busy_seconds() - self.busy) - (own_seconds() - self.own)
        return max(others, 0.0) / (time.monotonic() - self.start) / os.cpu_count()
