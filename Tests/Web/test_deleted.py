"""What somebody deletes on the page: a question in words first, a way back at once, and another one for 180 days."""

import contextlib
import sqlite3
import unittest

from playwright.sync_api import expect

from browser_case import DESK, PHONE, BrowserCase
from screenshots import shot


class DeletedTests(BrowserCase):
    def household(self):
        machine = self.machine()
        for date in ("2024-03-05", "2024-03-06"):
            machine.run("match", "add", "Hearts", "Ada=5", "Grace=7", "--new-game", "--new-persons", "--date", date)
        return machine

    def people(self, machine):
        return {one["name"]: one["matches"] for one in machine.add("person", "list")}

    def delete(self, page, companions):
        page.get_by_role("link", name="Edit", exact=True).click()
        page.get_by_role("link", name="Delete this").click()
        expect(page.get_by_role("main")).to_contain_text(companions)
        self.check_accessibility(page)
        page.get_by_role("button", name="Delete").click()
        expect(page.locator(".notice")).to_contain_text("Deleted.")
        self.check_accessibility(page)

    def test_a_person_goes_with_their_part_and_comes_back(self):
        machine = self.household()
        page = self.browser(machine.serve("web", "--port", "0"))
        page.get_by_role("navigation").get_by_role("link", name="People").tap()
        page.get_by_role("link", name="Grace").tap()
        page.get_by_role("link", name="Edit", exact=True).click()
        page.get_by_role("link", name="Delete this person").tap()
        expect(page.get_by_role("heading", level=1)).to_have_text("Delete Grace?")
        expect(page.get_by_role("main")).to_contain_text("This goes along: the part in 2 matches and 2 scores. The matches themselves stay.")
        shot(page, "delete-person")
        page.get_by_role("link", name="Keep it").tap()
        expect(page.get_by_role("heading", level=1)).to_have_text("Grace")
        self.delete(page, "the part in 2 matches and 2 scores")
        shot(page, "person-deleted")
        expect(page.locator("#list")).not_to_contain_text("Grace")
        self.assertEqual(self.people(machine), {"Ada": 2})
        page.get_by_role("button", name="Take back").tap()
        expect(page.get_by_role("heading", level=1)).to_have_text("Grace")
        expect(page.locator(".notice")).to_contain_text("Taken back.")
        self.assertEqual(self.people(machine), {"Ada": 2, "Grace": 2})

    def test_a_match_and_a_game(self):
        machine = self.household()
        page = self.browser(machine.serve("web", "--port", "0"))
        page.get_by_role("navigation").get_by_role("link", name="Matches").tap()
        page.locator("#list a").first.tap()
        self.delete(page, "This goes along: 2 players and 2 scores.")
        expect(page.locator("#list li")).to_have_count(1)
        page.get_by_role("navigation").get_by_role("link", name="Games").tap()
        page.get_by_role("link", name="Hearts").tap()
        self.delete(page, "This goes along: 1 match, 2 players and 2 scores.")
        expect(page.get_by_role("main")).to_contain_text("No games yet.")
        self.assertEqual(machine.add("match", "list"), [])
        page.get_by_role("button", name="Take back").tap()
        expect(page.get_by_role("heading", level=1)).to_have_text("Hearts")
        # The match that went alone stays away.
        self.assertEqual(len(machine.add("match", "list")), 1)

    def test_deleted_things_come_back_with_all_that_went_along(self):
        for device in (PHONE, DESK):
            machine = self.household()
            machine.run("person", "delete", "Grace", "--yes")
            machine.run("match", "delete", "2024-03-05", "--yes")
            page = self.browser(machine.serve("web", "--port", "0"), **device)
            page.get_by_role("navigation").get_by_role("link", name="Files").click()
            page.get_by_role("link", name="Deleted things").click()
            expect(page.locator("#list li")).to_have_count(2)
            expect(page.locator("#list li").first).to_contain_text("Hearts")
            expect(page.locator("#list li").last).to_contain_text("this machine")
            expect(page.locator("#list li").last).to_contain_text("2 things went along")
            self.check_accessibility(page)
            shot(page, "deleted")
            other = self.browser(machine)
            other.goto(page.url)
            page.get_by_role("button", name="Restore Grace").click()
            expect(page.locator(".notice")).to_contain_text("Restored.")
            expect(page.locator("#list li")).to_have_count(1)
            expect(other.locator("#list li")).to_have_count(1)
            self.assertEqual(self.people(machine)["Grace"], 1)
            page.get_by_role("button", name="Take back").click()
            expect(page.get_by_role("button", name="Restore Grace", exact=True)).to_be_visible()
            self.assertNotIn("Grace", self.people(machine))

    def test_what_another_machine_deleted_has_its_name(self):
        kitchen, study = self.household(), self.machine("study")
        live = ("listen", "--port", "0", "--host", "127.0.0.1", "--no-discovery", "--web", "--web-port", "0")
        study.serve(*live, "--pair")
        code = study.event("pairingCode")["code"]
        address = "127.0.0.1:{}".format(study.event("listening")["port"])
        kitchen.run("connect", address, "--code", code, "--once")
        kitchen.run("person", "delete", "Grace", "--yes")
        page = self.browser(study)
        page.goto(study.address + "/deleted")
        expect(page.get_by_role("main")).to_contain_text("Nothing was deleted.")
        kitchen.run("connect", address, "--once")
        name = next(one["name"] for one in study.add("peers"))
        expect(page.locator("#list li")).to_contain_text(name)

    def test_the_list_has_pages(self):
        machine = self.filled_machine()
        # As any other program that knows SQLite does it.
        with contextlib.closing(sqlite3.connect(machine.store / "scorebook.sqlite")) as database, database:
            database.execute("PRAGMA foreign_keys = ON")
            database.execute("DELETE FROM SBMatch WHERE recordName IN (SELECT recordName FROM SBMatch LIMIT 60)")
        page = self.browser(machine.serve("web", "--port", "0"))
        page.goto(machine.address + "/deleted")
        expect(page.locator("#list li")).to_have_count(50)
        page.get_by_role("link", name="Earlier ones").tap()
        expect(page.get_by_role("link", name="Later ones")).to_be_visible()
        self.check_accessibility(page)

    def test_what_is_gone_already_is_told(self):
        machine = self.household()
        page = self.browser(machine.serve("web", "--port", "0"))
        page.get_by_role("navigation").get_by_role("link", name="Games").tap()
        page.get_by_role("link", name="Hearts").tap()
        page.get_by_role("link", name="Edit", exact=True).tap()
        page.get_by_role("link", name="Delete this game").tap()
        machine.run("game", "delete", "Hearts", "--yes")
        page.get_by_role("button", name="Delete").tap()
        expect(page.locator(".error")).to_contain_text("There is no record")
        self.forgive("404")

    def test_everything_works_without_a_script(self):
        machine = self.household()
        page = self.browser(machine.serve("web", "--port", "0"), java_script_enabled=False)
        page.goto(machine.address + "/people")
        page.get_by_role("link", name="Grace").tap()
        page.get_by_role("link", name="Edit", exact=True).tap()
        page.get_by_role("link", name="Delete this person").tap()
        page.get_by_role("button", name="Delete").tap()
        page.get_by_role("link", name="Deleted things").tap()
        page.get_by_role("button", name="Restore Grace").tap()
        expect(page.get_by_role("main")).to_contain_text("Nothing was deleted.")
        self.assertEqual(self.people(machine)["Grace"], 2)


if __name__ == "__main__":
    unittest.main()
