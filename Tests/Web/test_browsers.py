"""Which browsers may see the page: links that work once, guests, and who is shut out."""

import pathlib
import sqlite3
import unittest

from playwright.sync_api import expect

from browser_case import LOOKS, BrowserCase
from page_machine import shifted


class BrowserTests(BrowserCase):
    def setUp(self):
        super().setUp()
        self.kitchen = self.machine()
        self.kitchen.add("match", "add", "Hearts", "Ada", "Alan", "--new-game", "--new-persons")

    def browsers(self, page):
        page.goto(self.kitchen.address + "/machines")
        page.get_by_role("link", name="Browsers").click()
        return page

    def link(self, page, kind="A link for the household"):
        """Makes a link on the page, and returns it."""
        self.browsers(page).get_by_role("button", name=kind).click()
        return page.locator("#link").inner_text()

    def enter(self, link):
        page = self.browser()
        page.goto(link)
        page.get_by_role("button", name="Open the scorebook").click()
        page.wait_for_url(self.kitchen.address + "/")
        return page

    def forget(self, code):
        self.complaints = [one for one in self.complaints if str(code) not in one]

    def test_a_link_lets_one_browser_in_once(self):
        first = self.browser(self.kitchen.serve("web", "--port", "0"))
        link = self.link(first)
        # What only looks does not use it up.
        looking = self.browser()
        looking.goto(link)
        looking.goto(link)
        second = self.enter(link)
        expect(second.locator("#latest")).to_contain_text("Hearts")
        for late in (looking, self.browser()):
            late.goto(link)
            expect(late.get_by_role("main")).to_contain_text("This link is not valid any more.")
        # Nor for somebody who had its page open already.
        answer = looking.request.post(
            self.kitchen.address + "/enter", form={"key": link.split("key=")[1]}, headers={"Origin": self.kitchen.address})
        self.assertEqual(answer.status, 401)
        self.forget(401)
        self.assertEqual(self.browsers(second).locator("#browsers li").count(), 2)

    def test_a_link_expires(self):
        shift = pathlib.Path(self.kitchen.directory.name) / "shift"
        shift.write_text("+0")
        self.kitchen.serve("web", "--port", "0", environment=shifted(f"@{shift}"))
        page = self.browser(self.kitchen)
        link = self.link(page)
        shift.write_text("+9m")
        late = self.browser()
        late.goto(link)
        expect(late.get_by_role("button", name="Open the scorebook")).to_be_visible()
        shift.write_text("+11m")
        late.get_by_role("button", name="Open the scorebook").click()
        expect(late.get_by_role("main")).to_contain_text("This link is not valid any more.")
        self.forget(401)

    def test_who_is_shut_out_is_out_at_once(self):
        page = self.browser(self.kitchen.serve("web", "--port", "0"))
        other = self.enter(self.link(page))
        self.browsers(page)
        expect(page.locator("#browsers li")).to_have_count(2)
        expect(page.locator("#browsers li", has_text="this browser")).to_have_count(1)
        page.locator("#browsers li").filter(has_not_text="this browser").get_by_role("button").click()
        expect(page.locator("#browsers li")).to_have_count(1)
        # Its open page hears of it, and nothing more: what it shows goes.
        expect(other.get_by_role("main")).to_contain_text("This browser does not know this scorebook yet.")
        other.goto(self.kitchen.address + "/matches")
        expect(other.get_by_role("main")).to_contain_text("This browser does not know this scorebook yet.")
        self.forget(401)

    def test_a_guest_looks_and_changes_nothing(self):
        page = self.browser(self.kitchen.serve("web", "--port", "0"))
        guest = self.enter(self.link(page, "A link for a guest"))
        expect(guest.locator("#latest")).to_contain_text("Hearts")
        self.check_accessibility(guest)
        for section in ("Machines", "Files"):
            expect(guest.get_by_role("navigation").get_by_role("link", name=section)).to_have_count(0)
        expect(guest.get_by_role("link", name="Hearts", exact=True)).to_have_count(0)
        guest.locator("#latest a").click()
        expect(guest.locator("#sheet")).to_be_visible()
        expect(guest.get_by_role("button")).to_have_count(0)
        expect(guest.get_by_role("link", name="Edit")).to_have_count(0)
        self.check_accessibility(guest)
        # What it sends by hand is refused, whatever it is.
        match = guest.url
        before = self.kitchen.add("status")["digest"]
        for path, form in (
            ("/new", {"game": "Hearts", "player[]": "Ada"}), (match.removeprefix(self.kitchen.address) + "/scores", {}),
            ("/machines/sync", {"on": "0"}), ("/machines/pair/show", {}), ("/browsers/link", {"rights": "all"}),
            ("/browsers/1/out", {}), ("/nothing", {})):
            answer = guest.request.post(
                self.kitchen.address + path, form=form, headers={"Origin": self.kitchen.address}, max_redirects=0)
            self.assertEqual(answer.status, 403, path)
            self.assertIn("Guests can look at everything here, and change nothing.", answer.text())
        for method in ("PUT", "DELETE", "PATCH"):
            answer = guest.request.fetch(
                match, method=method, headers={"Origin": self.kitchen.address}, max_redirects=0)
            self.assertEqual(answer.status, 403, method)
        self.assertEqual(self.kitchen.add("status")["digest"], before)
        # A code on these pages would let a machine of the guest in, with all rights.
        for path in ("/machines", "/machines/pair", "//machines", "/%6dachines/pair", "/machine/" + "0" * 64, "/browsers",
                     "/machines/doctor", "/files/scorebook.sqlite"):
            self.assertEqual(guest.request.get(self.kitchen.address + path).status, 403, path)
        expect(self.browsers(page).locator("#browsers li").first).to_contain_text("guest")

    def test_a_scorebook_of_an_older_version(self):
        with sqlite3.connect(self.kitchen.store / "scorebook.sqlite") as store:
            store.execute(
                "CREATE TABLE scorebook_browser (id INTEGER PRIMARY KEY, secret BLOB NOT NULL UNIQUE, name TEXT NOT NULL, "
                "added INTEGER NOT NULL)")
            store.execute(
                "INSERT INTO scorebook_browser (secret, name, added) VALUES (x'00', 'Firefox/1 (Android)', unixepoch())")
        store.close()
        page = self.browsers(self.browser(self.kitchen.serve("web", "--port", "0")))
        expect(page.locator("#browsers li")).to_have_count(2)
        expect(page.locator("#browsers li").last).to_contain_text("Firefox on Android")
        expect(page.locator("#browsers li").last).not_to_contain_text("guest")

    def test_every_page_is_accessible(self):
        self.kitchen.serve("web", "--port", "0")
        for look in LOOKS:
            page = self.browser(self.kitchen, **look)
            self.check_accessibility(self.browsers(page))
            link = self.link(page, "A link for a guest")
            self.check_accessibility(page)
            page.goto(link)
            self.check_accessibility(page)


if __name__ == "__main__":
    unittest.main()
