"""How a match begins and ends where scores do not say it: teams, games without points, all together, and what goes on another day."""

import unittest

from playwright.sync_api import expect

from browser_case import DESK, PHONE, BrowserCase


class EndingTests(BrowserCase):
    def begin(self, *options, **look):
        """Begins a match of a game with some options, and opens its page."""
        self.kitchen = self.machine()
        self.kitchen.run("game", "add", "Charades", *options)
        match = self.kitchen.add("match", "add", "Charades", "Ada", "Alan", "Grace", "--new-persons", "--unfinished")
        self.path = "/matches/" + match["recordName"].split("|~|")[1]
        page = self.browser(self.kitchen.serve("web", "--port", "0"), **look)
        page.goto(self.kitchen.address + self.path)
        return page

    def winners(self):
        [match] = self.kitchen.add("match", "list")
        self.assertFalse(match["unfinished"])
        return match["winners"]

    def test_without_points_somebody_says_who_has_won(self):
        for look in (PHONE, {**DESK, "java_script_enabled": False}):
            page = self.begin("--no-points", "true", **look)
            expect(page.get_by_role("button", name="Write down")).to_have_count(0)
            page.get_by_role("checkbox", name="Alan").check()
            page.get_by_role("button", name="Finish").click()
            expect(page.locator("#sheet")).to_contain_text("Alan has won.")
            self.assertEqual(self.winners(), ["Alan"])
            page.get_by_role("button", name="Take back").click()
            expect(page.get_by_role("button", name="Finish")).to_be_visible()
            self.assertEqual(self.kitchen.add("match", "list")[0]["winners"], [])

    def test_all_win_or_lose_together(self):
        page = self.begin("--cooperative", "true")
        self.check_accessibility(page)
        page.get_by_role("button", name="We have won").tap()
        expect(page.locator("#sheet")).to_contain_text("All have won together.")
        self.assertEqual(self.winners(), ["Ada", "Alan", "Grace"])
        page.get_by_role("button", name="Take back").tap()
        page.get_by_role("button", name="We have lost").tap()
        expect(page.locator("#sheet")).to_contain_text("All have lost.")
        self.assertEqual(self.winners(), [])

    def test_teams(self):
        page = self.begin("--uses-teams", "true")
        teams = page.locator("details", has=page.get_by_role("button", name="Keep the teams"))
        for name, team in (("Ada", "red"), ("Alan", "blue"), ("Grace", "blue")):
            teams.get_by_label(name).fill(team)
        self.check_accessibility(page)
        teams.get_by_role("button", name="Keep the teams").tap()
        expect(page.locator("#sheet thead")).to_contain_text("Alan blue")
        for name, score in (("Ada", "3"), ("Alan", "5"), ("Grace", "5")):
            page.get_by_role("textbox", name=name).and_(page.locator("[data-score]")).fill(score)
        page.get_by_role("button", name="Write down").tap()
        expect(page.locator("#sheet")).to_contain_text("Alan and Grace lead.")
        page.get_by_role("button", name="Finish").tap()
        expect(page.locator("#sheet")).to_contain_text("Alan and Grace have won.")

    def test_a_slip_in_the_teams_loses_nothing(self):
        page = self.begin("--uses-teams", "true")
        teams = page.locator("details", has=page.get_by_role("button", name="Keep the teams"))
        for name in ("Ada", "Alan"):
            teams.get_by_label(name).fill("red")
        # Meanwhile one has gone, and another one has a team.
        self.kitchen.run("match", "edit", "last", "--remove", "Ada", "--team", "Grace=blue")
        teams.get_by_role("button", name="Keep the teams").tap()
        expect(page.get_by_role("alert")).to_be_visible()
        expect(page.get_by_label("Game")).to_have_value("Charades")
        expect(page.locator("fieldset legend")).to_have_text(["Alan", "Grace"])
        expect(page.get_by_role("group", name="Alan").get_by_label("Team")).to_have_value("red")
        self.check_accessibility(page)
        page.get_by_role("button", name="Save").tap()
        expect(page.locator(".notice")).to_contain_text("Saved.")
        sheet = self.kitchen.add("match", "show", "last")
        self.assertEqual({one["person"]: one["team"] for one in sheet["players"]}, {"Alan": "red", "Grace": "blue"})
        self.forgive("422")

    def test_the_rule_of_a_new_game(self):
        machine = self.machine()
        page = self.browser(machine.serve("web", "--port", "0"))
        page.get_by_label("A new game").fill("Hearts")
        page.get_by_role("button", name="Next").tap()
        page.get_by_label("Who plays?").fill("Ada, Alan")
        page.get_by_label("Who wins").select_option("the lowest score")
        page.get_by_role("button", name="Go").tap()
        expect(page.locator(".facts")).to_contain_text("lowest score wins")
        page.get_by_role("textbox", name="Ada").fill("5")
        page.get_by_role("textbox", name="Alan").fill("7")
        page.get_by_role("button", name="Write down").tap()
        expect(page.locator("#sheet")).to_contain_text("Ada leads.")
        self.check_accessibility(page)

    def test_what_goes_on_is_on_the_first_page(self):
        page = self.begin()
        other = self.browser(self.kitchen)
        expect(other.locator("#open li")).to_contain_text("Charades")
        expect(other.locator("#latest li")).to_have_count(0)
        self.check_accessibility(other)
        page.get_by_role("button", name="Finish").tap()
        expect(other.locator("#open li")).to_have_count(0)
        expect(other.locator("#latest li")).to_have_count(1)

    def test_a_form_that_says_nothing_ends_nothing(self):
        page = self.begin()
        for form in ({}, {"by": "nobody"}):
            answer = page.request.post(
                self.kitchen.address + self.path + "/finish", form=form, headers={"Origin": self.kitchen.address})
            self.assertEqual(answer.status, 400)
        self.assertTrue(self.kitchen.add("match", "list")[0]["unfinished"])


if __name__ == "__main__":
    unittest.main()
