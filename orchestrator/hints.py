"""Names of `typing` that annotations need, for the modules that hot commands load.

Annotations here are texts that nobody evaluates while the program runs, so `typing`, a fourteenth of a cold command, is
not loaded for them. Type checkers see the names of `typing` themselves.
"""

from __future__ import annotations

TYPE_CHECKING = False
"""Type checkers take any name like this one for true."""

if TYPE_CHECKING:
    from typing import IO as IO
    from typing import Any as Any
    from typing import BinaryIO as BinaryIO
    from typing import ClassVar as ClassVar
    from typing import Final as Final
    from typing import Literal as Literal
    from typing import NoReturn as NoReturn
    from typing import Protocol as Protocol
    from typing import Self as Self
    from typing import TypeVar as TypeVar
    from typing import cast as cast
    from typing import dataclass_transform as dataclass_transform
    from typing import overload as overload
else:
    IO = BinaryIO = Any = ClassVar = Final = NoReturn = Self = None

    class Literal:
        """One of the values that are named."""

        def __class_getitem__(cls, values):
            """Nobody asks which."""
            return cls

    class Protocol:
        """What has these members."""

    def TypeVar(name, *kinds, **bound):
        """A name in annotations."""

    def cast(kind, value):
        """The value."""
        return value

    def overload(function):
        """One of several signatures, which the function behind them takes the place of."""
        return function

    def dataclass_transform(**said):
        """Say to type checkers how a class is made."""
        return lambda found: found
