"""Leaves a process behind, in a session of its own, which no group's end reaches."""

import os
import time

import handed_ops

if os.fork() == 0:
    os.setsid()
    for descriptor in range(64):
        try:
            os.close(descriptor)
        except OSError:
            continue
    time.sleep(600)
    os._exit(0)


def registrations():
    handed_ops.initialize()
    return {"handed_beside_process": handed_ops.capsule(0)}
