import Foundation
import TestSupport
import Testing

/// What somebody has who sees every byte of a pairing and a sync: frames of some sizes, and nothing in plain text but
/// which protocol it is.
@Suite(.takingTurns) struct EavesdropperTests {
    @Test func nothingThatWasSentIsInPlainText() async throws {
        try await withTwoMachines { kitchen, study in
            try await kitchen.importHousehold()
            let match = try #require(try kitchen.rows("SELECT recordName FROM SBMatch LIMIT 1").first)
            let file = try kitchen.scene.file("IMG_1.png", SamplePicture.png(255))
            try await kitchen.peer("image", "add", match, file)
            let listener = try await kitchen.listen(pair: true)
            let code = try #require(listener.code)
            let proxy = try Proxy(to: listener.port, .record)
            try await study.peer("connect", proxy.address, "--code", code, "--once", "--name", "study")
            try await listener.stop()
            #expect(try await haveEqualDigests(kitchen, study))

            let secrets =
                try await secrets(of: kitchen) + secrets(of: study) + [code, "kitchen", "IMG_1.png"]
            #expect(secrets.count > 50)
            let keys = try await [identity(of: kitchen), identity(of: study)]
            let picture = SamplePicture.png(255).prefix(32)
            for side in Proxy.Side.allCases {
                let bytes = Data(proxy.record(of: side))
                let found = secrets.filter { bytes.range(of: Data($0.utf8)) != nil }
                #expect(found.isEmpty, "in what the \(side) sent")
                #expect(!(keys + [picture]).contains { bytes.range(of: $0) != nil }, "from the \(side)")
            }
            let caller = try frames(proxy.record(of: .caller))
            let answers = try frames(proxy.record(of: .listener))
            // Ephemeral key and version in the clear; ephemeral key, static key and two tags; static key and two tags.
            let version: [UInt8] = Array("SBPEER".utf8) + [1, 0]
            #expect(Array(caller[0].suffix(8)) == version)
            #expect([caller[0], answers[0], caller[1]].map(\.count) == [40, 96, 64])
            #expect(caller[0].prefix(32) != answers[0].prefix(32))
        }
    }

    /// Words that the machine's records, zones and tables are made of.
    private func secrets(of machine: Machine) async throws -> [String] {
        let names = try machine.rows(
            """
            SELECT firstName FROM SBPerson UNION SELECT lastName FROM SBPerson UNION SELECT name FROM SBGame
            UNION SELECT name FROM SBMatchLocation UNION SELECT notes FROM SBMatch
            UNION SELECT recordName FROM SBMatch
            """)
        // Shorter ones may be there by chance.
        return names.filter { $0.utf8.count > 5 } + ["ScorebookData", "SBGame", "SBPlayer", "noPoints"]
    }

    /// The public key of a machine, which the handshake hides.
    private func identity(of machine: Machine) async throws -> Data {
        let key = try await machine.json(Identity.self, "identity", "show").key.bytes
        try #require(key.count == 32)
        return Data(key)
    }

    private func frames(_ bytes: [UInt8]) throws -> [Data] {
        var frames: [Data] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let length = try #require(
                rest.count >= 2 ? Int(rest.removeFirst()) << 8 | Int(rest.removeFirst()) : nil)
            try #require(length > 0 && length <= rest.count, "the record ends within a frame")
            frames.append(Data(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return frames
    }
}

/// What `identity show --json` prints.
private struct Identity: Decodable {
    let key: Hex
}
