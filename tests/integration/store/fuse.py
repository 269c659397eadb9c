"""A folder whose files cannot be mapped into shared memory: a FUSE file system with direct input and output.

It speaks the kernel's protocol itself, over /dev/fuse, and passes each call on to a folder below; it needs root.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import pathlib
import struct
from collections.abc import Iterator

_HEAD = struct.Struct("<IIQQIIII")
_DIRECT = 1
_FORGET, _FORGET_MANY = 2, 42


class _Folder:
    """The file system: nodes are paths, handles are descriptors."""

    def __init__(self, device: int, below: str) -> None:
        self.device, self.paths, self.numbers = device, {1: below}, {below: 1}

    def serve(self) -> None:
        while True:
            try:
                request = os.read(self.device, 1 << 18)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):
                    continue
                return
            _, code, unique, node, *_ = _HEAD.unpack_from(request)
            body = request[_HEAD.size :]
            if code in (_FORGET, _FORGET_MANY):
                continue
            try:
                answer, failed = self.answer(code, self.paths.get(node, ""), body), 0
            except OSError as error:
                answer, failed = b"", -(error.errno or errno.EIO)
            with contextlib.suppress(OSError):
                os.write(self.device, struct.pack("<IiQ", 16 + len(answer), failed, unique) + answer)

    def answer(self, code: int, path: str, body: bytes) -> bytes:  # noqa: C901 - a table of calls
        name = os.path.join(path, os.fsdecode(body.split(b"\0")[0]))
        match code:
            case 26:  # init
                return struct.pack("<IIIIHHI", 7, 23, 0, 0, 12, 10, 1 << 17) + bytes(40)
            case 1:  # lookup
                return self.entry(name)
            case 3:  # getattr
                return self.attributes(path)
            case 4:  # setattr
                return self.change(path, body)
            case 14 | 27:  # open, opendir
                flags = struct.unpack_from("<I", body)[0] & ~(os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW)
                return struct.pack("<QII", os.open(path, flags), _DIRECT if code == 14 else 0, 0)
            case 35:  # create
                flags, mode = struct.unpack_from("<II", body)
                made = os.path.join(path, os.fsdecode(body[16:].split(b"\0")[0]))
                handle = os.open(made, flags & ~os.O_NOFOLLOW, mode & 0o7777)
                return self.entry(made) + struct.pack("<QII", handle, _DIRECT, 0)
            case 15:  # read
                handle, offset, size = struct.unpack_from("<QQI", body)
                return os.pread(handle, size, offset)
            case 16:  # write
                handle, offset, size = struct.unpack_from("<QQI", body)
                return struct.pack("<II", os.pwrite(handle, body[40 : 40 + size], offset), 0)
            case 18 | 29:  # release, releasedir
                os.close(struct.unpack_from("<Q", body)[0])
                return b""
            case 9:  # mkdir
                made = os.path.join(path, os.fsdecode(body[8:].split(b"\0")[0]))
                os.mkdir(made, struct.unpack_from("<I", body)[0] & 0o7777)
                return self.entry(made)
            case 10:  # unlink
                os.unlink(name)
                return b""
            case 11:  # rmdir
                os.rmdir(name)
                return b""
            case 12 | 45:  # rename, rename2
                start = 8 if code == 12 else 16
                old, new = body[start:].split(b"\0")[:2]
                above = self.paths[struct.unpack_from("<Q", body)[0]]
                os.rename(os.path.join(path, os.fsdecode(old)), os.path.join(above, os.fsdecode(new)))
                return b""
            case 17:  # statfs
                return struct.pack("<QQQQQIIII", 1 << 20, 1 << 19, 1 << 19, 1000, 900, 4096, 255, 4096, 0) + bytes(24)
            case 20 | 25 | 30 | 34:  # fsync, flush, fsyncdir, access
                return b""
        raise OSError(errno.ENOSYS, "")

    def entry(self, path: str) -> bytes:
        os.lstat(path)
        number = self.numbers.setdefault(path, len(self.numbers) + 1)
        self.paths[number] = path
        return struct.pack("<QQQQII", number, 0, 0, 0, 0, 0) + self.stat(path, number)

    def attributes(self, path: str) -> bytes:
        return struct.pack("<QII", 0, 0, 0) + self.stat(path, self.numbers[path])

    def stat(self, path: str, number: int) -> bytes:
        found = os.lstat(path)
        times = (int(found.st_atime), int(found.st_mtime), int(found.st_ctime))
        sizes = (number, found.st_size, found.st_blocks, *times, 0, 0, 0)
        return struct.pack("<QQQQQQIIIIIIIIII", *sizes, found.st_mode, found.st_nlink, 0, 0, 0, 4096, 0)

    def change(self, path: str, body: bytes) -> bytes:
        valid, _, _, size = struct.unpack_from("<IIQQ", body)
        if valid & 8:
            os.truncate(path, size)
        if valid & 1:
            os.chmod(path, struct.unpack_from("<I", body, 68)[0] & 0o7777)
        return self.attributes(path)


@contextlib.contextmanager
def mounted(below: pathlib.Path, above: pathlib.Path) -> Iterator[pathlib.Path]:
    """Show the folder `below` at `above`.

    Raises:
        OSError: the system has no FUSE, or does not let this user mount.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}".encode()
    try:
        if libc.mount(b"test", os.fsencode(above), b"fuse", 0, options):
            raise OSError(ctypes.get_errno(), "mount")
        child = os.fork()
        if child == 0:
            _Folder(device, str(below)).serve()
            os._exit(0)
    finally:
        os.close(device)
    try:
        yield above
    finally:
        libc.umount2(os.fsencode(above), 2)
        os.waitpid(child, 0)
