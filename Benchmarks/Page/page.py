#!/usr/bin/env python3
"""Measures the page as browsers see it, over HTTP: how long each page of a large scorebook takes, how much of it there is, how long a score
takes to the browser of another machine, and what many open browsers cost.

    page.py STORE [--program FILE] [--rounds N] [--browsers N] [--entries N] [--json FILE]

STORE is the directory of a scorebook; `Benchmarks fill` makes one. Beside each page the server sends its stylesheet, which is in the
program, in the same round. Prints a table in Markdown.
"""

import argparse
import asyncio
import json
import os
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys
import time
import urllib.parse
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("SCOREBOOK_PROGRAM", str(ROOT / ".build/release/scorebook-peer"))
sys.path.insert(0, str(ROOT / "Tests/Web"))

from page_machine import Machine  # noqa: E402

# Whoever waits longer has found a fault.
PATIENCE = 60


class Browser:
    """What a browser does, without drawing anything."""

    def __init__(self, machine):
        self.address = urllib.parse.urlsplit(machine.address)
        self.cookie = ""
        self.link = machine.link

    async def enter(self):
        head, _, _, _ = await self.ask(self.link.removeprefix(self.address.geturl()))
        self.cookie = re.search(r"(?i)set-cookie: ([^;]+)", head)[1]
        return self

    async def open(self, path, method="GET", form=None):
        reader, writer = await asyncio.open_connection(self.address.hostname, self.address.port)
        body = urllib.parse.urlencode(form).encode() if form else b""
        head = [f"{method} {path} HTTP/1.1", f"Host: {self.address.netloc}", f"Cookie: {self.cookie}", "Accept-Language: en-GB"]
        if form:
            head += [f"Origin: {self.address.geturl()}", "Accept: application/json",
                     "Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}"]
        writer.write("\r\n".join(head + ["", ""]).encode() + body)
        return reader, writer

    async def ask(self, path, method="GET", form=None):
        """Returns the head and the body, and the seconds to the first byte and to the last one."""
        begin = time.perf_counter()
        reader, writer = await self.open(path, method, form)
        head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)).decode()
        first = time.perf_counter() - begin
        length = re.search(r"(?i)content-length: (\d+)", head)
        body = await asyncio.wait_for(reader.readexactly(int(length[1]) if length else 0), PATIENCE)
        whole = time.perf_counter() - begin
        writer.close()
        if head.split()[1] not in ("200", "303"):
            raise AssertionError(f"{path} is answered with {head.splitlines()[0]}: {body[:300]}")
        return head, body, first, whole

    async def listen(self):
        """Opens the stream of changes, and waits until it has told what was new before."""
        stream = Stream(*await self.open("/changes"))
        await stream.change()
        return stream


class Stream:
    """What an open page hears."""

    def __init__(self, reader, writer):
        self.writer = writer
        self.last = 0.0
        self.news = asyncio.Condition()
        self.task = asyncio.create_task(self.read(reader))

    async def read(self, reader):
        while True:
            await reader.readuntil(b"event: change")
            async with self.news:
                self.last = time.perf_counter()
                self.news.notify_all()

    async def change(self, since=0.0):
        """Waits until something has changed since a moment, and returns when it was told."""
        async with self.news:
            await asyncio.wait_for(self.news.wait_for(lambda: self.last > since), PATIENCE)
            return self.last

    def close(self):
        self.task.cancel()
        self.writer.close()


def commit(machine):
    """Writes as another program does, so that nothing that was computed before counts any more."""
    with sqlite3.connect(next(machine.store.glob("*.sqlite")), timeout=30) as database:
        database.execute("UPDATE SBMatch SET notes = notes || '' WHERE rowid = (SELECT max(rowid) FROM SBMatch)")
        database.execute("UPDATE SBMatch SET rounds = COALESCE(rounds, 0) + 1 WHERE rowid = (SELECT max(rowid) FROM SBMatch)")
    database.close()


def processor_time(machine):
    """The seconds that the server has computed, with all its threads: on a busy machine they tell more than a clock."""
    # The clock of a process has a number that Python does not know; see clock_getcpuclockid(3).
    return time.clock_gettime((~machine.process.pid << 3) | 2)


async def pages(machine, rounds):
    """The pages of a large scorebook, each against the stylesheet."""
    browser = await Browser(machine).enter()

    async def first_link(path, pattern):
        return re.search(pattern, (await browser.ask(path))[1].decode())[1]

    match = await first_link("/matches", r'href="(/matches/[^"?]+)"')
    person = await first_link("/people", r'href="(/people/[^"?]+)"')
    game = await first_link("/games", r'href="(/games/[^"?]+)"')
    new = await first_link("/", r'href="(/new[^"]+)"')
    asked = [("tonight", "/", False), ("players of a new match", new, False), ("first page of matches", "/matches", False),
             ("hundredth page of matches", "/matches?page=100", False), ("a match", match, False),
             ("games", "/games", False), ("games, after a commit", "/games", True), ("people", "/people", False),
             ("people, after a commit", "/people", True), ("a game", game, False), ("a person", person, False),
             ("statistics", "/statistics", False), ("statistics, after a commit", "/statistics", True)]
    figures = []
    assets = sum([len((await browser.ask(path))[1]) for path in ("/page.css", "/page.js", "/icon.svg")])
    for name, path, isStale in asked:
        firsts, wholes, computed, beside, size = [], [], [], [], 0
        for _ in range(rounds):
            if isStale:
                commit(machine)
            else:
                await browser.ask(path)
            before = processor_time(machine)
            _, body, first, whole = await browser.ask(path)
            computed.append(processor_time(machine) - before)
            size = len(body)
            firsts.append(first)
            wholes.append(whole)
            beside.append((await browser.ask("/page.css"))[3])
        figures.append((f"first byte of {name}", firsts, beside, "s"))
        figures.append((f"whole page of {name}", wholes, beside, "s"))
        figures.append((f"processor time of {name}", computed, [], "s"))
        if not isStale:
            figures.append((f"weight of {name}, with stylesheet, script and icon", [size + assets], [], "B"))
    return figures


def live(*more):
    return ("listen", "--port", "0", "--host", "127.0.0.1", "--no-discovery", "--web", "--web-port", "0", *more)


async def entries(kitchen, study, count):
    """From the moment when a browser sends a score to the moment when the page of another one has it: on the other machine, and on the
    same one."""
    match = kitchen.add("match", "add", "Hearts", "Ada", "Alan", "--new-game", "--new-persons")
    path = "/matches/" + match["recordName"].split("|~|")[1]
    here, there = await Browser(kitchen).enter(), await Browser(study).enter()
    player = re.search(r'name="score\[([^\]]+)\]"', (await here.ask(path))[1].decode())[1]
    for _ in range(600):
        try:
            await there.ask(path)
            break
        except AssertionError:
            await asyncio.sleep(0.1)
    near, far = await here.listen(), await there.listen()
    seconds = {"near": [], "far": []}

    async def seen(browser, stream, text, begin):
        told = begin
        while True:
            told = await stream.change(told)
            if text in (await browser.ask(path))[1].decode():
                return time.perf_counter() - begin

    for number in range(count):
        score = 100_000 + number
        begin = time.perf_counter()
        form = {"entry": str(uuid.uuid4()), "round": str(number + 1), f"score[{player}]": score}
        posting = asyncio.create_task(here.ask(path + "/scores", "POST", form))
        # The page writes numbers as the browser's language does.
        cell = f"<td>{score:,}</td>"
        waits = await asyncio.gather(seen(here, near, cell, begin), seen(there, far, cell, begin))
        await posting
        seconds["near"].append(waits[0])
        seconds["far"].append(waits[1])
    near.close()
    far.close()
    return [("from an entry to its sight on another machine", seconds["far"], seconds["near"], "s")], here, path, player


def resident(machine):
    status = pathlib.Path(f"/proc/{machine.process.pid}/status")
    if not status.exists():
        # macOS has no such files.
        told = subprocess.run(["ps", "-o", "rss=", "-p", str(machine.process.pid)], capture_output=True, text=True, check=True)
        return int(told.stdout) * 1024
    return int(re.search(r"VmRSS:\s+(\d+)", status.read_text())[1]) * 1024


async def crowd(machine, browser, path, player, after, count, changes):
    """Many open browsers: the memory for each, and how long a score takes to the last of them. The match has scores of some rounds."""
    before = resident(machine)
    streams = [await browser.listen() for _ in range(count)]
    memory = (resident(machine) - before) / count
    last, first = [], []
    for number in range(changes):
        form = {"entry": str(uuid.uuid4()), "round": str(after + number + 1), f"score[{player}]": str(number)}
        begin = time.perf_counter()
        told, _ = await asyncio.gather(
            asyncio.gather(*[stream.change(begin) for stream in streams]), browser.ask(path + "/scores", "POST", form))
        last.append(max(told) - begin)
        first.append(min(told) - begin)
        # A commit may be told a second time, when it is looked for.
        await asyncio.sleep(0.6)
    for stream in streams:
        stream.close()
    return [(f"memory of the server for each of {count} open browsers", [memory], [], "B"),
            (f"from an entry to the last of {count} open browsers, against the first", last, first, "s")]


def text(value, unit):
    if unit == "B":
        return f"{value / 1000:.1f} kB"
    return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s"


def show(figures):
    print("\n| figure | page | beside it | ratio | least to greatest |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, subject, beside, unit in figures:
        ratios = [one / other for one, other in zip(subject, beside)]
        cells = [name, text(statistics.median(subject), unit), text(statistics.median(beside), unit) if beside else "",
                 f"{statistics.median(ratios):.2f}" if ratios else "",
                 f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else f"{text(min(subject), unit)} to {text(max(subject), unit)}"]
        print("| " + " | ".join(cells) + " |")


async def measure(options):
    figures = []
    large = Machine("large")
    large.store = options.store
    try:
        figures += await pages(large.serve("web", "--port", "0"), options.rounds)
    finally:
        large.close()
    kitchen, study = Machine("kitchen"), Machine("study")
    try:
        kitchen.serve(*live("--pair"))
        address = f"127.0.0.1:{kitchen.event('listening')['port']}"
        study.run("connect", address, "--code", kitchen.event("pairingCode")["code"], "--once")
        study.serve(*live("--connect", address))
        found, browser, path, player = await entries(kitchen, study, options.entries)
        figures += found
        figures += await crowd(
            kitchen, browser, path, player, options.entries, options.browsers, max(3, options.rounds))
    finally:
        study.close()
        kitchen.close()
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("store", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--browsers", type=int, default=200)
    parser.add_argument("--entries", type=int, default=100)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    figures = asyncio.run(measure(options))
    show(figures)
    if options.json:
        options.json.write_text(json.dumps([dict(zip(("name", "subject", "beside", "unit"), one)) for one in figures]))


if __name__ == "__main__":
    main()
