import PeerSyncModel
import Testing

/// The merge of record states is commutative, associative and idempotent, and the stamp decides per field.
struct MergeTests {
    static let name = try! RecordName("Note|~|1")

    static func stamp(_ time: Int64, _ replica: UInt64 = 1) -> Stamp {
        Stamp(time: HybridTime(milliseconds: time), replica: ReplicaID(rawValue: replica))
    }

    static func state(_ fields: [(String, FieldValue, Stamp)], deletion: Stamp? = nil, revival: Stamp? = nil)
        -> RecordState
    {
        RecordState(
            name: name, fields: fields.map { RecordField(name: $0.0, value: $0.1, stamp: $0.2) },
            deletion: deletion, revival: revival)
    }

    static func merged(_ states: RecordState...) -> RecordState {
        var result = states[0]
        for state in states.dropFirst() { result.merge(state) }
        return result
    }

    /// Every state that few stamps, values and fields can make.
    static let states: [RecordState] = {
        var result: [RecordState] = []
        var seen: Set<RecordState> = []
        let stamps: [Stamp?] = [nil, stamp(1, 1), stamp(1, 2), stamp(2, 1)]
        for title in stamps {
            for body in stamps {
                for value in title == nil ? [FieldValue.null] : [.integer(1), .text("x"), .null] {
                    for deletion in stamps {
                        for revival in [nil, stamp(2, 2)] {
                            var fields: [(String, FieldValue, Stamp)] = []
                            if let title { fields.append(("title", value, title)) }
                            if let body { fields.append(("body", .integer(7), body)) }
                            let whole = state(fields, deletion: deletion, revival: revival)
                            let erased = [stamp(1, 2), stamp(2, 1)].map { erasure in
                                var state = whole
                                state.erase(at: erasure)
                                return state
                            }
                            result += ([whole] + erased).filter { seen.insert($0).inserted }
                        }
                    }
                }
            }
        }
        return result
    }()

    @Test func theStatesAreManyAndDifferent() {
        #expect(Self.states.count == 354)
        var merged: Set<RecordState> = []
        for left in Self.states {
            for right in Self.states { merged.insert(Self.merged(left, right)) }
        }
        // Merging leads to no state that is not among them.
        #expect(merged == Set(Self.states))
    }

    @Test func mergeIsCommutativeAndIdempotent() {
        for left in Self.states {
            #expect(Self.merged(left, left) == left)
            for right in Self.states {
                let both = Self.merged(left, right)
                #expect(both == Self.merged(right, left))
                #expect(both == Self.merged(both, right))
            }
        }
    }

    @Test func mergeIsAssociative() {
        let some = Swift.stride(from: 0, to: Self.states.count, by: 5).map { Self.states[$0] }
        for a in some {
            for b in some {
                for c in some where Self.merged(Self.merged(a, b), c) != Self.merged(a, Self.merged(b, c)) {
                    Issue.record("\(a) \(b) \(c)")
                }
            }
        }
    }

    @Test func mergeSaysWhetherAnythingChanged() {
        for left in Self.states {
            for right in Self.states {
                var result = left
                let changed = result.merge(right)
                #expect(changed == (result != left))
            }
        }
    }

    @Test func theGreaterStampWinsAndTheReplicaBreaksTies() {
        let early = Self.state([("title", .text("a"), Self.stamp(1, 9))])
        let late = Self.state([("title", .text("b"), Self.stamp(2, 1))])
        let tie = Self.state([("title", .text("c"), Self.stamp(2, 2))])
        #expect(Self.merged(early, late).field("title")?.value == .text("b"))
        #expect(Self.merged(late, tie).field("title")?.value == .text("c"))
    }

    @Test func underOneStampTheGreaterEncodingWins() {
        let one = Self.state([("title", .text("a"), Self.stamp(1))])
        let other = Self.state([("title", .text("b"), Self.stamp(1))])
        #expect(Self.merged(one, other).field("title")?.value == .text("b"))
    }

    @Test func anEditAfterADeletionKeepsTheRecord() {
        let deleted = Self.state([], deletion: Self.stamp(5))
        let edited = Self.state([("title", .text("a"), Self.stamp(1)), ("body", .null, Self.stamp(6))])
        #expect(deleted.isDeleted)
        let both = Self.merged(deleted, edited)
        #expect(both.isLive)
        #expect(both.fields.count == 2)
    }

    @Test func aDeletedStateTravelsWithoutFields() {
        let deleted = Self.state([("title", .text("a"), Self.stamp(1))], deletion: Self.stamp(5))
        #expect(deleted.transferred.fields.isEmpty)
        #expect(deleted.transferred.isDeleted)
    }
}
