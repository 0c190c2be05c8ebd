import Foundation

/// A terminal at which a test sits and types.
final class PseudoTerminal {
    private let side: FileHandle
    /// What the program has for a terminal.
    let otherSide: FileHandle

    init() throws {
        let (descriptor, name) = try Self.open()
        side = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let other = Foundation.open(name, O_RDWR | O_NOCTTY)
        guard other >= 0 else { throw NoTerminal() }
        otherSide = FileHandle(fileDescriptor: other, closeOnDealloc: true)
    }

    #if canImport(Darwin)
        private static func open() throws -> (Int32, String) {
            let descriptor = posix_openpt(O_RDWR | O_NOCTTY)
            guard descriptor >= 0, grantpt(descriptor) == 0, unlockpt(descriptor) == 0,
                let name = ptsname(descriptor)
            else { throw NoTerminal() }
            return (descriptor, String(cString: name))
        }
    #else
        /// What `posix_openpt` and its companions do, which Glibc does not show to Swift.
        private static func open() throws -> (Int32, String) {
            let descriptor = Foundation.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
            var unlocked: Int32 = 0
            var number: UInt32 = 0
            guard descriptor >= 0, ioctl(descriptor, 0x4004_5431, &unlocked) == 0,
                ioctl(descriptor, 0x8004_5430, &number) == 0
            else { throw NoTerminal() }
            return (descriptor, "/dev/pts/\(number)")
        }
    #endif

    /// Types a line.
    func type(_ line: String) throws { try side.write(contentsOf: Data((line + "\n").utf8)) }

    /// What the program has written to it since the last look. Waits until there is something.
    func written() -> String { String(decoding: side.availableData, as: UTF8.self) }

    struct NoTerminal: Error {}
}
