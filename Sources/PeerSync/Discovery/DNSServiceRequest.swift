/// A service as DNS-SD names it: on one interface of this machine.
struct DNSServiceName: Sendable, Hashable {
    let name: String
    let domain: String
    /// The number of the network interface.
    let interface: UInt32
}

/// A question to the system's service.
enum DNSServiceRequest: Sendable, Hashable {
    case register(AnnouncedService)
    case browse(type: String)
    case resolve(DNSServiceName, type: String)
    case address(host: String, interface: UInt32, isVersion6: Bool)
}

/// An answer of the system's service.
enum DNSServiceReply: Sendable, Hashable {
    case registered
    case added(DNSServiceName)
    case removed(DNSServiceName)
    case resolved(host: String, port: Int, text: [UInt8])
    /// An IP address, with its scope if it is of one link only.
    case address(String)
    /// The time for the answer is over.
    case timedOut
    /// The service does not run, or refuses; the number of the error in dns_sd.h.
    case failed(Int32)
}

/// The system's service for discovery cannot be used; the number of the error in dns_sd.h.
struct DNSServiceFailure: Error {
    let code: Int32
}
