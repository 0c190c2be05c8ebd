"""Takes the pictures of each page in docs/screens: `scripts/test --web --screenshots`.

A new page is a line in PAGES.
"""

import os
import pathlib
import unittest

from browser_case import DESK, EXPORT, PHONE, BrowserCase

FOLDER = pathlib.Path(os.environ.get("SCOREBOOK_SCREENS", pathlib.Path(__file__).parents[2] / "docs/screens"))
# More would not be for a repository.
MAXIMUM_FILE, MAXIMUM_TOTAL = 120_000, 1_000_000
DEVICES = {"phone": {**PHONE, "device_scale_factor": 1.5}, "desk": DESK}

# The name of the file, and how to get to the page: a path, or what to press after another one.
PAGES = [
    ("tonight", "/"),
    ("players", "/", ".choices a >> nth=0"),
    ("matches", "/matches"),
    ("match", "/matches", "#list a >> nth=0"),
    ("games", "/games"),
    ("game", "/games", "#list a >> nth=0"),
    ("people", "/people"),
    ("person", "/people", "#list a >> nth=0"),
    ("statistics", "/statistics"),
    ("year", "/statistics?year=2024"),
]


class Screens(BrowserCase):
    def test_screens(self):
        machine = self.machine()
        machine.run("import", str(EXPORT))
        machine.serve("web", "--port", "0")
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
                    file = FOLDER / ("-".join([name, device] + [scheme] * (len(schemes) > 1)) + ".png")
                    page.screenshot(path=file, animations="disabled", full_page=is_full)
        if not is_full:
            sizes = {file.name: file.stat().st_size for file in FOLDER.glob("*.png")}
            self.assertEqual({name: size for name, size in sizes.items() if size > MAXIMUM_FILE}, {})
            self.assertLess(sum(sizes.values()), MAXIMUM_TOTAL)


if __name__ == "__main__":
    unittest.main()
