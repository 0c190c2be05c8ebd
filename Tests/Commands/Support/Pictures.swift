import Foundation
import GRDB

/// Pictures of a machine, as another program writes and sees them.
extension Machine {
    /// Adds pictures of that many bytes each to a match that is made for them, with plain SQL.
    ///
    /// - Parameter label: tells these pictures from others.
    func addPictures(_ count: Int, bytes: Int, label: String = "picture") throws {
        try write(
            """
            INSERT OR IGNORE INTO SBGame (recordName, name) VALUES ('SBGame|~|pictures', 'Pictures');
            INSERT OR IGNORE INTO SBMatch (recordName, game) VALUES ('SBMatch|~|pictures', 'SBGame|~|pictures');
            WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(count))
            INSERT INTO SBMatchImage (recordName, match, image, caption)
                SELECT 'SBMatchImage|~|\(label)' || n, 'SBMatch|~|pictures', randomblob(\(bytes)), '\(label)' FROM number
            """)
    }

    /// The files that the machine has under their names, each with what is in it.
    func pictureFiles() throws -> [String: Data] {
        let directory = store.appendingPathComponent("assets")
        var files: [String: Data] = [:]
        for part in (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        where part.count == 2 {
            let names = try FileManager.default.contentsOfDirectory(
                atPath: directory.appendingPathComponent(part).path)
            for name in names {
                files[name] = try Data(
                    contentsOf: directory.appendingPathComponent(part).appendingPathComponent(name))
            }
        }
        return files
    }

    /// The files of pictures that have come in part.
    func incoming() -> [String] {
        let path = store.appendingPathComponent("assets/incoming").path
        return (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }

    /// How many bytes of pictures are here, those of pictures that are not here whole included.
    func pictureBytes() throws -> Int {
        let incoming = store.appendingPathComponent("assets/incoming")
        let whole = try pictureFiles().values.reduce(0) { $0 + $1.count }
        return self.incoming().reduce(whole) { sum, name in
            let path = incoming.appendingPathComponent(name).path
            return sum + ((try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0)
        }
    }

    func picture(_ hash: String) -> URL {
        store.appendingPathComponent("assets/\(hash.prefix(2))/\(hash)")
    }

    /// Puts one wrong byte into a picture, as a failing disk does.
    func damagePicture(_ hash: String) throws {
        var data = try Data(contentsOf: picture(hash))
        data[data.count / 2] ^= 1
        try data.write(to: picture(hash))
    }
}
