import PeerSyncModel
import Testing

/// Replicas of a household's set come to the same in every order, and nothing brings a removed machine back but a new
/// introduction.
struct HouseholdTests {
    private typealias Household = PeerSyncModel.Household

    private static func key(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

    private static func introduction(
        of key: UInt8, by introducer: UInt8 = 1, time: Int64 = 5, nonce: UInt8 = 0,
        rights: Introduction.Rights = .all, name: String = "kitchen"
    ) -> Introduction {
        Introduction(
            nonce: [UInt8](repeating: nonce, count: 16), key: Self.key(key), name: name, rights: rights,
            introducer: Self.key(introducer), time: time)!
    }

    private static func removal(by remover: UInt8 = 1, time: Int64 = 9) -> HouseholdEntry.Removal {
        HouseholdEntry.Removal(by: key(remover), time: time)!
    }

    // MARK: Every order

    /// What happens at one of three replicas.
    private enum Event: CaseIterable {
        /// C is introduced at replica 0.
        case introduce
        /// C is removed at replica 1, of what is known there.
        case remove
        /// C is removed at replica 2, later and by another machine.
        case removeAgain
        /// C is paired anew with replica 0.
        case introduceAgain
        case zeroTellsOne, oneTellsTwo, twoTellsZero
    }

    private static let first = introduction(of: 3)
    private static let second = introduction(of: 3, time: 20, nonce: 1)

    /// Seven events in each of their 5,040 orders: in the end, when all have heard of all, the replicas are equal; an
    /// introduction that somebody removed is in force nowhere; one that nobody who knew it removed is in force.
    @Test func everyOrderOfEventsComesToTheSame() {
        var orders = 0
        Self.permute(Event.allCases) { order in
            orders += 1
            var replicas = [Household](repeating: Household(), count: 3)
            var removed: Set<Introduction.ID> = []
            func remove(_ replica: Int, _ removal: HouseholdEntry.Removal) {
                for entry in replicas[replica].entries { removed.insert(entry.id) }
                replicas[replica].remove(Self.key(3), removal)
            }
            for event in order {
                switch event {
                case .introduce: replicas[0].introduce(Self.first)
                case .introduceAgain: replicas[0].introduce(Self.second)
                case .remove: remove(1, Self.removal())
                case .removeAgain: remove(2, Self.removal(by: 2, time: 11))
                case .zeroTellsOne: replicas[1].merge(replicas[0])
                case .oneTellsTwo: replicas[2].merge(replicas[1])
                case .twoTellsZero: replicas[0].merge(replicas[2])
                }
            }
            for _ in 0..<2 {
                for (from, to) in [(0, 1), (1, 2), (2, 0)] { replicas[to].merge(replicas[from]) }
            }
            #expect(replicas[0].encoded == replicas[1].encoded && replicas[1].digest == replicas[2].digest)
            for entry in replicas[0].entries { #expect((entry.removal != nil) == removed.contains(entry.id)) }
            let isMember = removed.count < 2
            #expect(replicas[0].members.map(\.key) == (isMember ? [Self.key(3)] : []))
            #expect(replicas[0].removedKeys.isEmpty == isMember)
        }
        #expect(orders == 5040)
    }

    /// Calls `body` with each order of some elements.
    private static func permute<Element>(_ elements: [Element], _ body: ([Element]) -> Void) {
        func extend(_ chosen: [Element], _ left: [Element]) {
            if left.isEmpty { return body(chosen) }
            for index in left.indices {
                var rest = left
                extend(chosen + [rest.remove(at: index)], rest)
            }
        }
        extend([], elements)
    }

    /// A machine that was away, or a backup, tells what it knows again and again.
    @Test func anOldSetBringsNobodyBack() {
        let old = Household([HouseholdEntry(Self.first)])
        var set = old
        set.remove(Self.key(3), Self.removal())
        let removed = set
        set.merge(old)
        set.introduce(Self.first)
        #expect(set == removed)
        #expect(set.standing(of: Self.key(3)) == .removed(Self.removal()))
        set.introduce(Self.second)
        #expect(set.standing(of: Self.key(3)) == .member(Self.second))
    }

    /// All sets over two introductions, each absent, in force, or removed by one of two: union is commutative,
    /// associative and idempotent.
    @Test func mergingIsAUnion() {
        let entries = [
            Self.first, Self.second,
        ].map { introduction in
            [nil, Self.removal(), Self.removal(by: 2, time: 9), Self.removal(by: 2, time: 3)].map {
                HouseholdEntry(introduction, removal: $0)
            }
        }
        var sets = [Household()]
        for choices in entries {
            sets = sets.flatMap { set in
                [set] + choices.map { Household(set.entries + [$0]) }
            }
        }
        func union(_ one: Household, _ other: Household) -> Household {
            var one = one
            one.merge(other)
            return one
        }
        sets = Array(Set(sets))
        for one in sets {
            #expect(union(one, one) == one)
            for other in sets {
                #expect(union(one, other) == union(other, one))
                for third in sets {
                    #expect(union(union(one, other), third) == union(one, union(other, third)))
                }
            }
        }
    }

    /// Somebody who fills the set pushes out neither a member nor a removal.
    @Test func whatASetHoldsStays() {
        var set = Household([HouseholdEntry(Self.first), HouseholdEntry(Self.introduction(of: 5))])
        set.remove(Self.key(3), Self.removal())
        let many = (0..<UInt32(1100)).map { number in
            let nonce = withUnsafeBytes(of: number.bigEndian, Array.init) + [UInt8](repeating: 0, count: 12)
            return HouseholdEntry(
                Introduction(
                    nonce: nonce, key: Self.key(8), name: "x", rights: .all, introducer: Self.key(9), time: 1)!
            )
        }
        set.merge(Household(many))
        #expect(set.count == 1000)
        #expect(set.standing(of: Self.key(3)) == .removed(Self.removal()))
        #expect(set.standing(of: Self.key(5)) == .member(Self.introduction(of: 5)))
        let hasRoom = set.introduce(Self.introduction(of: 6))
        #expect(!hasRoom && set.standing(of: Self.key(6)) == .unknown)
        let full = set
        set.merge(Household([HouseholdEntry(Self.first)]))
        #expect(set == full)
        // What it holds is removed also by others.
        set.merge(Household([HouseholdEntry(Self.introduction(of: 5), removal: Self.removal())]))
        set.remove(Self.key(8), Self.removal())
        #expect(set.members.isEmpty && set.count == 1000)
    }

    @Test func ofWhatIsNewRemovedOnesComeFirst() {
        for (gone, other) in [(Self.first, Self.second), (Self.second, Self.first)] {
            let removed = HouseholdEntry(gone, removal: Self.removal())
            var set = Household()
            set.merge(Household([HouseholdEntry(other), removed]), limit: 1)
            #expect(set.entries == [removed])
        }
    }

    // MARK: What counts

    @Test func theNewestIntroductionInForceCounts() {
        var set = Household([HouseholdEntry(Self.first), HouseholdEntry(Self.second)])
        #expect(set.members == [Self.second] && set.first(of: Self.key(3)) == Self.first)
        #expect(set.name(of: Self.key(3)) == "kitchen" && set.name(of: Self.key(4)) == nil)
        #expect(set.standing(of: Self.key(4)) == .unknown)
        set.merge(Household([HouseholdEntry(Self.second, removal: Self.removal())]))
        #expect(set.members == [Self.first])
    }

    /// The id is a hash of everything, so nobody can put another introduction in the place of one.
    @Test func everyPartChangesTheID() {
        let others = [
            Self.introduction(of: 4), Self.introduction(of: 3, by: 2), Self.introduction(of: 3, time: 6),
            Self.introduction(of: 3, nonce: 1), Self.introduction(of: 3, rights: .read),
            Self.introduction(of: 3, name: "Kitchen"), Self.introduction(of: 3, name: "e\u{301}"),
            Self.introduction(of: 3, name: "\u{E9}"),
        ]
        #expect(Set([Self.first] + others).count == others.count + 1)
    }

    @Test func whatIsNoIntroductionIsRefused() {
        func make(
            nonce: Int = 16, key: [UInt8] = HouseholdTests.key(3), name: String = "a",
            introducer: [UInt8] = HouseholdTests.key(1),
            time: Int64 = 0
        ) -> Introduction? {
            Introduction(
                nonce: [UInt8](repeating: 0, count: nonce), key: key, name: name, rights: .read,
                introducer: introducer, time: time)
        }
        #expect(make() != nil && make(name: String(repeating: "ä", count: 32)) != nil)
        #expect(make(nonce: 15) == nil)
        #expect(make(key: [1]) == nil)
        #expect(make(introducer: [1]) == nil)
        #expect(make(introducer: Self.key(3)) == nil)
        #expect(make(time: -1) == nil && make(time: 1 << 62) == nil)
        for name in [
            "", "a\u{1B}b", "a\u{9B}", "\u{202E}a", "\u{0}", String(repeating: "ä", count: 32) + "a",
        ] {
            #expect(make(name: name) == nil)
        }
    }

    @Test func aNewIntroductionHasAPlainName() {
        func name(_ text: String) -> String? {
            Introduction(of: Self.key(3), name: text, rights: .all, by: Self.key(1), time: -5)?.name
        }
        #expect(name("") == "unnamed")
        #expect(name("a\u{1B}[31m") == "a [31m")
        #expect(name(String(repeating: "ä", count: 40)) == String(repeating: "ä", count: 32))
        let two = (0..<2).map { _ in
            Introduction(of: Self.key(3), name: "a", rights: .all, by: Self.key(1), time: 0)
        }
        #expect(two[0] != two[1])
    }
}
