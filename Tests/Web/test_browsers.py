"""Which browsers may see the page: links that work once, guests, and who is shut out."""

import http.client
import pathlib
import sqlite3
import unittest

from playwright.sync_api import expect

from browser_case import LOOKS, BrowserCase
from page_machine import shifted

# What a browser hears that was let in once.
OUT = "This browser is not let in any more: it was shut out, or its time is over."


class BrowserTests(BrowserCase):
    def setUp(self):
        super().setUp()
        self.kitchen = self.machine()
        self.kitchen.add("match", "add", "Hearts", "Ada", "Alan", "--new-game", "--new-persons")

    def browsers(self, page):
        page.goto(self.kitchen.address + "/machines")
        page.get_by_role("link", name="Browsers").click()
        return page

    def link(self, page, kind="A link for the household"):
        """Makes a link on the page, and returns it."""
        self.browsers(page).get_by_role("button", name=kind).click()
        return page.locator("#link").inner_text()

    def enter(self, link):
        page = self.browser()
        page.goto(link)
        page.get_by_role("button", name="Open the scorebook").click()
        page.wait_for_url(self.kitchen.address + "/")
        return page

    def forget(self, code):
        self.complaints = [one for one in self.complaints if str(code) not in one]

    def test_a_link_lets_one_browser_in_once(self):
        first = self.browser(self.kitchen.serve("web", "--port", "0"))
        link = self.link(first)
        # What only looks does not use it up.
        looking = self.browser()
        looking.goto(link)
        looking.goto(link)
        second = self.enter(link)
        expect(second.locator("#latest")).to_contain_text("Hearts")
        for late in (looking, self.browser()):
            late.goto(link)
            expect(late.get_by_role("main")).to_contain_text("This link is not valid any more.")
        # Nor for somebody who had its page open already.
        answer = looking.request.post(
            self.kitchen.address + "/enter", form={"key": link.split("key=")[1]}, headers={"Origin": self.kitchen.address})
        self.assertEqual(answer.status, 401)
        self.forget(401)
        self.assertEqual(self.browsers(second).locator("#browsers li").count(), 2)

    def test_a_link_expires(self):
        shift = pathlib.Path(self.kitchen.directory.name) / "shift"
        shift.write_text("+0")
        self.kitchen.serve("web", "--port", "0", environment=shifted(f"@{shift}"))
        page = self.browser(self.kitchen)
        link = self.link(page)
        shift.write_text("+9m")
        late = self.browser()
        late.goto(link)
        expect(late.get_by_role("button", name="Open the scorebook")).to_be_visible()
        shift.write_text("+11m")
        late.get_by_role("button", name="Open the scorebook").click()
        expect(late.get_by_role("main")).to_contain_text("This link is not valid any more.")
        self.forget(401)

    def test_who_is_shut_out_is_out_at_once(self):
        page = self.browser(self.kitchen.serve("web", "--port", "0"))
        other = self.enter(self.link(page))
        # Nothing on this page follows the scorebook.
        figures = other.context.new_page()
        figures.goto(self.kitchen.address + "/statistics")
        self.browsers(page)
        expect(page.locator("#browsers li")).to_have_count(2)
        expect(page.locator("#browsers li", has_text="this browser")).to_have_count(1)
        self.shut_out_others(page)
        # Its open pages hear of it, and nothing more: what they show goes.
        for shown in (other, figures):
            expect(shown.get_by_role("main")).to_contain_text(OUT)
            expect(shown.get_by_role("main")).not_to_contain_text("Hearts")
        other.goto(self.kitchen.address + "/matches")
        expect(other.get_by_role("main")).to_contain_text(OUT)
        self.forget(401)

    def test_who_is_shut_out_while_a_page_hears_nothing_is_out_as_soon_as_it_does(self):
        page = self.browser(self.kitchen.serve("web", "--port", "0"))
        other = self.enter(self.link(page))
        other.route("**/changes", lambda route: route.abort())
        other.goto(self.kitchen.address + "/matches")
        expect(other.locator("#list")).to_contain_text("Hearts")
        self.shut_out_others(page)
        other.unroute("**/changes")
        expect(other.get_by_role("main")).to_contain_text(OUT)
        self.forget(401)
        self.forgive("ERR_FAILED")

    def test_a_page_that_stayed_open_is_live_again_when_its_browser_is_let_in_again(self):
        page = self.browser(self.kitchen.serve("web", "--port", "0"))
        other = self.enter(self.link(page))
        other.goto(self.kitchen.address + "/matches")
        # What somebody has typed is not thrown away.
        other.locator("summary").click()
        other.get_by_label("Words in it").fill("something")
        self.shut_out_others(page)
        with other.expect_response(lambda answer: answer.url.endswith("/changes") and answer.status == 401):
            pass
        expect(other.locator("#list")).to_contain_text("Hearts")
        link = self.link(page)
        entered = other.context.new_page()
        entered.goto(link)
        entered.get_by_role("button", name="Open the scorebook").click()
        entered.wait_for_url(self.kitchen.address + "/")
        self.kitchen.run("match", "add", "Skat", "Ada", "--new-game")
        expect(other.locator("#list")).to_contain_text("Skat")
        expect(other.get_by_label("Words in it")).to_have_value("something")
        self.forget(401)

    def test_a_name_with_a_line_break_is_nothing_that_somebody_has_typed(self):
        person = self.kitchen.add("person", "add", "Grace Hopper")["recordName"]
        with sqlite3.connect(self.kitchen.store / "scorebook.sqlite") as store:
            store.execute("UPDATE SBPerson SET firstName = ? WHERE recordName = ?", ("Gra\nce", person))
        store.close()
        page = self.browser(self.kitchen.serve("web", "--port", "0"))
        other = self.enter(self.link(page))
        other.goto(self.kitchen.address + "/people/" + person.split("|~|")[1] + "/edit")
        expect(other.get_by_label("Name", exact=True)).to_have_value("Grace Hopper")
        self.shut_out_others(page)
        expect(other.get_by_role("main")).to_contain_text(OUT)
        self.forget(401)

    def test_what_somebody_has_ticked_or_chosen_or_what_came_back_for_a_slip_stays(self):
        page = self.browser(self.kitchen.serve("web", "--port", "0"))
        other = self.enter(self.link(page))

        def show(path):
            shown = other if other.url == self.kitchen.address + "/" else other.context.new_page()
            shown.goto(self.kitchen.address + path)
            return shown

        ticked = show("/machines")
        ticked.get_by_role("radio", name="None").check()
        chosen = show("/machines/pair")
        chosen.get_by_label("The new machine may").select_option("read")
        untouched = show("/machines/pair")
        slip = show("/people")
        slip.get_by_role("link", name="Ada").click()
        slip.get_by_role("link", name="Edit", exact=True).click()
        slip.get_by_label("Name", exact=True).fill("")
        slip.get_by_role("button", name="Save").click()
        expect(slip.get_by_role("alert")).to_be_visible()
        self.shut_out_others(page)
        for shown in (ticked, chosen, slip):
            with shown.expect_response(lambda answer: answer.url.endswith("/changes") and answer.status == 401):
                pass
        expect(untouched.get_by_role("main")).to_contain_text(OUT)
        expect(ticked.get_by_role("radio", name="None")).to_be_checked()
        expect(chosen.get_by_label("The new machine may")).to_have_value("read")
        expect(slip.get_by_role("alert")).to_be_visible()
        self.forget(401)
        self.forgive("422")

    def test_a_browser_that_is_not_there_cannot_be_shut_out(self):
        page = self.browser(self.kitchen.serve("web", "--port", "0"))

        def shut_out(browser):
            answer = page.request.post(
                f"{self.kitchen.address}/browsers/{browser}/out", headers={"Origin": self.kitchen.address}, max_redirects=0)
            return answer.status

        # A page of an earlier version has numbers.
        self.assertEqual(shut_out("1"), 404)
        # Somebody may press twice.
        self.assertEqual(shut_out("0" * 64), 303)

    def test_who_is_shut_out_keeps_no_connections(self):
        page = self.browser(self.kitchen.serve("web", "--port", "0"))
        [cookie] = self.enter(self.link(page, "A link for a guest")).context.cookies()

        def ask(line, path="/matches"):
            """Returns the status of an answer; nothing if the connection has ended."""
            try:
                line.request("GET", path, headers={"Cookie": f"{cookie['name']}={cookie['value']}"})
                answer = line.getresponse()
                answer.read()
                return answer.status
            except (OSError, http.client.HTTPException):
                return None

        lines = []
        for _ in range(40):
            line = http.client.HTTPConnection("127.0.0.1", int(self.kitchen.address.rsplit(":", 1)[1]), timeout=60)
            self.addCleanup(line.close)
            line.connect()
            # A connection that has ended stays so.
            line.auto_open = 0
            lines.append(line)
            self.assertEqual(ask(line), 200)
        # One browser has 32 of them.
        self.kitchen.until(lambda: [ask(line) for line in lines].count(None) >= 8)
        self.shut_out_others(page)
        # Somebody who is not let in has 16, as many as one address.
        # What everybody may have shows nothing of who asks.
        self.kitchen.until(lambda: [ask(line, "/page.css") for line in lines].count(None) >= 40 - 16)
        # The guest's page listens for changes, and hears no more. All of them have one address, so a connection that a browser opens just
        # now may have to go, too.
        self.forgive("ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_EMPTY_RESPONSE", "401")

    def shut_out_others(self, page):
        self.browsers(page).locator("#browsers li").filter(has_not_text="this browser").get_by_role("button").click()
        expect(page.locator("#browsers li")).to_have_count(1)

    def test_a_guest_looks_and_changes_nothing(self):
        page = self.browser(self.kitchen.serve("web", "--port", "0"))
        guest = self.enter(self.link(page, "A link for a guest"))
        expect(guest.locator("#latest")).to_contain_text("Hearts")
        self.check_accessibility(guest)
        for section in ("Machines", "Files"):
            expect(guest.get_by_role("navigation").get_by_role("link", name=section)).to_have_count(0)
        expect(guest.get_by_role("link", name="Hearts", exact=True)).to_have_count(0)
        guest.locator("#latest a").click()
        expect(guest.locator("#sheet")).to_be_visible()
        expect(guest.get_by_role("button")).to_have_count(0)
        expect(guest.get_by_role("link", name="Edit")).to_have_count(0)
        self.check_accessibility(guest)
        # What it sends by hand is refused, whatever it is.
        match = guest.url
        before = self.kitchen.add("status")["digest"]
        for path, form in (
            ("/new", {"game": "Hearts", "player[]": "Ada"}), (match.removeprefix(self.kitchen.address) + "/scores", {}),
            ("/machines/sync", {"on": "0"}), ("/machines/pair/show", {}), ("/browsers/link", {"rights": "all"}),
            ("/browsers/1/out", {}), ("/nothing", {})):
            answer = guest.request.post(
                self.kitchen.address + path, form=form, headers={"Origin": self.kitchen.address}, max_redirects=0)
            self.assertEqual(answer.status, 403, path)
            self.assertIn("Guests can look at everything here, and change nothing.", answer.text())
        for method in ("PUT", "DELETE", "PATCH"):
            answer = guest.request.fetch(
                match, method=method, headers={"Origin": self.kitchen.address}, max_redirects=0)
            self.assertEqual(answer.status, 403, method)
        self.assertEqual(self.kitchen.add("status")["digest"], before)
        # A code on these pages would let a machine of the guest in, with all rights.
        for path in ("/machines", "/machines/pair", "//machines", "/%6dachines/pair", "/machine/" + "0" * 64, "/browsers",
                     "/machines/doctor", "/files/scorebook.sqlite"):
            self.assertEqual(guest.request.get(self.kitchen.address + path).status, 403, path)
        expect(self.browsers(page).locator("#browsers li").first).to_contain_text("guest")

    def test_a_scorebook_of_an_older_version(self):
        with sqlite3.connect(self.kitchen.store / "scorebook.sqlite") as store:
            store.execute(
                "CREATE TABLE scorebook_browser (id INTEGER PRIMARY KEY, secret BLOB NOT NULL UNIQUE, name TEXT NOT NULL, "
                "added INTEGER NOT NULL)")
            store.execute(
                "INSERT INTO scorebook_browser (secret, name, added) VALUES (x'00', 'Firefox/1 (Android)', unixepoch())")
        store.close()
        page = self.browsers(self.browser(self.kitchen.serve("web", "--port", "0")))
        expect(page.locator("#browsers li")).to_have_count(2)
        expect(page.locator("#browsers li").last).to_contain_text("Firefox on Android")
        expect(page.locator("#browsers li").last).not_to_contain_text("guest")

    def test_every_page_is_accessible(self):
        self.kitchen.serve("web", "--port", "0")
        for look in LOOKS:
            page = self.browser(self.kitchen, **look)
            self.check_accessibility(self.browsers(page))
            link = self.link(page, "A link for a guest")
            self.check_accessibility(page)
            page.goto(link)
            self.check_accessibility(page)


if __name__ == "__main__":
    unittest.main()
