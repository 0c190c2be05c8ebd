import ArgumentParser
import PeerSync
import Scorebook

extension Peers {
    struct Household: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "household",
            abstract: "List the machines of the household: those that accept each other.",
            discussion: """
                A machine that is paired with one of them is introduced to all. Machines that only have a zone are \
                introduced to nobody. Who introduced a machine is what that machine's household says; a machine that \
                has all rights could say it falsely.
                """)

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let household = store.scorebook.records.household
            let own = store.identity.publicKey.bytes
            let (members, candidates) = try await store.scorebook.records.database.read { db in
                (try household.members(db).map { MemberFigures($0, own: own) }, try household.candidates(db))
            }
            if output.json { return try Terminal.write(json: members) }
            if members.isEmpty {
                Terminal.write("this machine is in no household; pairing with another one makes one")
            } else {
                MemberFigures.writeTable(members, store.scorebook.time)
            }
            if !candidates.isEmpty {
                Terminal.write(
                    "paired, and introduced to nobody: \(candidates.map(\.name).joined(separator: ", ")); "
                        + "`scorebook-peer peers introduce` introduces them")
            }
        }
    }

    struct Introduce: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "introduce",
            abstract: "Introduce machines to each other that were paired before there were households.",
            discussion: """
                From then on all of them, and all that are paired with one of them later, accept each other and \
                connect to each other. Run this on each of these machines: a machine believes only those that it has \
                introduced itself. Machines that only have a zone here, or share only one with this machine, or may only \
                read, are left out.
                """)

        @Argument(help: "The machines' names here; all that are not introduced yet, if none is given.")
        var names: [String] = []

        @Flag(help: "Introduce without asking; needed where nobody can be asked, as in a script.")
        var yes = false

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let records = store.scorebook.records
            let candidates = try await records.database.read { try records.household.candidates($0) }
            let listed = names.isEmpty ? candidates.map(\.name) : names
            if !listed.isEmpty, !yes {
                let what = listed.joined(separator: ", ")
                guard let answer = await Terminal.confirm("Introduce \(what) to the household?") else {
                    throw Failure(
                        ExitCode(64), "introducing \(what) needs --yes when nobody can be asked")
                }
                guard answer else { throw Failure(.temporaryFailure, "nothing was changed") }
            }
            let peers = try await records.household.introduce(
                names.isEmpty ? nil : names, by: store.identity.publicKey.bytes)
            let names = peers.map(\.name)
            try output.write(
                ["introduced": names],
                names.isEmpty
                    ? "nobody to introduce: all paired machines are in the household, share only a zone, or may only read"
                    : "introduced \(names.joined(separator: ", "))")
        }
    }
}

/// A machine of the household, for programs and tables.
struct MemberFigures: Encodable {
    let name: String
    let key: String
    @OrNull var introducedBy: String?
    @OrNull var introducedAt: String?
    let mayOnlyRead: Bool
    /// `own`, `peer` or `forgotten`.
    let relation: String

    private static let header = ["NAME", "KEY", "INTRODUCED BY", "SINCE", "NOTE"]

    /// - Parameter own: the static key of this machine.
    init(_ member: HouseholdMember, own: [UInt8]) {
        name = member.name
        key = member.key
        introducedBy = member.introducedBy == own ? MemberFigures.thisMachine : member.introducer
        introducedAt = member.introducedAt
        mayOnlyRead = member.mayOnlyRead
        relation = member.relation.rawValue
    }

    /// What tables and JSON call the machine on which the command runs.
    static let thisMachine = "this machine"

    /// - Parameter time: the clock of the reader.
    static func writeTable(_ members: [MemberFigures], _ time: LocalTime) {
        let rows = members.map { member in
            let note =
                switch member.relation {
                case "forgotten": "forgotten here"
                default: member.mayOnlyRead ? "may only read" : "-"
                }
            // The others may call it what another machine is called here.
            let name = member.relation == "own" ? thisMachine : member.name
            return [
                name, String(member.key.prefix(16)), member.introducedBy ?? "-",
                member.introducedAt.map(time.text) ?? "-", note,
            ]
        }
        Terminal.write(aligned([header] + rows))
    }
}
