"""Two machines are paired on their pages."""

import socket
import subprocess
import unittest

from playwright.sync_api import expect

from browser_case import LOOKS, BrowserCase


class PairingTests(BrowserCase):
    def pages(self):
        """Two machines that do not know each other, and a page on each where one pairs."""
        kitchen, study = self.machine("kitchen"), self.machine("study")
        self.listen(kitchen, "--name", "kitchen")
        self.listen(study, "--name", "study")
        pages = []
        for machine in (kitchen, study):
            page = self.browser(machine)
            page.get_by_role("navigation").get_by_role("link", name="Machines").click()
            page.get_by_role("link", name="Pair a machine").click()
            pages.append(page)
        return kitchen, study, *pages

    def show(self, page):
        page.get_by_role("button", name="Show a code").click()
        return page.locator(".code").inner_text()

    def type(self, page, code, address=""):
        page.get_by_role("textbox", name="Code").fill(code)
        page.get_by_role("textbox", name="Address").fill(address)
        page.get_by_role("button", name="Pair").click()

    def test_a_code_that_one_shows_and_the_other_types(self):
        kitchen, study, here, there = self.pages()
        kitchen.run("game", "add", "Hearts")
        code = self.show(here)
        self.assertRegex(code, "^[0-9]{3}-[0-9]{3}$")
        self.type(there, code, kitchen.place)
        expect(there.locator("#pairing")).to_contain_text("Paired and in sync with kitchen")
        # Without anybody touching it.
        expect(here.locator("#pairing")).to_contain_text("Paired and in sync with study")
        here.get_by_role("link", name="study").click()
        expect(here.get_by_role("heading", level=1)).to_have_text("study")
        there.get_by_role("link", name="All machines").click()
        expect(there.locator("#machines li")).to_contain_text("kitchen")
        self.assertIn("Hearts", study.run("game", "list"))

    def test_a_camera_reads_the_code(self):
        kitchen, study, here, there = self.pages()
        self.show(here)
        picture = here.locator("svg.qr").screenshot(path=study.directory.name + "/code.png")
        self.assertTrue(picture)
        text = subprocess.run(
            ["zbarimg", "--quiet", "--raw", study.directory.name + "/code.png"], capture_output=True, text=True,
            check=True).stdout.strip()
        self.assertTrue(text.startswith("peer-sync:pair?"), text)
        self.type(there, text + f"&at={kitchen.place}")
        expect(there.locator("#pairing")).to_contain_text("Paired and in sync with kitchen")

    def test_what_goes_wrong_is_one_sentence(self):
        kitchen, study, here, there = self.pages()
        self.type(there, "12", kitchen.place)
        expect(there.get_by_role("main")).to_contain_text("A code has six digits, as 066-228.")
        self.forgive("422")
        there.go_back()
        # Nobody shows a code.
        self.type(there, "123-456", kitchen.place)
        expect(there.get_by_role("alert")).to_have_text("The other machine shows no code any more. Show a new one there.")
        code = self.show(here)
        wrong = code[:-1] + ("1" if code[-1] == "0" else "0")
        self.type(there, wrong, kitchen.place)
        expect(there.get_by_role("alert")).to_have_text("That is not the code that the other machine shows.")
        self.type(there, code, study.place)
        expect(there.get_by_role("alert")).to_have_text(
            "This machine cannot pair with itself. Type the code on another one.")
        # These machines do not look for each other.
        self.type(there, code)
        expect(there.get_by_role("alert")).to_contain_text("Also type the address")
        here.get_by_role("button", name="Hide the code").click()
        expect(here.get_by_role("button", name="Show a code")).to_be_visible()
        self.type(there, code, kitchen.place)
        expect(there.get_by_role("alert")).to_have_text("The other machine shows no code any more. Show a new one there.")

    def test_a_code_that_is_used_up(self):
        kitchen, _, here, there = self.pages()
        code = self.show(here)
        wrong = code[:-1] + ("1" if code[-1] == "0" else "0")
        for _ in range(3):
            self.type(there, wrong, kitchen.place)
            expect(there.get_by_role("alert")).to_be_visible()
            there.goto(there.url)
        expect(here.get_by_role("alert")).to_contain_text("The code has expired or is used up")

    def test_one_pairing_at_a_time(self):
        _, _, here, there = self.pages()
        # Somebody who takes the call, and says nothing.
        with socket.create_server(("127.0.0.1", 0)) as silent:
            self.type(there, "123-456", "127.0.0.1:{}".format(silent.getsockname()[1]))
            expect(there.locator("#pairing")).to_contain_text("Looking for the machine that goes with 123-456")
            own = there.url.split("/machines")[0]
            answer = there.request.post(
                own + "/machines/pair/type", form={"code": "123-456"}, headers={"Origin": own}, max_redirects=0)
            self.assertEqual(answer.status, 409)
            self.assertIn("This machine pairs with another one at this moment.", answer.text())
            silent.accept()[0].close()
        expect(there.get_by_role("alert")).to_be_visible()

    def test_a_new_machine_that_may_only_read(self):
        kitchen, study, here, there = self.pages()
        here.get_by_label("The new machine may").select_option("only read")
        self.type(there, self.show(here), kitchen.place)
        expect(there.locator("#pairing")).to_contain_text("Paired and in sync with kitchen")
        there.get_by_role("link", name="All machines").click()
        expect(there.locator("#machines")).to_contain_text("It takes no changes of this machine")
        here.get_by_role("link", name="study").click()
        expect(here.get_by_label("It may", exact=True)).to_have_value("read")

    def test_a_page_without_sync_shows_no_code(self):
        page = self.browser(self.machine().serve("web", "--port", "0"))
        page.get_by_role("navigation").get_by_role("link", name="Machines").click()
        expect(page.locator("#machines")).to_contain_text("This page runs without sync")
        page.get_by_role("link", name="Pair a machine").click()
        page.get_by_role("button", name="Show a code").click()
        expect(page.get_by_role("main")).to_contain_text("this page runs without sync")
        self.forgive("409")

    def test_every_step_is_accessible(self):
        kitchen, study, here, there = self.pages()
        code = self.show(here)
        for look in LOOKS:
            page = self.browser(kitchen, **look)
            page.goto(kitchen.address + "/machines/pair")
            expect(page.locator(".code")).to_have_text(code)
            self.check_accessibility(page)
        self.check_accessibility(there)
        self.type(there, code, kitchen.place)
        expect(there.locator("#pairing")).to_contain_text("Paired and in sync with kitchen")
        self.check_accessibility(there)


if __name__ == "__main__":
    unittest.main()
