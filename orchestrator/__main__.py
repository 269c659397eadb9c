#!python
"""The installed command, and `python -m orchestrator`.

Installers put this file into `bin` as `orchestrator` and write the interpreter's path into its first line. The script
that they would generate for an entry point imports first, and an interrupt in those imports prints a traceback. Here
an interrupt is held back from the first statement on, until the handler that answers it is installed.
"""

if __name__ == "__main__":
    import _signal  # type: ignore[import-not-found]  # the module behind `signal`, at hand in every interpreter

    mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGINT,))
    from orchestrator.doors.cli import early_interrupts

    early_interrupts.install()
    _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)
    from orchestrator.doors.cli.main import run

    run()
