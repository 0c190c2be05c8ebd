"""Entries of scores: they wait without a network, come again, conflict, replace what is there, and are taken back."""

import unittest

from playwright.sync_api import expect

from table_case import TableCase


class EntryTests(TableCase):
    def test_an_entry_is_taken_back(self):
        page = self.table()
        page.get_by_role("textbox", name="Ada").fill("-5")
        page.get_by_role("button", name="Write down").tap()
        expect(self.cell(page, 1, 1)).to_have_text("-5")
        page.get_by_role("button", name="Take back").tap()
        expect(page.locator("#sheet tbody tr")).to_have_count(0)

    def take_mine(self, page, **scores):
        """Writes scores in the place of those that others have written in round 1."""
        self.write_down(page, round=1, **scores)
        page.get_by_role("button", name="Take mine").tap()
        expect(page.get_by_role("status")).to_contain_text("Written down")
        self.forgive("409")

    def test_what_an_entry_replaced_comes_back(self):
        page = self.table()
        self.kitchen.run("score", "add", "last", "Ada=5", "--round", "1")
        self.take_mine(page, Ada="7")
        expect(self.cell(page, 1, 1)).to_have_text("7")
        page.get_by_role("button", name="Take back").tap()
        expect(page.get_by_role("status")).to_have_text("Taken back.")
        expect(self.cell(page, 1, 1)).to_have_text("5")

    def test_what_somebody_corrected_is_not_taken_back(self):
        page = self.table()
        other = self.another(self.kitchen)
        for correct in (
            lambda: self.take_mine(other, Ada="7"),
            lambda: self.kitchen.run("score", "set", "last", "Ada=7", "--round", "2"),
        ):
            self.write_down(page, Ada="5")
            expect(page.get_by_role("button", name="Take back")).to_be_visible()
            correct()
            page.get_by_role("button", name="Take back").tap()
            expect(page.get_by_role("status")).to_contain_text("Nothing was taken back: somebody has changed it since.")
            expect(self.cell(page, 1, 1)).to_have_text("7")
            page.get_by_label("Scores of round").fill("2")
        self.assertEqual([one["points"] for one in self.kitchen.add("score", "list", "--match", "last")], [7, 7])

    def test_what_cannot_be_taken_back_now_is_told(self):
        page = self.table()
        self.write_down(page, Ada="5")
        page.route("**/back", lambda route: route.fulfill(status=500, json={"message": "Not now."}))
        page.get_by_role("button", name="Take back").tap()
        expect(page.get_by_role("status")).to_contain_text("Not now.")
        page.unroute("**/back")
        page.context.clear_cookies()
        page.get_by_role("button", name="Take back").tap()
        expect(page.get_by_role("status")).to_contain_text("This browser does not know this scorebook yet.")
        expect(page.get_by_role("button", name="Take back")).to_be_visible()
        self.forgive("500", "401")

    def test_a_correction_stays_when_what_it_corrects_comes_again(self):
        page = self.table()
        self.kitchen.run("score", "add", "last", "Ada=5", "--round", "1")
        answers = []

        def lose(route):
            answers.append(route.fetch())
            route.abort()

        self.write_down(page, round=1, Ada="7")
        expect(page.get_by_role("button", name="Take mine")).to_be_visible()
        page.route("**/scores", lose)
        page.get_by_role("button", name="Take mine").tap()
        expect(page.get_by_role("status")).to_contain_text("One entry waits")
        self.kitchen.run("score", "set", "last", "Ada=9", "--round", "1")
        page.unroute("**/scores")
        expect(page.get_by_role("status")).to_contain_text("Written down")
        expect(self.cell(page, 1, 1)).to_have_text("9")
        self.assertEqual([one["points"] for one in self.kitchen.add("score", "list", "--match", "last")], [9])
        self.forgive("409", "ERR_FAILED")

    def test_what_is_typed_without_network_comes_later(self):
        page = self.table()
        page.context.set_offline(True)
        for round in (1, 2):
            page.get_by_label("Scores of round").fill(str(round))
            page.get_by_role("textbox", name="Ada").fill("5")
            page.get_by_role("textbox", name="Alan").fill(str(6 + round))
            page.get_by_role("button", name="Write down").tap()
            expect(page.get_by_role("status")).to_contain_text("network")
        expect(page.get_by_role("status")).to_contain_text("2 entries wait")
        page.context.set_offline(False)
        expect(self.cell(page, 2, 2)).to_have_text("8")
        self.forgive("ERR_INTERNET_DISCONNECTED")
        self.assertEqual(
            sorted((one["round"], one["points"]) for one in self.kitchen.add("score", "list", "--match", "last")),
            [(1, 5), (1, 7), (2, 5), (2, 8)])

    def test_a_score_is_typed_that_the_field_has_shown(self):
        page = self.table()
        self.write_down(page, Ada="5")
        expect(self.cell(page, 1, 1)).to_have_text("5")
        ada = page.get_by_role("textbox", name="Ada")
        expect(ada).to_have_value("5")
        # The field shows round 1, which is open, and nothing of another round, also when the page comes back.
        page.get_by_label("Scores of round").fill("2")
        expect(ada).to_have_value("")
        page.get_by_role("textbox", name="Alan").fill("3")
        page.reload()
        expect(page.get_by_label("Scores of round")).to_have_value("2")
        expect(ada).to_have_value("")
        self.write_down(page, Ada="5")
        expect(self.cell(page, 2, 2)).to_have_text("3")
        expect(self.cell(page, 2, 1)).to_have_text("5")

    def test_an_answer_that_is_lost_writes_nothing_twice(self):
        page = self.table()
        answers = []

        def lose(route):
            answers.append(route.fetch())
            route.abort() if len(answers) == 1 else route.fulfill(response=answers[-1])

        page.route("**/scores", lose)
        page.get_by_role("textbox", name="Ada").fill("5")
        page.get_by_role("button", name="Write down").tap()
        page.get_by_role("button", name="Try now").tap()
        expect(page.get_by_role("status")).to_contain_text("Written down")
        self.assertEqual(len(answers), 2)
        self.assertEqual(len(self.kitchen.add("score", "list", "--match", "last")), 1)
        self.forgive("ERR_FAILED")

    def test_an_entry_that_conflicts_is_asked_about_until_somebody_answers(self):
        page = self.table()
        page.context.set_offline(True)
        self.write_down(page, round=1, Alan="8")
        self.write_down(page, round=2, Alan="9")
        self.kitchen.run("score", "add", "last", "Alan=7", "--round", "1")
        page.context.set_offline(False)
        # The next entry is written all the same, and the question is not gone with the page.
        expect(self.cell(page, 2, 2)).to_have_text("9")
        question = "Round 1: Alan has 7 already, you typed 8."
        expect(page.get_by_role("status")).to_contain_text(question)
        page.goto(self.kitchen.address + "/")
        expect(page.get_by_role("status")).to_contain_text(question)
        page.get_by_role("button", name="Take mine").tap()
        expect(page.get_by_role("status")).to_contain_text("Written down")
        page.goto(self.kitchen.address + self.path)
        expect(self.cell(page, 1, 2)).to_have_text("8")
        self.forgive("ERR_INTERNET_DISCONNECTED", "409")

    def test_who_joins_has_a_field_on_open_phones(self):
        page = self.table()
        self.kitchen.run("match", "edit", "last", "--add", "Grace", "--new-persons")
        self.write_down(page, Grace="4")
        expect(self.cell(page, 1, 3)).to_have_text("4")

    def test_who_has_left_keeps_nobody_from_scoring(self):
        page = self.table()
        page.get_by_role("textbox", name="Ada").fill("5")
        page.get_by_role("textbox", name="Alan").fill("7")
        self.kitchen.run("match", "edit", "last", "--remove", "Alan")
        page.get_by_role("button", name="Write down").tap()
        expect(page.get_by_role("status")).to_contain_text("Round 1: Alan does not play any more, you typed 7.")
        expect(self.cell(page, 1, 1)).to_have_text("5")
        expect(page.get_by_role("textbox", name="Alan")).to_have_count(0)
        page.get_by_role("button", name="Forget it").tap()
        expect(page.get_by_role("status")).to_have_text("")
        self.forgive("409")

    def test_who_has_left_is_named_without_a_script(self):
        page = self.table(java_script_enabled=False)
        page.get_by_role("textbox", name="Ada").fill("5")
        page.get_by_role("textbox", name="Alan").fill("7")
        self.kitchen.run("match", "edit", "last", "--remove", "Alan")
        page.get_by_role("button", name="Write down").tap()
        expect(page.get_by_role("main")).to_contain_text("Alan does not play any more: 7 is not written.")
        page.get_by_role("link", name="Back to the match").tap()
        expect(self.cell(page, 1, 1)).to_have_text("5")
        self.forgive("409")

    def test_an_entry_waits_while_the_scorebook_cannot_take_it(self):
        page = self.table()
        page.route("**/scores", lambda route: route.fulfill(status=503, json={"message": "Not now."}))
        self.write_down(page, Ada="5")
        expect(page.get_by_role("status")).to_contain_text("One entry waits for the scorebook")
        page.reload()
        page.unroute("**/scores")
        expect(page.get_by_role("status")).to_contain_text("Written down")
        expect(self.cell(page, 1, 1)).to_have_text("5")
        self.forgive("503")

    def test_an_entry_waits_until_the_browser_is_let_in_again(self):
        page = self.table()
        page.get_by_role("textbox", name="Ada").fill("5")
        page.context.clear_cookies()
        page.get_by_role("button", name="Write down").click()
        expect(page.get_by_role("status")).to_contain_text("One entry waits until this browser is let in again")
        page.goto(self.kitchen.link)
        expect(page.get_by_role("status")).to_contain_text("Written down")
        self.assertEqual(len(self.kitchen.add("score", "list", "--match", "last")), 1)
        self.forgive("401")


if __name__ == "__main__":
    unittest.main()
