"""Scores at the table: started with three taps, typed by several, and kept when the network goes."""

import re
import unittest

from playwright.sync_api import expect

from browser_case import BrowserCase


class TableTests(BrowserCase):
    def match(self, machine, *players):
        """Adds a match, and returns the path of its page."""
        match = machine.add("match", "add", "Hearts", *players, "--new-game", "--new-persons")
        return "/matches/" + match["recordName"].split("|~|")[1]

    def cell(self, page, row, column):
        return page.locator(f"#sheet tbody tr:nth-child({row}) td:nth-of-type({column})")

    def test_three_taps_begin_a_match(self):
        machine = self.machine()
        self.match(machine, "Ada", "Alan")
        page = self.browser(machine.serve("web", "--port", "0"))
        page.get_by_role("link", name="Hearts", exact=True).tap()
        page.get_by_role("checkbox", name="Alan").check()
        page.get_by_role("checkbox", name="Ada").check()
        page.get_by_role("button", name="Go").tap()
        expect(page.get_by_role("heading", name="Hearts")).to_be_visible()
        expect(page.locator("#sheet thead th")).to_have_count(3)
        page.get_by_role("link", name="Tonight").tap()
        expect(page.locator("#latest li")).to_have_count(2)

    def test_a_new_game_with_new_people(self):
        machine = self.machine()
        machine.run("person", "add", "Ada")
        page = self.browser(machine.serve("web", "--port", "0"))
        page.get_by_label("A new game").fill("Skat")
        page.get_by_role("button", name="Next").tap()
        page.get_by_role("checkbox", name="Ada").check()
        page.get_by_label("Somebody new").fill("Grace Hopper, Alan")
        page.get_by_role("button", name="Go").tap()
        expect(page.locator("#sheet thead th")).to_have_count(4)
        self.assertIn("Grace Hopper", machine.run("person", "list"))

    def test_each_sees_what_the_other_enters(self):
        machine = self.machine()
        path = self.match(machine, "Ada", "Alan")
        machine.serve("web", "--port", "0")
        first, second = self.browser(machine), self.browser(machine)
        for page in (first, second):
            page.goto(machine.address + path)
        first.get_by_role("textbox", name="Ada").fill("5")
        first.get_by_role("button", name="Write down").tap()
        expect(self.cell(second, 1, 1)).to_have_text("5")
        # Both at once: each has typed before the other's score comes.
        first.get_by_role("textbox", name="Alan").fill("7")
        second.get_by_role("textbox", name="Alan").fill("8")
        first.get_by_role("button", name="Write down").tap()
        expect(self.cell(first, 1, 2)).to_have_text("7")
        expect(second.get_by_role("textbox", name="Alan")).to_have_value("8")
        second.get_by_role("button", name="Write down").tap()
        expect(second.get_by_role("status")).to_contain_text("Alan has 7 already, you typed 8")
        self.complaints = [one for one in self.complaints if "409" not in one]
        second.get_by_role("button", name="Take mine").tap()
        expect(self.cell(first, 1, 2)).to_have_text("8")
        expect(first.locator("#sheet tfoot tr").first.locator("td").nth(1)).to_have_text(re.compile("8"))

    def test_an_entry_is_taken_back(self):
        machine = self.machine()
        path = self.match(machine, "Ada", "Alan")
        page = self.browser(machine.serve("web", "--port", "0"))
        page.goto(machine.address + path)
        page.get_by_role("textbox", name="Ada").fill("-5")
        page.get_by_role("button", name="Write down").tap()
        expect(self.cell(page, 1, 1)).to_have_text("-5")
        page.get_by_role("button", name="Take back").tap()
        expect(page.locator("#sheet tbody tr")).to_have_count(0)

    def test_what_is_typed_without_network_comes_later(self):
        machine = self.machine()
        path = self.match(machine, "Ada", "Alan")
        page = self.browser(machine.serve("web", "--port", "0"))
        page.goto(machine.address + path)
        page.context.set_offline(True)
        for round, score in ((1, "5"), (2, "6")):
            page.get_by_label("Scores of round").fill(str(round))
            page.get_by_role("textbox", name="Ada").fill(score)
            page.get_by_role("button", name="Write down").tap()
            expect(page.get_by_role("status")).to_contain_text("network")
        expect(page.get_by_role("status")).to_contain_text("2 entries wait")
        page.context.set_offline(False)
        expect(self.cell(page, 2, 1)).to_have_text("6")
        self.complaints = [one for one in self.complaints if "ERR_INTERNET_DISCONNECTED" not in one]
        self.assertEqual(len(machine.add("score", "list", "--match", "last")), 2)

    def test_an_answer_that_is_lost_writes_nothing_twice(self):
        machine = self.machine()
        path = self.match(machine, "Ada", "Alan")
        page = self.browser(machine.serve("web", "--port", "0"))
        page.goto(machine.address + path)
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
        self.assertEqual(len(machine.add("score", "list", "--match", "last")), 1)
        self.complaints = [one for one in self.complaints if "ERR_FAILED" not in one]

    def test_a_slip_is_told_and_nothing_is_written(self):
        machine = self.machine()
        path = self.match(machine, "Ada", "Alan")
        page = self.browser(machine.serve("web", "--port", "0"))
        page.goto(machine.address + path)
        page.get_by_role("textbox", name="Ada").fill("3,5")
        page.get_by_role("button", name="Write down").tap()
        expect(page.get_by_role("status")).to_contain_text("“3,5” is no number that can be added up")
        self.complaints = [one for one in self.complaints if "422" not in one]
        self.assertEqual(machine.add("score", "list", "--match", "last"), [])

    def test_another_machine_sees_it(self):
        kitchen, study = self.machine("kitchen"), self.machine("study")
        path = self.match(kitchen, "Ada", "Alan")
        live = ("listen", "--port", "0", "--host", "127.0.0.1", "--no-discovery", "--web", "--web-port", "0")
        kitchen.serve(*live, "--pair")
        code = kitchen.event("pairingCode")["code"]
        kitchen_address = "127.0.0.1:{}".format(kitchen.event("listening")["port"])
        study.run("connect", kitchen_address, "--code", code, "--once")
        study.serve(*live, "--connect", kitchen_address)
        here, there = self.browser(kitchen), self.browser(study)
        here.goto(kitchen.address + path)
        there.goto(study.address + path)
        here.get_by_role("textbox", name="Ada").fill("5")
        here.get_by_role("button", name="Write down").tap()
        expect(self.cell(there, 1, 1)).to_have_text("5")
        # And what a program on this machine writes.
        study.run("score", "add", "last", "Alan=9", "--round", "1")
        expect(self.cell(here, 1, 2)).to_have_text("9")

    def test_everything_works_without_a_script(self):
        machine = self.machine()
        path = self.match(machine, "Ada", "Alan")
        page = self.browser(machine.serve("web", "--port", "0"), java_script_enabled=False)
        page.get_by_role("link", name="Hearts", exact=True).tap()
        page.get_by_role("checkbox", name="Ada").check()
        page.get_by_role("button", name="Go").tap()
        page.get_by_role("textbox", name="Ada").fill("5")
        page.get_by_role("button", name="Write down").tap()
        expect(self.cell(page, 1, 1)).to_have_text("5")
        page.get_by_label("Scores of round").fill("1")
        page.get_by_role("textbox", name="Ada").fill("6")
        page.get_by_role("button", name="Write down").tap()
        expect(page.get_by_role("heading", name="Who is right?")).to_be_visible()
        page.get_by_role("button", name="Take mine").tap()
        expect(self.cell(page, 1, 1)).to_have_text("6")
        page.goto(machine.address + path)
        self.complaints = [one for one in self.complaints if "409" not in one]


if __name__ == "__main__":
    unittest.main()
