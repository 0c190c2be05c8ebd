/// Takes decisions and bytes from what the fuzzer has made up. Behind the end everything is zero.
struct FuzzInput {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position >= bytes.count }

    mutating func byte() -> UInt8 {
        guard position < bytes.count else { return 0 }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    /// A number in 0..<`limit`; it takes one byte of the input, so `limit` is at most 256.
    mutating func number(below limit: Int) -> Int { Int(byte()) % limit }

    mutating func uint64() -> UInt64 { (0..<8).reduce(0) { value, _ in value << 8 | UInt64(byte()) } }

    /// At most `count` bytes: as many as there are.
    mutating func take(_ count: Int) -> [UInt8] {
        let end = min(bytes.count, position + count)
        defer { position = end }
        return Array(bytes[position..<end])
    }

    mutating func rest() -> [UInt8] { take(bytes.count - position) }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(below: elements.count)] }
}
