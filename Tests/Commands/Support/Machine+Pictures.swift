import Foundation

/// What `image list --json` and its relatives print.
struct PictureLine: Decodable, Equatable {
    struct Image: Decodable, Equatable {
        let hash: String
        let name: String
        let size: Int
        let type: String
    }

    let recordName: String
    let field: String
    let match: String?
    let subject: String
    let image: Image?
    let caption: String?
    let here: Bool
}

extension Machine {
    /// Adds a match of Catan, and a picture to it.
    ///
    /// - Returns: the match, and the path of the file that was added.
    func addMatchWithPicture(_ name: String = "IMG_1.png") async throws -> (match: String, file: String) {
        try await addGame("Catan")
        let match = try await addMatch("Catan", "Ada=1")
        let file = try scene.file(name, SamplePicture.png(255))
        try await peer("image", "add", match, file)
        return (match, file)
    }

    /// Where the store keeps the file of a picture.
    func assetFile(_ picture: PictureLine) -> URL {
        let hash = picture.image?.hash ?? ""
        return store.appendingPathComponent("assets/\(hash.prefix(2))/\(hash)")
    }

    func pictures() async throws -> [PictureLine] { try await json([PictureLine].self, "image", "list") }
}
