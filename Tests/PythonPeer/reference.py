"""The machine that runs scorebook-peer, and the list of the scenarios that are played with it."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

from machines import Listening, Machine

Scenario = Callable[[Path], None]
SCENARIOS: list[Scenario] = []


def scenario(function: Scenario) -> Scenario:
    SCENARIOS.append(function)
    return function


class Reference(Machine):
    program = Path()
    """The program of all of them."""
    data = Path()
    """An export of BG Stats."""

    def command(self, *arguments: str) -> list[str]:
        return [str(self.program), *arguments, "--store", str(self.store)]

    def listen(self, *more: str) -> "Listening":
        # Nothing of a test goes to the machine's real network.
        return super().listen("--no-discovery", *more)

    def digest(self) -> str:
        return json.loads(self.run("status", "--json"))["digest"]

    def fields(self, record: str) -> dict:
        shown = json.loads(self.run("record", "show", record, "--json"))
        return {field: write["value"] for field, write in shown["fields"].items()}

    def sql(self, statement: str) -> None:
        with sqlite3.connect(self.store / "scorebook.sqlite", timeout=30) as database:
            database.execute("PRAGMA foreign_keys = ON")
            database.execute(statement)
        database.close()

    def names(self, record_type: str) -> list[str]:
        return [
            line.split()[0] for line in self.run("record", "list", "--type", record_type).splitlines() if "|~|" in line
        ]


def imported(directory: Path, name: str, *, whole: bool = False) -> Reference:
    """A machine with an import: of some plays, which is all that most scenarios look at, or of all."""
    reference = Reference(directory, name)
    data = Reference.data
    if not whole:
        export = json.loads(data.read_text(encoding="utf-8"))
        data = directory / "some.bgstats.json"
        export["plays"] = export["plays"][:20]
        data.write_text(json.dumps(export), encoding="utf-8")
    reference.run("import", str(data))
    return reference
