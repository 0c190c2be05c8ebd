import Foundation
import PeerSync
import Scorebook

/// The lists that commands printed last, so that `match show 3` finds the third match of the list.
///
/// Each login session has lists of its own: a list in another window must not change what a number means in this one. A
/// number stands for the record that was printed, whatever a new list would show there. Lists are forgotten after a day,
/// because a new session may get the number of an old one.
struct PrintedLists: Sendable {
    /// The maximum number of records of a list that have numbers.
    private static let longest = 10_000
    private static let lifetime: TimeInterval = 86_400

    private let directory: URL
    private let file: URL

    /// - Parameter directory: need not exist.
    init(at directory: URL) {
        self.directory = directory
        file = directory.appendingPathComponent("\(Self.session).json")
    }

    /// The login session, with the time at which it began where the system tells.
    private static var session: String {
        let leader = getsid(0)
        #if canImport(Darwin)
            var query = [CTL_KERN, KERN_PROC, KERN_PROC_PID, leader]
            var process = kinfo_proc()
            var size = MemoryLayout<kinfo_proc>.stride
            guard sysctl(&query, 4, &process, &size, nil, 0) == 0, size > 0 else { return "\(leader)" }
            return "\(leader)-\(process.kp_proc.p_un.__p_starttime.tv_sec)"
        #else
            // The name of the program may hold blanks and parentheses.
            let fields = (try? String(contentsOfFile: "/proc/\(leader)/stat", encoding: .utf8))?
                .split(separator: ")").last?.split(separator: " ")
            guard let fields, fields.count > 19 else { return "\(leader)" }
            return "\(leader)-\(fields[19])"
        #endif
    }

    /// Remembers a list that is about to be printed. Lists of other kinds stay.
    ///
    /// - Returns: whether its numbers may be printed: not if they cannot be remembered.
    func note(_ names: [RecordName]) -> Bool {
        guard let type = names.first?.recordType else { return true }
        var lists = read() ?? [:]
        for kind in RecordKind.allCases where names.contains(where: { $0.recordType == kind.recordType }) {
            // A list of all pictures shows records of three kinds. Their numbers are those of the whole list.
            lists[kind.recordType] = names.prefix(Self.longest).map(\.description)
        }
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            removeOld()
            try JSONEncoder().encode(lists).write(to: file, options: .atomic)
            return lists[type] != nil
        } catch {
            // Otherwise a number would lead to a record of the list before.
            try? FileManager.default.removeItem(at: file)
            return false
        }
    }

    /// Returns the record that a list showed under a number; nil if it showed none of that kind there.
    func record(_ kind: RecordKind, _ number: Int) -> RecordName? {
        guard let list = read()?[kind.recordType], list.indices.contains(number - 1),
            let name = try? RecordName(list[number - 1]), name.recordType == kind.recordType
        else { return nil }
        return name
    }

    private func read() -> [String: [String]]? {
        guard !isOld(file), let data = try? Data(contentsOf: file) else { return nil }
        return try? JSONDecoder().decode([String: [String]].self, from: data)
    }

    private func isOld(_ file: URL) -> Bool {
        let date = try? file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
        return date.map { $0.timeIntervalSinceNow < -Self.lifetime } ?? true
    }

    private func removeOld() {
        let files = try? FileManager.default.contentsOfDirectory(
            at: directory, includingPropertiesForKeys: nil)
        for file in files ?? [] where isOld(file) { try? FileManager.default.removeItem(at: file) }
    }
}
