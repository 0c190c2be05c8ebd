"""A machine that shows its scorebook in browsers: the real program, with a store of its own."""

import glob
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time

PROGRAM = os.environ.get("SCOREBOOK_PROGRAM", ".build/debug/scorebook-peer")
# A debug build on a busy machine takes its time. Only a fault waits this long.
PATIENCE = 60


def shifted(shift):
    """The environment in which a program sees another time: `-10d`, or `@` and a file that says so."""
    library = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
    assert library, "faketime is missing; run scripts/install-dependencies --web"
    time = {"FAKETIME_TIMESTAMP_FILE": shift[1:], "FAKETIME_NO_CACHE": "1"} if shift[0] == "@" else {"FAKETIME": shift}
    # Deadlines and pauses go by the clock that nobody sets.
    return {"LD_PRELOAD": library[0], "FAKETIME_DONT_FAKE_MONOTONIC": "1", **time}


class Machine:
    def __init__(self, name):
        self.directory = tempfile.TemporaryDirectory(prefix=f"scorebook-{name}-")
        self.store = pathlib.Path(self.directory.name) / "store"
        self.name = name
        self.process = None

    def run(self, *arguments):
        """Runs a command, and returns what it prints."""
        done = subprocess.run(
            [PROGRAM, *arguments, "--store", self.store], capture_output=True, text=True, timeout=PATIENCE,
            stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise AssertionError(f"{arguments} ends with {done.returncode}: {done.stderr}")
        return done.stdout

    def add(self, *arguments):
        """Runs a command that makes a record, and returns it."""
        return json.loads(self.run(*arguments, "--json"))

    def serve(self, *arguments, environment=None):
        """Begins to serve the page."""
        # Swift does not find the arguments in the process that sees libfaketime first, so that is a shell.
        shell = ["/bin/sh", "-c", 'exec "$0" "$@"'] if environment else []
        self.process = subprocess.Popen(
            [*shell, PROGRAM, *arguments, "--json", "--store", self.store], stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL, text=True, env={**os.environ, **(environment or {})})
        self.events = []
        self.news = threading.Condition()
        # The program would wait for somebody who reads.
        threading.Thread(target=self._read, args=[self.process.stdout], daemon=True).start()
        self.link = self.event("web")["link"]
        self.address = self.link.split("/enter")[0]
        return self

    def _read(self, output):
        with output:
            for line in output:
                with self.news:
                    self.events.append(json.loads(line))
                    self.news.notify_all()

    def event(self, name):
        """Waits for an event that the program tells, and returns the first one of that name."""
        def found():
            return next((event for event in self.events if event["event"] == name), None)
        with self.news:
            if not self.news.wait_for(found, PATIENCE):
                raise AssertionError(f"{self.name} does not tell {name}: {self.events}")
            return found()

    def until(self, holds):
        """Waits until something holds, which only a fault keeps from it."""
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < deadline, f"{self.name} does not get there"

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            code = self.process.wait(PATIENCE)
            self.process = None
            assert code == 0, f"{self.name} ends with {code}"

    def close(self):
        try:
            self.stop()
        finally:
            self.directory.cleanup()
