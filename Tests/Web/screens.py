"""Takes the pictures of each page in docs/screens: `scripts/test --web --screenshots`.

A new page is a line in PAGES.
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

from browser_case import DESK, EXPORT, PHONE, BrowserCase

FOLDER = pathlib.Path(os.environ.get("SCOREBOOK_SCREENS", pathlib.Path(__file__).parents[2] / "docs/screens"))
# More would not be for a repository.
MAXIMUM_FILE, MAXIMUM_TOTAL = 120_000, 1_000_000
PLAYERS = ["Ida Brandt", "Nora Lindqvist", "Paul Okafor"]
SCORES = [["12", "9", "15"], ["18", "22", "11"], ["7", "16", "14"]]
DEVICES = {"phone": {**PHONE, "device_scale_factor": 1.5}, "desk": DESK}

# The name of the file, and how to get to the page: a path, or what to press after another one.
PAGES = [
    ("tonight", "/"),
    ("players", "/", ".choices a >> nth=0"),
    ("matches", "/matches"),
    ("match", "/matches", "#list a:has-text('Scythe') >> nth=0"),
    ("table", "/", "#open a >> nth=0"),
    ("rule", "/new?isNew=1&game=Hearts"),
    ("games", "/games"),
    ("game", "/games", "#list a >> nth=0"),
    ("people", "/people"),
    ("person", "/people", "#list a >> nth=0"),
    ("statistics", "/statistics"),
    ("year", "/statistics?year=2024"),
    ("edit", "/matches", "#list a >> nth=0", "main a:has-text('Edit')"),
    ("delete", "/people", "#list a >> nth=0", "main a:has-text('Edit')", "main a:has-text('Delete')"),
    ("machines", "/machines"),
    ("machine", "/machines", "#machines .lines a >> nth=0"),
    ("faults", "/machines/doctor"),
    ("browsers", "/browsers"),
    ("pairing", "/machines/pair"),
    ("files", "/files"),
    ("deleted", "/deleted"),
]


class Screens(BrowserCase):
    def take(self, page, file, **options):
        """Writes what a page shows with 16 colours, which nobody sees and which take a fifth of the room."""
        with tempfile.NamedTemporaryFile(suffix=".png") as whole:
            page.screenshot(path=whole.name, animations="disabled", **options)
            subprocess.run(
                ["vips", "pngsave", whole.name, file, "--palette", "--bitdepth", "4", "--dither", "0", "--compression", "9", "--strip"],
                check=True, timeout=60)

    def file(self, name, device, scheme, schemes):
        return FOLDER / ("-".join([name, device] + [scheme] * (len(schemes) > 1)) + ".png")

    def test_screens(self):
        machine, _ = self.household()
        machine.run("import", str(EXPORT))
        machine.run("match", "add", "Wingspan", *PLAYERS, "--date", "2025-10-08 19:30", "--location", "Home", "--unfinished")
        for round, scores in enumerate(SCORES, 1):
            machine.run("score", "add", "last", *map("=".join, zip(PLAYERS, scores)), "--round", str(round))
        empty = self.machine("empty").serve("web", "--port", "0")
        FOLDER.mkdir(exist_ok=True)
        schemes = os.environ.get("SCOREBOOK_SCREENS_SCHEMES", "light").split()
        is_full = "SCOREBOOK_SCREENS_FULL" in os.environ
        for device, options in DEVICES.items():
            for scheme in schemes:
                page = self.browser(
                    machine, color_scheme=scheme, locale="en-GB", timezone_id="UTC", reduced_motion="reduce", **options)
                for name, path, *steps in PAGES:
                    page.goto(machine.address + path)
                    for step in steps:
                        page.locator(step).click()
                        page.wait_for_load_state()
                    self.take(page, self.file(name, device, scheme, schemes), full_page=is_full)
                page = self.browser(empty, color_scheme=scheme, locale="en-GB", **options)
                self.take(page, self.file("first", device, scheme, schemes), full_page=is_full)
        if not is_full:
            sizes = {file.name: file.stat().st_size for file in FOLDER.glob("*.png")}
            self.assertEqual({name: size for name, size in sizes.items() if size > MAXIMUM_FILE}, {})
            self.assertLess(sum(sizes.values()), MAXIMUM_TOTAL)


if __name__ == "__main__":
    unittest.main()
