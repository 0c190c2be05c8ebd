import CDNSServiceDiscovery
import Foundation
import NIOCore

/// The calls of dns_sd.h, and their callbacks.
enum DNSServiceCalls {
    /// The link that all these requests are about, and no name server.
    private static let domain = "local"

    /// Sends a request.
    ///
    /// - Parameter context: a ``DNSServiceContext``, which has to live as long as the reference.
    /// - Returns: the number of an error.
    static func send(
        _ request: DNSServiceRequest, _ reference: inout DNSServiceRef?, _ context: UnsafeMutableRawPointer
    ) -> DNSServiceErrorType {
        switch request {
        case .register(let service):
            DNSServiceRegister(
                &reference, 0, 0, service.name, service.type, domain, nil, UInt16(service.port).bigEndian,
                UInt16(service.text.count), service.text, registered, context)
        case .browse(let type):
            DNSServiceBrowse(&reference, 0, 0, type, domain, browsed, context)
        case .resolve(let service, let type):
            DNSServiceResolve(
                &reference, 0, service.interface, service.name, type, service.domain, resolved, context)
        case .address(let host, let interface, let isVersion6):
            DNSServiceQueryRecord(
                &reference, 0, interface, host,
                UInt16(isVersion6 ? kDNSServiceType_AAAA : kDNSServiceType_A),
                UInt16(kDNSServiceClass_IN), queried, context)
        }
    }

    private static func answer(_ context: UnsafeMutableRawPointer?, _ reply: DNSServiceReply) {
        guard let context else { return }
        Unmanaged<DNSServiceContext>.fromOpaque(context).takeUnretainedValue().answer(reply)
    }

    private static let registered: DNSServiceRegisterReply = { _, _, error, _, _, _, context in
        answer(context, error == kDNSServiceErr_NoError ? .registered : .failed(error))
    }

    private static let browsed: DNSServiceBrowseReply = {
        _, flags, interface, error, name, _, domain, context in
        guard error == kDNSServiceErr_NoError, let name, let domain else {
            return answer(context, .failed(error))
        }
        let service = DNSServiceName(
            name: String(cString: name), domain: String(cString: domain), interface: interface)
        let isThere = flags & DNSServiceFlags(kDNSServiceFlagsAdd) != 0
        answer(context, isThere ? .added(service) : .removed(service))
    }

    private static let resolved: DNSServiceResolveReply = {
        _, _, _, error, _, host, port, length, text, context in
        guard error == kDNSServiceErr_NoError, let host else { return answer(context, .failed(error)) }
        let text = text.map { Array(UnsafeBufferPointer(start: $0, count: Int(length))) } ?? []
        answer(
            context,
            .resolved(host: String(cString: host), port: Int(UInt16(bigEndian: port)), text: text))
    }

    private static let queried: DNSServiceQueryRecordReply = {
        _, flags, interface, error, _, _, _, length, data, _, context in
        guard error == kDNSServiceErr_NoError else { return answer(context, .failed(error)) }
        guard flags & DNSServiceFlags(kDNSServiceFlagsAdd) != 0, let data,
            let address = ipAddress(UnsafeRawBufferPointer(start: data, count: Int(length)), interface)
        else { return }
        answer(context, .address(address))
    }

    /// The text of an address of 4 or 16 bytes. One of a single link gets the name of the interface that leads there.
    private static func ipAddress(_ bytes: UnsafeRawBufferPointer, _ interface: UInt32) -> String? {
        guard
            let address = (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0))?.ipAddress
        else { return nil }
        guard bytes.count == 16, bytes[0] == 0xFE, bytes[1] & 0xC0 == 0x80 else { return address }
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard if_indextoname(interface, &name) != nil else { return nil }
        return address + "%"
            + String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
