"""Records that somebody mends on the page, ends, deletes, and takes back."""

import unittest
import urllib.parse

from playwright.sync_api import expect

from browser_case import DESK, PHONE, BrowserCase
from screenshots import shot


class EditTests(BrowserCase):
    def match(self, machine, *arguments):
        """Adds a match, and returns the address of its page behind the machine's."""
        match = machine.add("match", "add", "Hearts", *arguments, "--new-game", "--new-persons")
        return "/matches/" + match["recordName"].split("|~|")[1]

    def sheet(self, machine):
        return machine.add("match", "show", "last")

    def open(self, *arguments, **options):
        """Serves a scorebook with a match, and opens the page of the match."""
        self.kitchen = self.machine()
        self.path = self.match(self.kitchen, *arguments)
        page = self.browser(self.kitchen.serve("web", "--port", "0"), **options)
        page.goto(self.kitchen.address + self.path)
        return page

    def edit(self, page):
        page.get_by_role("link", name="Edit", exact=True).click()
        expect(page.get_by_role("button", name="Save")).to_be_visible()

    def save(self, page, notice="Saved."):
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".notice")).to_contain_text(notice)

    def test_a_match_is_unfinished_until_somebody_ends_it(self):
        machine = self.machine()
        machine.run("game", "add", "Hearts")
        for name in ("Ada", "Alan"):
            machine.run("person", "add", name)
        page = self.browser(machine.serve("web", "--port", "0"))
        page.get_by_role("link", name="Hearts", exact=True).tap()
        page.get_by_role("checkbox", name="Ada").check()
        page.get_by_role("checkbox", name="Alan").check()
        page.get_by_role("button", name="Go").tap()
        page.get_by_role("textbox", name="Ada").fill("5")
        page.get_by_role("textbox", name="Alan").fill("7")
        page.get_by_role("button", name="Write down").tap()
        # It shows who leads, and counts nowhere.
        expect(page.locator("#sheet tfoot .leads")).to_have_text("7 leads")
        self.assertTrue(self.sheet(machine)["unfinished"])
        self.assertEqual(machine.add("stats")["plays"], 0)
        other = self.browser(machine)
        other.goto(page.url)
        expect(other.get_by_role("button", name="Finish")).to_be_visible()
        self.check_accessibility(page)
        shot(page, "match-unfinished")
        page.get_by_role("button", name="Finish").tap()
        expect(page.locator(".notice")).to_contain_text("Finished.")
        expect(page.get_by_role("button", name="Finish")).to_have_count(0)
        expect(other.get_by_role("button", name="Finish")).to_have_count(0)
        self.assertFalse(self.sheet(machine)["unfinished"])
        self.assertEqual(machine.add("stats")["plays"], 1)
        page.get_by_role("button", name="Take back").first.tap()
        expect(page.get_by_role("button", name="Finish")).to_be_visible()

    def test_everything_of_a_match_can_be_mended(self):
        for device in (PHONE, DESK):
            page = self.open("Ada=5", "Alan=7", "--date", "2024-03-05 19:30", "--location", "Kitchen", **device)
            self.edit(page)
            self.check_accessibility(page)
            shot(page, "edit-match")
            page.get_by_label("When").fill("2024-03-06T20:15")
            page.get_by_label("Place").fill("Study")
            page.get_by_label("Board or variant").fill("Passing")
            page.get_by_label("Minutes").fill("45")
            page.get_by_label("How good it was").fill("7,5")
            page.get_by_label("Notes").fill("First line\nSecond & <last>")
            page.get_by_label("Leave it out of statistics").check()
            page.get_by_role("group", name="Ada").get_by_label("Who it was").fill("Grace")
            page.get_by_role("group", name="Ada").get_by_label("Team").fill("red")
            page.get_by_role("group", name="Alan").get_by_label("Role").fill("dealer")
            page.get_by_role("group", name="Ada").get_by_label("Won").check()
            page.get_by_role("group", name="Alan").get_by_label("Won").uncheck()
            page.get_by_label("Who began").select_option(label="Alan")
            page.get_by_label("More players").fill("Kay, Barbara")
            self.save(page)
            self.check_accessibility(page)
            shot(page, "match-saved")
            sheet = self.sheet(self.kitchen)
            self.assertEqual(
                (sheet["location"], sheet["board"], sheet["durationMinutes"], sheet["notes"]),
                ("Study", "Passing", 45, "First line\nSecond & <last>"))
            players = {one["person"]: one for one in sheet["players"]}
            self.assertEqual(set(players), {"Grace", "Alan", "Kay", "Barbara"})
            self.assertEqual(players["Grace"]["team"], "red")
            self.assertEqual(players["Alan"]["role"], "dealer")
            self.assertTrue(players["Alan"]["startPlayer"])
            self.assertEqual([name for name in players if players[name]["winner"]], ["Grace"])
            record = self.kitchen.add("record", "show", sheet["recordName"])
            self.assertIn("7.5", str(record))
            self.edit(page)
            expect(page.get_by_label("When")).to_have_value("2024-03-06T20:15")
            expect(page.get_by_label("Notes")).to_have_value("First line\nSecond & <last>")
            expect(page.get_by_label("Leave it out of statistics")).to_be_checked()
            page.get_by_role("group", name="Kay").get_by_label("Take out").check()
            page.get_by_label("Place").fill("")
            page.get_by_label("Who won").select_option(label="Whoever the scores say")
            self.save(page)
            sheet = self.sheet(self.kitchen)
            self.assertIsNone(sheet["location"])
            self.assertNotIn("Kay", [one["person"] for one in sheet["players"]])

    def test_two_who_change_different_fields_lose_nothing(self):
        first = self.open("Ada=5", "Alan=7")
        second = self.browser(self.kitchen)
        second.goto(self.kitchen.address + self.path)
        self.edit(first)
        self.edit(second)
        first.get_by_label("Place").fill("Study")
        first.get_by_role("group", name="Ada").get_by_label("Team").fill("red")
        second.get_by_label("Minutes").fill("45")
        second.get_by_role("group", name="Alan").get_by_label("Team").fill("blue")
        self.save(first)
        self.save(second)
        sheet = self.sheet(self.kitchen)
        self.assertEqual((sheet["location"], sheet["durationMinutes"]), ("Study", 45))
        self.assertEqual({one["person"]: one["team"] for one in sheet["players"]}, {"Ada": "red", "Alan": "blue"})

    def test_a_form_means_the_players_that_it_showed(self):
        page = self.open("Ada=5", "Alan=7", "Grace=9")
        self.edit(page)
        # Meanwhile the players before this one are others.
        self.kitchen.run("match", "edit", "last", "--remove", "Ada")
        page.get_by_role("group", name="Alan").get_by_label("Role").fill("dealer")
        self.save(page)
        self.assertEqual(
            {one["person"]: one["role"] for one in self.sheet(self.kitchen)["players"]}, {"Alan": "dealer", "Grace": None})

    def test_a_slip_shows_what_was_typed(self):
        page = self.open("Ada", "Alan")
        before = self.sheet(self.kitchen)
        for label, slip, sentence in (
            ("How good it was", "11", "11 cannot be the rating"), ("Minutes", "soon", "“soon” is no number."),
            ("Game", "No such game", "No such game"), ("More players", "Ada", "plays in this match already"),
        ):
            page.goto(self.kitchen.address + self.path)
            self.edit(page)
            page.get_by_label("Place").fill("Study")
            page.get_by_label("Notes").fill("One\nTwo")
            page.get_by_role("group", name="Alan").get_by_label("Won").check()
            page.get_by_label(label).fill(slip)
            page.get_by_role("button", name="Save").tap()
            expect(page.get_by_role("alert")).to_contain_text(sentence)
            expect(page.get_by_label(label)).to_have_value(slip)
            expect(page.get_by_label("Place")).to_have_value("Study")
            expect(page.get_by_label("Notes")).to_have_value("One\nTwo")
            expect(page.get_by_role("group", name="Alan").get_by_label("Won")).to_be_checked()
            self.check_accessibility(page)
            self.assertEqual(self.sheet(self.kitchen), before)
        shot(page, "edit-slip")
        page.get_by_label("More players").fill("")
        self.save(page)
        self.assertEqual(self.sheet(self.kitchen)["location"], "Study")
        self.forgive("422")

    def test_a_wrong_date_is_told(self):
        page = self.open("Ada")
        page.goto(self.kitchen.address + self.path + "/edit")
        # A field for dates of a browser takes no such date; one without such fields sends what somebody typed.
        page.get_by_label("When").evaluate("field => field.type = 'text'")
        page.get_by_label("When").fill("2024-02-30 20:15")
        page.get_by_role("button", name="Save").tap()
        expect(page.get_by_role("alert")).to_contain_text("“2024-02-30 20:15” is no date")
        self.complaints = [one for one in self.complaints if "422" not in one and "does not conform" not in one]

    def test_a_game_and_a_person_are_mended(self):
        for device in (PHONE, DESK):
            page = self.open("Ada", "Alan", **device)
            page.get_by_role("link", name="About Hearts").click()
            self.edit(page)
            self.check_accessibility(page)
            shot(page, "edit-game")
            page.get_by_label("Name", exact=True).fill("Black Lady")
            page.get_by_label("Who wins").select_option(label="The lowest score")
            page.get_by_label("Players at least").fill("3")
            page.get_by_label("Players at most").fill("2")
            page.get_by_role("button", name="Save").click()
            expect(page.get_by_role("alert")).to_contain_text("at least 3 players cannot be for at most 2")
            expect(page.get_by_label("Who wins")).to_have_value("lowest")
            page.get_by_label("Players at most").fill("7")
            self.save(page)
            expect(page.get_by_role("heading", level=1)).to_have_text("Black Lady")
            expect(page.get_by_role("main")).to_contain_text("lowest score wins")
            page.get_by_role("navigation").get_by_role("link", name="People").click()
            page.get_by_role("link", name="Ada").click()
            self.edit(page)
            self.check_accessibility(page)
            page.get_by_label("Name", exact=True).fill("Ada Lovelace")
            page.get_by_label("E-mail address").fill("ada@example.org")
            self.save(page)
            self.assertIn(
                ("Ada Lovelace", "ada@example.org"),
                [(one["name"], one["emailAddress"]) for one in self.kitchen.add("person", "list")])
            self.edit(page)
            self.save(page, "Nothing was changed.")
            self.edit(page)
            page.get_by_label("Name", exact=True).fill("")
            page.get_by_role("button", name="Save").click()
            expect(page.get_by_role("alert")).to_contain_text("The name cannot be empty.")
            self.forgive("422")

    def test_one_form_is_taken_back_and_no_other(self):
        page = self.open("Ada", "Alan")
        self.edit(page)
        page.get_by_label("Place").fill("Study")
        self.save(page)
        first = page.url
        self.edit(page)
        page.get_by_label("Minutes").fill("45")
        self.save(page)
        page.goto(first)
        page.get_by_role("button", name="Take back").first.tap()
        expect(page.locator(".notice")).to_contain_text("Taken back.")
        sheet = self.sheet(self.kitchen)
        self.assertEqual((sheet["location"], sheet["durationMinutes"]), (None, 45))
        page.goto(first)
        expect(page.locator(".notice")).to_contain_text("Saved.")
        expect(page.locator(".notice button")).to_have_count(0)
        # The command of the terminal takes back the other form alone.
        self.assertIn("match edit", self.kitchen.run("undo"))
        self.assertIsNone(self.sheet(self.kitchen)["durationMinutes"])
        self.assertEqual(len(self.sheet(self.kitchen)["players"]), 2)

    def test_everything_works_without_a_script(self):
        page = self.open("Ada", "Alan", java_script_enabled=False)
        self.edit(page)
        page.get_by_label("Place").fill("Study")
        self.save(page)
        page.get_by_role("button", name="Take back").tap()
        expect(page.locator(".notice")).to_contain_text("Taken back.")
        self.assertIsNone(self.sheet(self.kitchen)["location"])

    def test_hostile_texts_stay_texts(self):
        hostile = "\"><script>document.title='owned'</script><img src=x onerror=alert(1)>{{path}}"
        page = self.open("Ada", "Alan")
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.edit(page)
        for label in ("Place", "Board or variant", "Notes"):
            page.get_by_label(label).fill(hostile)
        for label in ("Who it was", "Team", "Role"):
            page.get_by_role("group", name="Ada").get_by_label(label).fill(hostile)
        self.save(page)
        for path in (self.path, self.path + "/edit", self.path + "/delete"):
            page.goto(self.kitchen.address + path)
            self.assertNotIn("owned", page.title())
            self.assertEqual(page.locator("main script, main img").count(), 0)
        page.goto(self.kitchen.address + self.path + "/edit")
        expect(page.get_by_label("Place")).to_have_value(hostile)
        expect(page.get_by_label("Notes")).to_have_value(hostile)
        # A link to a page of ours cannot lead elsewhere, or show a text of somebody else.
        query = urllib.parse.urlencode({"done": "<script>", "run": "x", "to": "//evil.example"})
        page.goto(f"{self.kitchen.address}/matches?{query}")
        expect(page.locator(".notice")).to_have_count(0)
        query = urllib.parse.urlencode({"done": "saved", "run": "x", "to": "//evil.example"})
        page.goto(f"{self.kitchen.address}/matches?{query}")
        expect(page.locator(".notice")).to_have_text("Saved.")


if __name__ == "__main__":
    unittest.main()
