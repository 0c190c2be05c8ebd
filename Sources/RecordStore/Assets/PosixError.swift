import Foundation

/// What the system said to a call.
struct PosixError: CustomNSError, CustomStringConvertible {
    let code: Int32

    // For those who know errors of the system by their numbers.
    static var errorDomain: String { NSPOSIXErrorDomain }
    var errorCode: Int { Int(code) }

    init() { code = errno }

    var description: String { String(cString: strerror(code)).lowercased() }

    /// Whether there is no room, for everybody or for this user.
    var isOutOfSpace: Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }
}
