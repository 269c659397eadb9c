"""TLS to a server, with certificates of an authority of the test's own: libpq's settings decide, and errors help.

Source: spec 90, section 4.
"""

from __future__ import annotations

import pathlib
import shutil
import socket
import subprocess

import pytest

from tests import postgresql
from tests.integration.cli.conftest import Ask

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("openssl") is None or postgresql.programs() is None, reason="openssl and a server"),
]

CASES = [
    ("localhost", "sslmode=verify-full&sslrootcert={folder}/one.crt", "", ""),
    ("localhost", "sslmode=verify-full&sslrootcert={folder}/other.crt", "NO_DATABASE", "sslrootcert=FILE"),
    ("localhost", "sslmode=verify-full&sslrootcert={folder}/nothing.crt", "NO_DATABASE", "sslrootcert=FILE"),
    ("127.0.0.1", "sslmode=verify-full&sslrootcert={folder}/one.crt", "NO_DATABASE", "as its certificate does"),
    ("localhost", "sslmode=disable", "NO_DATABASE", "pg_hba.conf"),
    ("localhost", "sslmode=no-such", "NO_DATABASE", "postgresql://USER@HOST/DATABASE"),
]
"""The host, the settings, and what is answered, with what helps; nothing where it is reached."""


def certificate(folder: pathlib.Path, name: str) -> None:
    """A certificate for localhost that is its own authority."""
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
               "-addext", "subjectAltName=DNS:localhost", "-keyout", f"{name}.key", "-out", f"{name}.crt"]  # fmt: skip
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def test_the_server_s_certificate_is_checked_as_the_url_says(ask: Ask, tmp_path: pathlib.Path) -> None:
    bin_, folder = postgresql.programs(), tmp_path / "certificates"
    assert bin_ is not None
    folder.mkdir()
    for name in ("one", "other"):
        certificate(folder, name)
    # The server takes a key that is its user's alone, or the system's.
    key = folder / "one.key"
    key.chmod(0o640)
    shutil.chown(key, group=postgresql.NOBODY)
    for above in (folder, *folder.parents[:4]):
        above.chmod(above.stat().st_mode | 0o055)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    listens = f"-c listen_addresses=localhost -c port={port} -c ssl=on -c ssl_cert_file={folder}/one.crt"
    listens += f" -c ssl_key_file={key}"
    with postgresql.server(bin_, listens, "hostssl all all localhost trust\nhost all all localhost reject\n"):
        for host, settings, code, way in CASES:
            url = f"postgresql://{postgresql.OWNER}@{host}:{port}/postgres?{settings.format(folder=folder)}"
            answer = ask("db", "current", ORCHESTRATOR_DB=url)
            assert answer.get("code", "") == code, (settings, answer)
            assert way in answer.get("suggestion", ""), (settings, answer)
            if not code:
                assert ask("doctor", ORCHESTRATOR_DB=url)["facts"]["tls"] is True
