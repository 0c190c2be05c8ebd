"""Scores at the table: started with three taps, and typed by several."""

import re
import unittest

from playwright.sync_api import expect

from browser_case import DESK
from table_case import TableCase


class TableTests(TableCase):
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
        expect(page.locator("#open li")).to_have_count(2)

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

    def test_a_new_game_has_the_name_that_was_typed(self):
        machine = self.machine()
        page = self.browser(machine.serve("web", "--port", "0"))
        name = "Ticket to Ride + 1912 & 100 %"
        page.get_by_label("A new game").fill(name)
        page.get_by_role("button", name="Next").tap()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        page.get_by_label("Who plays?").fill("Ada")
        page.get_by_role("button", name="Go").tap()
        expect(page.get_by_role("button", name="Write down")).to_be_visible()
        self.assertEqual([one["name"] for one in machine.add("game", "list")], [name])

    def test_a_form_that_is_sent_twice_begins_one_match(self):
        machine = self.machine()
        self.match(machine, "Ada", "Alan")
        page = self.browser(machine.serve("web", "--port", "0"))
        page.get_by_role("link", name="Hearts", exact=True).tap()
        page.get_by_role("checkbox", name="Ada").check()
        send_twice = """() => {
          const send = () => fetch("/new", {
            method: "POST", body: new URLSearchParams(new FormData(document.querySelector("form[action='/new']"))),
          });
          return Promise.all([send(), send()]).then((answers) => answers.map((one) => one.url));
        }"""
        begun = page.evaluate(send_twice) + page.evaluate(send_twice)
        self.assertEqual(len(set(begun)), 1, begun)
        self.assertIn("/matches/", begun[0])
        self.assertEqual(len(machine.add("match", "list")), 2)
        # Whoever goes back and takes others begins another one, and so does who has deleted it.
        page.get_by_role("checkbox", name="Alan").check()
        others = page.evaluate(send_twice)
        self.assertNotIn(others[0], begun)
        machine.run("match", "delete", "SBMatch|~|" + others[0].split("/matches/")[1], "--yes")
        page.get_by_role("button", name="Go").tap()
        expect(page.locator("#sheet thead th")).to_have_count(3)
        self.assertNotEqual(page.url, others[0])
        # A match that is over is not the one that somebody begins now.
        over = page.url
        page.go_back()
        machine.run("match", "edit", "last", "--finished")
        page.get_by_role("button", name="Go").tap()
        expect(page.locator("#sheet thead th")).to_have_count(3)
        self.assertNotEqual(page.url, over)

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
        self.forgive("409")
        second.get_by_role("button", name="Take mine").tap()
        expect(self.cell(first, 1, 2)).to_have_text("8")
        expect(first.locator("#sheet tfoot tr").first.locator("td").nth(1)).to_have_text(re.compile("8"))

    def test_a_slip_is_told_and_nothing_is_written(self):
        page = self.table()
        page.get_by_role("textbox", name="Ada").fill("3,5")
        page.get_by_role("button", name="Write down").tap()
        expect(page.get_by_role("status")).to_contain_text("“3,5” is no number that can be added up")
        self.forgive("422")
        self.assertEqual(self.kitchen.add("score", "list", "--match", "last"), [])

    def test_a_slip_leaves_everything_in_its_field(self):
        page = self.table()
        self.write_down(page, Ada="3,5", Alan="7")
        expect(page.get_by_role("status")).to_contain_text("“3,5” is no number that can be added up")
        self.forgive("422")
        expect(page.get_by_role("textbox", name="Alan")).to_have_value("7")
        page.reload()
        expect(page.get_by_role("textbox", name="Alan")).to_have_value("7")
        self.write_down(page, Ada="3")
        expect(page.get_by_role("status")).to_contain_text("Written down")
        expect(self.cell(page, 1, 1)).to_have_text("3")
        expect(self.cell(page, 1, 2)).to_have_text("7")

    def test_what_is_typed_comes_back_with_the_page(self):
        page = self.table()
        page.get_by_role("textbox", name="Ada").tap()
        for key in ("−", "1", "2"):
            page.get_by_role("button", name="Minus" if key == "−" else key, exact=True).tap()
        expect(page.get_by_role("textbox", name="Ada")).to_have_value("-12")
        page.reload()
        expect(page.get_by_role("textbox", name="Ada")).to_have_value("-12")
        page.get_by_role("button", name="Write down").tap()
        expect(self.cell(page, 1, 1)).to_have_text("-12")
        page.reload()
        expect(page.get_by_label("Scores of round")).to_have_value("1")
        expect(page.get_by_role("textbox", name="Alan")).to_have_value("")

    def test_the_keys_of_a_phone_type_every_score(self):
        page = self.table()
        ada, alan = (page.get_by_role("textbox", name=name) for name in ("Ada", "Alan"))
        ada.tap()
        for key in ("3", "Decimal point", "5", "Next", "abc"):
            page.get_by_role("button", name=key).tap()
        self.check_accessibility(page)
        expect(ada).to_have_value("3.5")
        # The browser shows its own keyboard for this field, until somebody leaves it.
        expect(alan).to_be_focused()
        expect(alan).to_have_attribute("inputmode", "text")
        page.keyboard.type("DNF")
        page.get_by_role("button", name="Delete the last character").tap()
        expect(alan).to_have_attribute("inputmode", "none")
        expect(alan).to_have_value("DN")
        self.write_down(page, Alan="2:30")
        expect(self.cell(page, 1, 1)).to_have_text("3.5")
        expect(self.cell(page, 1, 2)).to_have_text("2:30")

    def test_scores_of_the_whole_match_are_mended(self):
        page = self.table("Ada=10", "Alan=8")
        total = page.locator("#sheet tfoot tr").first.locator("td").first
        for look, score in (({}, "12"), ({"java_script_enabled": False}, "13")):
            page = self.another(self.kitchen, **look)
            expect(page.get_by_label("Scores of round")).to_have_count(0)
            expect(page.get_by_role("textbox", name="Alan")).to_have_value("8")
            self.write_down(page, Ada=score)
            page.get_by_role("button", name="Take mine").tap()
            expect(total).to_have_text(f"{score} leads")
        self.assertEqual(
            [(one["round"], one["points"]) for one in self.kitchen.add("score", "list", "--match", "last")],
            [(None, 13), (None, 8)])
        self.forgive("409")

    def test_the_form_follows_the_first_scores(self):
        page = self.table()
        expect(page.get_by_label("Scores of round")).to_have_value("1")
        self.kitchen.run("score", "add", "last", "Ada=10")
        expect(page.get_by_label("Scores of round")).to_have_count(0)
        expect(page.get_by_role("textbox", name="Ada")).to_have_value("10")
        self.kitchen.run("score", "add", "last", "Ada=2", "--round", "1")
        expect(page.get_by_label("Scores of round")).to_have_value("1")

    def test_another_machine_sees_it(self):
        self.kitchen, study = self.household()
        self.path = self.match(self.kitchen, "Ada", "Alan")
        study.until(lambda: study.add("match", "list"))
        here, there = self.another(self.kitchen), self.another(study, **DESK)
        self.write_down(here, Ada="5")
        expect(self.cell(there, 1, 1)).to_have_text("5")
        # And what a program on this machine writes.
        study.run("score", "add", "last", "Alan=9", "--round", "1")
        expect(self.cell(here, 1, 2)).to_have_text("9")
        there.get_by_role("button", name="Finish").click()
        expect(here.get_by_role("button", name="Finish")).to_have_count(0)

    def test_two_machines_that_do_not_see_each_other_lose_nothing(self):
        self.kitchen, study = self.household()
        self.path = self.match(self.kitchen, "Ada", "Alan")
        study.until(lambda: study.add("match", "list"))
        here, there = self.another(self.kitchen), self.another(study)
        study.run("sync", "off")
        self.write_down(here, Ada="5", Alan="7")
        self.write_down(there, Alan="8")
        for page in (here, there):
            expect(page.get_by_role("status")).to_contain_text("Written down")
        study.run("sync", "on")
        # Both scores are there, until somebody says which one is right.
        for page in (here, there):
            expect(self.cell(page, 1, 1)).to_have_text("5")
            expect(self.cell(page, 1, 2)).to_have_text(re.compile("7 [+] 8|8 [+] 7"))
        self.write_down(here, round=1, Alan="8")
        expect(here.get_by_role("status")).to_contain_text("you typed 8")
        here.get_by_role("button", name="Take mine").tap()
        for page in (here, there):
            expect(self.cell(page, 1, 2)).to_have_text("8")
        self.forgive("409")

    def test_the_keyboard_is_enough(self):
        machine = self.machine()
        machine.run("person", "add", "Ada")
        page = self.browser(machine.serve("web", "--port", "0"), **DESK)

        def go(name, tag="INPUT"):
            """Goes to a field, box or button as who has no mouse does."""
            for _ in range(60):
                page.keyboard.press("Tab")
                here = page.evaluate("""() => {
                  const { tagName, labels, textContent } = document.activeElement;
                  return [tagName, ...[...(labels ?? []), { textContent }].map((one) => one.textContent.trim())];
                }""")
                if here[0] == tag and name in here[1:]:
                    # Whoever sees where they are finds the way.
                    self.assertTrue(page.evaluate("document.activeElement.matches(':focus-visible')"))
                    return
            self.fail(f"the keyboard does not reach {name}")

        go("A new game")
        page.keyboard.type("Skat")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Skat")
        go("Ada")
        page.keyboard.press("Space")
        go("Somebody new")
        page.keyboard.type("Alan")
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Write down")).to_be_visible()
        go("Ada")
        page.keyboard.type("18")
        go("Alan")
        page.keyboard.type("-36")
        page.keyboard.press("Enter")
        expect(self.cell(page, 1, 2)).to_have_text("-36")
        go("Finish", "BUTTON")
        page.keyboard.press("Enter")
        expect(page.locator("#sheet")).to_contain_text("Ada has won.")

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
        # What was written is taken back without a script, too.
        page.get_by_label("Scores of round").fill("2")
        page.get_by_role("textbox", name="Ada").fill("7")
        page.get_by_role("button", name="Write down").tap()
        expect(self.cell(page, 2, 1)).to_have_text("7")
        page.get_by_role("button", name="Take back").tap()
        expect(page.locator("#sheet tbody tr")).to_have_count(1)
        self.forgive("409")


if __name__ == "__main__":
    unittest.main()
