"""Where Python code defines operators of torch and gives them kernels. The dispatcher notes the
line on which the `Library` was made, for all that is done with it."""

import contextlib
import functools
import re
import sys

from _opseal_common import MISSING
from _opseal_functions import location

# Functions of these files pass on what their callers ask for.
PASSED_ON = re.compile(r"(^|/)(torch/library|functools)\.py$")
# These register on their own account.
OWN_ACCOUNT = re.compile(r"(^|/)torch/(_ops|_custom_ops|_library/.*|_custom_op/.*)\.py$")
WITHOUT_KEY = "CompositeImplicitAutograd"


class LibraryLog:
    """Knows only what happens while it is listening."""

    def __init__(self, torch):
        self.library = getattr(getattr(torch, "library", None), "Library", None)
        self.definitions = {}
        self.kernels = {}

    @contextlib.contextmanager
    def listening(self):
        originals = {
            name: getattr(self.library, name, MISSING)
            for name in ("define", "impl")
            if self.library is not None
        }
        listeners = {"define": self.defined, "impl": self.implemented}
        for name, original in originals.items():
            if original is not MISSING:
                setattr(self.library, name, followed_by(original, listeners[name]))
        try:
            yield
        finally:
            for name, original in originals.items():
                if original is not MISSING:
                    setattr(self.library, name, original)

    def defined(self, place, library, schema, *rest, **options):
        self.definitions[qualified(library, schema.partition("(")[0].strip())] = place

    def implemented(self, place, library, name, function, dispatch_key="", *rest, **options):
        key = dispatch_key or library.dispatch_key or WITHOUT_KEY
        self.kernels[qualified(library, operator_text(name)), str(key)] = place


def followed_by(original, listener):
    @functools.wraps(original)
    def call(*arguments, **options):
        answer = original(*arguments, **options)
        try:
            listener(asking_place(sys._getframe(1)), *arguments, **options)
        except Exception:  # arguments that another version of torch takes
            pass
        return answer

    return call


def asking_place(frame):
    """The line that asked, or None where torch itself did."""
    while frame is not None and PASSED_ON.search(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None or OWN_ACCOUNT.search(frame.f_code.co_filename):
        return None
    return location(frame.f_code.co_filename, frame.f_lineno)


def operator_text(name):
    """An operator may be named by its object."""
    return name if isinstance(name, str) else name.name()


def qualified(library, name):
    return name if "::" in name else "{}::{}".format(library.ns, name)
