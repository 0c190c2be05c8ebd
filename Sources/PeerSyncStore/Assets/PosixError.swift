import Foundation

/// The error of a system call.
package struct PosixError: CustomNSError, CustomStringConvertible {
    package let code: Int32

    // Lets callers find errors of the system by their numbers.
    package static var errorDomain: String { NSPOSIXErrorDomain }
    package var errorCode: Int { Int(code) }

    package init() { code = errno }

    package var description: String { String(cString: strerror(code)).lowercased() }

    /// Whether the disk has no room, for everybody or for this user.
    package var isOutOfSpace: Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }
}
