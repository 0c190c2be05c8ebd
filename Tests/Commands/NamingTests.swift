import Foundation
import TestSupport
import Testing

/// How people name records in commands, beyond what LookupTests cover: lists and choices.
@Suite(.takingTurns) struct NamingTests {

    /// A number stays with its record, also when a newer record has taken its place in the list.
    @Test func aNumberOfTheLastListNamesARecord() async throws {
        try await withMachine { kitchen in
            for name in ["Bea", "Cem", "Dora"] { try await kitchen.peer("person", "add", name) }
            let list = try await kitchen.peer("person", "list")
            #expect(list.contains(#/\n2 +Cem/#), "\(list)")
            try await kitchen.peer("person", "add", "Ada")
            #expect(try await kitchen.peer("person", "show", "2").contains("Cem"))
            try await kitchen.peer("game", "add", "Go")
            try await kitchen.peer("game", "list")
            #expect(try await kitchen.peer("person", "show", "3").contains("Dora"))
            #expect(try await kitchen.run("person", "show", "4").isSentence(65))
            // A list for programs has no numbers, and changes none.
            try await kitchen.json([RecordLine].self, "person", "list")
            #expect(try await kitchen.peer("person", "show", "1").contains("Bea"))
            try await kitchen.peer("person", "delete", "2", "--yes")
            let gone = try await kitchen.run("person", "show", "2")
            #expect(gone.isSentence(65) && gone.errors.contains("not there any more"), "\(gone)")
            try await kitchen.peer("record", "list", "--deleted")
            #expect(try await kitchen.peer("person", "restore", "1").contains("restored"))
            #expect(try await kitchen.peer("person", "show", "Cem").contains("Cem"))
        }
    }

    /// Numbers of a list that cannot be remembered would lead to the list before.
    @Test func withoutAPlaceForTheListThereAreNoNumbers() async throws {
        try await withMachine { kitchen in
            try await kitchen.peer("person", "add", "Bea")
            try Data().write(to: kitchen.store.appendingPathComponent("lists"))
            #expect(try await kitchen.peer("person", "list").hasPrefix("NAME"))
            #expect(try await kitchen.run("person", "show", "1").isSentence(65))
        }
    }

    @Test func aNameThatManyHaveIsOneShortNote() async throws {
        try await withMachine { kitchen in
            for _ in 0..<7 { try await kitchen.peer("person", "add", "Ada") }
            let list = try await kitchen.run("person", "list")
            #expect(list.exitCode == 0 && list.output.split(separator: "\n").count == 8, "\(list)")
            #expect(
                list.errors.contains(
                    /^note: there are 7 Ada: ([0-9a-f]+ \([^)]*\),? ){5}and 2 more; `person merge/),
                "\(list)")
        }
    }

    @Test func anIDOfAListCanBePasted() async throws {
        try await withMachine { kitchen in
            try await kitchen.importHousehold()
            for kind in ["person", "game", "match"] {
                let list = try await kitchen.peer(kind, "list")
                let records = try await kitchen.json([RecordLine].self, kind, "list").map(\.recordName)
                let ids = list.split(separator: "\n").dropFirst().map {
                    String($0.split(separator: " ").last!)
                }
                #expect(ids.count == records.count && Set(ids).count == ids.count)
                #expect(ids.allSatisfy { $0.wholeMatch(of: /[0-9a-f-]{6,12}/) != nil })
                let shown = try await kitchen.json(RecordLine.self, kind, "show", ids[0]).recordName
                #expect(shown == records[0])
            }
        }
    }

    @Test func somebodyAtATerminalChooses() async throws {
        try await withMachine { kitchen in
            try await kitchen.peer("person", "add", "Grace Hopper")
            try await kitchen.peer("person", "add", "Grace Kelly")
            let outcome = try await kitchen.run("person", "edit", "Grace", "--email", "g@example.org")
            #expect(
                outcome.isSentence(65) && outcome.errors.contains("Grace Kelly (no matches, id "),
                "\(outcome)")
            for (answer, email) in [("7\n2", "-|g@example.org"), ("", "-|-")] {
                try kitchen.write("UPDATE SBPerson SET emailAddress = NULL")
                let terminal = try PseudoTerminal()
                let edit = try kitchen.start(
                    ["person", "edit", "Grace", "--email", "g@example.org"], at: terminal)
                for (number, line) in answer.split(separator: "\n", omittingEmptySubsequences: false)
                    .enumerated()
                {
                    try await eventually("the question") {
                        edit.errors.split(separator: "Which one?", omittingEmptySubsequences: false).count
                            > number + 1
                    }
                    try terminal.type(String(line))
                }
                let end = try await edit.outcome()
                #expect(end.exitCode == (answer.isEmpty ? 65 : 0), "\(end)")
                #expect(
                    try kitchen.rows("SELECT emailAddress FROM SBPerson ORDER BY lastName").joined(
                        separator: "|")
                        == email)
            }
        }
    }
}
