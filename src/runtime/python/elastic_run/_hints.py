"""The names of annotations. Importing typing, or dataclasses, takes longer than importing all that this
library needs: they are imported when somebody asks."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from typing import Any as Any
    from typing import Callable as Callable
    from typing import Iterator as Iterator
    from typing import Mapping as Mapping
    from typing import NoReturn as NoReturn
    from typing import Optional as Optional
    from typing import TypeVar
    from typing import Union as Union

    F = TypeVar("F", bound=Callable[..., Any])
    R = TypeVar("R")
else:

    class _Typing:
        """Stands for a name of typing, for who asks for the types of what this library exports
        (typing.get_type_hints)."""

        def __init__(self, name):
            self._name = name

        def __getitem__(self, item):
            import typing

            return getattr(typing, self._name)[item]

        def __call__(self, *_arguments):
            raise TypeError(f"{self._name} is a type variable")

        def __repr__(self):
            return f"~{self._name}"

    Any, Callable, F, Iterator, Mapping, NoReturn, Optional, R, Union = map(
        _Typing, "Any Callable F Iterator Mapping NoReturn Optional R Union".split()
    )

    def dataclass(**_options):
        """`make_dataclasses` does it."""
        return lambda kind: kind
