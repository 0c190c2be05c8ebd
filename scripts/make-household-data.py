#!/usr/bin/env python3
"""Writes data/household.bgstats.json: the plays of an invented household, as the BG Stats app exports them.

The file is the demo data of the README. The games are real, everybody in it is invented. The same script
writes the same file everywhere: all chance comes from one seeded generator.
"""

import datetime
import json
import pathlib
import random
import uuid

SEED = 19951125
PLAYS = 400
FIRST_DAY = datetime.datetime(2021, 1, 2)
DAYS = 1750

# Name, number at BoardGameGeek, year, least and most players, minutes, kind, and the usual range of scores.
# Kinds: high (most points win), low (fewest win), coop, duel (no points), teams.
GAMES = [
    ("Catan", 13, 1995, 3, 4, 75, "high", (4, 10)),
    ("Carcassonne", 822, 2000, 2, 5, 45, "high", (45, 120)),
    ("Ticket to Ride: Europe", 14996, 2005, 2, 5, 70, "high", (60, 145)),
    ("Azul", 230802, 2017, 2, 4, 40, "high", (30, 95)),
    ("Wingspan", 266192, 2019, 1, 5, 65, "high", (50, 105)),
    ("Terraforming Mars", 167791, 2016, 1, 5, 130, "high", (45, 110)),
    ("7 Wonders", 68448, 2010, 3, 7, 35, "high", (35, 70)),
    ("7 Wonders Duel", 173346, 2015, 2, 2, 30, "high", (40, 75)),
    ("Dominion", 36218, 2008, 2, 4, 30, "high", (12, 60)),
    ("Agricola", 31260, 2007, 1, 5, 110, "high", (15, 50)),
    ("Puerto Rico", 3076, 2002, 3, 5, 100, "high", (30, 65)),
    ("Power Grid", 2651, 2004, 2, 6, 120, "high", (10, 18)),
    ("Stone Age", 34635, 2008, 2, 4, 75, "high", (90, 220)),
    ("Kingdomino", 204583, 2016, 2, 4, 20, "high", (25, 75)),
    ("Splendor", 148228, 2014, 2, 4, 30, "high", (8, 17)),
    ("Patchwork", 163412, 2014, 2, 2, 25, "high", (-10, 40)),
    ("Cascadia", 295947, 2021, 1, 4, 40, "high", (70, 105)),
    ("Everdell", 199792, 2018, 1, 4, 80, "high", (40, 80)),
    ("The Castles of Burgundy", 84876, 2011, 2, 4, 90, "high", (140, 240)),
    ("Lost Cities", 50, 1999, 2, 2, 30, "high", (-20, 90)),
    ("Sagrada", 199561, 2017, 1, 4, 40, "high", (30, 75)),
    ("Isle of Skye", 176494, 2015, 2, 5, 50, "high", (40, 85)),
    ("Concordia", 124361, 2013, 2, 5, 100, "high", (90, 170)),
    ("Brass: Birmingham", 224517, 2018, 2, 4, 130, "high", (90, 180)),
    ("Scythe", 169786, 2016, 1, 5, 110, "high", (30, 95)),
    ("Hanamikoji", 158600, 2013, 2, 2, 15, "duel", None),
    ("Chess", 171, 1475, 2, 2, 40, "duel", None),
    ("Hive", 2655, 2000, 2, 2, 20, "duel", None),
    ("Skull", 92415, 2011, 3, 6, 25, "duel", None),
    ("Love Letter", 129622, 2012, 2, 4, 20, "high", (0, 4)),
    ("Hearts", 6887, 1850, 4, 4, 45, "low", (5, 104)),
    ("6 nimmt!", 432, 1994, 2, 10, 30, "low", (2, 70)),
    ("Skyjo", 204135, 2015, 2, 8, 35, "low", (15, 140)),
    ("Golf", 0, 0, 2, 6, 25, "low", (8, 60)),
    ("Pandemic", 30549, 2008, 2, 4, 50, "coop", None),
    ("Forbidden Island", 65244, 2010, 2, 4, 30, "coop", None),
    ("Hanabi", 98778, 2010, 2, 5, 25, "coop", None),
    ("The Crew: The Quest for Planet Nine", 284083, 2019, 3, 5, 20, "coop", None),
    ("Codenames", 178900, 2015, 4, 8, 20, "teams", None),
    ("Tichu", 215, 1991, 4, 4, 75, "teams", (100, 1100)),
]

PERSONS = [
    "Nora Lindqvist", "Tomás Ferreira", "Ida Brandt", "Paul Okafor", "Mei Tanaka", "Jonas Weber",
    "Sofia Rossi", "Emil Novák", "Amara Diallo", "Lars Petersen", "Hanna Schulz", "Felix Moreau",
]
# How often each of them is there: those of the house first.
WEIGHTS = [30, 28, 22, 18, 8, 8, 6, 6, 4, 4, 3, 3]

LOCATIONS = ["Home", "Grandparents", "Paul's place", "Board game café", "Holiday cottage"]
LOCATION_WEIGHTS = [60, 12, 12, 8, 8]

COMMENTS = [
    "Decided by the very last turn.", "First play with the whole table.", "Closer than it looks.",
    "We forgot a rule in the first round.", "Rematch next week!", "Much shorter than last time.",
]


class Household:
    """Everything that is drawn by chance, from one generator."""

    def __init__(self):
        self.chance = random.Random(SEED)

    def uuid(self):
        return str(uuid.UUID(int=self.chance.getrandbits(128), version=4))

    def weighted(self, values, weights, count):
        """Draws `count` different values."""
        values, weights = list(values), list(weights)
        drawn = []
        for _ in range(count):
            at = self.chance.random() * sum(weights)
            index = 0
            while at >= weights[index] and index < len(weights) - 1:
                at -= weights[index]
                index += 1
            drawn.append(values.pop(index))
            weights.pop(index)
        return drawn

    def scores(self, kind, scale, count):
        """Scores and who won, by seat."""
        if kind == "coop":
            won = self.chance.random() < 0.6
            return [None] * count, [won] * count
        if scale is None:
            winner = self.chance.randrange(count)
            return [None] * count, [seat == winner for seat in range(count)]
        points = [self.chance.randrange(scale[0], scale[1] + 1) for _ in range(count)]
        best = min(points) if kind == "low" else max(points)
        return points, [value == best for value in points]

    def team_scores(self, scale, count):
        """As `scores`, for two teams that sit across from each other."""
        points = [self.chance.randrange(*scale) // 5 * 5 if scale else None for _ in range(2)]
        winner = self.chance.randrange(2) if scale is None else int(points[1] > points[0])
        return [points[seat % 2] for seat in range(count)], [seat % 2 == winner for seat in range(count)]


def written(moment):
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def make():
    house = Household()
    chance = house.chance
    start = written(FIRST_DAY)
    players = [
        {"uuid": house.uuid(), "id": number, "name": name, "isAnonymous": False, "modificationDate": start,
         "bggUsername": ""}
        for number, name in enumerate(PERSONS, 1)
    ]
    locations = [
        {"uuid": house.uuid(), "id": number, "name": name, "modificationDate": start}
        for number, name in enumerate(LOCATIONS, 1)
    ]
    games = [
        {"uuid": house.uuid(), "id": number, "name": name, "modificationDate": start, "bggId": bgg,
         "bggName": name, "bggYear": year, "minPlayerCount": least, "maxPlayerCount": most,
         "highestWins": kind != "low", "noPoints": scale is None, "cooperative": kind == "coop",
         "usesTeams": kind == "teams"}
        for number, (name, bgg, year, least, most, _, kind, scale) in enumerate(GAMES, 1)
    ]

    # A few favourites come to the table far more often than the rest.
    favour = [1 + 12 * chance.random() ** 3 for _ in GAMES]
    days = sorted(chance.randrange(DAYS) for _ in range(PLAYS))
    played = set()
    plays = []
    for day in days:
        game = house.weighted(range(len(GAMES)), favour, 1)[0]
        _, _, _, least, most, minutes, kind, scale = GAMES[game]
        time = datetime.timedelta(hours=14 + chance.randrange(7), minutes=5 * chance.randrange(12))
        at = FIRST_DAY + datetime.timedelta(days=day) + time
        least = max(2, least)
        count = least + min(chance.randrange(most - least + 1), chance.randrange(4))
        if kind == "teams":
            count -= count % 2
        seated = house.weighted(range(len(PERSONS)), WEIGHTS, count)
        if kind == "teams":
            points, winners = house.team_scores(scale, count)
        else:
            points, winners = house.scores(kind, scale, count)
        duration = max(5, round(minutes * (0.7 + 0.6 * chance.random()) / 5) * 5)
        # It is entered when it is over; now and then somebody corrects it days later.
        entered = at + datetime.timedelta(minutes=duration + 2)
        changed = entered
        if chance.random() >= 0.9:
            changed += datetime.timedelta(days=chance.randrange(1, 9))
        scores = []
        for seat, person in enumerate(seated):
            score = {
                "score": None if points[seat] is None else str(points[seat]),
                "winner": winners[seat], "newPlayer": (game, person) not in played, "startPlayer": seat == 0,
                "playerRefId": person + 1, "rank": 0, "seatOrder": seat + 1, "role": "",
            }
            if kind == "teams":
                score["team"] = str(seat % 2 + 1)
            elif scale is not None:
                mine = points[seat]
                better = [value < mine if kind == "low" else value > mine for value in points]
                score["rank"] = sum(better) + 1
            played.add((game, person))
            scores.append(score)
        plays.append({
            "uuid": house.uuid(), "modificationDate": written(changed), "entryDate": written(entered),
            "playDate": written(at), "gameRefId": game + 1,
            "locationRefId": house.weighted(range(1, len(LOCATIONS) + 1), LOCATION_WEIGHTS, 1)[0],
            "durationMin": duration, "rounds": 0, "ignored": False, "rating": 0, "board": "",
            "usesTeams": kind == "teams",
            "comments": chance.choice(COMMENTS) if chance.random() < 0.12 else "", "playerScores": scores,
        })
    return {
        "players": players, "locations": locations, "games": games, "plays": plays, "deletedObjects": [],
        "userInfo": {"meRefId": 1, "exportDate": written(FIRST_DAY + datetime.timedelta(days=DAYS + 1)),
                     "appVersion": "invented data, see scripts/make-household-data.py"},
    }


def main():
    path = pathlib.Path(__file__).parent / "data" / "household.bgstats.json"
    parts = []
    for key, value in make().items():
        # One object on a line, so that a change of the script shows as a change of lines.
        if isinstance(value, list) and value:
            lines = ",\n".join(json.dumps(item, ensure_ascii=False, separators=(",", ":")) for item in value)
            text = f"[\n{lines}\n]"
        else:
            text = json.dumps(value, ensure_ascii=False)
        parts.append(f"{json.dumps(key)}: {text}")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
