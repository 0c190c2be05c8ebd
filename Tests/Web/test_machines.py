"""Who is here, what waits and why, and what is done about it, on the page."""

import contextlib
import json
import re
import sqlite3
import tempfile
import unittest

from playwright.sync_api import expect

from browser_case import LOOKS, BrowserCase


class MachineTests(BrowserCase):
    def machines(self, machine, **options):
        page = self.browser(machine, **options)
        page.get_by_role("navigation").get_by_role("link", name="Machines").click()
        return page

    def test_what_waits_and_for_whom(self):
        kitchen, study = self.household()
        page = self.machines(kitchen)
        expect(page.locator("#machines")).to_contain_text("The other machine is here.")
        expect(page.locator("#machines li")).to_contain_text("Connected, and in sync since")
        study.stop()
        expect(page.locator("#machines li")).to_contain_text("Not here now. Last in sync on")
        kitchen.run("game", "add", "Hearts")
        expect(page.locator("#machines li")).to_contain_text("1 change waits here until the two sync.")
        self.listen(study, "--connect", kitchen.place)
        expect(page.locator("#machines li")).to_contain_text("Connected, and in sync since")
        expect(page.locator("#machines li")).not_to_contain_text("waits")

    def test_a_copy_that_may_not_have_come_whole(self):
        kitchen, study = self.household()
        kitchen.stop()
        study.stop()
        # As a reset does whose connection is cut half-way.
        with contextlib.closing(sqlite3.connect(study.store / "scorebook.sqlite")) as database, database:
            database.execute("INSERT INTO grdb_sync_syncState SELECT 'awaitsDefault', id FROM grdb_sync_peer")
        self.listen(study, "--connect", kitchen.place)
        page = self.machines(study)
        warning = page.locator("#machines .warning")
        expect(warning).to_contain_text("The scorebook of kitchen took the place of the one here, and may not have come whole.")
        self.check_accessibility(page)
        self.assertEqual(json.loads(study.run("status", "--json"))["awaitedCopy"], "kitchen")
        page.context.close()
        study.stop()
        self.listen(kitchen)
        self.listen(study, "--connect", kitchen.place)
        page = self.machines(study)
        expect(page.locator("#machines li")).to_contain_text("Connected, and in sync since")
        expect(page.locator("#machines .warning")).to_have_count(0)
        self.assertIsNone(json.loads(study.run("status", "--json"))["awaitedCopy"])

    def test_a_picture_shows_as_soon_as_it_has_come(self):
        kitchen, study = self.household()
        match = kitchen.add("match", "add", "Hearts", "Ada", "Alan", "--new-game", "--new-persons")["recordName"]
        page = self.browser(study)
        page.get_by_role("navigation").get_by_role("link", name="Matches").click()
        page.get_by_role("main").get_by_role("link", name="Hearts").first.click()
        expect(page.get_by_role("heading", name="Hearts").first).to_be_visible()
        with tempfile.NamedTemporaryFile(suffix=".jpg") as picture:
            # The record comes long before the file.
            picture.write(b"\xff\xd8\xff\xe0" + b"x" * 64_000_000 + b"\xff\xd9")
            picture.flush()
            kitchen.run("image", "add", match, picture.name)
        expect(page.locator("main img")).to_have_count(1)

    def test_the_switch(self):
        kitchen, study = self.household()
        here, there = self.machines(kitchen), self.machines(study)
        there.get_by_role("button", name="Switch sync off").click()
        expect(there.locator("#machines")).to_contain_text("Sync is switched off here.")
        expect(here.locator("#machines li")).to_contain_text("Sync is switched off there.")
        study.run("game", "add", "Hearts")
        there.get_by_role("button", name="Switch sync on").click()
        expect(there.locator("#machines li")).to_contain_text("Connected, and in sync")
        here.get_by_role("navigation").get_by_role("link", name="Games").click()
        expect(here.locator("#list")).to_contain_text("Hearts")

    def test_a_machine_that_was_switched_off_before_it_began(self):
        kitchen = self.machine()
        kitchen.run("sync", "off")
        kitchen.serve("listen", "--port", "0", "--host", "127.0.0.1", "--no-discovery", "--web", "--web-port", "0")
        page = self.machines(kitchen)
        page.get_by_role("button", name="Switch sync on").click()
        expect(page.locator("#switch")).to_contain_text("Sync is on.")
        kitchen.event("listening")

    def test_a_mailbox_in_a_folder(self):
        kitchen, _ = self.household()
        page = self.machines(kitchen)
        with tempfile.TemporaryDirectory() as folder:
            page.get_by_role("link", name="Add a mailbox").click()
            expect(page.get_by_role("main")).to_contain_text("There is no mailbox yet.")
            # Without the trait for servers, the program offers what it can.
            expect(page.get_by_text("A WebDAV server")).to_have_count(0)
            page.get_by_label("Folder of this machine").fill(folder + "/missing")
            page.get_by_role("button", name="Add the folder").click()
            expect(page.get_by_role("main")).to_contain_text("There is no folder " + folder + "/missing")
            page.go_back()
            page.get_by_label("Folder of this machine").fill("scorebook")
            page.get_by_role("button", name="Add the folder").click()
            expect(page.get_by_role("main")).to_contain_text("begins with a slash")
            self.forgive("422")
            page.go_back()
            page.get_by_label("Folder of this machine").fill(folder)
            page.get_by_role("button", name="Add the folder").click()
            expect(page.locator("#mailboxes")).to_contain_text("In step on")
            self.check_accessibility(page)
            self.assertIn(folder, kitchen.run("mailbox"))
            page.get_by_role("button", name="Sync now").click()
            expect(page.locator("#mailboxes")).to_contain_text("In step on")
            page.get_by_role("button", name="Check all that is there").click()
            expect(page.get_by_role("main")).to_contain_text("A new machine could be made from what lies there.")
            self.check_accessibility(page)
            page.get_by_role("link", name="All mailboxes").click()
            page.get_by_role("link", name="All machines").click()
            expect(page.locator("#mailboxes li")).to_contain_text("In step on")
            page.get_by_role("link", name="All about the mailboxes").click()
            page.get_by_text("Use “").click()
            page.get_by_role("button", name="Remove it here").click()
            expect(page.get_by_role("main")).to_contain_text("There is no mailbox yet.")
            self.assertIn("there is no mailbox", kitchen.run("mailbox"))

    def test_nobody_is_paired_who_could_read_a_mailbox(self):
        kitchen = self.listen(self.machine())
        with tempfile.TemporaryDirectory() as folder:
            kitchen.run("mailbox", "add", "folder", folder)
            page = self.machines(kitchen)
            page.get_by_role("link", name="All about the mailboxes").click()
            page.get_by_role("button", name="Check all that is there").click()
            expect(page.get_by_role("main")).to_contain_text("Nothing of this scorebook lies in")
            expect(page.get_by_role("main")).to_contain_text("no machine is paired with this one")

    def test_another_name(self):
        kitchen, _ = self.household()
        page = self.machines(kitchen)
        page.locator("#machines").get_by_role("link", name="study").click()
        page.get_by_label("Here it is called").fill("The desk <b>upstairs</b>")
        page.get_by_role("button", name="Rename").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("The desk <b>upstairs</b>")
        self.assertIn("The desk <b>upstairs</b>", kitchen.run("peers", "--no-discovery"))
        page.get_by_label("Here it is called").evaluate("one => one.removeAttribute('maxlength')")
        page.get_by_label("Here it is called").fill("x" * 65)
        page.get_by_role("button", name="Rename").click()
        expect(page.get_by_role("main")).to_contain_text("A name has 1 to 64 bytes.")
        self.forgive("422")

    def test_who_may_do_what(self):
        kitchen, study = self.household()
        kitchen.run("zone", "create", "Club")
        page = self.machines(kitchen)
        page.locator("#machines").get_by_role("link", name="study").click()
        page.get_by_label("In “Club” it may").select_option("only read")
        page.locator("form", has=page.get_by_label("In “Club” it may")).get_by_role("button").click()
        expect(page.get_by_label("In “Club” it may")).to_have_value("read")
        default = page.get_by_role("combobox").first
        default.select_option("only read")
        page.get_by_role("button", name="Change").first.click()
        expect(page.get_by_role("combobox").first).to_have_value("read")
        expect(page.locator("#machine")).to_contain_text("It may only read")
        # What the other one writes is refused now, and it says so there.
        there = self.machines(study)
        expect(there.locator("#machines")).to_contain_text("It takes no changes of this machine")
        study.run("game", "add", "Hearts")
        expect(there.locator("#found")).to_contain_text("has refused Hearts, because this machine may only read there.")

    def test_a_zone_for_some_machines(self):
        kitchen, study = self.household()
        page = self.machines(kitchen)
        page.get_by_label("A new zone").fill("Club")
        page.get_by_role("button", name="Create it").click()
        club = page.locator("#zone-list li", has_text="Club")
        expect(club).to_contain_text("This machine alone.")
        self.check_accessibility(page)
        # A new game is asked for its zone, and the study does not get it.
        page.get_by_role("link", name="Tonight").click()
        page.get_by_label("A new game").fill("Chess")
        page.get_by_role("button", name="Next").click()
        page.get_by_label("Zone").select_option("Club")
        page.get_by_label("Who plays?").fill("Ada, Alan")
        self.check_accessibility(page)
        page.get_by_role("button", name="Go").click()
        expect(page.get_by_role("button", name="Write down")).to_be_visible()
        self.assertEqual(kitchen.add("game", "list")[0]["zone"], "Club")
        kitchen.run("game", "add", "Hearts", "--zone", "ScorebookData")
        study.until(lambda: study.add("game", "list"))
        self.assertEqual([game["name"] for game in study.add("game", "list")], ["Hearts"])
        # Until somebody lets it have it.
        page.get_by_role("link", name="Machines").click()
        page.locator("#machines").get_by_role("link", name="study").click()
        page.get_by_label("In “Club” it may").select_option("only read")
        page.locator("form", has=page.get_by_label("In “Club” it may")).get_by_role("button").click()
        study.until(lambda: len(study.add("game", "list")) == 2)
        page.get_by_role("link", name="All machines").click()
        expect(club).to_contain_text("study may only read.")
        for name, text in (("Club", "there is a zone “Club” already"), ("Küche", "cannot name a zone")):
            page.get_by_label("A new zone").fill(name)
            page.get_by_role("button", name="Create it").click()
            expect(page.get_by_role("main")).to_contain_text(re.compile(text, re.IGNORECASE))
            page.go_back()
        self.forgive("422")

    def test_two_scorebooks_meet(self):
        kitchen, _ = self.household()
        kitchen.run("game", "add", "Hearts")
        cellar = self.machine("cellar")
        cellar.run("game", "add", "Skat")
        self.listen(cellar, "--name", "cellar")
        here, there = self.machines(kitchen), self.machines(cellar)
        here.goto(kitchen.address + "/machines/pair")
        here.get_by_role("button", name="Show a code").click()
        there.get_by_role("link", name="Pair a machine").click()
        there.get_by_role("textbox", name="Code").fill(here.locator(".code").inner_text())
        there.get_by_role("textbox", name="Address").fill(kitchen.place)
        there.get_by_role("button", name="Pair").click()
        expect(there.get_by_role("alert")).to_contain_text("Each of the two machines has a scorebook of its own.")
        for answer, text in (("Do not allow it", "The other machine has not allowed"), ("Allow it", "in sync with kitchen")):
            there.get_by_role("link", name="All machines").click()
            there.get_by_role("link", name="kitchen").click()
            there.get_by_role("button", name="Make one of them").click()
            here.goto(kitchen.address + "/machines")
            expect(here.locator("#machines form")).to_contain_text("cellar wants to make one of its scorebook (1 record)")
            self.check_accessibility(here)
            here.get_by_role("button", name=answer, exact=True).click()
            expect(there.locator("#pairing")).to_contain_text(text)
        self.assertIn("Skat", kitchen.run("game", "list"))
        self.assertIn("Hearts", cellar.run("game", "list"))

    def test_forgetting(self):
        kitchen, study = self.household()
        page = self.machines(kitchen)
        page.locator("#machines").get_by_role("link", name="study").click()
        page.get_by_text("Forget this machine").click()
        page.get_by_role("button", name="Forget it here").click()
        expect(page.locator("#machines")).to_contain_text("This machine is alone")
        there = self.machines(study)
        expect(there.locator("#machines li")).to_contain_text("It does not know this machine any more.")
        there.get_by_role("link", name="kitchen").click()
        there.get_by_text("Forget this machine").click()
        there.get_by_role("button", name="Remove it from the household").click()
        expect(there.locator("#machines")).to_contain_text("This machine is alone")
        # The page of the machine that has gone looked once more.
        self.forgive("404")
        self.assertNotIn("\nkitchen ", study.run("peers", "household"))

    def test_which_pictures_come(self):
        machine = self.listen(self.machine())
        page = self.machines(machine)
        page.get_by_label("Those under").check()
        page.get_by_label("Megabytes", exact=True).fill("2")
        page.get_by_role("button", name="Keep this choice").click()
        expect(page.get_by_label("Those under")).to_be_checked()
        self.assertEqual(machine.add("assets")["policy"], "under 2MB")
        page.get_by_label("Megabytes", exact=True).fill("many")
        page.get_by_role("button", name="Keep this choice").click()
        expect(page.get_by_role("main")).to_contain_text("Say how large a picture may be")
        self.forgive("422")
        self.assertEqual(machine.add("assets")["policy"], "under 2MB")

    def test_faults_are_found(self):
        kitchen, study = self.household()
        page = self.machines(kitchen)
        page.get_by_role("link", name="Look for faults").click()
        expect(page.get_by_role("main")).to_contain_text("the scorebook is sound")
        self.check_accessibility(page)
        study.stop()
        kitchen.run("peers", "rename", "study", "cellar")
        page.get_by_role("link", name="Look again").click()
        expect(page.get_by_role("main")).to_contain_text("cellar: ")

    def test_every_page_is_accessible(self):
        kitchen, study = self.household()
        kitchen.run("zone", "create", "Club")
        study.stop()
        kitchen.run("game", "add", "Hearts")
        for look in LOOKS:
            page = self.machines(kitchen, **look)
            expect(page.locator("#machines li")).to_contain_text("1 change waits")
            self.check_accessibility(page)
            page.locator("#machines").get_by_role("link", name="study").click()
            page.get_by_text("Forget this machine").click()
            self.check_accessibility(page)

    def test_a_machine_that_is_not_there(self):
        machine = self.listen(self.machine())
        page = self.browser(machine)
        page.goto(machine.address + "/machine/" + "0" * 64)
        expect(page.get_by_role("main")).to_contain_text("There is no such machine any more.")
        self.forgive("404")


if __name__ == "__main__":
    unittest.main()
