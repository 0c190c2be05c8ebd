"""What the tests in a browser have in common."""

import atexit
import functools
import json
import pathlib
import shutil
import tempfile
import unittest

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from page_machine import Machine, PATIENCE

expect.set_options(timeout=PATIENCE * 1000)

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
DESK = {"viewport": {"width": 1280, "height": 800}, "has_touch": False, "is_mobile": False}
# Each page is looked at by both, and so in both sizes and in both schemes.
LOOKS = [{**PHONE, "color_scheme": "light"}, {**DESK, "color_scheme": "dark"}]
EXPORT = pathlib.Path(__file__).parents[2] / "scripts/data/household.bgstats.json"


@functools.cache
def chromium():
    """The browser, one for all tests of this process. Each test has its own profile in it."""
    playwright = sync_playwright().start()
    atexit.register(playwright.stop)
    # evil.example is a name that somebody else lets lead to this machine, see test_attacks.
    return playwright.chromium.launch(
        executable_path=shutil.which("chromium"),
        args=["--no-sandbox", "--host-resolver-rules=MAP evil.example 127.0.0.1"])


@functools.cache
def few_plays():
    """A file like EXPORT, with its first 20 plays."""
    content = json.loads(EXPORT.read_text())
    content["plays"] = content["plays"][:20]
    folder = tempfile.TemporaryDirectory(prefix="scorebook-few-")
    atexit.register(folder.cleanup)
    file = pathlib.Path(folder.name) / "few.bgstats.json"
    file.write_text(json.dumps(content))
    return file


@functools.cache
def filled_store():
    """A scorebook of five years, made once for all tests of this process."""
    machine = Machine("filled")
    atexit.register(machine.close)
    machine.run("import", str(EXPORT))
    return machine.store


class BrowserCase(unittest.TestCase):
    def setUp(self):
        # What a page complains about; a test that provokes something empties it.
        self.complaints = []

    def tearDown(self):
        self.assertEqual(self.complaints, [])

    def machine(self, name="kitchen"):
        machine = Machine(name)
        self.addCleanup(machine.close)
        return machine

    def filled_machine(self):
        """A machine with a copy of the scorebook of five years."""
        machine = self.machine()
        shutil.copytree(filled_store(), machine.store)
        return machine

    def browser(self, machine=None, **options):
        """Opens a browser that knows nothing; with a machine, one that was let in there."""
        context = chromium().new_context(**{**PHONE, **options})
        self.addCleanup(context.close)
        context.set_default_timeout(PATIENCE * 1000)
        page = context.new_page()
        page.on("console", lambda message: message.type in ("error", "warning") and self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        if machine:
            page.goto(machine.link)
            page.get_by_role("link", name="Open the scorebook").click()
            page.wait_for_url(machine.address + "/")
        return page

    def forgive(self, *words):
        """Forgets what pages complained about on purpose."""
        self.complaints = [one for one in self.complaints if not any(word in one for word in words)]

    def check_accessibility(self, page):
        found = Axe().run(page).response["violations"]
        self.assertEqual([(one["id"], [node["html"] for node in one["nodes"]]) for one in found], [], page.url)
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        self.assertLessEqual(overflow, 0, f"{page.url} is wider than the screen")

    def listen(self, machine, *arguments):
        """Serves the page of a machine that syncs, on loopback alone."""
        machine.serve("listen", "--port", "0", "--host", "127.0.0.1", "--no-discovery", "--web", "--web-port", "0", *arguments)
        machine.place = "127.0.0.1:{}".format(machine.event("listening")["port"])
        return machine

    def household(self):
        """Two machines that are paired and in sync, the second one calling the first."""
        kitchen, study = self.machine("kitchen"), self.machine("study")
        self.listen(kitchen, "--pair", "--name", "kitchen")
        code = kitchen.event("pairingCode")["code"]
        study.run("connect", kitchen.place, "--code", code, "--once", "--name", "study")
        self.listen(study, "--connect", kitchen.place, "--name", "study")
        return kitchen, study
