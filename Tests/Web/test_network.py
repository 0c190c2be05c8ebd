"""The page in the network of a household: TLS, its certificate, phones, and who else knocks.

scripts/test --web --lan builds the program with the trait LAN, and runs these tests in a network of their own.
"""

import hashlib
import http.client
import os
import pathlib
import ssl
import stat
import subprocess
import unittest

from playwright.sync_api import expect

from browser_case import DESK, PHONE, BrowserCase
from page_machine import PATIENCE, PROGRAM, shifted

# One test gives this machine another address.
ALONE = True
# Where scripts/test lets this machine be.
ADDRESS = "192.168.77.20"
NAMES = {"DNS:localhost", "IP Address:127.0.0.1", f"IP Address:{ADDRESS}"}
LAN = ("web", "--port", "0", "--lan")


def openssl(*arguments, environment=None):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, env={**os.environ, **(environment or {})})


@unittest.skipUnless(os.environ.get("SCOREBOOK_LAN") == "1", "scripts/test --web --lan runs these")
class NetworkTests(BrowserCase):
    def setUp(self):
        super().setUp()
        self.kitchen = self.machine()
        self.kitchen.add("match", "add", "Hearts", "Ada", "Alan", "--new-game", "--new-persons")
        self.file = self.kitchen.store / "page.pem"

    def phone(self, link, **options):
        page = self.browser(ignore_https_errors=True, **options)
        page.goto(link)
        page.get_by_role("button", name="Open the scorebook").click()
        page.wait_for_url(link.split("/enter")[0] + "/")
        return page

    def serve(self):
        self.kitchen.serve(*LAN)
        self.event = self.kitchen.event("web")
        self.port = int(self.kitchen.address.rsplit(":", 1)[1])
        return self.event

    def ask(self, method, path, body=None, address="127.0.0.1", **headers):
        # Also a proof that the certificate is that of the file, and that it names the address.
        context = ssl.create_default_context(cafile=self.file)
        connection = http.client.HTTPSConnection(address, self.port, timeout=PATIENCE, context=context)
        self.addCleanup(connection.close)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        return connection.getresponse()

    def refused(self, *arguments, within=()):
        """Runs the page where it cannot run, and returns what it says."""
        done = subprocess.run(
            [*within, PROGRAM, *LAN, *arguments, "--store", self.kitchen.store], capture_output=True, text=True,
            timeout=PATIENCE, stdin=subprocess.DEVNULL)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        self.assertEqual([line.split(":")[0] for line in lines], ["error", "hint"][:len(lines)], done.stderr)
        return done.stderr

    def certificate(self, name, environment=None):
        """Makes a certificate for kitchen.example, and returns its two files."""
        directory = pathlib.Path(self.kitchen.directory.name)
        certificate, key = directory / f"{name}.pem", directory / f"{name}.key"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                "/CN=kitchen", "-addext", f"subjectAltName=DNS:kitchen.example,IP:127.0.0.1,IP:{ADDRESS}", "-keyout", str(key),
                "-out", str(certificate), environment=environment)
        return str(certificate), str(key)

    def test_a_phone_gets_in_once(self):
        link = self.serve()["networkLink"]
        self.assertTrue(link.startswith(f"https://{ADDRESS}:{self.port}/enter?key="), link)
        phone = self.phone(link)
        expect(phone.locator("#latest")).to_contain_text("Hearts")
        [cookie] = phone.context.cookies()
        self.assertTrue(cookie["secure"] and cookie["httpOnly"] and cookie["sameSite"] == "Strict", cookie)
        other = self.browser(ignore_https_errors=True)
        other.goto(link)
        expect(other.get_by_role("main")).to_contain_text("This link is not valid any more.")
        # The link of this machine's own browsers is good for nothing elsewhere.
        other.goto(self.event["link"].replace("127.0.0.1", ADDRESS))
        expect(other.get_by_role("main")).to_contain_text("This link is not valid any more.")
        self.forgive("401")

    def test_the_page_lets_further_phones_in(self):
        self.serve()
        here = self.browser(self.kitchen, ignore_https_errors=True, **DESK)
        for kind, device in (("A link for the household", PHONE), ("A link for a guest", DESK)):
            here.goto(self.kitchen.address + "/browsers")
            expect(here.get_by_role("main")).to_contain_text(self.event["fingerprint"])
            self.check_accessibility(here)
            here.get_by_role("button", name=kind).click()
            self.check_accessibility(here)
            picture = self.kitchen.directory.name + "/link.png"
            here.locator("svg.qr").screenshot(path=picture)
            link = subprocess.run(
                ["zbarimg", "--quiet", "--raw", picture], capture_output=True, text=True, check=True).stdout.strip()
            self.assertEqual(link, here.locator("#link").inner_text())
            self.assertTrue(link.startswith(f"https://{ADDRESS}:"), link)
            expect(self.phone(link, **device).locator("#latest")).to_contain_text("Hearts")
        # A match that a phone writes down is seen by the other browsers at once.
        here.goto(self.kitchen.address + "/")
        self.kitchen.run("match", "add", "Skat", "Ada", "--new-game")
        expect(here.locator("#latest")).to_contain_text("Skat")

    def test_the_certificate(self):
        event = self.serve()
        text = ssl.get_server_certificate((ADDRESS, self.port))
        digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(text)).hexdigest().upper()
        self.assertEqual(event["fingerprint"].replace(":", ""), digest)
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)
        self.assertEqual(list(self.kitchen.store.glob("page-*")), [])
        names = subprocess.run(
            ["openssl", "x509", "-noout", "-ext", "subjectAltName"], input=text, capture_output=True, text=True,
            check=True).stdout
        for name in NAMES:
            self.assertIn(name, names)
        for address in ("127.0.0.1", ADDRESS, "localhost"):
            self.assertEqual(self.ask("GET", "/", address=address).status, 401, address)
        self.kitchen.stop()
        self.assertEqual(self.serve()["fingerprint"], event["fingerprint"], "the same one as before")

    def test_a_certificate_that_is_no_good_is_made_anew(self):
        first = self.serve()["fingerprint"]
        self.kitchen.stop()
        certificate, key = self.certificate("old", shifted("-10d"))
        seen = {first}
        for content in (pathlib.Path(key).read_text() + pathlib.Path(certificate).read_text(), "nonsense", ""):
            self.file.write_text(content)
            seen.add(self.serve()["fingerprint"])
            self.assertEqual(self.ask("GET", "/").status, 401)
            self.kitchen.stop()
        # Another address.
        subprocess.run(["ip", "addr", "add", "192.168.77.21/24", "dev", "lo"], check=True)
        self.addCleanup(subprocess.run, ["ip", "addr", "del", "192.168.77.21/24", "dev", "lo"], check=True)
        seen.add(self.serve()["fingerprint"])
        self.assertEqual(self.ask("GET", "/", address="192.168.77.21").status, 401)
        self.assertEqual(len(seen), 5)

    def test_a_certificate_that_is_given(self):
        certificate, key = self.certificate("given")
        self.kitchen.serve(*LAN, "--certificate", certificate, "--key", key)
        event = self.kitchen.event("web")
        self.assertTrue(event["networkLink"].startswith("https://kitchen.example:"), event)
        self.assertFalse(self.file.exists())
        text = ssl.get_server_certificate(("127.0.0.1", int(self.kitchen.address.rsplit(":", 1)[1])))
        self.assertEqual(text.strip(), pathlib.Path(certificate).read_text().strip())
        self.kitchen.stop()
        old, old_key = self.certificate("old", shifted("-10d"))
        self.assertIn("expired on", self.refused("--certificate", old, "--key", old_key))
        self.assertIn("cannot be used", self.refused("--certificate", certificate, "--key", old_key))
        self.assertIn("cannot be used", self.refused("--certificate", key, "--key", key))
        self.assertIn("cannot be read", self.refused("--certificate", certificate + "x", "--key", key))
        # Where openssl is nothing that can be run.
        hidden = ["unshare", "--mount", "sh", "-c", 'mount --bind /dev/null "$(command -v openssl)" && exec "$0" "$@"']
        self.assertIn("openssl is missing", self.refused(within=hidden))

    def test_other_names_and_other_pages(self):
        self.serve()
        link = self.event["link"]
        answer = self.ask("GET", link[len(self.kitchen.address):])
        cookie = answer.getheader("Set-Cookie").split(";")[0]
        own = f"https://127.0.0.1:{self.port}"
        for host in ("evil.example", f"evil.example:{self.port}", f"{ADDRESS}.evil.example", "192.168.77.99", "127.0.0.2", "[::2]"):
            self.assertIn(self.ask("GET", "/", Cookie=cookie, Host=host).status, (400, 421), host)
        for host in (f"{ADDRESS}:{self.port}", f"localhost:{self.port}"):
            self.assertEqual(self.ask("GET", "/", Cookie=cookie, Host=host).status, 200, host)
        before = self.kitchen.add("status")["digest"]
        for origin in ({}, {"Origin": "null"}, {"Origin": "https://evil.example"}, {"Origin": own.replace("https", "http")},
                       {"Origin": f"https://{ADDRESS}:{self.port}"}):
            answer = self.ask("POST", "/machines/sync", "on=0", Cookie=cookie,
                              Content_Type="application/x-www-form-urlencoded", **origin)
            self.assertEqual(answer.status, 403, origin)
        self.assertEqual(self.kitchen.add("status")["digest"], before)
        self.assertTrue(self.kitchen.add("sync")["sync"])

    def test_listening_and_serving(self):
        study = self.machine("study")
        study.serve("listen", "--port", "0", "--no-discovery", "--web", "--web-port", "0", "--lan")
        page = self.phone(study.event("web")["networkLink"])
        page.get_by_role("navigation").get_by_role("link", name="Machines").click()
        page.get_by_role("link", name="Pair a machine").click()
        page.get_by_role("button", name="Show a code").click()
        expect(page.locator("#pairing")).to_contain_text(f"this machine is at {ADDRESS}:")


if __name__ == "__main__":
    unittest.main()
