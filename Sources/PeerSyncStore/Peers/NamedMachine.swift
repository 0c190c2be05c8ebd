/// A machine that people name, or tell by the beginning of its key.
protocol NamedMachine {
    var name: String { get }
    /// The key in hexadecimal digits.
    var key: String { get }
}

extension Peer: NamedMachine {}
extension HouseholdMember: NamedMachine {}

extension Array where Element: NamedMachine {
    /// Finds the machine of that name, or with a key that begins with these digits (at least 8).
    ///
    /// - Parameter kind: what these machines are, for the error.
    /// - Throws: `noSuchPeer`, `ambiguous`.
    func find(_ text: String, among kind: String) throws -> Element {
        try find([text], among: kind)[0]
    }

    /// Finds the machine of each text, in their order.
    func find(_ texts: [String], among kind: String) throws -> [Element] {
        let named = Dictionary(grouping: self, by: \.name)
        return try texts.map { text in
            let found = named[text] ?? (text.count >= 8 ? filter { $0.key.hasPrefix(text.lowercased()) } : [])
            guard let machine = found.first else {
                throw RecordStoreError(.noSuchPeer, "no \(kind) is called “\(text)”")
            }
            guard found.count == 1 else {
                throw RecordStoreError(
                    .ambiguous, "“\(text)” stands for several machines; give more digits of the key")
            }
            return machine
        }
    }
}
