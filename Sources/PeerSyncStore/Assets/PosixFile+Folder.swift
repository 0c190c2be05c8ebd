import Foundation

/// What an open folder does with the files in it, whatever lies at its path meanwhile. No call follows a link.
extension PosixFile {
    /// The names of all that is in the folder, also `.` and `..`.
    ///
    /// - Throws: ``PosixError``.
    package func names() throws -> [String] {
        // A descriptor of its own, because the system moves its position, and closes it in the end.
        let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard own >= 0 else { throw PosixError() }
        guard let stream = fdopendir(own) else {
            let error = PosixError()
            close(own)
            throw error
        }
        defer { closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                })
            errno = 0
        }
        guard errno == 0 else { throw PosixError() }
        return names
    }

    /// The state of what is in the folder under a name; nil when nothing is.
    package func status(of name: String) -> stat? {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Gives a file in the folder another name there, in place of the one that has it.
    ///
    /// - Throws: ``PosixError``.
    package func rename(_ name: String, to newName: String) throws {
        guard renameat(descriptor, name, descriptor, newName) == 0 else { throw PosixError() }
    }

    /// Removes a file from the folder. It is no error when there is none.
    ///
    /// - Throws: ``PosixError``.
    package func remove(_ name: String) throws {
        guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else { throw PosixError() }
    }

    /// Gives this file or folder a group and rights, as far as its file system has them and this user may.
    package func share(_ mode: mode_t, group: gid_t) {
        _ = fchown(descriptor, uid_t.max, group)
        _ = fchmod(descriptor, mode & 0o7777)
    }
}
