import Foundation
import RecordStore
import Scorebook
import SyncModel

extension OpenStore {
    /// The file of a picture.
    ///
    /// - Throws: ``Failure``: `unavailable` when it is not on this machine, `dataError` when it is damaged.
    func fileOrFetch(_ image: Asset) async throws -> URL {
        let records = scorebook.records
        guard let assets = records.assets, let file = records.file(image) else {
            throw Failure(
                .unavailable,
                "the file of the picture \(Display.printable(image.summary)) is not on this machine; "
                    + "sync with a machine that has it")
        }
        guard assets.isIntact(image.hash) else {
            throw Failure(
                .dataError,
                "the file of the picture \(Display.printable(image.summary)) is damaged; "
                    + "`scorebook-peer status --check --assets` puts it aside, so that it is fetched again")
        }
        return file
    }
}
