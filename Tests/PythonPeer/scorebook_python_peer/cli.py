"""The command line."""

import argparse
import asyncio
import json
import mimetypes
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

from . import values
from .assets import AssetFolder
from .channel import Channel
from .errors import ConnectionCut, ErrorCode, PeerError, RemoteError
from .mailbox.check import check_mailbox
from .mailbox.sync import MailboxSync
from .messages import Right, Union
from .names import ZoneID, check_record_name
from .pairing import Desk, parse_code
from .session import Options, Session
from .store import Store, Zone
from .vectors import check_directory
from .wire import is_identifier

DEFAULT_PORT = 7431
STRANGERS_LIMIT = 64


def main(words: list[str] | None = None) -> int:
    """Runs a command; without words, the one that the program was started with."""
    arguments = _parser().parse_args(words, argparse.Namespace(open_store=None))
    try:
        return arguments.run(arguments)
    except (PeerError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        if arguments.open_store:
            arguments.open_store.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scorebook_python_peer", description=__doc__)
    parser.add_argument("--state", type=Path, help="the directory of the store")
    commands = parser.add_subparsers(required=True)

    connect = commands.add_parser("connect", help="sync with a machine that listens")
    connect.add_argument("address", metavar="HOST:PORT")
    connect.add_argument("--code", type=parse_code, help="pair first, with the code that the other machine shows")
    connect.add_argument("--once", action="store_true", help="end when both hold the same records")
    connect.add_argument("--verify", action="store_true", help="have everything compared")
    for option, union, help in (
        ("--beside", Union.BESIDE, "take the other scorebook up beside this one"),
        ("--take-theirs", Union.REPLACE_CALLER, "give this scorebook up for the other one"),
        ("--take-ours", Union.REPLACE_LISTENER, "let the other machine give its scorebook up for this one"),
    ):
        connect.add_argument(option, dest="union", action="store_const", const=union, help=help)
    connect.add_argument("--start-over", action="store_true", help="forget what the other machine has, and take it over")
    _add_session_options(connect)
    connect.set_defaults(run=lambda a: asyncio.run(_connect(a)))

    listen = commands.add_parser("listen", help="wait for other machines")
    listen.add_argument("--host", default="127.0.0.1")
    listen.add_argument("--port", type=int, default=0)
    listen.add_argument("--pair", action="store_true", help="show a code that pairs one machine")
    listen.add_argument("--zone", help="with --pair: all that the machine gets that pairs")
    listen.add_argument("--allow-reset", action="store_true", help="let a machine replace this scorebook by its own")
    listen.add_argument("--once", action="store_true", help="end after one session")
    _add_session_options(listen)
    listen.set_defaults(run=lambda a: asyncio.run(_listen(a)))

    put = commands.add_parser("put", help="write fields of a record")
    put.add_argument("record")
    put.add_argument("fields", nargs="+", metavar="FIELD=KIND:VALUE", help="asset:PATH keeps a file")
    put.add_argument("--zone", help="where a new record goes")
    put.set_defaults(run=_put)

    delete = commands.add_parser("delete", help="delete a record")
    delete.add_argument("record")
    delete.add_argument("--for-ever", action="store_true", help="and what is known of it")
    delete.set_defaults(run=_delete)

    restore = commands.add_parser("restore", help="bring a deleted record back")
    restore.add_argument("record")
    restore.set_defaults(run=_restore)

    show = commands.add_parser("show", help="list records, or show one")
    show.add_argument("record", nargs="?")
    show.add_argument("--json", action="store_true")
    show.set_defaults(run=_show)

    digest = commands.add_parser("digest", help="the digest of each zone")
    digest.add_argument("--json", action="store_true")
    digest.set_defaults(run=_digest)

    peers = commands.add_parser("peers", help="list the paired machines, or forget one")
    peers.add_argument("--forget", metavar="NAME")
    peers.add_argument("--everywhere", action="store_true", help="remove it from the household, so that all refuse it")
    peers.set_defaults(run=_peers)

    zone = commands.add_parser("zone", help="make a zone, or say what a machine may do in one")
    zone.add_argument("zone")
    zone.add_argument("--grant", nargs=2, metavar=("NAME", "RIGHTS"), help="nothing, read or write")
    zone.set_defaults(run=_zone)

    _add_mailbox(commands)

    vectors = commands.add_parser("vectors", help="check the test vectors in a directory")
    vectors.add_argument("directory", type=Path)
    vectors.set_defaults(run=lambda a: 0 if check_directory(a.directory) else 1)
    return parser


def _add_mailbox(commands) -> None:
    mailbox = commands.add_parser("mailbox", help="sync through a folder that other machines read and write too")
    actions = mailbox.add_subparsers(required=True)
    sync = actions.add_parser("sync", help="read and write once")
    sync.add_argument("folder", type=Path)
    sync.add_argument("--anew", action="store_true", help="use the folder although what lay there is gone")
    sync.add_argument("--allowed-skew", type=int, default=300, metavar="SECONDS")
    sync.set_defaults(run=_mailbox_sync)
    check = actions.add_parser("check", help="open all that this machine may open, and change nothing")
    check.add_argument("folder", type=Path)
    check.set_defaults(run=lambda a: 0 if check_mailbox(_store(a), a.folder, _say) else 1)


def _add_session_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--merge", dest="union", action="store_const", const=Union.MERGE, help="make one of two scorebooks that meet"
    )
    command.add_argument("--name", default=socket.gethostname())
    command.add_argument("--trace", action="store_true", help="write every message to standard error")
    command.add_argument("--allowed-skew", type=int, default=300, metavar="SECONDS")


def _store(arguments: argparse.Namespace) -> Store:
    if arguments.state is None:
        raise ValueError("--state DIR is missing")
    arguments.open_store = Store(arguments.state)
    return arguments.open_store


def _options(arguments: argparse.Namespace, **more) -> Options:
    return Options(
        name=arguments.name, once=arguments.once, union=arguments.union,
        allowed_skew=1000 * arguments.allowed_skew, trace=arguments.trace, **more,
    )  # fmt: skip


def _say(line: str) -> None:
    print(line, flush=True)


async def _connect(arguments: argparse.Namespace) -> int:
    store = _store(arguments)
    wanted = {"compare_everything": arguments.verify, "starts_over": arguments.start_over}
    options = _options(arguments, code=arguments.code, **wanted)
    try:
        session = await _call(arguments.address, store, options)
    except RemoteError as error:
        if error.code not in (ErrorCode.NOT_PAIRED, ErrorCode.REMOVED) or options.code is None:
            raise
        # Pairing again (protocol.md 4.1): the listener has forgotten this machine.
        again = _options(arguments, code=arguments.code, pair_again=True, **wanted)
        session = await _call(arguments.address, store, again)
    if not session.is_in_sync:
        raise ConnectionCut("the other side ended the session before the two were in sync")
    return 0


async def _call(address: str, store: Store, options: Options) -> Session:
    host, _, port = address.rpartition(":")
    if not host:
        host, port = address, str(DEFAULT_PORT)
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        channel = await Channel.call(reader, writer, store.identity)
    except PeerError:
        writer.close()
        raise
    session = Session(channel, store, True, options, report=_say)
    _stop_on_signals(session.stop)
    await session.run()
    traffic = session.traffic
    _say(
        f"sent {traffic.sent}, received {traffic.received}, reconciled {traffic.reconciliations},"
        f" {channel.bytes_sent + channel.bytes_received} bytes"
    )
    return session


async def _listen(arguments: argparse.Namespace) -> int:
    store = _store(arguments)
    options = _options(arguments, may_be_replaced=arguments.allow_reset)
    desk = Desk(zone=_find_zone(store, arguments.zone).number if arguments.zone else None)
    sessions: dict[asyncio.Task, Session | None] = {}
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if sum(session is None or not session.is_running for session in sessions.values()) >= STRANGERS_LIMIT:
            writer.close()  # protocol.md 3.6
            return
        sessions[task] = None
        try:
            channel = await Channel.answer(reader, writer, store.identity)
            session = sessions[task] = Session(channel, store, False, options, desk, _say)
            await session.run()
            _say(
                f"session ended: sent {session.traffic.sent}, received {session.traffic.received},"
                f" reconciled {session.traffic.reconciliations}"
            )
        except (PeerError, OSError) as error:
            print(f"error: {error}", file=sys.stderr, flush=True)
        finally:
            writer.close()
            was_session = sessions.pop(task) is not None
            if was_session and options.once:
                ended.set()

    server = await asyncio.start_server(serve, arguments.host, arguments.port)
    _stop_on_signals(ended.set)
    host, port = server.sockets[0].getsockname()[:2]
    _say(f"listening on {host}:{port}")
    if arguments.pair:
        _say(f"pairing code {desk.show()}")
    await ended.wait()
    server.close()
    running = dict(sessions)
    for session in running.values():
        if session:
            session.stop()
    if running:
        await asyncio.wait(running, timeout=5)
    return 0


def _stop_on_signals(stop) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):
            loop.add_signal_handler(number, stop)


def _put(arguments: argparse.Namespace) -> int:
    store = _store(arguments)
    check_record_name(arguments.record)
    fields = {}
    for assignment in arguments.fields:
        name, _, rest = assignment.partition("=")
        kind, _, content = rest.partition(":")
        if not is_identifier(name):
            raise ValueError(f"{name} is no name of a field")
        fields[name] = _keep_asset(store, Path(content)) if kind == "asset" else values.parse(kind, content)
    store.put(arguments.record, fields, _find_zone(store, arguments.zone) if arguments.zone else None)
    return 0


def _keep_asset(store: Store, path: Path) -> values.Value:
    content = path.read_bytes()
    hash = AssetFolder(store.assets_directory).keep(content)
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return values.asset(values.Asset(hash, len(content), media_type, path.name))


def _find_zone(store: Store, name: str) -> Zone:
    found = [zone for zone in store.zones() if name in (zone.title, zone.id.name)]
    if len(found) != 1:
        raise ValueError(f"there is no zone {name}" if not found else f"several zones are called {name}")
    return found[0]


def _delete(arguments: argparse.Namespace) -> int:
    store = _store(arguments)
    (store.erase if arguments.for_ever else store.delete)(arguments.record)
    return 0


def _restore(arguments: argparse.Namespace) -> int:
    _store(arguments).restore(arguments.record)
    return 0


def _show(arguments: argparse.Namespace) -> int:
    store = _store(arguments)
    found = {}
    for name, state in store.states():
        if arguments.record not in (None, name) or (arguments.record is None and not state.is_live):
            continue
        found[name] = {
            "state": "live" if state.is_live else "deleted" if state.is_deleted else "hollow",
            "fields": {field: dict([values.describe(write.value)]) for field, write in sorted(state.fields.items())},
        }
    if arguments.record and not found:
        raise ValueError(f"there is no record {arguments.record}")
    if arguments.json:
        print(json.dumps(found, ensure_ascii=False, indent=1))
    else:
        for name, content in found.items():
            print(name)
            if arguments.record:
                print(json.dumps(content, ensure_ascii=False, indent=1))
    return 0


def _digest(arguments: argparse.Namespace) -> int:
    store = _store(arguments)
    digests = []
    for zone in store.zones():
        total = store.sum(zone.number)
        digests.append({"zone": zone.id.name, "count": total.count, "digest": total.fingerprint.hex()})
    if arguments.json:
        print(json.dumps(digests))
    else:
        for digest in digests:
            print(f"{digest['digest']} over {digest['count']} records in {digest['zone']}")
    return 0


def _peers(arguments: argparse.Namespace) -> int:
    store = _store(arguments)
    for key, name in store.peers().items():
        if arguments.forget == name:
            store.remove_everywhere(key) if arguments.everywhere else store.forget_peer(key)
        elif arguments.forget is None:
            print(f"{name} {key.hex()}")
    return 0


def _mailbox_sync(arguments: argparse.Namespace) -> int:
    sync = MailboxSync(_store(arguments), arguments.folder, 1000 * arguments.allowed_skew, _say)
    if arguments.anew:
        sync.add_anew()
    sync.run()
    return 0


def _zone(arguments: argparse.Namespace) -> int:
    store = _store(arguments)
    if arguments.grant is None:
        store.add_zone(ZoneID(arguments.zone, store.replica), arguments.zone)
        return 0
    name, rights = arguments.grant
    zone = _find_zone(store, arguments.zone)
    for key, peer in store.peers().items():
        if peer == name:
            store.grant(key, zone.number, Right[rights.upper()])
    return 0
