import Foundation

/// The error of a system call.
struct PosixError: CustomNSError, CustomStringConvertible {
    let code: Int32

    // Lets callers find errors of the system by their numbers.
    static var errorDomain: String { NSPOSIXErrorDomain }
    var errorCode: Int { Int(code) }

    init() { code = errno }

    var description: String { String(cString: strerror(code)).lowercased() }

    /// Whether the disk has no room, for everybody or for this user.
    var isOutOfSpace: Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }
}
