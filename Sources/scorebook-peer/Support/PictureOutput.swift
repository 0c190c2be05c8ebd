import Foundation
import PeerSync
import Scorebook

/// The number of pictures in a scorebook, for programs and people.
struct AssetFigures: Encodable {
    let policy: String
    /// The files to which records refer, each counted once.
    let files: Int
    let bytes: Int64
    /// The files that should be here by the policy, but are missing.
    let missing: Int
    let missingBytes: Int64
    /// The files whose bytes are in the database alone, because they could not be written yet.
    let unstored: Int
    let unstoredBytes: Int64
    /// The files that the policy leaves on other machines.
    let left: Int
    let leftBytes: Int64

    init(_ status: AssetStatus) {
        policy = status.policy.description
        (files, bytes) = (status.referred.files, status.referred.bytes)
        (missing, missingBytes) = (status.missing.files, status.missing.bytes)
        (unstored, unstoredBytes) = (status.unstored.files, status.unstored.bytes)
        (left, leftBytes) = (status.excluded.files, status.excluded.bytes)
    }

    /// As in “12 (5.4 MB), 3 missing (1.2 MB), 1 without a file yet (20 kB), 2 left on other machines (3.1 MB)”.
    var summary: String {
        var parts = ["\(files.grouped) (\(bytes.byteCount))"]
        if missing > 0 { parts.append("\(missing.grouped) missing (\(missingBytes.byteCount))") }
        if unstored > 0 {
            parts.append("\(unstored.grouped) without a file yet (\(unstoredBytes.byteCount))")
        }
        if left > 0 { parts.append("\(left.grouped) left on other machines (\(leftBytes.byteCount))") }
        return parts.joined(separator: ", ")
    }
}

/// The result of a check of every picture's file.
struct PictureCheck: Encodable {
    struct Damage: Encodable {
        let hash: String
        /// The records that have the picture; none if no record needs the file any more.
        let records: [RecordName]
        /// The name of the picture; nil if no record has it.
        @OrNull var name: String?
    }

    let checked: Int
    let bytes: Int64
    let damaged: [Damage]

    /// Reads every file, and puts damaged files aside.
    init(_ scorebook: ScorebookStore) async throws {
        let check = try await scorebook.records.assets.check { count in
            ProgressLine.shared.show("checking pictures, \(count.files.grouped), \(count.bytes.byteCount)")
        }
        ProgressLine.shared.clear()
        checked = check.checked.files
        bytes = check.checked.bytes
        let uses = check.damaged.isEmpty ? [] : try await scorebook.pictureUses()
        damaged = check.damaged.map { hash in
            let use = uses.first { $0.image.hash == hash }
            return Damage(hash: hash.description, records: use?.records ?? [], name: use?.image.name)
        }
    }

    /// Prints the result for people.
    func write() {
        for damage in damaged {
            let owners =
                damage.records.isEmpty
                ? "no record" : damage.records.map(\.description).joined(separator: ", ")
            let name = damage.name.map { $0.isEmpty ? "" : " (\($0))" } ?? ""
            Terminal.write(
                Display.printable("\(owners)\(name): the file \(damage.hash) was damaged and is put aside"))
        }
        if damaged.isEmpty {
            Terminal.write("pictures: \(checked.counted("file")) sound (\(bytes.byteCount))")
        }
    }

    /// - Throws: ``Failure`` `dataError` when a file was damaged.
    func failIfDamaged() throws {
        guard !damaged.isEmpty else { return }
        throw Failure(
            .dataError,
            "the \(damaged.count == 1 ? "file of a picture was" : "files of \(damaged.count) pictures were") "
                + "damaged; sync with a machine that has them whole, or add them again")
    }
}
