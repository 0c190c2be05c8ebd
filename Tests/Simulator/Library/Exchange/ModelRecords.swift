import PeerSyncModel

/// The records of a search, and their states, made once: a state is a number, and the greater one is the later write.
struct ModelRecords: Sendable {
    private static let count = 3
    /// More than a search can write.
    private static let versions = 64

    private let states: [[RecordState]]
    private let items: [[NegentropyItem]]
    private let versions: [RecordState: Int]

    static let all = ModelRecords()

    private init() {
        var versions: [RecordState: Int] = [:]
        states = (0..<Self.count).map { record in
            (0...Self.versions).map { version in
                let stamp = Stamp(
                    time: HybridTime(milliseconds: Int64(version) + 1), replica: ReplicaID(rawValue: 1))
                let field = RecordField(name: "name", value: .integer(Int64(version)), stamp: stamp)
                let state = RecordState(name: Self.name(record), fields: [field])
                versions[state] = version
                return state
            }
        }
        items = states.map { states in
            states.map { state in
                NegentropyItem(
                    timestamp: UInt64(state.newestStamp!.time.milliseconds), id: NegentropyID(RecordID(state))
                )
            }
        }
        self.versions = versions
    }

    static func name(_ record: Int) -> RecordName { try! RecordName("Game|~|\(record)") }

    func state(_ record: Int, _ version: Int) -> RecordState { states[record][version] }

    func item(_ record: Int, _ version: Int) -> NegentropyItem { items[record][version] }

    func number(of name: RecordName) -> Int { (0..<Self.count).first { Self.name($0) == name }! }

    func version(of state: RecordState) -> Int { versions[state]! }
}
