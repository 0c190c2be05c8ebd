"""What the tests of scores at the table have in common."""

from browser_case import BrowserCase


class TableCase(BrowserCase):
    def table(self, *players, **options):
        """Begins a match of Ada and Alan, and opens its page."""
        self.kitchen = self.machine()
        self.path = self.match(self.kitchen, *(players or ("Ada", "Alan")))
        return self.another(self.kitchen.serve("web", "--port", "0"), **options)

    def another(self, machine, **options):
        page = self.browser(machine, **options)
        page.goto(machine.address + self.path)
        return page

    def write_down(self, page, round=None, **scores):
        if round:
            page.get_by_label("Scores of round").fill(str(round))
        for name, score in scores.items():
            page.get_by_role("textbox", name=name).fill(score)
        page.get_by_role("button", name="Write down").click()

    def match(self, machine, *players):
        """Adds a match, and returns the path of its page."""
        match = machine.add("match", "add", "Hearts", *players, "--new-game", "--new-persons", "--unfinished")
        return "/matches/" + match["recordName"].split("|~|")[1]

    def cell(self, page, row, column):
        return page.locator(f"#sheet tbody tr:nth-child({row}) td:nth-of-type({column})")
