"""The installed command, and `python -m orchestrator`.

The script that an installer generates imports this module and calls `main`. So little is imported before its first
statement: an interrupt there would print a traceback, and from then on it waits for the handler that answers it.
"""

import _signal  # type: ignore[import-not-found]  # the module behind `signal`, at hand in every interpreter


def main() -> None:
    """Run the command line of this process, and end it. Interrupts are held back until their handler is installed."""
    mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGINT,))
    from orchestrator.doors.cli import early_interrupts

    early_interrupts.install()
    _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)
    from orchestrator.doors.cli.main import run

    run()


if __name__ == "__main__":
    main()
