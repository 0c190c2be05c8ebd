// JSON has every key; unknown values are null.

extension Statistics: Encodable {
    private enum CodingKeys: String, CodingKey {
        case plays, minutes, results, hIndex, days, weekdays, hours, tables, games, persons, streaks, records,
            rivalries
    }

    /// Writes every key; `streaks` is null if the figures are not one person's.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(plays, forKey: .plays)
        try container.encode(minutes, forKey: .minutes)
        try container.encode(results, forKey: .results)
        try container.encode(hIndex, forKey: .hIndex)
        try container.encode(days, forKey: .days)
        try container.encode(weekdays, forKey: .weekdays)
        try container.encode(hours, forKey: .hours)
        try container.encode(tables, forKey: .tables)
        try container.encode(games, forKey: .games)
        try container.encode(persons, forKey: .persons)
        try container.encode(streaks, forKey: .streaks)
        try container.encode(records, forKey: .records)
        try container.encode(rivalries, forKey: .rivalries)
    }
}

extension Statistics.GameLine: Encodable {
    private enum CodingKeys: String, CodingKey { case recordName, name, minutes, firstDay, lastDay, results }

    /// Writes every key; unknown values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(name, forKey: .name)
        try container.encode(minutes, forKey: .minutes)
        try container.encode(firstDay, forKey: .firstDay)
        try container.encode(lastDay, forKey: .lastDay)
        try container.encode(results, forKey: .results)
    }
}

extension Statistics.PersonLine: Encodable {
    private enum CodingKeys: String, CodingKey { case recordName, name, results, versus }

    /// Writes every key; `versus` is null if the figures are not one person's.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(name, forKey: .name)
        try container.encode(results, forKey: .results)
        try container.encode(versus, forKey: .versus)
    }
}

extension Statistics.Best: Encodable {
    private enum CodingKeys: String, CodingKey { case match, person, game, points, day }

    /// Writes every key; unknown values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(match, forKey: .match)
        try container.encode(person, forKey: .person)
        try container.encode(game, forKey: .game)
        try container.encode(points, forKey: .points)
        try container.encode(day, forKey: .day)
    }
}
