"""Leaves a thread running, as many packages do while they are imported."""

import threading
import time

import handed_ops


def wait():
    while True:
        time.sleep(1)


threading.Thread(target=wait, daemon=True).start()


def registrations():
    handed_ops.initialize()
    return {"handed_beside_thread": handed_ops.capsule(0)}
