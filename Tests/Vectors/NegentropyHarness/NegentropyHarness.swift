import Foundation
import PeerSyncModel

/// Speaks the line protocol of the test harness of Negentropy's reference implementations, so that theirs and this
/// one can be set against each other.
///
/// In: `item,TIMESTAMP,ID`, `seal`, `initiate`, `msg,HEX`. Out: `msg,HEX`, `have,ID`, `need,ID`, `done`. The
/// environment variable FRAMESIZELIMIT sets the greatest length of a message in bytes.
@main
struct NegentropyHarness {
    private struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    private enum Role {
        case initiator(NegentropyInitiator)
        case responder(NegentropyResponder)
    }

    private let frameSizeLimit: Int
    private var items: [NegentropyItem] = []
    private var sealed: NegentropyVector?
    private var role: Role?

    static func main() {
        do {
            var harness = try NegentropyHarness(environment: ProcessInfo.processInfo.environment)
            while let line = readLine() {
                if !line.isEmpty { try harness.obey(line) }
            }
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(EXIT_FAILURE)
        }
    }

    private init(environment: [String: String]) throws {
        let text = environment["FRAMESIZELIMIT"] ?? "0"
        guard let limit = Int(text), limit == 0 || limit >= 4096 else {
            throw Failure("FRAMESIZELIMIT is 0 or at least 4096, not “\(text)”")
        }
        frameSizeLimit = limit
    }

    private mutating func obey(_ line: String) throws {
        let parts = line.split(separator: ",", omittingEmptySubsequences: false)
        switch (parts[0], parts.count) {
        case ("item", 3): try addItem(timestamp: parts[1], id: parts[2])
        case ("seal", 1): try seal()
        case ("initiate", 1): try initiate()
        case ("msg", 2): try receive(Self.bytes(parts[1]))
        default: throw Failure("“\(line)” is no command")
        }
    }

    private mutating func addItem(timestamp: Substring, id: Substring) throws {
        guard sealed == nil, let timestamp = UInt64(timestamp), let id = NegentropyID(try Self.bytes(id))
        else {
            throw Failure("an item has a timestamp and 64 digits of an id, and comes before the seal")
        }
        items.append(NegentropyItem(timestamp: timestamp, id: id))
    }

    private mutating func seal() throws {
        let unsealed = items
        items = []
        let vector = try NegentropyVector(unsealed)
        sealed = vector
        role = .responder(NegentropyResponder(storage: vector, frameSizeLimit: frameSizeLimit))
    }

    private mutating func initiate() throws {
        guard let sealed else { throw Failure("initiate comes after seal") }
        let initiator = NegentropyInitiator(storage: sealed, frameSizeLimit: frameSizeLimit)
        role = .initiator(initiator)
        try send(initiator.initiate())
    }

    private mutating func receive(_ message: [UInt8]) throws {
        switch role {
        case nil: throw Failure("msg comes after seal")
        case .responder(let responder): try send(responder.reconcile(message))
        case .initiator(var initiator):
            let step = try initiator.reconcile(message)
            role = .initiator(initiator)
            write(step.have.map { "have,\($0)\n" }.joined() + step.need.map { "need,\($0)\n" }.joined())
            if let message = step.message {
                try send(message)
            } else {
                write("done\n")
            }
        }
    }

    private func send(_ message: [UInt8]) throws {
        guard frameSizeLimit == 0 || message.count <= frameSizeLimit else {
            throw Failure("a message of \(message.count) bytes exceeds the frame size limit")
        }
        write("msg,\(message.hexadecimal)\n")
    }

    /// Unbuffered, because the other side waits for every line.
    private func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    private static func bytes(_ hex: Substring) throws -> [UInt8] {
        guard let bytes = [UInt8](hexadecimal: hex) else {
            throw Failure("bytes are pairs of hexadecimal digits")
        }
        return bytes
    }
}
