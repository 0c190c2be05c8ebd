"""What a stranger, a page from elsewhere and a hostile record try."""

import http.client
import http.server
import json
import pathlib
import select
import socket
import tempfile
import threading
import time
import unittest
import urllib.parse

from playwright.sync_api import expect

from browser_case import BrowserCase

NAMES = ["<script>document.title='owned'</script>", "\"><img src=x onerror=alert(1)>", "{{title}}", "'; DROP TABLE SBMatch; --"]
# A letter that joins the mark behind it, and an accent that joins the mark before it: each makes one letter of two for Swift, and not for a browser.
JOINING = ["\u0d4e<meta http-equiv=refresh content=0;url=/page.css x\u0d4e>", "\u0d4e<form action=/machines/sync method=post>x",
           "x\"\u0301 autofocus onfocus=alert(1) y=\"\u0301", "x\u0d4e\" autofocus onfocus=alert(1) y=\u0d4e\""]
FOREIGN = "main script, main img, main meta, main [onfocus], main form[action='/machines/sync']"


class AttackTests(BrowserCase):
    def setUp(self):
        super().setUp()
        self.kitchen = self.machine()
        self.kitchen.add("match", "add", "Hearts", "Ada", "Alan", "--new-game", "--new-persons")
        self.kitchen.serve("web", "--port", "0")
        self.port = int(self.kitchen.address.rsplit(":", 1)[1])
        answer = self.ask("GET", self.kitchen.link[len(self.kitchen.address):])
        self.cookie = answer.getheader("Set-Cookie").split(";")[0]

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.addCleanup(connection.close)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        return connection.getresponse()

    def post(self, path, fields, **headers):
        return self.ask(
            "POST", path, urllib.parse.urlencode(fields), Content_Type="application/x-www-form-urlencoded",
            Cookie=self.cookie, **headers)

    def matches(self):
        return len(self.kitchen.add("match", "list"))

    def test_a_stranger_sees_nothing(self):
        for path in ("/", "/matches", "/people", "/changes", "/enter", "/enter?key=", "/enter?key=" + "0" * 32):
            answer = self.ask("GET", path)
            self.assertEqual(answer.status, 401, path)
            self.assertNotIn(b"Hearts", answer.read())
            self.assertIsNone(answer.getheader("Set-Cookie"))
            self.assertIsNone(answer.getheader("Clear-Site-Data"))
        answer = self.ask("GET", "/", Cookie=self.cookie.split("=")[0] + "=" + "0" * 32)
        self.assertEqual(answer.status, 401)
        # Pictures that it has seen go; scores that wait in it stay.
        self.assertEqual(answer.getheader("Clear-Site-Data"), '"cache"')

    def test_the_cookie_is_for_the_server_alone(self):
        answer = self.ask("GET", self.kitchen.link[len(self.kitchen.address):])
        for word in ("HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"):
            self.assertIn(word, answer.getheader("Set-Cookie"))

    def test_another_name_for_this_machine_gets_nothing(self):
        for host in ("evil.example", f"evil.example:{self.port}", "127.0.0.1.evil.example", "", "[::2]"):
            answer = self.ask("GET", "/", Cookie=self.cookie, Host=host)
            self.assertIn(answer.status, (400, 421), host)

    def test_a_form_from_elsewhere_writes_nothing(self):
        before = self.matches()
        fields = {"game": "Hearts", "player[]": "Ada"}
        own = f"http://127.0.0.1:{self.port}"
        for origin in ({}, {"Origin": "null"}, {"Origin": "http://evil.example"}, {"Origin": own + "0"},
                       {"Origin": own.replace("http", "https")}):
            self.assertEqual(self.post("/new", fields, **origin).status, 403, origin)
        self.assertEqual(self.matches(), before)
        self.assertEqual(self.post("/new", fields, Origin=own).status, 303)
        self.assertEqual(self.matches(), before + 1)

    def test_every_answer_forbids_scripts_and_frames(self):
        for path in ("/", "/nothing", "/page.css", "/matches/nonsense"):
            answer = self.ask("GET", path, Cookie=self.cookie)
            policy = answer.getheader("Content-Security-Policy")
            self.assertIn("default-src 'none'", policy, path)
            self.assertIn("frame-ancestors 'none'", policy, path)
            self.assertNotIn("unsafe", policy, path)
            self.assertEqual(answer.getheader("X-Content-Type-Options"), "nosniff", path)

    def test_names_are_texts_and_nothing_else(self):
        persons = {}
        for name in NAMES + JOINING:
            persons[name] = person = self.kitchen.add("person", "add", name)["recordName"]
            self.kitchen.run("match", "add", name, person, "--new-game", "--location", name, "--notes", name)
        page = self.browser(self.kitchen)
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        for path in ("/", "/matches", "/games", "/people"):
            page.goto(self.kitchen.address + path)
            expect(page.get_by_role("main")).to_contain_text(NAMES[0])
            self.assertNotIn("owned", page.title())
            self.assertEqual(page.locator(FOREIGN).count(), 0)
        for name, person in persons.items():
            path = "/people/" + person.split("|~|")[1]
            page.goto(self.kitchen.address + path + "/edit")
            expect(page.get_by_label("Name", exact=True)).to_have_value(name)
            self.assertEqual(page.locator(FOREIGN).count(), 0, name)
            page.goto(self.kitchen.address + path)
            expect(page.get_by_role("heading", level=1)).to_have_text(name)
            self.assertEqual(page.locator(FOREIGN).count(), 0, name)
            self.assertEqual(page.url, self.kitchen.address + path)
        page.goto(self.kitchen.address + "/people")
        page.locator("#list a", has_text="<script>").first.tap()
        expect(page.get_by_role("heading", level=1)).to_have_text(NAMES[0])

    def test_what_is_too_large_is_refused(self):
        own = f"http://127.0.0.1:{self.port}"
        answer = self.post("/new", {"game": "Hearts", "others": "x" * 1_000_000}, Origin=own)
        self.assertEqual(answer.status, 413)
        self.assertEqual(self.ask("GET", "/" + "x" * 70_000, Cookie=self.cookie).status // 100, 4)
        self.assertEqual(self.ask("GET", "/", Cookie=self.cookie).status, 200)

    def test_forms_that_are_nonsense(self):
        own = {"Origin": f"http://127.0.0.1:{self.port}"}
        before = self.matches()
        for fields in ({}, {"game": ""}, {"game": "No such game", "player[]": "Ada"}, {"game": "Hearts"},
                       {"game": "Hearts", "player[]": "SBPerson|~|none"}, {"game[x]": "Hearts", "player": "Ada"}):
            answer = self.post("/new", fields, **own)
            self.assertIn(answer.status, (400, 404, 422), fields)
            self.assertIn(b"class=\"error\"", answer.read())
        match = self.kitchen.add("match", "list")[0]["recordName"].split("|~|")[1]
        for fields in ({}, {"entry": "x"}, {"entry": "00000000-0000-4000-8000-000000000000", "round": "99", "score[a]": "5"}):
            answer = self.post(f"/matches/{match}/scores", fields, **own)
            self.assertIn(answer.status, (400, 422), fields)
        # Nor does it take a kind of mailbox that it does not know for a folder.
        answer = self.post("/machines/mailboxes/add", {"kind": "disk", "place": self.kitchen.directory.name}, **own)
        self.assertEqual(answer.status, 422)
        self.assertEqual(self.kitchen.add("mailbox", "list"), [])
        for path in ("/matches/%00", "/matches/..%2f..", "/people/%ff", "/matches?page=-1", "/matches?page=99999999999999999999",
                     "/matches?since=nonsense", "/new?game=", "/new"):
            self.assertIn(self.ask("GET", path, Cookie=self.cookie).status, (200, 400, 404, 422), path)
        self.assertEqual(self.matches(), before)

    def test_the_name_of_a_picture_makes_no_file_elsewhere(self):
        match = self.kitchen.add("match", "list")[0]["recordName"].split("|~|")[1]
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder) / "owned.gif"
            for number, joint in enumerate(("/", "/\u200d", "/\u0301", "\u0d4e/", "\\", "\\\u200d")):
                name = joint.join([".."] * 12 + list(target.parts[1:]))
                body = (f'--x\r\nContent-Disposition: form-data; name="picture"; filename="{name}"\r\n\r\n'
                        f'GIF89a{number}\r\n--x--\r\n').encode()
                answer = self.ask(
                    "POST", f"/matches/{match}/pictures", body, Content_Type="multipart/form-data; boundary=x",
                    Cookie=self.cookie, Origin=f"http://127.0.0.1:{self.port}")
                self.assertEqual(answer.status, 303, name)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])
        names = [one["image"]["name"] for one in self.kitchen.add("image", "list")]
        self.assertEqual(len(names), 6)
        for name in names:
            self.assertTrue(name.endswith("owned.gif"), name)

    def test_strangers_who_send_forms_bit_by_bit_keep_nobody_out(self):
        slow = []
        # More than the server takes at a time, from many addresses, and each connection has sent the head of a form.
        for number in range(600):
            one = socket.create_connection(("127.0.0.1", self.port), source_address=(f"127.0.0.{2 + number % 20}", 0))
            self.addCleanup(one.close)
            try:
                one.sendall(b"POST /enter HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nContent-Length: 200\r\n\r\nkey=")
            except OSError:
                pass
            slow.append(one)
        self.assertEqual(self.ask("GET", "/", Cookie=self.cookie).status, 200)
        # Of those that came from one address 16 stay at most, and 128 in all.
        self.kitchen.until(lambda: len(select.select(slow, [], [], 0)[0]) >= 600 - 128)

    def test_slow_clients_keep_nobody_out(self):
        slow = []
        for _ in range(100):
            one = socket.create_connection(("127.0.0.1", self.port))
            self.addCleanup(one.close)
            one.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
            slow.append(one)
        self.assertEqual(self.ask("GET", "/", Cookie=self.cookie).status, 200)

    def test_a_request_bit_by_bit_is_cut_off(self):
        for begin in (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ",
                      b"POST /enter HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nContent-Length: 1000\r\n\r\nkey="):
            with self.subTest(begin), socket.create_connection(("127.0.0.1", self.port)) as slow:
                self.check_is_cut_off(slow, begin)

    def check_is_cut_off(self, slow, begin):
        slow.sendall(begin)
        slow.settimeout(0.2)
        start = time.monotonic()
        while time.monotonic() - start < 60:
            try:
                slow.sendall(b"x")
                if slow.recv(1000) == b"":
                    return
            except TimeoutError:
                continue
            except OSError:
                return
        self.fail("it is still connected after a minute")

    def test_too_many_connections_keep_nobody_out_for_long(self):
        # More than the server takes at a time, and they say nothing.
        for _ in range(550):
            self.addCleanup(socket.create_connection(("127.0.0.1", self.port)).close)

        def is_let_in():
            """One that comes among the others may have to go with them, and comes again."""
            try:
                return self.ask("GET", "/", Cookie=self.cookie).status == 200
            except http.client.RemoteDisconnected:
                return False

        self.kitchen.until(is_let_in)

    def elsewhere(self, html):
        """Serves a page of somebody else on this machine: the same host with another port, so that cookies of one are sent to the other."""
        class Hostile(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(html.encode())

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server.server_address[1]

    def test_a_page_from_elsewhere_shows_changes_and_reads_nothing(self):
        before = self.matches()
        port = self.elsewhere(f"""<iframe src="{self.kitchen.address}/" width="400" height="400"></iframe>
            <form action="{self.kitchen.address}/new" method="post"><input name="game" value="Hearts">
            <input name="player[]" value="Ada"><button>Win a prize</button></form><output></output>
            <script>fetch("{self.kitchen.address}/matches", {{ credentials: "include", mode: "no-cors" }})
              .then((answer) => answer.text()).catch(() => "nothing")
              .then((text) => document.querySelector("output").textContent = "read: " + text)</script>""")
        page = self.browser(self.kitchen)
        for host in ("127.0.0.1", "localhost"):
            page.goto(f"http://{host}:{port}/")
            expect(page.locator("output")).to_have_text("read: nothing")
            # It is in no frame, over which somebody else could lay their own buttons.
            self.assertEqual([frame.locator("main").count() for frame in page.frames if frame != page.main_frame], [0])
            page.get_by_role("button", name="Win a prize").click()
            expect(page.get_by_role("main")).to_contain_text("This was not sent from a page of this scorebook.")
        self.assertEqual(self.matches(), before)
        self.complaints = []

    def test_a_name_that_suddenly_leads_here_gets_nothing(self):
        # A page of evil.example, whose name server says that it is here: it would be of one origin with the scorebook.
        page = self.browser(self.kitchen)
        answer = page.goto(f"http://evil.example:{self.port}/")
        self.assertEqual(answer.status, 421)
        expect(page.get_by_role("main")).to_contain_text("This page answers to 127.0.0.1 and localhost alone.")
        self.assertEqual(page.evaluate("fetch('/matches').then((answer) => answer.status)"), 421)
        self.forgive("421", "Cross-Origin-Opener-Policy", "Refused to")

    def test_texts_in_every_field_stay_texts(self):
        name, script = NAMES[0] + NAMES[1], "<script>alert(1)</script>"
        match = self.kitchen.add("match", "add", "Hearts", "Ada=5", "Alan=7", "--unfinished")
        path = "/matches/" + match["recordName"].split("|~|")[1]
        self.kitchen.run(
            "match", "edit", match["recordName"], "--notes", name, "--board", name, "--location", name,
            "--team", f"Ada={script}", "--role", f"Alan={script}")
        self.kitchen.run("score", "add", match["recordName"], f"Ada={script}", "--round", "1")
        page = self.browser(self.kitchen)
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        for shown in (path, path + "/edit", "/matches?text=%3Cscript%3E" + urllib.parse.quote(name), "/people?text=" + urllib.parse.quote(name),
                      "/new?isNew=1&game=" + urllib.parse.quote(name), "/?done=saved&to=//evil.example&run=" + urllib.parse.quote(name)):
            page.goto(self.kitchen.address + shown)
            self.assertNotEqual(page.title(), "owned")
            self.assertEqual(page.locator("main script, main img").count(), 0, shown)
        # What another browser typed comes here by the script of the page.
        page.goto(self.kitchen.address + path)
        page.route("**/scores", lambda route: route.fulfill(status=409, json={
            "conflicts": [{"player": "x", "name": name, "present": name, "typed": name}]}))
        page.get_by_role("textbox", name="Alan").fill("7")
        page.get_by_role("button", name="Write down").tap()
        expect(page.get_by_role("status")).to_contain_text(NAMES[0])
        self.assertEqual(page.locator("#status script, #status img").count(), 0)
        self.forgive("409")


class SlowReaderTests(BrowserCase):
    def test_a_browser_that_reads_nothing_keeps_no_machine_waiting(self):
        kitchen, study = self.household()
        match = kitchen.add("match", "add", "Hearts", "Ada", "Alan", "--new-game", "--new-persons")["recordName"]
        with tempfile.NamedTemporaryFile(suffix=".jpg") as picture:
            picture.write(b"\xff\xd8\xff\xe0" + b"x" * 16_000_000 + b"\xff\xd9")
            picture.flush()
            kitchen.run("image", "add", match, picture.name)
        image = json.loads(kitchen.run("image", "list", "--json"))[0]["image"]["hash"]
        port = int(kitchen.address.rsplit(":", 1)[1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.addCleanup(connection.close)
        connection.request("GET", kitchen.link[len(kitchen.address):])
        cookie = connection.getresponse().getheader("Set-Cookie").split(";")[0]
        slow = socket.socket()
        self.addCleanup(slow.close)
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", port))
        slow.sendall(f"GET /pictures/{image} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n".encode())
        self.assertIn(b" 200 ", slow.recv(60))
        kitchen.stop()
        self.assertIsNone(study.event("disconnected").get("reason"))


if __name__ == "__main__":
    unittest.main()
