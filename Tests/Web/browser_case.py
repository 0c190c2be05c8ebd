"""What the tests in a browser have in common."""

import pathlib
import shutil
import unittest

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from page_machine import Machine, PATIENCE

expect.set_options(timeout=PATIENCE * 1000)

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
DESK = {"viewport": {"width": 1280, "height": 800}}
EXPORT = pathlib.Path(__file__).parents[2] / "scripts/data/household.bgstats.json"


class BrowserCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.playwright = sync_playwright().start()
        cls.addClassCleanup(cls.playwright.stop)
        cls.chromium = cls.playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        cls.addClassCleanup(cls.chromium.close)

    def setUp(self):
        # What a page complains about; a test that provokes something empties it.
        self.complaints = []

    def tearDown(self):
        self.assertEqual(self.complaints, [])

    def machine(self, name="kitchen"):
        machine = Machine(name)
        self.addCleanup(machine.close)
        return machine

    def browser(self, machine=None, **options):
        """Opens a browser that knows nothing; with a machine, one that was let in there."""
        context = self.chromium.new_context(**{**PHONE, **options})
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

    def check_accessibility(self, page, width=None):
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
