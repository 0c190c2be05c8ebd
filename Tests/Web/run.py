"""Runs the tests of the page, several at a time: `python run.py [--workers N] [NAME…]`, where a name is one of a module, class or test.

Each worker keeps one browser for all of its tests. What a test prints is shown only if it fails. The tests of a module with `ALONE` change
what they share, so one worker runs all of them.
"""

import argparse
import concurrent.futures
import contextlib
import io
import multiprocessing
import os
import pathlib
import sys
import tempfile
import time
import unittest


def every_test(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from every_test(one)
        else:
            yield one


def jobs(names):
    """The tests that one worker runs after each other, as lists of names."""
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(names) if names else loader.discover(str(pathlib.Path(__file__).parent))
    alone, others = [], []
    for test in every_test(suite):
        is_alone = getattr(sys.modules[type(test).__module__], "ALONE", False)
        (alone if is_alone else others).append(test.id())
    return ([alone] if alone else []) + [[name] for name in others]


def run_all(names):
    return [run(name) for name in names]


def run(name):
    """Runs one test, and returns its name, how it went, what it said, and how many seconds it took."""
    begin = time.perf_counter()
    text = io.StringIO()
    # The programs that a test starts print into the same place as Python.
    with tempfile.TemporaryFile("w+") as printed, redirected(printed):
        suite = unittest.defaultTestLoader.loadTestsFromName(name)
        result = unittest.TextTestRunner(stream=text, verbosity=0).run(suite)
        printed.seek(0)
        said = printed.read() + text.getvalue()
    how = "skipped" if result.skipped else "ok" if result.wasSuccessful() and result.testsRun == 1 else "FAILED"
    return name, how, said, time.perf_counter() - begin


@contextlib.contextmanager
def redirected(file):
    kept = [os.dup(number) for number in (1, 2)]
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    for number in (1, 2):
        os.dup2(file.fileno(), number)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number, old in zip((1, 2), kept):
            os.dup2(old, number)
            os.close(old)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workers", type=int, default=os.cpu_count() + 1)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    begin, count, failures, skipped = time.perf_counter(), 0, [], 0
    # A new process for each worker: what one keeps of a browser is no good in a copy of the process.
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(options.workers, context) as pool:
        waits = [pool.submit(run_all, names) for names in jobs(options.names)]
        for name, how, said, seconds in (one for done in concurrent.futures.as_completed(waits) for one in done.result()):
            print(f"{how:8}{name} ({seconds:.1f} s)", flush=True)
            count += 1
            skipped += how == "skipped"
            if how == "FAILED":
                failures.append(name)
                print(said, flush=True)
    print(f"{count} tests in {time.perf_counter() - begin:.0f} s, {skipped} skipped, {len(failures)} failed")
    for name in failures:
        print(f"error: {name} failed")
    sys.exit(1 if failures or count == 0 else 0)


if __name__ == "__main__":
    main()
