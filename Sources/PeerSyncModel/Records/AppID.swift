/// The app whose records two machines exchange. Machines of different apps never get beyond the handshake.
///
/// It is like a bundle identifier: `org.example.todo`. It stays the same for as long as the app's machines are to meet.
/// Nobody sends it. It is no secret all the same: a stranger who guesses it can find out whether the guess is right.
public struct AppID: Sendable, Hashable, CustomStringConvertible {
    /// The most bytes that an id may have.
    public static let maximumByteCount = 128

    public let description: String

    /// - Parameter text: 1 to 128 ASCII letters, digits, `.`, `-` and `_`.
    /// - Throws: ``InvalidAppID``.
    public init(_ text: String) throws(InvalidAppID) {
        guard (1...Self.maximumByteCount).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed)
        else {
            throw InvalidAppID(text: text)
        }
        description = text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension AppID: ExpressibleByStringLiteral {
    /// - Precondition: the literal is a valid id.
    public init(stringLiteral value: String) {
        do { try self.init(value) } catch { preconditionFailure("\(error)") }
    }
}

/// A text that cannot be an ``AppID``.
public struct InvalidAppID: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text, as it was given.
    public let text: String

    public var description: String {
        "“\(text)” cannot be the id of an app: 1 to \(AppID.maximumByteCount) ASCII letters, digits, “.”, “-” and “_” can"
    }
}
