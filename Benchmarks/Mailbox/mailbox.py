#!/usr/bin/env python3
"""Counts what a mailbox costs a household, and what copying its database with rclone costs beside it, and says what that is in money.

    mailbox.py FIGURES [--tiny]

FIGURES is the program mailbox-figures. Both sides are counted in one run: the program asks a storage in memory that counts, and rclone a
WebDAV server that writes down what it is asked for. Prints tables in Markdown; nothing in them is a time.
"""

import argparse
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time

DAYS, HOURS = 30, 24
PASSES_IN_HOUR = 53
HOUSEHOLDS = 1_000_000
PRICES = {
    # Class A: put, list; class B: get. Deletes cost nothing. US dollars.
    "Cloudflare R2, standard, its price list of 2026-08-03": {"stored": 0.015, "class A": 4.50, "class B": 0.36, "out": 0.0},
    "Amazon S3, standard, us-east-1, its price list of 2025": {"stored": 0.023, "class A": 5.00, "class B": 0.40, "out": 0.09},
}
"""By provider: a GB for a month, a million requests of either class, a GB sent out; without what is free for small users."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", help="mailbox-figures")
    parser.add_argument("--tiny", action="store_true", help="only see whether everything runs")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mailbox-") as directory:
        database = pathlib.Path(directory) / "scorebook.sqlite"
        command = [arguments.figures, "--database", str(database)] + (["--tiny"] if arguments.tiny else [])
        lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        figures = [json.loads(line) for line in lines]
        print_figures(figures)
        if shutil.which("rclone"):
            print_copies(copies(pathlib.Path(directory), database))
        else:
            print("\nrclone is not here, so nothing stands beside these.\n")
    print_costs(figures)


def size(number):
    for unit in ("B", "kB", "MB"):
        if number < 10_000 or unit == "MB":
            return f"{number:,.0f} {unit}"
        number /= 1000


def print_figures(figures):
    print("| what happens | put | get | list | delete | sent | got | lies there then | objects |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for figure in figures:
        counts = [f"{figure[name]:,}" for name in ("puts", "gets", "lists", "deletes")]
        stored = size(figure["stored"]) + (f", at most {size(figure['most'])}" if "most" in figure else "")
        cells = [*counts, size(figure["bytesPut"]), size(figure["bytesGot"]), stored, f"{figure['objects']:,}"]
        print(f"| {figure['what']} | {' | '.join(cells)} |")


# Beside it


def copies(directory, database):
    """What rclone asks a server for, as it copies the database for the first time, after one change, and after none."""
    served, log = directory / "served", directory / "server.log"
    served.mkdir()
    server = subprocess.Popen(
        ["rclone", "serve", "webdav", str(served), "--addr", "127.0.0.1:0", "-vv", "--log-file", str(log)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        address = await_address(log)
        counted = []
        for what in ("the first copy", "one change", "nothing is new"):
            if what == "one change":
                change(database)
            before = len(requests(log))
            # Over WebDAV it tells by the size alone whether a file is another one, and a database that was changed has the same.
            more = ["--ignore-times"] if what == "one change" else []
            subprocess.run(
                ["rclone", "copy", str(database), ":webdav:", "--webdav-url", address, "--config", "/dev/null", *more], check=True)
            counted.append((what, requests(log)[before:], database.stat().st_size if what != "nothing is new" else 0))
        return counted
    finally:
        server.terminate()
        server.wait()


def await_address(log):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if log.exists() and (found := re.search(r"http://127\.0\.0\.1:\d+/?", log.read_text())):
            return found[0]
        time.sleep(0.05)
    raise SystemExit("error: rclone does not serve")


def requests(log):
    return re.findall(r"\b(PROPFIND|PUT|GET|HEAD|MKCOL|MOVE|DELETE|PROPPATCH|OPTIONS)\b", log.read_text())


def change(database):
    connection = sqlite3.connect(database)
    with connection:
        (name,) = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'SBMatch'").fetchone()
        connection.execute(f"UPDATE {name} SET durationMinutes = 1 WHERE rowid = (SELECT MIN(rowid) FROM {name})")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def print_copies(counted):
    print("\nThe same household's database, copied by rclone to a WebDAV server. One machine writes, and the other would lose what it wrote:\n")
    print("| what happens | requests | sent |")
    print("| --- | --- | ---: |")
    for what, asked, sent in counted:
        print(f"| {what} | {', '.join(f'{asked.count(kind)} {kind}' for kind in dict.fromkeys(asked))} | {size(sent)} |")


# In money


def print_costs(figures):
    """A month of a household of three machines: 30 such days; what a day lists goes on all night."""
    day = next((figure for figure in figures if figure["what"].startswith("a day")), None)
    if day is None:
        return
    print("\nA month of such days on paper, in US dollars, without what is free for small users:\n")
    print("| provider | stored | put and list | get | sent out | a household | of that asking in vain | a million households |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    idle = 3 * HOURS * PASSES_IN_HOUR
    for name, price in PRICES.items():
        stored = day["stored"] / 1e9 * price["stored"]
        class_a = DAYS * (day["puts"] + day["lists"]) / 1e6 * price["class A"]
        class_b = DAYS * day["gets"] / 1e6 * price["class B"]
        out = DAYS * day["bytesGot"] / 1e9 * price["out"]
        total = stored + class_a + class_b + out
        vain = DAYS * idle / 1e6 * price["class A"]
        cells = [f"{part:.4f}" for part in (stored, class_a, class_b, out, total)] + [f"{vain / total:.0%}", f"{total * HOUSEHOLDS:,.0f}"]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
