import ArgumentParser
import PeerSync
import PeerSyncChannel

extension PeerAddress: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(argument)
    }
}

extension PairingCode: ExpressibleByArgument {
    public init?(argument: String) {
        try? self.init(argument)
    }
}
