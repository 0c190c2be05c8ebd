import ArgumentParser
import PeerSync

// The engine knows no command lines, and nobody links this program, so nobody else can add the same conformance.
// swift-format-ignore: AvoidRetroactiveConformances
extension PeerAddress: @retroactive ExpressibleByArgument {
    public init?(argument: String) {
        self.init(argument)
    }
}

// swift-format-ignore: AvoidRetroactiveConformances
extension PairingCode: @retroactive ExpressibleByArgument {
    public init?(argument: String) {
        try? self.init(argument)
    }
}
