import Foundation
import GRDB
import PeerSyncModel
import Testing

@testable import PeerSyncStore

/// What a store makes of the household's set: who is a peer, who is refused, and what a hostile member cannot do.
struct StoreHouseholdTests {
    private let machine: Machine
    private var store: RecordStore { machine.store }

    private static func key(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }
    private static let own = key(1)

    init() async throws {
        machine = try Machine("kitchen", number: 1)
        // A member that may write, and so is heard.
        _ = try await store.peers.add(
            key: Self.key(2), name: "study", introducing: Self.introduction(of: 2, by: 1, "study"))
    }

    private static func introduction(
        of key: UInt8, by introducer: UInt8, _ name: String = "attic", rights: Introduction.Rights = .all,
        time: Int64 = 5
    ) -> Introduction {
        Introduction(of: Self.key(key), name: name, rights: rights, by: Self.key(introducer), time: time)!
    }

    /// Takes in what a peer says.
    @discardableResult
    private func hear(
        _ introductions: [Introduction], removed: [UInt8] = [], from peer: String = "study"
    ) async throws -> HouseholdChange {
        var set = Household(introductions.map { HouseholdEntry($0) })
        for key in removed { set.remove(Self.key(key), HouseholdEntry.Removal(by: Self.key(2), time: 9)!) }
        let heard = set
        let speaker = try #require(try await store.peers.all().first { $0.name == peer })
        return try await store.household.take(heard, from: speaker, own: Self.own)
    }

    private func peers() async throws -> [String] { try await store.peers.all().map(\.name) }

    private func refusal(_ key: UInt8) async throws -> String? {
        try await store.peers.identify(key: Self.key(key)).refusal.map { "\($0.code): \($0.message)" }
    }

    // MARK: What follows from the set

    @Test func aMemberBecomesAPeer() async throws {
        let attic = Self.introduction(of: 3, by: 2)
        let change = try await hear([attic])
        #expect(change == HouseholdChange(introduced: [.init(name: "attic", by: "study")], removed: []))
        #expect(try await peers() == ["attic", "study"])
        let peer = try #require(try await store.peers.all().first)
        #expect(peer.introducedBy == Self.key(2))
        #expect(try await hear([attic]) == HouseholdChange())
        let members = try await store.household.members()
        #expect(members.map(\.name) == ["attic", "study"])
        #expect(members.map(\.introducer) == ["study", "0101010101010101"])
        #expect(members.map(\.relation) == [.peer, .peer])
    }

    @Test func whoMayReadOnlyGetsThatRight() async throws {
        try await hear([Self.introduction(of: 3, by: 2, rights: .read)])
        let grants = try await store.database.read { db in
            try store.zones.grants(db, to: try #require(try store.peers.all(db).first)).map(\.rights)
        }
        #expect(grants == [.read])
    }

    @Test func aRemovedPeerIsForgottenAndRefused() async throws {
        let attic = Self.introduction(of: 3, by: 2)
        try await hear([attic])
        let change = try await hear([attic], removed: [3])
        #expect(change.removed == [.init(name: "attic", by: "study")])
        #expect(try await peers() == ["study"])
        #expect(try await refusal(3) == "removed: attic was removed from the household by study")
        #expect(try await refusal(4) == "noSuchPeer: the two machines are not paired")
        // Who was away tells it again, as it was.
        try await hear([attic])
        #expect(try await peers() == ["study"])
        // Somebody pairs it anew.
        try await hear([Self.introduction(of: 3, by: 2, time: 20)])
        #expect(try await peers() == ["attic", "study"])
    }

    @Test func removingTellsTheSet() async throws {
        let attic = Self.introduction(of: 3, by: 2)
        try await hear([attic, Self.introduction(of: 3, by: 4)])
        let version = try await store.settings.current().version
        let removed = try await store.household.remove("attic", by: Self.own)
        #expect(removed.name == "attic")
        #expect(try await peers() == ["study"])
        #expect(try await store.settings.current().version > version)
        let set = try await store.database.read { try store.household.set($0) }
        #expect(set.removedKeys == [Self.key(3)])
        #expect(set.entries.filter { $0.removal?.remover == Self.own }.count == 2)
        await #expect(throws: RecordStoreError.self) {
            try await store.household.remove("attic", by: Self.own)
        }
    }

    private struct Undone: Error {}

    /// What a transaction has read of its own writes is not remembered when it is undone: another one may then write something else
    /// under the same version of the settings.
    @Test func whatIsUndoneWasNeverThere() async throws {
        func digest() async throws -> [UInt8] {
            let study = try #require(try await store.peers.all().first { $0.name == "study" })
            return try await store.household.shared(with: study).digest
        }
        let before = try await digest()
        await #expect(throws: Undone.self) {
            try await store.database.write { [store] db in
                try store.household.add(db, Self.introduction(of: 3, by: 1))
                #expect(try store.household.set(db).count == 2)
                let study = try store.peers.all(db)[0]
                #expect(try store.household.shared(db, with: study).set.count == 2)
                throw Undone()
            }
        }
        // This gives the settings the version that they had in that transaction.
        try await store.settings.setSyncOn(true)
        #expect(try await digest() == before)
        try await store.database.write { [store] db in
            try store.household.add(db, Self.introduction(of: 4, by: 1))
        }
        let set = try await store.database.read { try store.household.set($0) }
        #expect(set.members.map(\.key) == [Self.key(2), Self.key(4)])
        #expect(try await digest() == set.digest)
    }

    /// A process that has read the set sees what another one changes.
    @Test func whatAnotherStoreChangesIsSeen() async throws {
        try await hear([Self.introduction(of: 3, by: 2)])
        #expect(try await store.database.read { try store.household.set($0).members.count } == 2)
        let other = try RecordStore(store.database, schema: store.schema, replica: store.replica)
        _ = try await other.household.remove("attic", by: Self.own)
        #expect(
            try await store.database.read { try store.household.set($0) }.members.map(\.key) == [Self.key(2)])
        #expect(try await refusal(3)?.hasPrefix("removed") == true)
    }

    /// A later opening of the store, or of a copy of its file, knows the same.
    @Test func theSetIsDurable() async throws {
        try await hear([Self.introduction(of: 3, by: 2), Self.introduction(of: 4, by: 2)], removed: [4])
        let set = try await store.database.read { try store.household.set($0) }
        let again = try RecordStore(store.database, schema: store.schema, replica: store.replica)
        #expect(try await store.database.read { try again.household.set($0) } == set)
        // Whoever changes a row by hand has changed nothing of the household.
        try await store.database.write { db in
            try db.execute(
                sql: "UPDATE grdb_sync_introduction SET publicKey = ?", arguments: [Data(Self.key(9))])
        }
        let later = try RecordStore(store.database, schema: store.schema, replica: store.replica)
        #expect(try await store.database.read { try later.household.set($0) }.isEmpty)
    }

    @Test func anotherIdentityIsAStranger() async throws {
        try await hear([Self.introduction(of: 3, by: 2)])
        let copy = try RecordStore(
            store.database, schema: store.schema, replica: ReplicaID(rawValue: 99))
        #expect(try await copy.peers.all().isEmpty)
        #expect(try await store.database.read { try copy.household.set($0) }.isEmpty)
        // Paired anew, it is introduced to those it knew before.
        let study = try await copy.peers.add(
            key: Self.key(2), name: "study", introducing: Self.introduction(of: 2, by: 7, "study"))
        let set = Household([HouseholdEntry(Self.introduction(of: 3, by: 2))])
        _ = try await copy.household.take(set, from: study, own: Self.key(7))
        #expect(try await copy.peers.all().map(\.name) == ["attic", "study"])
    }

    // MARK: What a user says here

    @Test func whomAUserForgetsHereNobodyBringsBack() async throws {
        try await hear([Self.introduction(of: 3, by: 2)])
        try await store.peers.forget("attic")
        try await hear([Self.introduction(of: 3, by: 2, time: 20), Self.introduction(of: 3, by: 5)])
        #expect(try await peers() == ["study"])
        #expect(try await refusal(3) == "noSuchPeer: the two machines are not paired")
        #expect(try await store.household.members().map(\.relation) == [.forgotten, .peer])
        // Removing it everywhere is possible all the same, and changes nothing here.
        try await hear([], removed: [])
        _ = try await store.household.remove("attic", by: Self.own)
        try await hear([Self.introduction(of: 3, by: 2, time: 30)])
        #expect(try await peers() == ["study"])
        // Only a pairing here does.
        _ = try await store.peers.add(key: Self.key(3), name: "attic")
        #expect(try await peers() == ["attic", "study"])
    }

    @Test func peersOfBeforeAreIntroducedWhenSomebodySaysSo() async throws {
        _ = try await store.peers.add(key: Self.key(3), name: "attic")
        _ = try await store.peers.add(key: Self.key(4), name: "guest")
        try await store.zones.grant(.none, to: "guest", in: ZoneName.standard.description)
        let candidates = try await store.database.read { try store.household.candidates($0).map(\.name) }
        #expect(candidates == ["attic"])
        #expect(try await store.household.introduce(by: Self.own).map(\.name) == ["attic"])
        #expect(try await store.household.introduce(by: Self.own).isEmpty)
        #expect(try await store.household.members().map(\.name) == ["attic", "study"])
        await #expect(throws: RecordStoreError.self) {
            try await store.household.introduce(["nobody"], by: Self.own)
        }
    }

    // MARK: Hostile machines

    @Test func whoIsNoMemberOrMayNotWriteIsNotHeard() async throws {
        let attic = Self.introduction(of: 3, by: 2)
        _ = try await store.peers.add(key: Self.key(4), name: "guest")
        #expect(try await hear([attic], from: "guest") == HouseholdChange())
        for rights in [ZoneRights.read, .none] {
            try await store.zones.grant(rights, to: "study", in: ZoneName.standard.description)
            let study = try #require(try await store.peers.all().last)
            let share = try await store.household.shared(with: study).share
            #expect(share == (rights == .read ? .tells : .nothing))
            #expect(try await hear([attic]) == HouseholdChange())
            try await store.household.noteAddresses([(Self.key(2), "10.0.0.1:7431")], from: study)
        }
        #expect(try await peers() == ["guest", "study"])
        #expect(try await store.peers.all().allSatisfy(\.hints.isEmpty))
    }

    /// It cannot give more rights than a user here has given, nor make this machine its own peer.
    @Test func aMemberCannotRaiseRights() async throws {
        try await hear([Self.introduction(of: 3, by: 2, rights: .read)])
        try await hear([
            Self.introduction(of: 3, by: 2, time: 20), Self.introduction(of: 1, by: 2, "kitchen"),
        ])
        #expect(try await peers() == ["attic", "study"])
        let rights = try await store.database.read { db in
            try store.zones.grants(db, to: try #require(try store.peers.all(db).first)).map(\.rights)
        }
        #expect(rights == [.read])
    }

    @Test func aMemberMayRemoveThisMachineAndItself() async throws {
        let kitchen = Self.introduction(of: 1, by: 2, "kitchen")
        let change = try await hear([kitchen], removed: [1])
        #expect(change == HouseholdChange())
        #expect(try await peers() == ["study"])
        let study = try #require(
            try await store.database.read { try store.household.set($0) }.members.first)
        #expect(try await hear([study], removed: [2]).removed.map(\.name) == ["study"])
        #expect(try await peers().isEmpty)
    }

    /// Otherwise a sentence about one of the two could be about either.
    @Test func theNameOfThisMachineIsTakenToo() async throws {
        let names = [1, 3].map { Self.introduction(of: $0, by: 2, "kitchen") }
        try await hear(names)
        #expect(try await peers() == ["kitchen 2", "study"])
        let attic = try await store.peers.add(key: Self.key(4), name: "attic", besides: "attic")
        #expect(attic.name == "attic 2")
    }

    @Test func namesThatAreTakenGetANumber() async throws {
        try await hear([Self.introduction(of: 3, by: 2, "study")])
        #expect(try await peers() == ["study", "study 2"])
        await #expect(throws: RecordStoreError.self) { try await store.household.member("nobody") }
        #expect(try await store.household.member("study 2").publicKey == Self.key(3))
        #expect(try await store.household.member(String(repeating: "03", count: 8)).name == "study 2")
    }

    // MARK: Addresses

    @Test func fewAddressesAreKeptUntilTheMachineIsReached() async throws {
        try await hear([Self.introduction(of: 3, by: 2)])
        let study = try #require(try await store.peers.all().last)
        let told = (1...6).map { (key: Self.key(3), address: "10.0.0.\($0):7431") }
        try await store.household.noteAddresses(told, from: study)
        func attic() async throws -> Peer { try #require(try await store.peers.all().first) }
        #expect(try await attic().dialled == (1...4).map { "10.0.0.\($0):7431" })
        try await store.household.noteAddresses([(Self.key(3), "10.0.0.9:7431")], from: study)
        #expect(try await attic().dialled == [9, 1, 2, 3].map { "10.0.0.\($0):7431" })
        #expect(try await store.household.addresses(for: study).map(\.address).first == "10.0.0.9:7431")
        #expect(try await store.household.addresses(for: try await attic()).isEmpty)
        try await store.peers.noteAddress("10.0.0.2:7431", of: try await attic())
        try await store.household.noteAddresses([(Self.key(3), "10.0.0.8:7431")], from: study)
        #expect(try await attic().dialled == ["10.0.0.2:7431"])
        #expect(try await store.household.addresses(for: study).map(\.address).first == "10.0.0.2:7431")
        // Nobody dials a machine that is in no household.
        try await store.household.noteAddresses([(Self.key(8), "10.0.0.8:7431")], from: study)
        #expect(
            try await store.database.read {
                try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM grdb_sync_peerHint")
            } == 4)
    }

    // MARK: No room, no time

    /// A hostile member tells as many machines as a set may have: those that were members stay, and nobody is introduced in vain.
    @Test func aFullHouseholdKeepsItsMembersAndSaysThatItIsFull() async throws {
        try await hear((0..<1000).map { Self.introduction(of: 9, by: 2, "junk \($0)") })
        let members = try await store.household.members()
        #expect(Set(members.map(\.name)).isSuperset(of: ["study"]))
        let own = Self.introduction(of: 4, by: 1, "garage")
        await #expect {
            _ = try await store.peers.add(key: Self.key(4), name: "garage", introducing: own)
        } throws: {
            ($0 as? RecordStoreError)?.code == .householdFull
        }
        #expect(try await !peers().contains("garage"))
        _ = try await store.peers.add(key: Self.key(4), name: "garage")
        await #expect {
            try await store.household.introduce(by: Self.own)
        } throws: {
            ($0 as? RecordStoreError)?.code == .householdFull
        }
        try await hear([], from: "study")
        #expect(try await store.household.remove("study", by: Self.own).name == "study")
    }

    /// A thousand machines must not be read a thousand times.
    @Test(arguments: [false, true]) func howManyAreIntroducedDoesNotSayHowOftenTheTablesAreRead(
        areNamed: Bool
    )
        async throws
    {
        var readings: [Int] = []
        for count in [3, 30] {
            let names = (0..<count).map { "machine \(count) \($0)" }
            for (number, name) in names.enumerated() {
                _ = try await store.peers.add(
                    key: [UInt8](repeating: UInt8(count + number), count: 32), name: name)
            }
            let (introduced, statements) = try await store.database.write { [store, own = Self.own] db in
                var statements: [String] = []
                db.trace { statements.append("\($0)") }
                defer { db.trace() }
                return (try store.household.introduce(db, areNamed ? names : nil, by: own), statements)
            }
            #expect(introduced.map(\.name) == names.sorted())
            readings.append(
                statements.count {
                    $0.hasPrefix("SELECT id, nonce, publicKey, name, rights")
                        || $0.hasPrefix("SELECT * FROM grdb_sync_peer ORDER")
                })
        }
        #expect(readings[0] == readings[1] && readings[0] > 0, "\(readings)")
    }

    /// The session in which the code was typed ends before the two have agreed on anything: a later one introduces the machine,
    /// and only one.
    @Test func anIntroductionThatIsDueIsMadeOnce() async throws {
        let attic = try await store.peers.add(key: Self.key(3), name: "attic", introductionIsDue: true)
        let garage = try await store.peers.add(key: Self.key(4), name: "garage", introductionIsDue: true)
        #expect(try await store.household.members().map(\.name) == ["study"])
        for _ in 1...2 {
            try await store.household.introduceIfDue(attic, sharesDefault: true, by: Self.own)
            try await store.household.introduceIfDue(garage, sharesDefault: false, by: Self.own)
        }
        #expect(try await store.household.members().map(\.name) == ["attic", "study"])
        #expect(try await store.database.read { try store.household.set($0).count } == 2)
        // It was the decision of that session.
        try await store.household.introduceIfDue(garage, sharesDefault: true, by: Self.own)
        #expect(try await store.household.members().map(\.name) == ["attic", "study"])
    }
}
