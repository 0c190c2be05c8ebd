import Foundation
import TestSupport
import Testing

#if os(Linux)
    /// A camera reads from a terminal what pairs two machines.
    @Suite(.takingTurns) struct QRCodeTests {
        private static let camera = Network.tool("zbarimg")
        private static let terminal = Network.tool("script")
        private static let areThere = [camera, terminal].allSatisfy {
            FileManager.default.isExecutableFile(atPath: $0.path)
        }

        /// A picture of the code among some lines of a terminal, in the form PBM: each module is four dots wide.
        private func picture(_ output: String) -> String {
            let size = 4
            var rows: [[Bool]] = []
            for line in output.split(whereSeparator: \.isNewline) {
                guard let blocks = line.firstMatch(of: /\u{1B}\[30;107m([ █▀▄]+)\u{1B}\[0m/)?.output.1 else {
                    continue
                }
                rows.append(blocks.map { "█▀".contains($0) })
                rows.append(blocks.map { "█▄".contains($0) })
            }
            let lines = rows.flatMap { row -> [String] in
                let line = row.map { String(repeating: $0 ? "1 " : "0 ", count: size) }.joined()
                return Array(repeating: line, count: size)
            }
            return "P1\n\((rows.first?.count ?? 0) * size) \(rows.count * size)\n"
                + lines.joined(separator: "\n")
        }

        @Test(.enabled(if: areThere)) func whatACameraReadsPairsTwoMachines() async throws {
            try await withTwoMachines { kitchen, study in
                let listener = try await kitchen.listen()
                let command =
                    "'\(PeerProcess.program.path)' pair --no-discovery --store '\(kitchen.store.path)'"
                let showing = try kitchen.scene.start(["-qec", command, "/dev/null"], of: Self.terminal)
                let output = try await showing.output(
                    matching: /on the other machine run: scorebook-peer pair [0-9]{3}-[0-9]{3}/)
                let code = try #require(output.firstMatch(of: /pairing code ([0-9]{3}-[0-9]{3})/)?.output.1)
                let file = kitchen.scene.path("code.pbm")
                try picture(output).write(toFile: file, atomically: true, encoding: .utf8)
                let reading = try await kitchen.scene.start(["--raw", "-q", file], of: Self.camera).outcome()
                let text = reading.output.trimmingCharacters(in: .whitespacesAndNewlines)
                #expect(
                    text.hasPrefix("peer-sync:pair?v=1&app=scorebook&code=\(code.filter { $0 != "-" })&key="))
                // The listener of this test is where no other machine reaches it.
                try await study.peer("pair", text + "&at=\(listener.address)", "--name", "study")
                _ = try await showing.output(matching: /paired with study/)
                #expect(try await kitchen.status().peers.map(\.name) == ["study"])
            }
        }
    }
#endif
