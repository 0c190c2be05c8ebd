import ArgumentParser
import PeerSync

// The engine knows no command lines, and nobody links this program, so nobody else can add the same conformance.
// swift-format-ignore: AvoidRetroactiveConformances
extension PeerAddress: @retroactive ExpressibleByArgument {
    public init?(argument: String) {
        self.init(argument)
    }
}

extension PairingCode {
    /// Reads a code that somebody types, and says what a code looks like if the text is none.
    init(typed text: String) throws {
        do { try self.init(text) } catch {
            throw ValidationError("a pairing code has six digits, as 066-228")
        }
    }
}
