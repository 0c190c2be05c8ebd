"""Pictures of matches, persons and games: from the camera to every screen, the right way up."""

import base64
import os
import pathlib
import shutil
import struct
import tempfile
import unittest
from unittest import mock

from playwright.sync_api import expect

from browser_case import LOOKS, BrowserCase

# Draws a picture in the browser: its left half is red, the other one blue.
DRAW = """([type, width, height]) => {
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const context = canvas.getContext("2d");
  context.fillStyle = "#f00"; context.fillRect(0, 0, width / 2, height);
  context.fillStyle = "#00f"; context.fillRect(width / 2, 0, width / 2, height);
  return canvas.toDataURL(type, 0.95);
}"""
# Says how large an image is, and its colours at the top left and the bottom right.
LOOK = """async (path) => {
  const image = new Image();
  image.src = path;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.naturalWidth, height: image.naturalHeight });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  const color = (x, y) => { const [r, , b] = context.getImageData(x, y, 1, 1).data; return r > b ? "red" : "blue"; };
  return [canvas.width, canvas.height, color(5, 5), color(canvas.width - 6, canvas.height - 6)];
}"""


def turned(jpeg):
    """A photo of a telephone that was held upright: its bytes lie, and Exif says to turn them clockwise."""
    exif = b"Exif\0\0MM\0*\0\0\0\x08" + struct.pack(">HHHIHHI", 1, 0x0112, 3, 1, 6, 0, 0)
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[2:]


class PictureTests(BrowserCase):
    def setUp(self):
        super().setUp()
        self.kitchen = self.machine()
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        match = self.kitchen.add("match", "add", "Hearts", "Ada", "Alan", "--new-game", "--new-persons")
        self.path = "/matches/" + match["recordName"].split("|~|")[1]

    def draw(self, page, name, type="image/jpeg", width=800, height=400):
        bytes = base64.b64decode(page.evaluate(DRAW, [type, width, height]).split(",")[1])
        file = self.folder / name
        file.write_bytes(bytes)
        return file

    def begin(self, **options):
        page = self.browser(self.kitchen.serve("web", "--port", "0"), **options)
        page.goto(self.kitchen.address + self.path)
        return page

    def add(self, page, *files, caption=""):
        page.get_by_text("Add pictures").click()
        page.get_by_label("Choose pictures").set_input_files(files)
        page.get_by_label("What is to be seen").fill(caption)
        page.get_by_role("button", name="Add", exact=True).click()

    def pictures(self):
        return self.kitchen.add("image", "list")

    def test_several_pictures_of_a_match(self):
        page = self.begin()
        files = [self.draw(page, "one.jpg"), self.draw(page, "two.png", "image/png", 300, 300)]
        self.add(page, *files, caption="The end")
        expect(page.locator(".pictures img")).to_have_count(2)
        self.assertEqual(sorted(one["image"]["name"] for one in self.pictures()), ["one.jpg", "two.png"])
        self.assertEqual({one["caption"] for one in self.pictures()}, {"The end"})
        # Each is what it was.
        shown = {page.request.get(self.kitchen.address + link.get_attribute("href")).body()
                 for link in page.locator(".pictures figure > a").all()}
        self.assertEqual(shown, {file.read_bytes() for file in files})

    @unittest.skipUnless(shutil.which("vipsthumbnail"), "libvips-tools is not installed")
    def test_small_forms_are_the_right_way_up(self):
        page = self.begin()
        photo = self.draw(page, "photo.jpg", width=1600, height=800)
        photo.write_bytes(turned(photo.read_bytes()))
        self.add(page, photo)
        small = page.locator(".pictures img").get_attribute("src")
        self.assertEqual(page.evaluate(LOOK, small), [240, 480, "red", "blue"])
        # Browsers turn the picture itself.
        self.assertEqual(page.evaluate(LOOK, small.removesuffix("/small")), [800, 1600, "red", "blue"])
        answer = page.request.get(self.kitchen.address + small)
        self.assertLess(len(answer.body()), len(photo.read_bytes()))
        self.assertNotIn(b"Exif", answer.body())
        # It is kept, and made again when it is gone.
        made = list((self.kitchen.store / "thumbnails").iterdir())
        self.assertEqual(len(made), 1)
        made[0].unlink()
        self.assertEqual(page.request.get(self.kitchen.address + small + "?again").body(), answer.body())
        self.assertTrue(made[0].exists())

    def test_without_the_program_the_picture_itself_is_shown(self):
        with mock.patch.dict(os.environ, PATH=str(self.folder)):
            self.kitchen.serve("web", "--port", "0")
        page = self.browser(self.kitchen)
        page.goto(self.kitchen.address + self.path)
        photo = self.draw(page, "photo.jpg")
        photo.write_bytes(turned(photo.read_bytes()))
        self.add(page, photo)
        small = page.locator(".pictures img").get_attribute("src")
        self.assertEqual(page.evaluate(LOOK, small), [400, 800, "red", "blue"])
        self.assertEqual(page.request.get(self.kitchen.address + small).body(), photo.read_bytes())

    def test_a_picture_is_deleted_and_saved(self):
        page = self.begin()
        file = self.draw(page, "one.jpg")
        self.add(page, file)
        page.locator(".pictures summary").tap()
        with page.expect_download() as saving:
            page.get_by_role("link", name="Save").tap()
        self.assertTrue(saving.value.suggested_filename.endswith(".jpeg"))
        self.assertEqual(pathlib.Path(saving.value.path()).read_bytes(), file.read_bytes())
        page.get_by_role("button", name="Delete", exact=True).tap()
        expect(page.locator(".pictures li")).to_have_count(0)
        self.assertEqual(self.pictures(), [])
        page.get_by_role("button", name="Take back").tap()
        expect(page.locator(".pictures img")).to_have_count(1)
        self.assertEqual(len(self.pictures()), 1)

    def test_each_form_is_taken_back_alone(self):
        page = self.begin()
        for name in ("one.png", "two.png"):
            self.add(page, self.draw(page, name, "image/png", 300, 300))
            expect(page.locator(".notice")).to_contain_text("Saved.")
        page.goto(self.kitchen.address + "/people")
        page.locator("#list").get_by_role("link", name="Ada").tap()
        page.get_by_text("Set a picture").tap()
        page.get_by_label("Choose a picture").set_input_files(self.draw(page, "ada.png", "image/png", 200, 200))
        page.get_by_role("button", name="Set it").tap()
        page.locator(".notice").get_by_role("button", name="Take back").tap()
        expect(page.locator(".notice")).to_contain_text("Taken back.")
        self.assertIn("image add", self.kitchen.run("undo"))
        self.assertEqual([one["image"]["name"] for one in self.pictures()], ["one.png"])

    def test_a_person_and_a_game_have_one(self):
        page = self.begin()
        file = self.draw(page, "portrait.png", "image/png", 200, 200)
        for section, name, field in (("People", "Ada", "avatar"), ("Games", "Hearts", "thumbnail")):
            page.get_by_role("navigation").get_by_role("link", name=section).tap()
            page.locator("#list").get_by_role("link", name=name).tap()
            page.get_by_text("Set a picture").tap()
            page.get_by_label("Choose a picture").set_input_files(file)
            page.get_by_role("button", name="Set it").tap()
            expect(page.locator(".pictures img")).to_have_attribute("alt", f"Picture of {name}")
            self.check_accessibility(page)
        self.assertEqual({one["field"] for one in self.pictures()}, {"avatar", "thumbnail"})
        page.locator(".pictures summary").tap()
        page.get_by_role("button", name="Delete", exact=True).tap()
        expect(page.locator(".pictures li")).to_have_count(0)
        self.assertEqual([one["field"] for one in self.pictures()], ["avatar"])

    def test_everything_works_without_a_script(self):
        other = self.begin()
        file = self.draw(other, "one.jpg")
        page = self.browser(self.kitchen, java_script_enabled=False)
        page.goto(self.kitchen.address + self.path)
        page.get_by_text("Add pictures").tap()
        page.get_by_label("Take a photo").set_input_files(file)
        page.get_by_role("button", name="Add", exact=True).tap()
        expect(page.locator(".pictures img")).to_have_count(1)
        # Who looks at the match sees it at once.
        expect(other.locator(".pictures img")).to_have_count(1)
        page.locator(".pictures summary").tap()
        page.get_by_role("button", name="Delete", exact=True).tap()
        expect(other.locator(".pictures img")).to_have_count(0)

    def test_what_is_no_picture_is_told_in_a_sentence(self):
        page = self.begin()
        good = self.draw(page, "good.jpg")
        page_text = self.folder / "notes<b>.html"
        page_text.write_text("<script>document.title = 'owned'</script>")
        empty = self.folder / "empty.jpg"
        empty.touch()
        for files, sentence in (([good, page_text], "“notes<b>.html” is not a picture that can be added"),
                                ([empty], "“empty.jpg” is empty."), ([], "Choose a picture first")):
            page.goto(self.kitchen.address + self.path)
            self.add(page, *files)
            expect(page.locator(".error")).to_contain_text(sentence)
            # All of them or none.
            self.assertEqual(self.pictures(), [])
        self.forgive("422")

    def test_a_long_name_in_another_script_is_cut(self):
        page = self.begin()
        picture = self.draw(page, "one.jpg").read_bytes()
        self.add(page, {"name": "桌" * 100 + ".jpg", "mimeType": "image/jpeg", "buffer": picture})
        expect(page.locator(".pictures img")).to_have_count(1)
        self.assertEqual([one["image"]["name"] for one in self.pictures()], ["桌" * 65 + ".jpg"])

    def test_what_the_system_says_stays_in_the_log(self):
        gone = self.folder / "gone"
        gone.mkdir()
        with mock.patch.dict(os.environ, TMPDIR=str(gone)):
            page = self.begin()
        gone.rmdir()
        self.add(page, self.draw(page, "one.jpg"))
        expect(page.locator(".error")).to_have_text("The scorebook cannot do this now.")
        self.assertNotIn(str(gone), page.content())
        self.forgive("500")

    def test_a_picture_is_never_a_page(self):
        page = self.begin()
        script = self.folder / "both.gif"
        script.write_bytes(b"GIF89a/*" + b" " * 20 + b"*/=1;document.title='owned'//<script>document.title='owned'</script>")
        self.add(page, script)
        link = page.locator(".pictures figure > a").get_attribute("href")
        answer = page.request.get(self.kitchen.address + link)
        self.assertEqual(answer.headers["content-type"], "image/gif")
        self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
        self.assertEqual(answer.headers["content-security-policy"], "default-src 'none'; sandbox")
        # A browser asks each time, so that one that is shut out shows nothing.
        self.assertEqual(answer.headers["cache-control"], "private, no-cache")
        for path in (link, link + "/small"):
            tag = page.request.get(self.kitchen.address + path).headers["etag"]
            answer = page.request.get(self.kitchen.address + path, headers={"If-None-Match": tag})
            self.assertEqual((answer.status, answer.body()), (304, b""))
            answer = page.request.get(self.kitchen.address + path, headers={"If-None-Match": '"other"'})
            self.assertEqual(answer.status, 200)
        self.assertEqual(page.request.get(self.kitchen.address + "/pictures/" + "0" * 64).status, 404)
        for path in ("/pictures/..%2f..%2fscorebook.sqlite", "/pictures/x/small"):
            self.assertEqual(page.request.get(self.kitchen.address + path).status, 404)

    def test_everybody_can_use_them(self):
        page = self.begin()
        file = self.draw(page, "one.jpg")
        self.add(page, file, caption="Red and blue")
        for look in LOOKS:
            page = self.browser(self.kitchen, **look)
            page.goto(self.kitchen.address + self.path)
            expect(page.get_by_role("img", name="Red and blue")).to_be_visible()
            for summary in page.locator("section summary").all():
                summary.click()
            self.check_accessibility(page)


if __name__ == "__main__":
    unittest.main()
