"""Pictures of the pages, for whoever wants to look at them: SCOREBOOK_SCREENSHOTS names a directory for them."""

import os
import pathlib


def shot(page, name):
    """Saves how a page looks where somebody wants to see it."""
    folder = os.environ.get("SCOREBOOK_SCREENSHOTS")
    if folder:
        width = page.viewport_size["width"]
        page.screenshot(path=pathlib.Path(folder) / f"{name}-{width}.png", full_page=True)
