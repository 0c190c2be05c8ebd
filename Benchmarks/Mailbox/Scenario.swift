import Foundation
import GRDB
import MailboxSupport
import PeerSyncMailbox
import TestSupport

/// Something that a household does, and what its mailbox is asked for meanwhile.
struct Scenario: Sendable {
    let name: String
    let run: @Sendable (Sizes) async throws -> [Figure]

    static let all = [
        Scenario(name: "change") { try await change($0) },
        Scenario(name: "hour") { try await idleHour($0) },
        Scenario(name: "day") { try await day($0) },
        Scenario(name: "newcomer") { try await newcomer($0) },
        Scenario(name: "machines") { try await machines($0) },
        Scenario(name: "growth") { try await growth($0) },
    ]

    /// A pass each minute, and a quarter more at most.
    private static let passesInHour = 53

    // MARK: What a household does

    private static func change(_ sizes: Sizes) async throws -> [Figure] {
        let household = try await Crowd(3, records: sizes.household)
        try await household.settle()
        return try await household.counting("one change, three machines: all of it, until all rest") {
            try await household.machines[0].change(1)
            try await household.settle()
        }
    }

    private static func idleHour(_ sizes: Sizes) async throws -> [Figure] {
        let household = try await Crowd(3, records: sizes.household)
        try await household.settle()
        return try await household.counting("an hour of three machines in which nothing happens") {
            for _ in 0..<passesInHour { try await household.pass() }
        }
    }

    /// Three machines run all day. In the evening one of them enters a match for four players with five rounds, a commit each: 1 match,
    /// 4 players, 5 times 4 scores, and a picture of 2 MB; the others take up each commit.
    private static func day(_ sizes: Sizes) async throws -> [Figure] {
        try await withTemporaryDirectory { url in
            let household = try await Crowd(3, records: sizes.household, assets: url)
            try await household.settle()
            return try await household.counting(
                "a day of three machines: one match with a picture of 2 MB, 8 commits, and asking each minute"
            ) {
                let writer = household.machines[0]
                for _ in 0..<(24 * passesInHour) { try await household.pass() }
                let match = "SBMatch|~|0199f000-0000-7000-8000-000000000001"
                func player(_ seat: Int) -> String { "SBPlayer|~|0199f000-0000-7000-8000-00000000001\(seat)" }
                try await writer.write(
                    "INSERT INTO SBMatch (recordName, game, date) SELECT ?, recordName, '2026-11-24T19:30:00Z' FROM SBGame LIMIT 1",
                    [match])
                try await household.settle()
                for seat in 0..<4 {
                    try await writer.write(
                        "INSERT INTO SBPlayer (recordName, match, person, seatOrder) SELECT ?, ?, recordName, ? FROM SBPerson LIMIT 1 OFFSET ?",
                        [player(seat), match, seat, seat])
                }
                try await household.settle()
                for round in 1...5 {
                    for seat in 0..<4 {
                        try await writer.write(
                            "INSERT INTO SBScore (recordName, player, round, points) VALUES (?, ?, ?, ?)",
                            [
                                "SBScore|~|0199f000-0000-7000-8000-0000000\(round)000\(seat)", player(seat),
                                round, 7 * round + seat,
                            ])
                    }
                    try await household.settle()
                }
                var random = SeededGenerator(seed: 2)
                let picture = Data(
                    (0..<250_000).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } })
                try await writer.write(
                    "INSERT INTO SBMatchImage (recordName, match, image) VALUES (?, ?, ?)",
                    ["SBMatchImage|~|0199f000-0000-7000-8000-000000000099", match, picture])
                try await household.settle()
            }
        }
    }

    // MARK: Much of it

    private static func newcomer(_ sizes: Sizes) async throws -> [Figure] {
        try await withTemporaryDirectory { url in
            let household = try await Crowd(2, records: sizes.newcomer, directory: url)
            let name = "\(sizes.newcomer) records"
            var figures = try await household.counting(
                "\(name) are put and read for the first time, two machines"
            ) {
                try await household.settle()
            }
            figures[0].database = try household.databaseSize(0)
            try await household.add()
            return figures
                + (try await household.counting("a third machine comes, with nothing, to \(name)") {
                    try await household.settle()
                })
        }
    }

    private static func machines(_ sizes: Sizes) async throws -> [Figure] {
        var figures: [Figure] = []
        for count in sizes.machines {
            let household = try await Crowd(count, records: sizes.crowded)
            figures += try await household.counting(
                "\(count) machines, \(sizes.crowded) records: all meet for the first time"
            ) {
                try await household.settle()
            }
            figures += try await household.counting("\(count) machines: one change, until all rest") {
                try await household.machines[0].change(1)
                try await household.settle()
            }
            figures += try await household.counting("\(count) machines: each asks once, nothing is new") {
                try await household.pass()
            }
        }
        return figures
    }

    /// One change after the other on one machine, each with a pass of its own; the other machine passes after each tenth.
    private static func growth(_ sizes: Sizes) async throws -> [Figure] {
        let household = try await Crowd(2, records: sizes.household)
        try await household.settle()
        var figures: [Figure] = []
        for part in 0..<4 {
            figures += try await household.counting(
                "changes \(part * sizes.changes / 4 + 1) to \((part + 1) * sizes.changes / 4)"
            ) {
                for number in 1...sizes.changes / 4 {
                    try await household.machines[0].change(part * sizes.changes + number)
                    try await household.machines[0].mailbox.syncOnce()
                    if number.isMultiple(of: 10) { try await household.machines[1].mailbox.syncOnce() }
                    household.noteStored()
                }
                try await household.settle()
            }
            figures[figures.count - 1].most = household.mostStored
        }
        return figures
    }
}
