/// SHA-1, which UUIDs of version 5 need. It protects nothing here: whoever can choose the values of a row can choose its
/// key as well.
///
/// Source: RFC 3174, section 6.1.
enum SHA1 {
    private static let blockSize = 64

    /// Returns the 20 bytes of a message's hash.
    static func hash(_ message: [UInt8]) -> [UInt8] {
        var padded = message + [0x80]
        // The length stands in the last 8 bytes of the last block.
        padded += [UInt8](repeating: 0, count: (2 * blockSize - 8 - padded.count % blockSize) % blockSize)
        padded += bytes(of: UInt64(message.count) * 8)
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for start in stride(from: 0, to: padded.count, by: blockSize) {
            mix(padded[start..<(start + blockSize)], into: &state)
        }
        return state.flatMap(bytes(of:))
    }

    /// The bytes of a number, the highest first.
    static func bytes(of value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian, Array.init)
    }

    private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
            block[index..<(index + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<80 {
            let word = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
            words.append(rotate(word, 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for (index, word) in words.enumerated() {
            let (value, constant): (UInt32, UInt32) =
                switch index / 20 {
                case 0: (b & c | ~b & d, 0x5A82_7999)
                case 1: (b ^ c ^ d, 0x6ED9_EBA1)
                case 2: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = rotate(a, 5) &+ value &+ e &+ word &+ constant
            (a, b, c, d, e) = (next, a, rotate(b, 30), c, d)
        }
        state = zip(state, [a, b, c, d, e]).map { $0 &+ $1 }
    }

    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word << count | word >> (32 - count)
    }
}
