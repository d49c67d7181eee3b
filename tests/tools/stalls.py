"""Takes each processor of this process away for 0.2 to 0.9 s, every 2.7 s on average, as a busy host does to a virtual machine.

Needs the right to real-time priority (root). Runs until it is killed, its children with it.
"""
import ctypes
import os
import random
import signal
import time

PR_SET_PDEATHSIG = 1


def take_away(processor):
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.sched_setaffinity(0, {processor})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    pauses = random.Random()
    while True:
        time.sleep(pauses.uniform(0.3, 4))
        end = time.monotonic() + pauses.uniform(0.2, 0.9)
        while time.monotonic() < end:
            pass


for number in sorted(os.sched_getaffinity(0)):
    if os.fork() == 0:
        take_away(number)
os.wait()
raise SystemExit("no processor is taken away any more: has this user the right to real-time priority?")
