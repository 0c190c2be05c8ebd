"""Tokens: places in the sequence of changes of a store (protocol.md 5.3, 7.2)."""

from typing import NamedTuple

from .errors import Malformed
from .wire import Reader, Writer

GENERATION_LIMIT = 33
NO_GENERATION = bytes(8)


class Token(NamedTuple):
    """Compared for equality of all parts; only the store that made it understands it."""

    generation: bytes
    sequence: int
    horizon: int = 0

    @classmethod
    def read(cls, reader: Reader) -> "Token":
        generation = reader.take(reader.count(GENERATION_LIMIT))
        token = cls(generation, reader.varint(), reader.varint())
        if 0 < token.horizon <= token.sequence:
            raise Malformed("a horizon that is not greater than the sequence")
        return token

    def write(self, writer: Writer) -> None:
        writer.sized(self.generation).varint(self.sequence).varint(self.horizon)

    def encode(self) -> bytes:
        writer = Writer()
        self.write(writer)
        return writer.data()

    @classmethod
    def decode(cls, data: bytes) -> "Token":
        return cls.read(Reader(data))


START = Token(NO_GENERATION, 0, 0)
"""The start token: it covers nothing."""
