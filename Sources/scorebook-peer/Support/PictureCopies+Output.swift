import PeerSync
import Scorebook

extension PictureUse {
    /// As in “IMG_1234.jpg (482 kB, image/jpeg) of SBMatchImage|~|…”.
    var text: String {
        let more = records.count > 1 ? " and \((records.count - 1).counted("other"))" : ""
        return Display.printable("\(image.summary) of \(records[0])\(more)")
    }
}

extension [PictureUse] {
    /// The first five of them, and the number of the others.
    var listed: String {
        let shown = 5
        let more = count > shown ? " and \((count - shown).grouped) more" : ""
        return prefix(shown).map(\.text).joined(separator: ", ") + more
    }
}

extension PictureCopies {
    /// Describes the copying for people.
    ///
    /// - Parameter verb: as in “imported”.
    func text(_ verb: String) -> String {
        let there = unchanged > 0 ? ", \(unchanged.grouped) there already" : ""
        return "\(verb) \(copied.counted("picture")) (\(bytes.byteCount))\(there)"
    }

    /// Names the files that were not copied.
    ///
    /// - Parameters:
    ///   - missing: tells where there is no file; continues “3 pictures are”.
    ///   - damaged: tells what is wrong with a file; continues “the file”.
    /// - Throws: ``Failure`` `dataError` when a file is damaged.
    func tellWhatIsWrong(_ missing: String, _ damaged: String) throws {
        if !self.missing.isEmpty {
            let verb = self.missing.count == 1 ? "is" : "are"
            Terminal.writeError(
                "warning: \(self.missing.count.counted("picture")) \(verb) \(missing): \(self.missing.listed)"
            )
        }
        guard self.damaged.isEmpty else {
            throw Failure(
                .dataError,
                "\(self.damaged.count.counted("picture")) left out, because the file \(damaged): "
                    + self.damaged.listed)
        }
    }
}
