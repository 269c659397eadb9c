"""Ctrl-C from the first line of the program on: never a traceback, and never in the middle of an import.

Python raises KeyboardInterrupt wherever it happens to be. While the program is being loaded nobody catches that, and a
native module that is torn while it is set up brings the whole process down. Imported first of all, so it imports only
what every interpreter has at hand.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # the module behind `signal`, which takes as long as a small command
import _thread
import os
import sys
import time
from types import FrameType

from orchestrator.hints import Literal

_SIGINT = 2
_INTERRUPTED = 130
_IMPORTING = "<frozen importlib._bootstrap"
_LATER_S = 0.01
SENTENCE = "Interrupted; what was already recorded is kept."
_TEXT = f"error INTERRUPTED: {SENTENCE}\ntry: Repeat the call\n"
_JSON = (
    '{"success": false, "schema": 1, "code": "INTERRUPTED",'
    f' "error": "{SENTENCE}", "suggestion": "Repeat the call"}}\n'
)

_phase: Literal["loading", "running", "ending"] = "loading"
_main = 0


def install() -> None:
    """Handle interrupts, where they are handled in Python's own way: not where a shell told it to ignore them."""
    global _main
    if _signal.getsignal(_SIGINT) is _signal.default_int_handler:
        _main = _thread.get_ident()
        _signal.signal(_SIGINT, _handle)


def enter(phase: Literal["running", "ending"]) -> None:
    """Running: somebody catches KeyboardInterrupt. Ending: what is answered stands, and interrupts come too late."""
    global _phase
    _phase = phase


def _handle(_: int, frame: FrameType | None) -> None:
    if _phase == "loading":
        _leave()
    if _phase == "running":
        if _is_importing(frame):
            # Sent again a moment later, when the import may be over.
            _thread.start_new_thread(_again, ())
        else:
            raise KeyboardInterrupt


def _leave() -> None:
    is_json = "--json" in sys.argv or os.environ.get("ORCHESTRATOR_JSON") == "1"
    try:
        os.write(1 if is_json else 2, (_JSON if is_json else _TEXT).encode())
    finally:
        os._exit(_INTERRUPTED)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORTING):
            return True
        frame = frame.f_back
    return False


def _again() -> None:
    time.sleep(_LATER_S)
    _signal.pthread_kill(_main, _SIGINT)
