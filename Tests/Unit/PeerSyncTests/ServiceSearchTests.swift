import Testing

@testable import PeerSync

/// The search asks for what it needs, no more than it may, and gives up nothing that is there.
struct ServiceSearchTests {
    private static func name(_ number: Int, interface: UInt32 = 2) -> DNSServiceName {
        DNSServiceName(name: "service \(number)", domain: "local.", interface: interface)
    }

    private var search = ServiceSearch(for: "_test._tcp")

    /// The requests that began, with what they ask for.
    private static func begun(_ actions: [ServiceSearch.Action]) -> [(id: Int, request: DNSServiceRequest)] {
        actions.compactMap { if case .begin(let id, let request, _) = $0 { (id, request) } else { nil } }
    }

    /// Finds a service and resolves it.
    ///
    /// - Returns: the requests for its addresses, of IPv4 and of IPv6.
    private mutating func resolve(_ name: DNSServiceName, port: Int = 7431) throws -> [Int] {
        let resolving = try #require(Self.begun(search.received(0, .added(name))).first)
        #expect(resolving.request == .resolve(name, type: "_test._tcp"))
        let actions = search.received(resolving.id, .resolved(host: "host.local.", port: port, text: [1]))
        #expect(actions.first == .end(resolving.id))
        return Self.begun(actions).map(\.id)
    }

    @Test mutating func aServiceIsThereWithItsFirstAddressAndGoesWithItsName() throws {
        let ids = try resolve(Self.name(1))
        #expect(ids.count == 2)
        #expect(search.found.isEmpty)
        #expect(search.received(ids[0], .address("192.0.2.1")) == [.changed])
        #expect(search.received(ids[1], .address("fe80::1%eth0")) == [.changed])
        #expect(search.received(ids[1], .address("2001:db8::1")) == [.changed])
        #expect(search.received(ids[1], .address("2001:db8::1")).isEmpty)
        let found = try #require(search.found.first)
        #expect(
            found.addresses.map(\.description) == [
                "192.0.2.1:7431", "[2001:db8::1]:7431", "[fe80::1%eth0]:7431",
            ])
        #expect(found.text == [1])
        for id in ids { #expect(search.received(id, .timedOut) == [.end(id)]) }
        #expect(search.found == [found])
        #expect(search.received(0, .removed(Self.name(1))) == [.changed])
        #expect(search.found.isEmpty)
    }

    @Test mutating func aServiceOnTwoNetworksIsOne() throws {
        for (interface, address) in [(UInt32(2), "192.0.2.1"), (3, "198.51.100.1")] {
            _ = search.received(try resolve(Self.name(1, interface: interface))[0], .address(address))
        }
        #expect(search.found.map { $0.addresses.map(\.host) } == [["192.0.2.1", "198.51.100.1"]])
        #expect(search.received(0, .removed(Self.name(1))).contains(.changed))
        #expect(search.found.map { $0.addresses.map(\.host) } == [["198.51.100.1"]])
    }

    @Test mutating func whatDoesNotAnswerIsAskedAgainAndThenLeft() throws {
        var id = try #require(Self.begun(search.received(0, .added(Self.name(1)))).first?.id)
        for _ in 1..<ServiceSearch.attempts {
            id = try #require(Self.begun(search.received(id, .timedOut)).first?.id)
        }
        #expect(search.received(id, .timedOut) == [.end(id)])
        #expect(search.found.isEmpty)
        // It may come back.
        _ = search.received(0, .removed(Self.name(1)))
        _ = search.received(try resolve(Self.name(1))[0], .address("192.0.2.1"))
        #expect(search.found.count == 1)
    }

    @Test mutating func answersThatComeTooLateChangeNothing() throws {
        let ids = try resolve(Self.name(1))
        #expect(search.received(0, .removed(Self.name(1))) == ids.sorted().map { .end($0) })
        #expect(search.received(ids[0], .address("192.0.2.1")).isEmpty)
        #expect(search.received(ids[0], .timedOut).isEmpty)
        #expect(search.received(ids[1], .failed(-65537)).isEmpty)
        #expect(search.found.isEmpty)
    }

    @Test mutating func aPortThatIsNoneIsNoService() throws {
        #expect(try resolve(Self.name(1), port: 0).isEmpty)
        #expect(search.found.isEmpty)
    }

    @Test mutating func nobodyMakesThisMachineAskForTooMuch() throws {
        var open: Set<Int> = []
        for number in 0..<ServiceSearch.limit + 100 {
            open.formUnion(Self.begun(search.received(0, .added(Self.name(number)))).map(\.id))
        }
        #expect(open.count == ServiceSearch.unansweredLimit)
        // Each that is given up makes room for the next, until all are.
        var asked = open
        while let id = open.popFirst() {
            let next = Self.begun(search.received(id, .failed(-65537))).map(\.id)
            #expect(next.count <= 1)
            open.formUnion(next)
            asked.formUnion(next)
        }
        #expect(asked.count == ServiceSearch.limit * ServiceSearch.attempts)
    }

    @Test mutating func aHostHasNotAnyNumberOfAddresses() throws {
        let id = try resolve(Self.name(1))[0]
        for number in 1...50 { _ = search.received(id, .address("192.0.2.\(number)")) }
        #expect(search.found.map(\.addresses.count) == [ServiceSearch.addressLimit])
    }

    @Test mutating func theEndOfTheServiceEndsTheSearch() {
        #expect(search.received(0, .failed(-65563)) == [.fail(-65563)])
    }
}
