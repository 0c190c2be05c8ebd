import Foundation
import Scorebook

/// The directories of the user: the only place that knows where the home directory is.
enum Home {
    /// The home directory, or a directory in it.
    ///
    /// - Parameters:
    ///   - path: relative to the home directory.
    ///   - hint: what helps where there is none.
    /// - Throws: ``Failure`` if nobody says where it is, or if it does not exist.
    static func directory(_ path: String = "", hint: String = "set HOME") throws -> URL {
        let home =
            try ProcessInfo.processInfo.environment["HOME"].flatMap { $0.isEmpty ? nil : $0 }
            ?? ofSystem(hint: hint)
        var isDirectory: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: home, isDirectory: &isDirectory)
        // A relative path would be another directory for each place in which somebody starts the program.
        guard home.hasPrefix("/"), isThere, isDirectory.boolValue else {
            throw Failure(
                .cannotCreate, "there is no home directory at “\(home)”", hint: hint)
        }
        let url = URL(fileURLWithPath: home, isDirectory: true)
        return path.isEmpty ? url : url.appendingPathComponent(path, isDirectory: true)
    }

    /// A directory that the XDG Base Directory Specification lets users move.
    ///
    /// - Parameters:
    ///   - variable: the variable that names it. By the specification a relative path there does not count.
    ///   - path: where it is otherwise, relative to the home directory.
    ///   - hint: what helps where there is no home directory.
    static func directory(_ variable: String, else path: String, hint: String = "set HOME") throws -> URL {
        guard let named = ProcessInfo.processInfo.environment[variable], named.hasPrefix("/") else {
            return try directory(path, hint: hint)
        }
        return URL(fileURLWithPath: named, isDirectory: true)
    }

    /// A path as people write it: `~` at the beginning is the home directory, and `~ada` that of Ada.
    ///
    /// Shells do this themselves, but not within quotation marks, in services, or after `--store=`.
    static func expanding(_ path: String) throws -> String {
        guard path.hasPrefix("~") else { return path }
        let (word, rest) = (path.prefix { $0 != "/" }, path.drop { $0 != "/" })
        let name = String(word.dropFirst())
        guard !name.isEmpty else { return try directory().path + rest }
        guard let user = getpwnam(name), let home = user.pointee.pw_dir else {
            throw Failure(
                .cannotCreate,
                "this system has no user “\(Display.printable(name))”, so there is no “\(Display.printable(path))”",
                hint: "write ./\(Display.printable(path)) if a directory is called that")
        }
        return String(cString: home) + rest
    }

    /// What the list of the system's users says.
    private static func ofSystem(hint: String) throws -> String {
        guard let user = getpwuid(geteuid()), let home = user.pointee.pw_dir else {
            throw Failure(.cannotCreate, "nobody says where the home directory is", hint: hint)
        }
        return String(cString: home)
    }
}
