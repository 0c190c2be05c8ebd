"""Every page, as a phone and a desk show it: readable by everybody, and nothing wider than the screen."""

import unittest

from playwright.sync_api import expect

from browser_case import DESK, EXPORT, PHONE, BrowserCase


class PageTests(BrowserCase):
    def test_every_page_is_accessible(self):
        machine = self.machine()
        machine.run("import", str(EXPORT))
        machine.serve("web", "--port", "0")
        for device in (PHONE, DESK):
            for scheme in ("light", "dark"):
                page = self.browser(machine, color_scheme=scheme, **device)
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
        machine = self.machine()
        machine.run("import", str(EXPORT))
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
        expect(page.locator("#latest")).to_contain_text("Nothing yet.")
        for section, text in (("Matches", "No matches."), ("Games", "No games yet.")):
            page.get_by_role("navigation").get_by_role("link", name=section).tap()
            expect(page.get_by_role("main")).to_contain_text(text)
            self.check_accessibility(page)


if __name__ == "__main__":
    unittest.main()
