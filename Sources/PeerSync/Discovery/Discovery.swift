/// The way in which machines on one network find each other. ``SystemDiscovery`` asks the system's service for that, and
/// ``MemoryDiscovery`` is for the tests of an app. An app may have one of its own.
///
/// Discovery is a hint where somebody may be, and never trust: the engine dials a found address, and the handshake
/// proves who answers.
public protocol Discovery: Sendable {
    /// Announces a service until the task is cancelled, and then takes it back.
    ///
    /// - Parameters:
    ///   - service: the service.
    ///   - onReady: called when others can find the service.
    /// - Throws: any error when this is not possible, or not any more. The engine tries again later.
    func announce(_ service: AnnouncedService, onReady: @escaping @Sendable () -> Void) async throws

    /// Looks for services until the task is cancelled.
    ///
    /// - Parameters:
    ///   - type: as in ``AnnouncedService/type``.
    ///   - onChange: called with all services that are there: at first, which may be none, and after each change. It
    ///     returns at once.
    /// - Throws: any error when this is not possible, or not any more. The engine tries again later.
    func browse(for type: String, onChange: @escaping @Sendable ([FoundService]) -> Void) async throws
}

/// A service that a machine announces.
public struct AnnouncedService: Sendable, Hashable {
    /// The type of DNS-SD, as `_ps-0123456789._tcp`.
    public let type: String
    /// The name of this announcement, random: 32 hexadecimal digits.
    public let name: String
    /// The port on which the machine listens.
    public let port: Int
    /// The TXT record, as RFC 6763 lays it out.
    public let text: [UInt8]

    /// Makes a service of its parts.
    public init(type: String, name: String, port: Int, text: [UInt8]) {
        self.type = type
        self.name = name
        self.port = port
        self.text = text
    }
}

/// A service that was found. Nobody has proved anything that it says.
public struct FoundService: Sendable, Hashable {
    /// The name of the announcement.
    public let name: String
    /// The TXT record.
    public let text: [UInt8]
    /// Where the machine listens, the best first; not empty.
    public let addresses: [PeerAddress]

    /// Makes a service of its parts.
    public init(name: String, text: [UInt8], addresses: [PeerAddress]) {
        self.name = name
        self.text = text
        self.addresses = addresses
    }
}
