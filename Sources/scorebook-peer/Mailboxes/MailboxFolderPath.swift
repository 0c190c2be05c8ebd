import Foundation
import Scorebook

/// The folder that somebody names for a mailbox.
enum MailboxFolderPath {
    /// Returns the path without links.
    ///
    /// - Parameter directory: that of the scorebook.
    /// - Throws: ``Failure`` if it is no folder that may hold a mailbox.
    static func checked(_ path: String, of directory: URL) throws -> String {
        guard !path.isEmpty else {
            throw Failure(
                .dataError, "the path of the folder is empty",
                hint: "name the folder that other machines reach")
        }
        let url = URL(fileURLWithPath: path, isDirectory: true).resolvingSymlinksInPath()
        let shown = Display.printable(url.path)
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw Failure(
                .noInput, "there is no folder \(shown)",
                hint: "make it, or mount what it is on, and try again")
        }
        guard isDirectory.boolValue else {
            throw Failure(.dataError, "\(shown) is a file, and a mailbox needs a folder")
        }
        let own = directory.resolvingSymlinksInPath().path
        guard url.path != own, !url.path.hasPrefix(own + "/") else {
            throw Failure(
                .dataError, "\(shown) lies inside the scorebook's own directory",
                hint: "choose a folder that other machines reach")
        }
        guard access(url.path, R_OK | X_OK) == 0 else {
            throw Failure(.cannotCreate, "\(shown) cannot be read; check who may read it")
        }
        guard access(url.path, W_OK) == 0 else {
            throw Failure(.cannotCreate, "\(shown) cannot be written; check who may write there")
        }
        return url.path
    }
}
