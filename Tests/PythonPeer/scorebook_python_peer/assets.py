"""Files: keeping, giving and fetching them (protocol.md 7.11)."""

import hashlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .errors import unexpected
from .messages import (
    AVAILABLE_LIMIT,
    CHUNK_BYTES,
    AssetChunk,
    AssetMissing,
    AssetRequest,
    AssetsAvailable,
    AssetsWanted,
    Message,
)  # fmt: skip
from .store import Store

REQUEST_BYTES = 256 << 10
REQUESTED_BYTES = 1 << 20
"""What this side asks for at a time."""
REQUESTED_LIMIT = 16 << 20
REQUESTS_LIMIT = 256


class AssetFolder:
    """Files by their hash: the path of a file comes from its hash alone."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def path(self, hash: bytes) -> Path:
        return self._directory / hash.hex()

    def partial(self, hash: bytes) -> Path:
        return self._directory / f"{hash.hex()}.partial"

    def has(self, hash: bytes) -> bool:
        return self.path(hash).is_file()

    def keep(self, content: bytes) -> bytes:
        """Keeps a file; gives its hash."""
        hash = hashlib.blake2b(content, digest_size=32).digest()
        partial = self.partial(hash)
        partial.write_bytes(content)
        partial.replace(self.path(hash))
        return hash

    def partial_size(self, hash: bytes) -> int:
        partial = self.partial(hash)
        return partial.stat().st_size if partial.exists() else 0

    def append(self, hash: bytes, offset: int, content: bytes) -> bool:
        """Adds to a file in the making. False if another session is at it."""
        if self.has(hash) or self.partial_size(hash) != offset:
            return False
        with self.partial(hash).open("ab") as file:
            file.write(content)
        return True

    def drop_partial(self, hash: bytes) -> None:
        self.partial(hash).unlink(missing_ok=True)

    def finish(self, hash: bytes) -> bool:
        """Holds what has come against the hash; throws away what does not fit."""
        partial = self.partial(hash)
        if _file_hash(partial) != hash:
            partial.unlink()
            return False
        partial.replace(self.path(hash))
        return True

    def check(self, hash: bytes) -> bool:
        """Holds a file against its hash; a damaged one is thrown away, and so it is fetched again."""
        if _file_hash(self.path(hash)) == hash:
            return True
        self.path(hash).unlink()
        return False

    def read(self, hash: bytes, offset: int, length: int) -> bytes:
        try:
            with self.path(hash).open("rb") as file:
                file.seek(offset)
                return file.read(length)
        except OSError:
            return b""


def _file_hash(path: Path) -> bytes:
    digest = hashlib.blake2b(digest_size=32)
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.digest()


@dataclass
class _Request:
    """A request that is not answered in full."""

    hash: bytes
    offset: int
    end: int
    is_given_up: bool = False


class AssetServer:
    """Answers the other side's requests one after the other."""

    def __init__(self, store: Store, zones: list[int]) -> None:
        self._store = store
        self._zones = zones
        self._folder = AssetFolder(store.assets_directory)
        self._requests: deque[_Request] = deque()
        self._missing: set[bytes] = set()
        self._sound: set[bytes] = set()  # files that were held against their hash in this session

    def take_request(self, request: AssetRequest) -> None:
        asked = sum(waiting.end - waiting.offset for waiting in self._requests)
        if request.length == 0 or asked + request.length > REQUESTED_LIMIT or len(self._requests) >= REQUESTS_LIMIT:
            raise unexpected("a request for a file that may not be made")
        self._requests.append(_Request(request.hash, request.offset, request.offset + request.length))

    def next_message(self) -> Message | None:
        """The next piece of an answer, when there is nothing else to send."""
        if not self._requests:
            return None
        request = self._requests[0]
        content = b""
        may_give = self._may_give(request.hash)
        if may_give:
            content = self._folder.read(request.hash, request.offset, min(request.end - request.offset, CHUNK_BYTES))
        if not content:
            self._requests.popleft()
            is_too_short = may_give and self._folder.has(request.hash)
            if not is_too_short:
                self._missing.add(request.hash)
            return AssetMissing(request.hash)
        chunk = AssetChunk(request.hash, request.offset, content)
        request.offset += len(content)
        if request.offset == request.end:
            self._requests.popleft()
        return chunk

    def _may_give(self, hash: bytes) -> bool:
        """Whether a record in a zone of the session refers to the file, and it is here undamaged."""
        if not self._store.refers_to(hash, self._zones):
            return False
        if hash not in self._sound and self._folder.has(hash) and self._folder.check(hash):
            self._sound.add(hash)
        return hash in self._sound

    def news(self) -> AssetsAvailable | None:
        """Files that were told to be missing and are there now."""
        waiting = {request.hash for request in self._requests}
        come = [
            hash
            for hash in sorted(self._missing - waiting)
            if self._folder.has(hash) and self._store.refers_to(hash, self._zones)
        ][:AVAILABLE_LIMIT]
        self._missing.difference_update(come)
        return AssetsAvailable(come) if come else None


class AssetFetcher:
    """Fetches the files that this side's records refer to."""

    def __init__(self, store: Store, zones: list[int], post: Callable[[Message], None]) -> None:
        self._store = store
        self._zones = zones
        self._post = post
        self._folder = AssetFolder(store.assets_directory)
        self._requests: deque[_Request] = deque()
        self._asked: dict[bytes, int] = {}  # how far each file that is being fetched was asked for
        self._resumed: set[bytes] = set()  # files of which a part was there before
        self._missing: set[bytes] = set()
        self._told: AssetsWanted | None = None
        self._number = -1
        self._wanted: dict[bytes, int] = {}
        self.received_files = 0

    def advance(self) -> None:
        """Says what is wanted when there is news of it, and asks for more."""
        number = self._store.last_number
        if number != self._number:
            self._number = number
            sizes = self._store.assets(self._zones)
            self._wanted = {hash: size for hash, size in sizes.items() if size and not self._folder.has(hash)}
        wanted = self._still_wanted()
        if self._told is None or (self._told.files == 0) != (wanted.files == 0):
            self._told = wanted
            self._post(wanted)
        for hash in list(self._wanted):
            if not self._ask(hash):
                break

    def before_digest(self) -> None:
        """An assetsWanted goes before each digest, if there is anything new."""
        wanted = self._still_wanted()
        if wanted != self._told:
            self._told = wanted
            self._post(wanted)

    @property
    def is_done(self) -> bool:
        return self._told is not None and self._told.files == 0 and not self._requests

    def _still_wanted(self) -> AssetsWanted:
        hashes = [hash for hash in self._wanted if hash not in self._missing and not self._folder.has(hash)]
        size = sum(max(self._wanted[hash] - self._folder.partial_size(hash), 0) for hash in hashes)
        return AssetsWanted(len(hashes), size)

    def _ask(self, hash: bytes) -> bool:
        """Asks for more of a file. False if no more may be asked for now."""
        if (
            hash in self._missing
            or self._folder.has(hash)
            or any(request.hash == hash and request.is_given_up for request in self._requests)
        ):
            return True
        if hash not in self._asked:
            start = self._folder.partial_size(hash)
            if start >= self._wanted[hash]:
                self._folder.drop_partial(hash)
                start = 0
            if start:
                self._resumed.add(hash)
            self._asked[hash] = start
        while self._asked[hash] < self._wanted[hash]:
            if sum(request.end - request.offset for request in self._requests) >= REQUESTED_BYTES:
                return False
            if len(self._requests) >= REQUESTS_LIMIT:
                return False
            offset = self._asked[hash]
            length = min(REQUEST_BYTES, self._wanted[hash] - offset)
            self._requests.append(_Request(hash, offset, offset + length))
            self._asked[hash] = offset + length
            self._post(AssetRequest(hash, offset, length))
        return True

    def take_chunk(self, chunk: AssetChunk) -> None:
        request = self._requests[0] if self._requests else None
        end = chunk.offset + len(chunk.content)
        if request is None or (request.hash, request.offset) != (chunk.hash, chunk.offset) or end > request.end:
            raise unexpected("a piece of a file that was not asked for")
        if not chunk.content:
            raise unexpected("an empty piece of a file")
        request.offset = end
        if request.offset == request.end:
            self._requests.popleft()
        if request.is_given_up:
            return
        if not self._folder.append(chunk.hash, chunk.offset, chunk.content):
            self._give_up(chunk.hash)
        elif end == self._wanted.get(chunk.hash):
            self._finish(chunk.hash)

    def _finish(self, hash: bytes) -> None:
        del self._asked[hash]
        if self._folder.finish(hash):
            self.received_files += 1
            del self._wanted[hash]
        elif hash in self._resumed:
            self._resumed.discard(hash)  # what was there before may have been wrong: once more, the whole
        else:
            del self._wanted[hash]

    def take_missing(self, missing: AssetMissing) -> None:
        request = self._requests[0] if self._requests else None
        if request is None or request.hash != missing.hash:
            raise unexpected("a file is said to be missing that was not asked for")
        self._requests.popleft()
        self._give_up(missing.hash)

    def _give_up(self, hash: bytes) -> None:
        """This peer does not have the file, or another session is fetching it."""
        self._missing.add(hash)
        self._asked.pop(hash, None)
        for later in self._requests:
            if later.hash == hash:
                later.is_given_up = True

    def take_available(self, available: AssetsAvailable) -> None:
        self._missing.difference_update(available.hashes)
