"""Every page, as a phone and a desk show it: readable by everybody, and nothing wider than the screen."""

import contextlib
import sqlite3
import struct
import unittest
import uuid

from playwright.sync_api import expect

from browser_case import DESK, LOOKS, BrowserCase


class PageTests(BrowserCase):
    def test_every_page_is_accessible(self):
        machine = self.filled_machine()
        machine.serve("web", "--port", "0")
        for look in LOOKS:
            page = self.browser(machine, **look)
            self.check_accessibility(page)
            for section, link in (("Matches", "#list a"), ("Games", "#list a"), ("People", "#list a")):
                page.get_by_role("navigation").get_by_role("link", name=section).click()
                expect(page.get_by_role("heading", level=1)).to_have_text(section)
                self.check_accessibility(page)
                page.locator(link).first.click()
                expect(page.get_by_role("heading", level=1)).not_to_have_text(section)
                self.check_accessibility(page)
            page.goto(machine.address + "/")
            page.locator(".choices a").first.click()
            expect(page.get_by_role("button", name="Go")).to_be_visible()
            self.check_accessibility(page)

    def test_a_list_has_pages(self):
        machine = self.filled_machine()
        page = self.browser(machine.serve("web", "--port", "0"))
        page.goto(machine.address + "/matches")
        expect(page.locator("#list li")).to_have_count(50)
        first = page.locator("#list li a").first.get_attribute("href")
        page.get_by_role("link", name="Earlier ones").tap()
        expect(page.get_by_role("link", name="Later ones")).to_be_visible()
        self.assertNotEqual(page.locator("#list li a").first.get_attribute("href"), first)
        page.get_by_role("link", name="Later ones").tap()
        expect(page.locator("#list li a").first).to_have_attribute("href", first)

    def test_dates_are_in_the_language_of_the_browser(self):
        machine = self.machine()
        machine.run("match", "add", "Hearts", "Ada", "--new-game", "--new-persons", "--date", "2024-03-05 19:30")
        machine.serve("web", "--port", "0")
        for language, text in (("de-DE", "5. März 2024"), ("en-US", "March 5, 2024"), ("fr-FR", "5 mars 2024")):
            page = self.browser(machine, locale=language)
            expect(page.locator("#latest")).to_contain_text(text)

    def test_an_empty_scorebook(self):
        machine = self.machine()
        machine.run("person", "add", "Ada")
        page = self.browser(machine.serve("web", "--port", "0"))
        expect(page.get_by_role("main")).to_contain_text("Nothing is written down here yet.")
        for section, text in (("Matches", "No matches yet."), ("Games", "No games yet.")):
            page.get_by_role("navigation").get_by_role("link", name=section).tap()
            expect(page.get_by_role("main")).to_contain_text(text)
            self.check_accessibility(page)

    def test_a_list_of_names_is_found_and_turned_over(self):
        machine = self.machine()
        machine.run("match", "add", "Hearts", "Ada", "Ágnes Tóth", "--new-game", "--new-persons")
        with contextlib.closing(sqlite3.connect(machine.store / "scorebook.sqlite")) as database, database:
            database.executemany(
                "INSERT INTO SBPerson (recordName, firstName) VALUES (?, ?)",
                [(f"SBPerson|~|{uuid.uuid4()}", f"Guest {number}") for number in range(150)])
        page = self.browser(machine.serve("web", "--port", "0"))
        page.goto(machine.address + "/people")
        expect(page.locator("#list li")).to_have_count(100)
        expect(page.locator("#list li").first).to_contain_text("1 match · last on")
        page.get_by_role("link", name="More").tap()
        expect(page.locator("#list li")).to_have_count(52)
        page.get_by_label("Name").fill("agnes")
        page.get_by_role("button", name="Find").tap()
        expect(page.locator("#list li")).to_have_count(1)
        expect(page.locator("#list li")).to_contain_text("Ágnes Tóth")
        self.check_accessibility(page)
        page.get_by_label("Name").fill("nobody like that")
        page.get_by_role("button", name="Find").tap()
        expect(page.get_by_role("main")).to_contain_text("Nothing has this in its name.")
        page.get_by_role("link", name="All", exact=True).tap()
        expect(page.locator("#list li")).to_have_count(100)

    def test_no_number_of_another_program_stops_the_server(self):
        machine = self.machine()
        match = machine.add("match", "add", "Hearts", "Ada", "Alan", "--new-game", "--new-persons", "--date", "2024-03-05 19:30")
        for name in ("Ada", "Alan"):
            machine.run("score", "add", "last", f"{name}=1", "--round", "1")
        paths = ["/" + folder + "/" + one["recordName"].split("|~|")[1] + end
                 for folder, one in (("matches", match), ("games", machine.add("game", "list")[0]), ("people", machine.add("person", "list")[0]))
                 for end in ("", "/edit", "/delete")]
        page = self.browser(machine.serve("web", "--port", "0"))
        for number in (2 ** 63 - 1, -2 ** 63, 1e300, float("inf"), "many"):
            with contextlib.closing(sqlite3.connect(machine.store / "scorebook.sqlite")) as database, database:
                for table, columns in (
                    ("SBScore", "round points"), ("SBPlayer", "seatOrder rank winner startPlayer"),
                    ("SBMatch", "durationMinutes rounds rating"), ("SBGame", "bggID year minPlayers maxPlayers"),
                ):
                    for column in columns.split():
                        database.execute(f"UPDATE {table} SET {column} = ?", [number])
                database.execute("UPDATE scorebook_browser SET seen = ?", [number if isinstance(number, int) else 0])
            for path in ("/", "/matches", "/games", "/people", "/statistics", "/statistics?year=2024", "/browsers", *paths):
                answer = page.request.get(machine.address + path)
                self.assertTrue(answer.ok, f"{path} with {number}: {answer.text()}")

    def test_matches_are_found(self):
        machine = self.filled_machine()
        page = self.browser(machine.serve("web", "--port", "0"), **DESK)
        page.goto(machine.address + "/matches")
        page.get_by_text("Find", exact=True).first.click()
        page.get_by_label("Game").fill("Catan")
        page.get_by_label("Person").fill("Ida Brandt")
        page.get_by_label("Since").fill("2022-01-01")
        page.get_by_role("button", name="Find").click()
        expect(page.get_by_label("Game")).to_have_value("Catan")
        asked = ("match", "list", "--game", "Catan", "--person", "Ida Brandt", "--since", "2022-01-01")
        expect(page.locator("#list li")).to_have_count(min(50, len(machine.add(*asked))))
        # From the page of a person, which names it in another way.
        page.goto(machine.address + "/people")
        page.locator("#list a").first.click()
        heading = page.get_by_role("heading", level=1)
        expect(heading).not_to_have_text("People")
        name = heading.inner_text()
        page.get_by_role("link", name="All matches").click()
        expect(page.get_by_label("Person")).to_have_value(name)
        self.check_accessibility(page)

    def test_every_record_name_leads_to_its_page(self):
        machine = self.machine()
        machine.run("person", "add", "Ada")
        with contextlib.closing(sqlite3.connect(machine.store / "scorebook.sqlite")) as database, database:
            database.executemany(
                "INSERT INTO SBGame (recordName, name) VALUES (?, ?)",
                [("SBGame|~|my game", "Hearts"), ("SBGame|~|a+b&c=d", "Skat")])
            database.execute("INSERT INTO SBPerson (recordName, firstName) VALUES ('SBPerson|~|v|~|1', 'Grace')")
        page = self.browser(machine.serve("web", "--port", "0"))
        heading = page.get_by_role("heading", level=1)
        for section, name in (("/games", "Hearts"), ("/games", "Skat"), ("/people", "Grace")):
            page.goto(machine.address + section)
            page.locator("#list").get_by_role("link", name=name).tap()
            expect(heading).to_have_text(name)
            page.get_by_role("link", name="Edit", exact=True).tap()
            expect(heading).to_have_text(f"Edit {name}")
        for name in ("Hearts", "Skat"):
            page.goto(machine.address + "/")
            page.get_by_role("link", name=name, exact=True).tap()
            expect(heading).to_have_text(name)
            expect(page.get_by_role("button", name="Go")).to_be_visible()

    def test_names_of_all_kinds_fit(self):
        machine = self.machine()
        names = ["אריאל כהן", "نور الهدى", "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft", "x y " * 60]
        match = machine.add("match", "add", names[2], *names, "--new-game", "--new-persons", "--location", names[0], "--unfinished")
        for name in names[:3]:
            machine.run("score", "add", "last", f"{name}=123456789", "--round", "1")
        machine.serve("web", "--port", "0")
        for look in LOOKS:
            page = self.browser(machine, locale="en-GB", **look)
            for path in ("/", "/new?isNew=1&game=" + "z" * 300, "/matches", "/games", "/people",
                         "/matches/" + match["recordName"].split("|~|")[1], "/statistics"):
                page.goto(machine.address + path)
                self.check_accessibility(page)
            page.goto(machine.address + "/matches/" + match["recordName"].split("|~|")[1])
            expect(page.locator("#sheet tfoot td").first).to_have_text("123,456,789")
            # A name that goes from right to left leaves the date behind it where it is.
            page.goto(machine.address + "/")
            self.assertIn("\u2068אריאל כהן\u2069", page.locator("#open li p").inner_text())

    def test_a_match_prints_as_a_score_sheet(self):
        machine = self.machine()
        match = machine.add("match", "add", "Hearts", "Ada=5", "Alan=7", "--new-game", "--new-persons", "--location", "Kitchen")
        page = self.browser(machine.serve("web", "--port", "0"), color_scheme="dark", **DESK)
        page.goto(machine.address + "/matches/" + match["recordName"].split("|~|")[1])
        page.emulate_media(media="print")
        for shown in (page.get_by_role("heading", level=1), page.locator("#sheet table"), page.get_by_text("Kitchen"),
                      page.get_by_text("Alan has won.")):
            expect(shown).to_be_visible()
        for hidden in ("header", "form", "summary", "button", ".button", "#status", "#pictures-title"):
            self.assertEqual(page.locator(hidden).locator("visible=true").count(), 0, hidden)
        # Ink on paper, whatever the screen is like.
        self.assertEqual(page.evaluate("getComputedStyle(document.body).color"), "rgb(0, 0, 0)")

    def test_the_page_goes_onto_a_home_screen(self):
        machine = self.machine()
        page = self.browser(machine.serve("web", "--port", "0"))
        # Browsers ask for these without cookies.
        stranger = self.browser()
        manifest = stranger.request.get(machine.address + page.locator("link[rel=manifest]").get_attribute("href")).json()
        self.assertEqual((manifest["display"], manifest["start_url"]), ("standalone", "/"))
        icons = [(one["src"], one["type"], one["sizes"]) for one in manifest["icons"]]
        icons.append((page.locator("link[rel=apple-touch-icon]").get_attribute("href"), "image/png", "180x180"))
        for path, type, sizes in icons:
            answer = stranger.request.get(machine.address + path)
            self.assertEqual((answer.status, answer.headers["content-type"]), (200, type), path)
            if type == "image/png":
                self.assertEqual("{}x{}".format(*struct.unpack(">II", answer.body()[16:24])), sizes)

    def test_news_leave_a_reader_where_they_are(self):
        machine = self.filled_machine()
        page = self.browser(machine.serve("web", "--port", "0"))
        page.goto(machine.address + "/people")
        page.locator("#list a").first.tap()
        table = page.get_by_text("Best scores").locator("..")
        table.locator("summary").tap()
        link = table.locator("a").nth(1)
        link.focus()
        plays = page.locator(".tiles dd").first.inner_text()
        [last] = machine.add("match", "list", "--limit", "1")
        person = page.get_by_role("heading", level=1).inner_text()
        machine.run("match", "add", last["game"], person)
        expect(page.locator(".tiles dd").first).not_to_have_text(plays)
        expect(link).to_be_visible()
        expect(link).to_be_focused()


if __name__ == "__main__":
    unittest.main()
