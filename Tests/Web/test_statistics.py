"""The figures as images: the numbers of `stats`, for everybody, on every screen."""

import json
import re
import unittest

from playwright.sync_api import expect

from browser_case import DESK, LOOKS, BrowserCase

PATHS = ("/statistics", "/statistics?year=2024", "/statistics?person=Ida Brandt", "/statistics?game=Catan")


class StatisticsTests(BrowserCase):
    def household(self):
        machine = self.filled_machine()
        return machine.serve("web", "--port", "0")

    def tiles(self, page):
        return {one.locator("dt").text_content(): one.locator("dd").text_content()
                for one in page.locator(".tiles div").all()}

    def rows(self, page, heading):
        """The cells of the table under a heading, whether it is open or not."""
        section = page.locator(".chart", has=page.get_by_role("heading", name=heading, exact=True))
        return [[cell.strip() for cell in row.locator("th, td").all_text_contents()]
                for row in section.locator("tbody tr").all()]

    def facts(self, page):
        return {one.locator("dt").text_content(): one.locator("dd").text_content()
                for one in page.locator(".fact-list div").all()}

    def test_the_numbers_are_those_of_stats(self):
        machine = self.household()
        page = self.browser(machine, locale="en-GB")
        for options, query in ((), ""), (("year", "2024"), "?year=2024"), (("person", "Ida Brandt"), "?person=Ida Brandt"), \
                (("game", "Catan"), "?game=Catan"):
            figures = machine.add("stats", *options)
            page.goto(machine.address + "/statistics" + query)
            tiles = self.tiles(page)
            self.assertEqual(int(tiles["Plays"]), figures["plays"])
            self.assertEqual(int(tiles["Days"]), len(figures["days"]))
            self.assertEqual(
                sum(int(row[1]) for row in self.rows(page, "Plays per month")), figures["plays"])
            self.assertEqual([int(row[1]) for row in self.rows(page, "Weekdays")], [n for n in figures["weekdays"] if n])
            self.assertEqual([int(row[1]) for row in self.rows(page, "Hours of the day")], [n for n in figures["hours"] if n])
            if "game" not in options:
                self.assertEqual(int(tiles["h-index"]), figures["hIndex"])
                games = [[row[0], int(row[1])] for row in self.rows(page, "Most played games")]
                plays = [[game["name"], sum(kind["plays"] for kind in game["results"].values())] for game in figures["games"]]
                self.assertEqual(games, plays[:12])

    def test_the_matrix_says_who_won_against_whom(self):
        machine = self.household()
        figures = machine.add("stats")
        names = {person["recordName"]: person["name"] for person in figures["persons"]}
        page = self.browser(machine)
        page.goto(machine.address + "/statistics")
        rows = page.locator(".matrix tbody tr")
        shown = {}
        order = [row.locator("th").text_content() for row in rows.all()]
        for name, row in zip(order, rows.all()):
            for other, cell in zip(order, row.locator("td").all_text_contents()):
                if ":" in cell:
                    shown[name, other] = int(cell.split(":")[0])
        self.assertEqual(len(order), 10)
        expected = {(names[one["winner"]], names[one["loser"]]): one["wins"] for one in figures["rivalries"]}
        self.assertEqual({pair: wins for pair, wins in shown.items() if wins}, expected)
        # The same as the person's own figures say.
        ada = machine.add("stats", "person", order[0])
        for other in ada["persons"]:
            if other["name"] in order and other["versus"]["wins"]:
                self.assertEqual(shown[order[0], other["name"]], other["versus"]["wins"])

    def test_a_year_in_review(self):
        machine = self.household()
        page = self.browser(machine, locale="en-GB")
        page.goto(machine.address + "/statistics")
        page.get_by_role("link", name="2023", exact=True).tap()
        expect(page.get_by_role("heading", level=1)).to_have_text("2023 in review")
        year, before = machine.add("stats", "year", "2023"), machine.add("stats", "year", "2022")
        facts = self.facts(page)
        difference = year["plays"] - before["plays"]
        self.assertEqual(
            facts["Plays"], f"{year['plays']}, {abs(difference)} {'more' if difference > 0 else 'fewer'} than in 2022")
        self.assertTrue(facts["Game of the year"].startswith(year["games"][0]["name"]), facts)
        new = [game for game in machine.add("stats")["games"] if game["firstDay"].startswith("2023")]
        self.assertTrue(facts["First time on the table"].startswith(f"{len(new)}: "), facts)
        # The busiest day leads to its matches.
        most = max(day["plays"] for day in year["days"])
        page.locator(".fact-list div", has_text="Busiest day").get_by_role("link").tap()
        expect(page.locator("#list li")).to_have_count(most)

    def test_a_person_and_a_game(self):
        machine = self.household()
        page = self.browser(machine, locale="en-GB")
        page.goto(machine.address + "/statistics?person=Ida Brandt")
        page.get_by_role("link", name="About Ida Brandt").tap()
        page.wait_for_url("**/people/*")
        figures = machine.add("stats", "person", "Ida Brandt")
        facts = self.facts(page)
        won = figures["results"]["competitive"]
        self.assertEqual(
            facts["Won against others"], f"{won['wins']} of {won['decided']}, {round(100 * won['rate'])}%")
        self.assertIn(f"{figures['streaks']['longestWins']} won and {figures['streaks']['longestLosses']} lost",
                      facts["In a row"])
        self.assertTrue(facts["Best friend at the table"].startswith(figures["persons"][0]["name"]))
        worst = max(figures["persons"], key=lambda one: one["versus"]["losses"] - one["versus"]["wins"])
        self.assertEqual(
            facts["Nemesis"],
            f"{worst['name']}, {worst['versus']['losses']} lost and {worst['versus']['wins']} won")
        page.locator(".fact-list div", has_text="First match").get_by_role("link").tap()
        expect(page.locator("#list li").first).to_contain_text("Ida Brandt")
        page.goto(machine.address + "/games")
        page.get_by_role("link", name="Catan", exact=False).first.tap()
        game = machine.add("stats", "game", "Catan")
        best = page.get_by_role("region", name="Best scores").locator("tbody tr").first
        expect(best).to_contain_text(game["records"][0]["person"])
        self.assertEqual(self.tiles(page)["Plays"], str(game["plays"]))

    def test_everybody_can_read_them(self):
        machine = self.household()
        for look in LOOKS:
            page = self.browser(machine, **look)
            for path in PATHS:
                page.goto(machine.address + path)
                self.check_accessibility(page)
                for image in page.locator("svg[role=img]").all():
                    self.assertRegex(image.get_attribute("aria-label"), r"\d")
                for summary in page.locator(".chart summary").all():
                    summary.click()
                self.assertGreater(page.locator(".chart details[open] tbody tr").count(), 2)
                self.check_accessibility(page)

    def test_the_keyboard_is_enough(self):
        machine = self.household()
        page = self.browser(machine, **DESK)
        page.goto(machine.address + "/statistics")
        page.get_by_text("Of a person or a game").press("Enter")
        page.get_by_role("combobox", name="Game").fill("Catan")
        page.get_by_role("combobox", name="Game").press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Catan")
        page.get_by_text("Weekdays as a table").press("Enter")
        expect(page.get_by_role("region", name="Weekdays as a table")).to_be_visible()

    def test_questions_without_an_answer(self):
        machine = self.household()
        page = self.browser(machine)
        page.goto(machine.address + "/statistics?year=1900")
        expect(page.get_by_role("main")).to_contain_text("No plays in 1900 yet.")
        self.check_accessibility(page)
        for query, sentence in (("year=soon", "“soon” is no year."), ("person=Nobody At All", "Nobody At All"),
                                ("game=<script>", "<script>")):
            answer = page.goto(machine.address + "/statistics?" + query)
            self.assertIn(answer.status, (404, 422))
            expect(page.locator(".error")).to_contain_text(sentence)
        self.complaints = [one for one in self.complaints if not re.search("404|422", one)]

    def test_an_empty_scorebook(self):
        machine = self.machine()
        machine.run("person", "add", "Ada")
        page = self.browser(machine.serve("web", "--port", "0"))
        page.get_by_role("link", name="Statistics").tap()
        expect(page.get_by_role("main")).to_contain_text("No plays yet.")
        page.get_by_role("link", name="People").tap()
        page.get_by_role("link", name="Ada").tap()
        expect(page.get_by_role("main")).to_contain_text("No plays yet.")
        self.check_accessibility(page)

    def test_a_new_match_is_counted_at_once(self):
        machine = self.household()
        page = self.browser(machine)
        page.goto(machine.address + "/statistics?game=Catan")
        before = int(self.tiles(page)["Plays"])
        # Another program, and this one.
        machine.run("match", "add", "Catan", "Ida Brandt", "Paul Okafor")
        page.reload()
        self.assertEqual(int(self.tiles(page)["Plays"]), before + 1)
        page.goto(machine.address + "/new?game=Catan")
        page.get_by_role("checkbox", name="Ida Brandt").check()
        page.get_by_role("button", name="Go").tap()
        page.get_by_role("button", name="Finish").tap()
        expect(page.get_by_role("button", name="Finish")).to_have_count(0)
        page.goto(machine.address + "/statistics?game=Catan")
        self.assertEqual(int(self.tiles(page)["Plays"]), before + 2)

    def test_names_are_texts_in_images_too(self):
        machine = self.machine()
        name = "<img src=x onerror=alert(1)>\"'&"
        for date in ("2024-03-05", "2024-04-05"):
            machine.run("match", "add", name, f"{name}=3", "Ada=1", "--new-game", "--new-persons", "--date", date)
        page = self.browser(machine.serve("web", "--port", "0"))
        page.goto(machine.address + "/statistics")
        expect(page.get_by_role("region", name="Most played games")).to_contain_text(name)
        self.assertEqual(page.locator("main img, main script").count(), 0)


if __name__ == "__main__":
    unittest.main()
