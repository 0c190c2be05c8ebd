import PeerSyncModel
import PeerSyncStore

/// Puts and gets the files of records (Protocol/mailbox.md section 8).
struct FileExchange {
    let context: MailboxContext
    let views: [AuthorView]

    // MARK: Getting

    /// Why a file of a machine finds no place here.
    typealias Waiting = (machine: String, error: RecordStoreError)

    /// Gets the wanted files that others offer. One that finds no place keeps no smaller one from coming.
    ///
    /// - Returns: why a file waits; nil if none does.
    func fetch(
        _ zones: [Zone], _ report: inout MailboxReport, _ problems: inout ReadingProblems
    ) async throws -> Waiting? {
        guard let directory = context.store.assetDirectory else { return nil }
        var waiting: Waiting?
        for zone in zones {
            let wanted = try await context.store.assets.wanted(after: 0, in: [zone])
            guard !wanted.list.isEmpty else { continue }
            for view in views {
                // A place that takes none is not tried for each.
                guard waiting.map({ $0.error.code == .noSpace && directory.hasRoom }) ?? true else { break }
                let before = report.filesRead
                let error = try await fetch(wanted, from: view, to: directory, zone, &report, &problems)
                waiting = waiting ?? error.map { (view.peer.name, $0) }
                guard report.filesRead > before else { continue }
                context.onEvent(
                    .filesReceived(machine: view.peer.name, count: report.filesRead - before))
            }
        }
        return waiting
    }

    /// - Returns: why the first that finds no place here finds none.
    private func fetch(
        _ wanted: WantedAssets, from view: AuthorView, to directory: AssetDirectory, _ zone: Zone,
        _ report: inout MailboxReport, _ problems: inout ReadingProblems
    ) async throws -> RecordStoreError? {
        guard let section = view.head.zone(zone.id) else { return nil }
        let sizes = Dictionary(wanted.list.map { ($0.hash, $0.size) }) { first, _ in first }
        var waiting: RecordStoreError?
        for file in section.offered where sizes[file.hash] == file.size {
            guard !directory.contains(file.hash, size: file.size) else { continue }
            do {
                let key = section.fileKeys[file.key]
                guard try await fetch(file, from: view, key, to: directory, zone, &problems) else { continue }
            } catch let damage as DamagedObject {
                problems.note(damage, of: view.peer, in: zone)
                continue
            } catch let error as RecordStoreError where error.code.isAboutAssetFiles {
                waiting = waiting ?? error
                guard error.code == .noSpace, directory.hasRoom else { break }
                continue
            }
            report.filesRead += 1
            if wanted.wishes.contains(file.hash) {
                try await context.store.assets.setWished([file.hash], false)
            }
        }
        return waiting
    }

    /// - Returns: whether the file is here now.
    /// - Throws: ``DamagedObject`` when it is not what its author says.
    private func fetch(
        _ file: ZoneSection.OfferedFile, from view: AuthorView, _ key: ZoneSection.FileKey,
        to directory: AssetDirectory, _ zone: Zone, _ problems: inout ReadingProblems
    ) async throws -> Bool {
        // Another task may be receiving it.
        guard let incoming = try await blocking({ try directory.receive(file.hash, size: file.size) }) else {
            return false
        }
        let author = view.head.author
        let begun = incoming.count
        let first = Int(begun / Int64(FilePiece.size))
        for piece in first..<max(FilePiece.count(file.size), first) {
            try Task.checkCancellation()
            let name = FilePiece.name(piece, of: file.hash, by: author.id, fileKey: key.key)
            guard let object = try await context.get(name) else {
                problems.note(missing: name, of: view, in: zone, now: context.store.now())
                return false
            }
            let bytes = try DamagedObject.naming(name) { () throws(DamagedObject) in
                let bytes = try FilePiece.open(
                    object, piece, of: file.hash, in: key.epoch, fileKey: key.key, by: author)
                guard bytes.count == FilePiece.length(piece, ofFile: file.size) else {
                    throw DamagedObject("a piece of another length")
                }
                return bytes
            }
            let missing = bytes.dropFirst(Int(incoming.count) - piece * FilePiece.size)
            try await blocking { try missing.withUnsafeBytes { try incoming.append($0) } }
        }
        if try await blocking({ try incoming.finish() }) { return true }
        // The beginning may have come from somebody else, and is discarded now.
        guard begun == 0 else {
            return try await fetch(file, from: view, key, to: directory, zone, &problems)
        }
        throw DamagedObject("a file with other bytes than its name says")
    }

    // MARK: Putting

    /// Puts the files that readers may lack, and removes those that none lacks any more.
    func put(_ part: HeadWriter.Part, _ report: inout MailboxReport) async throws {
        guard let directory = context.store.assetDirectory else { return }
        let source = ZoneLog(context.store, part.zone)
        let (referred, present, acknowledged) = try await context.store.readFolded { db in
            (
                try source.files(db), try OwnFile.all(db, mailbox: context.mailbox, zone: part.zone.row),
                try part.readers.map { try source.acknowledged(db, by: $0.peer) }.min() ?? .max
            )
        }
        let asked = Asked(views, part)
        let files = Dictionary(referred.map { ($0.hash, $0) }) { first, _ in first }
        // Beyond these, nobody gets the keys.
        let epochs = HeadWriter.epochs([part.written.zone.fileEpoch] + present.map(\.epoch))
        for file in present {
            let isNeeded =
                files[file.hash].map {
                    asked.wanted.contains($0.hash) || asked.isOpen || acknowledged < file.sequence
                } ?? false
            if !isNeeded || !epochs.contains(file.epoch) { try await remove(file) }
        }
        for file in referred {
            let former = present.first { $0.hash == file.hash && epochs.contains($0.epoch) }
            guard former?.isThere != true else { continue }
            let isNew = file.isOwn && acknowledged < file.sequence
            guard
                isNew || asked.missed.contains(file.hash) || former != nil,
                let outgoing = await blockingOpen(directory, file)
            else { continue }
            try await put(file, outgoing, former?.epoch ?? part.written.zone.fileEpoch, part.zone)
            report.filesPut += 1
        }
    }

    /// What readers say of files in their heads.
    private struct Asked {
        var wanted: Set<AssetHash> = []
        /// Those of them that nobody else offers to a reader which wants them.
        var missed: Set<AssetHash> = []
        /// Whether a reader wants more files than it names.
        var isOpen = false

        init(_ views: [AuthorView], _ part: HeadWriter.Part) {
            for view in views {
                guard part.readers.contains(where: { $0.peer.id == view.peer.id }),
                    let section = view.head.zone(part.zone.id)
                else { continue }
                var missed = Set(section.wanted)
                wanted.formUnion(missed)
                for other in views {
                    // The reader may have ended its pairing with the other one.
                    guard section.read.contains(where: { $0.replica == other.head.author.replica }),
                        let theirs = other.head.zone(part.zone.id),
                        theirs.readers.contains(view.head.author.replica)
                    else { continue }
                    let told = Set(
                        section.damaged.filter { $0.replica == other.head.author.replica }.map(\.object))
                    missed.subtract(
                        theirs.offered.filter {
                            told.isEmpty || !theirs.hasPiece(of: $0, by: other.head.author, in: told)
                        }.map(\.hash))
                }
                self.missed.formUnion(missed)
                isOpen = isOpen || section.wantsMore
            }
        }
    }

    private func blockingOpen(_ directory: AssetDirectory, _ file: ReferredFile) async -> OutgoingAsset? {
        try? await blocking {
            guard directory.contains(file.hash, size: file.size), let open = directory.open(file.hash),
                try open.isIntact()
            else { return nil }
            return open
        }
    }

    private func put(
        _ file: ReferredFile, _ outgoing: OutgoingAsset, _ epoch: FileEpoch, _ zone: Zone
    ) async throws {
        var entry = OwnFile(
            mailbox: context.mailbox, zone: zone.row, hash: file.hash, size: file.size, epoch: epoch,
            sequence: file.sequence, isThere: false)
        try await context.store.database.write { [entry] in try entry.save($0) }
        let key = context.secrets.key(of: epoch)
        for piece in 0..<FilePiece.count(file.size) {
            try Task.checkCancellation()
            let bytes = try await blocking {
                try outgoing.read(at: Int64(piece) * Int64(FilePiece.size), upTo: FilePiece.size)
            }
            try await context.put(
                FilePiece.name(piece, of: file.hash, by: context.own.id, fileKey: key),
                FilePiece.seal(bytes, piece, of: file.hash, in: epoch, fileKey: key, by: context.own))
        }
        entry.isThere = true
        try await context.store.database.write { [entry] in try entry.save($0) }
    }

    private func remove(_ file: OwnFile) async throws {
        // The head still offers it: who does not find it asks for it.
        for name in file.names(by: context.secrets) {
            try await context.storage.delete(name)
        }
        try await context.store.database.write { try file.delete($0) }
    }
}

extension ZoneSection {
    /// Whether one of some objects is a piece of a file that the author offers.
    fileprivate func hasPiece(of file: OfferedFile, by author: Author, in objects: Set<ObjectID>) -> Bool {
        (0..<FilePiece.count(file.size)).contains { piece in
            let key = fileKeys[file.key].key
            return ObjectID(FilePiece.name(piece, of: file.hash, by: author.id, fileKey: key))
                .map(objects.contains) ?? false
        }
    }
}
