"""Calls into native code that may crash, in a fork of the export's own child: what was read before
survives the crash.
"""

import json
import os
import resource
import signal
import sys


class ForkFailed(Exception):
    """The text says what ended the call, for the user."""


def call_in_fork(function):
    """The result of `function()`, which json must be able to carry. It sees everything that was
    imported, and whatever it changes is gone afterwards."""
    sys.stdout.flush()
    sys.stderr.flush()
    read_end, write_end = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(read_end)
        answer_and_end(function, write_end)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as stream:
        answer = stream.read()
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        raise ForkFailed("ended by signal {} ({})".format(number, signal.strsignal(number)))
    return result_in(answer)


def answer_and_end(function, write_end):
    """Ends without the handlers that the packages set up: they belong to the other process."""
    try:
        # A crash is expected, and a core would be a file in the user's folder.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            answer = {"result": function()}
        except BaseException as error:
            answer = {"error": "{}: {}".format(type(error).__name__, error)}
        with os.fdopen(write_end, "wb") as stream:
            stream.write(json.dumps(answer).encode("utf-8"))
    finally:
        os._exit(0)


def result_in(answer):
    try:
        answer = json.loads(answer.decode("utf-8"))
    except ValueError:  # the process ended itself before it could answer
        raise ForkFailed("no answer") from None
    if "error" in answer:
        raise ForkFailed(" ".join(answer["error"].split())[:300])
    return answer["result"]
