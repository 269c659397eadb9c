"""What the installed command calls, and `python -m orchestrator`.

`bin/orchestrator` holds interrupts back in its first statement. The script that an installer generates for
`guarded-orchestrator` imports this module before it can, and so does `-m`: little is imported here before interrupts
are held back, since one there prints a traceback.
"""

import _signal  # type: ignore[import-not-found]  # the module behind `signal`, at hand in every interpreter


def main(mask: object = None) -> None:
    """Run the command line of this process, and end it. Interrupts are held back until their handler is installed.

    Args:
        mask: the signals that were held back before the caller held back interrupts; None where it did not.
    """
    if mask is None:
        mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGINT,))
    from orchestrator.doors.cli import early_interrupts

    early_interrupts.install()
    _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)
    from orchestrator.doors.cli.main import run

    run()


if __name__ == "__main__":
    main()
