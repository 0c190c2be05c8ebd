import Foundation

/// Small pictures that are made here.
enum SamplePicture {
    /// A PNG image of one colour, 8 bits a channel (RFC 2083); another colour, another file.
    static func png(_ red: UInt8, _ green: UInt8 = 0, _ blue: UInt8 = 0, side: Int = 4) -> Data {
        let row: [UInt8] = [0] + Array(repeatElement([red, green, blue], count: side).joined())
        let pixels = Array(repeatElement(row, count: side).joined())
        var header = bigEndian(UInt32(side)) + bigEndian(UInt32(side))
        header += [8, 2, 0, 0, 0]
        return Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
            + chunk("IHDR", header) + chunk("IDAT", zlib(pixels)) + chunk("IEND", [])
    }

    /// What begins and ends as a JPEG file does.
    static func jpeg(_ content: String) -> Data {
        Data([0xFF, 0xD8, 0xFF, 0xE0] + Array(content.utf8) + [0xFF, 0xD9])
    }

    private static func chunk(_ type: String, _ content: [UInt8]) -> Data {
        let typed = Array(type.utf8) + content
        return Data(bigEndian(UInt32(content.count)) + typed + bigEndian(crc32(typed)))
    }

    /// One block that is stored as it is (RFC 1950, RFC 1951).
    private static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        let count = UInt16(bytes.count)
        let length = [UInt8(count & 0xFF), UInt8(count >> 8)]
        return [0x78, 0x01, 0x01] + length + length.map { ~$0 } + bytes + bigEndian(adler32(bytes))
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    private static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }

    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        var crc = ~UInt32(0)
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }
}

extension Scene {
    /// Puts a file into the directory of the test.
    ///
    /// - Returns: its path.
    func file(_ name: String, _ content: Data) throws -> String {
        let path = path(name)
        try content.write(to: URL(fileURLWithPath: path))
        return path
    }
}
