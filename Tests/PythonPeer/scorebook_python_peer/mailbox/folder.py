"""A mailbox in a folder (mailbox.md 1)."""

import os
import re
import secrets
from pathlib import Path

from .sealing import OBJECT_LIMIT

_PART = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


class Folder:
    """The four operations of a storage, over the folders and files of a directory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def put(self, name: str, content: bytes) -> None:
        """Whole or not at all: the object is written under another name first, and then renamed."""
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.parent / f".{path.name}.{secrets.token_hex(8)}"
        try:
            with partial.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def get(self, name: str) -> bytes | None:
        """The object; None if it has not come yet."""
        try:
            with self._path(name).open("rb") as file:
                return file.read(OBJECT_LIMIT + 1)  # one that is longer is damaged, however long it is
        except FileNotFoundError:
            return None

    def has(self, name: str) -> bool:
        return self._path(name).is_file()

    def list(self, folder: str) -> list[str]:
        """The last parts of the names there. What is no name of an object is left out."""
        try:
            found = [entry.name for entry in (self.path / folder).iterdir()]
        except FileNotFoundError:
            return []
        return sorted(name for name in found if _PART.fullmatch(name))

    def delete(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        folder, _, last = name.partition("/")
        if not (_PART.fullmatch(folder) and _PART.fullmatch(last)):
            raise ValueError(f"{name} is no name of an object")
        return self.path / folder / last
