"""Files: imports that say first what they would change, and downloads that are whole. And uploads that nobody should send."""

import contextlib
import csv
import http.client
import io
import json
import os
import pathlib
import socket
import sqlite3
import tempfile
import time
import unittest

from playwright.sync_api import expect

from browser_case import DESK, EXPORT, PHONE, BrowserCase, few_plays
from page_machine import PATIENCE
from screenshots import shot

PART = 'Content-Disposition: form-data; name="file"; filename="{}"\r\nContent-Type: application/json\r\n\r\n'


class FileTests(BrowserCase):
    def open(self, *records, is_filled=False, **options):
        """Serves a scorebook, and opens the page of files."""
        self.kitchen = self.filled_machine() if is_filled else self.machine()
        if not is_filled:
            self.kitchen.run(*(records or ("person", "add", "Ada")))
        page = self.browser(self.kitchen.serve("web", "--port", "0"), **options)
        page.get_by_role("navigation").get_by_role("link", name="Files").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Files")
        return page

    def download(self, page, name):
        with page.expect_download() as download:
            page.get_by_role("link", name=name).click()
        path = pathlib.Path(self.kitchen.directory.name) / download.value.suggested_filename
        download.value.save_as(path)
        return path

    def test_an_import_says_first_what_it_would_change(self):
        for look, file, count in ((PHONE, EXPORT, 400), (DESK, few_plays(), 20)):
            page = self.open(**look)
            self.check_accessibility(page)
            shot(page, "files")
            page.get_by_label("File to import").set_input_files(file)
            page.get_by_role("button", name="Look at it").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("What would change?")
            expect(page.get_by_role("main")).to_contain_text(file.name)
            expect(page.get_by_role("row", name="Matches")).to_contain_text(str(count))
            self.check_accessibility(page)
            shot(page, "import")
            self.assertEqual(self.kitchen.add("match", "list"), [])
            page.get_by_role("button", name="Import").click()
            expect(page.locator(".notice")).to_contain_text("Imported.")
            self.assertEqual(len(self.kitchen.add("match", "list")), count)
            # A second time it is nothing new.
            page.get_by_label("File to import").set_input_files(file)
            page.get_by_role("button", name="Look at it").click()
            expect(page.get_by_role("main")).to_contain_text("It would change nothing")
            expect(page.get_by_role("button", name="Import")).to_have_count(0)
            self.check_accessibility(page)
            page.get_by_role("link", name="Back").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("Files")

    def test_an_import_is_taken_back(self):
        page = self.open()
        page.get_by_label("File to import").set_input_files(few_plays())
        page.get_by_role("button", name="Look at it").tap()
        page.get_by_role("button", name="Import").tap()
        page.get_by_role("button", name="Take back").tap()
        expect(page.locator(".notice")).to_contain_text("Taken back.")
        self.assertEqual(self.kitchen.add("match", "list"), [])
        self.assertEqual(len(self.kitchen.add("person", "list")), 1)

    def test_a_file_is_dropped(self):
        page = self.open(**DESK)
        transfer = page.evaluate_handle(
            """text => {
                const transfer = new DataTransfer();
                transfer.items.add(new File([text], "dropped.json", { type: "application/json" }));
                return transfer;
            }""", few_plays().read_text())
        page.dispatch_event("form.drop", "dragover", {"dataTransfer": transfer})
        expect(page.locator("form.drop.over")).to_be_visible()
        page.dispatch_event("form.drop", "drop", {"dataTransfer": transfer})
        expect(page.get_by_role("heading", level=1)).to_have_text("What would change?")
        expect(page.get_by_role("main")).to_contain_text("dropped.json")

    def test_what_was_deleted_here_comes_back_if_somebody_wants_it(self):
        page = self.open("import", str(few_plays()))
        self.kitchen.run("match", "delete", "last", "--yes")
        for restores, count in ((False, 19), (True, 20)):
            page.goto(self.kitchen.address + "/files")
            page.get_by_label("File to import").set_input_files(few_plays())
            page.get_by_role("button", name="Look at it").tap()
            box = page.get_by_role("checkbox", name="Bring back")
            if restores:
                box.check()
            page.get_by_role("button", name="Import").tap()
            expect(page.locator(".notice")).to_be_visible()
            self.assertEqual(len(self.kitchen.add("match", "list")), count)

    def test_files_that_are_none(self):
        page = self.open()
        folder = pathlib.Path(self.kitchen.directory.name)
        for name, content, sentence in (
            ("empty.json", b"", "the file is empty"), ("photo.jpg", b"\xff\xd8\xff\xe0" + bytes(1000), "photo.jpg"),
            ("broken.json", few_plays().read_bytes()[:5000], "broken.json"), ("page.html", b"<html></html>", "page.html"),
        ):
            (folder / name).write_bytes(content)
            page.get_by_label("File to import").set_input_files(folder / name)
            page.get_by_role("button", name="Look at it").tap()
            expect(page.get_by_role("alert")).to_contain_text(sentence)
            self.check_accessibility(page)
            self.assertNotIn("/tmp", page.get_by_role("alert").inner_text())
        shot(page, "files-slip")
        self.forgive("422")

    def test_everything_works_without_a_script(self):
        page = self.open(java_script_enabled=False)
        page.get_by_label("File to import").set_input_files(few_plays())
        page.get_by_role("button", name="Look at it").tap()
        page.get_by_role("button", name="Import").tap()
        expect(page.locator(".notice")).to_contain_text("Imported.")
        self.assertEqual(len(self.kitchen.add("match", "list")), 20)

    def test_an_export_is_the_same_as_the_command_makes(self):
        page = self.open(is_filled=True)
        path = self.download(page, "The whole scorebook")
        self.assertRegex(path.name, r"^scorebook-\d{4}-\d\d-\d\d\.json$")
        other = self.machine("study")
        other.run("import", str(path), "--new")
        written = pathlib.Path(self.kitchen.directory.name) / "written.json"
        for machine in (self.kitchen, other):
            machine.run("export", str(written), "--force")
            self.assertEqual(json.loads(written.read_text())["records"], json.loads(path.read_text())["records"])

    def test_each_zone_is_exported_alone(self):
        page = self.open("match", "add", "Hearts", "Ada", "--new-game", "--new-persons")
        self.kitchen.run("zone", "create", "club")
        self.kitchen.run("match", "add", "Catan", "Grace", "--new-game", "--new-persons", "--zone", "club")
        page.reload()
        self.check_accessibility(page)
        games = json.loads(self.download(page, "The zone “club”").read_text())["records"]["SBGame"]
        self.assertEqual([game["fields"]["name"] for game in games], ["Catan"])

    def test_a_backup_is_a_scorebook(self):
        page = self.open(is_filled=True)
        path = self.download(page, "A backup of everything")
        self.assertRegex(path.name, r"^scorebook-\d{4}-\d\d-\d\d\.sqlite$")
        with contextlib.closing(sqlite3.connect(path)) as database:
            self.assertEqual(database.execute("SELECT COUNT(*) FROM SBMatch").fetchone(), (400,))
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        store = pathlib.Path(self.kitchen.directory.name) / "restored"
        store.mkdir()
        path.rename(store / "scorebook.sqlite")
        restored = self.machine("restored")
        restored.store = store
        self.assertEqual(len(restored.add("match", "list")), 400)

    def test_the_list_of_matches_is_for_a_spreadsheet(self):
        page = self.open(is_filled=True)
        self.kitchen.run("match", "add", "Catan", "@SUM", "--new-game", "--new-persons", "--location", 'A "B", C')
        path = self.download(page, "The list of matches")
        rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))))
        self.assertEqual(len({row["record name"] for row in rows}), 401)
        self.assertEqual((rows[0]["game"], rows[0]["player"], rows[0]["place"]), ("Catan", "'@SUM", 'A "B", C'))


class UploadAttackTests(BrowserCase):
    def setUp(self):
        super().setUp()
        self.kitchen = self.machine()
        self.kitchen.run("person", "add", "Ada")
        # What is left over would be here.
        self.temporary = tempfile.TemporaryDirectory(prefix="scorebook-uploads-")
        self.addCleanup(self.temporary.cleanup)
        before = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = self.temporary.name
        try:
            self.kitchen.serve("web", "--port", "0")
        finally:
            if before is None:
                del os.environ["TMPDIR"]
            else:
                os.environ["TMPDIR"] = before
        self.port = int(self.kitchen.address.rsplit(":", 1)[1])
        answer = self.ask("GET", self.kitchen.link[len(self.kitchen.address):])
        self.cookie = answer.getheader("Set-Cookie").split(";")[0]

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        self.addCleanup(connection.close)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        return connection.getresponse()

    def send(self, body, type="multipart/form-data; boundary=b", **headers):
        return self.ask(
            "POST", "/files/import", body,
            **{"Cookie": self.cookie, "Origin": self.kitchen.address, "Content_Type": type, **headers})

    def form(self, content, name="a.json"):
        return b"--b\r\n" + PART.format(name).encode() + content + b"\r\n--b--\r\n"

    def left(self):
        return os.listdir(self.temporary.name)

    def test_malformed_forms_are_told_and_leave_nothing(self):
        good = self.form(few_plays().read_bytes())
        for body, type, status in (
            (good, "multipart/form-data", 415), (good, "text/plain", 415), (good, "multipart/form-data; boundary=c", 400),
            (good[:-8], "multipart/form-data; boundary=b", 400), (b"", "multipart/form-data; boundary=b", 400),
            (b"--b\r\n" + b"X: " + b"y" * 100_000, "multipart/form-data; boundary=b", 400),
            (b"--b\r\n\r\n\r\n--b--", "multipart/form-data; boundary=b", 400),
            (b"--b--\r\n", "multipart/form-data; boundary=b", 422),
            (self.form(b"", name=""), "multipart/form-data; boundary=b", 422),
            (b"file=x", "application/x-www-form-urlencoded", 415),
        ):
            answer = self.send(body, type)
            self.assertEqual(answer.status, status, (body[:80], type))
            self.assertIn(b'class="error"', answer.read())
            self.assertEqual(self.left(), [])
        self.assertEqual(self.send(good).status, 303)

    def test_a_file_from_elsewhere_is_not_taken(self):
        good = self.form(few_plays().read_bytes())
        for origin in ("null", "http://evil.example", self.kitchen.address.replace("http", "https")):
            self.assertEqual(self.send(good, Origin=origin).status, 403)
        self.assertEqual(self.send(good, Cookie="x=y").status, 401)
        self.assertEqual(self.left(), [])

    def test_a_file_name_leads_nowhere(self):
        for name in ("../../evil.json", "/etc/passwd", "C:\\evil.json", "<img src=x onerror=alert(1)>.json", "x" * 4000):
            answer = self.send(self.form(few_plays().read_bytes(), name))
            self.assertEqual(answer.status, 303, name)
            page = self.ask("GET", answer.getheader("Location"), Cookie=self.cookie).read().decode()
            self.assertNotIn("<img", page)
            self.assertNotIn("/etc", page)
            self.assertNotIn("..", page)
        # A few files wait, each under a name of the program's.
        self.assertEqual(len(self.left()), 4)
        for folder in self.left():
            path = pathlib.Path(self.temporary.name) / folder
            self.assertEqual(os.listdir(path), ["import"])
            self.assertEqual(path.stat().st_mode & 0o77, 0)

    def test_a_file_that_is_too_large_is_refused(self):
        # What says its size in advance, and what does not.
        answer = self.send(b"--b\r\n", Content_Length="200000001")
        self.assertEqual(answer.status, 413)
        self.assertIn("200 MB".encode(), answer.read())
        million = b"x" * 1_000_000

        def endless():
            yield b"--b\r\n" + PART.format("a").encode()
            for _ in range(201):
                yield million

        answer = self.send(endless())
        self.assertEqual(answer.status, 413)
        self.assertEqual(self.left(), [])

    def test_uploads_that_hang_keep_nobody_out_for_long(self):
        def until(holds):
            deadline = time.monotonic() + PATIENCE
            while not holds():
                self.assertLess(time.monotonic(), deadline)

        slow = []
        for _ in range(4):
            one = socket.create_connection(("127.0.0.1", self.port))
            self.addCleanup(one.close)
            one.sendall(
                f"POST /files/import HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nOrigin: {self.kitchen.address}\r\n"
                f"Cookie: {self.cookie}\r\nContent-Type: multipart/form-data; boundary=b\r\n"
                "Content-Length: 100000000\r\n\r\n--b\r\n".encode() + PART.format("a").encode() + b"x" * 10_000)
            slow.append(one)
        until(lambda: len(self.left()) == 4)
        answer = self.send(self.form(b"{}"))
        self.assertEqual(answer.status, 503)
        self.assertIn(b"Others send files just now.", answer.read())
        self.assertEqual(self.ask("GET", "/files", Cookie=self.cookie).status, 200)
        for one in slow:
            one.close()
        until(lambda: self.send(self.form(b"{}")).status == 303)

    def test_what_waits_is_gone_when_the_program_ends(self):
        self.assertEqual(self.send(self.form(few_plays().read_bytes())).status, 303)
        self.assertEqual(len(self.left()), 1)
        self.kitchen.stop()
        self.assertEqual(self.left(), [])

    def test_a_file_that_does_not_wait_is_told(self):
        for path in ("/files/import/x", "/files/import/00000000-0000-4000-8000-000000000000"):
            self.assertEqual(self.ask("GET", path, Cookie=self.cookie).status, 404)
        self.assertEqual(self.ask("GET", "/files/scorebook.json?zone=none", Cookie=self.cookie).status, 404)


if __name__ == "__main__":
    unittest.main()
