import ArgumentParser
import Foundation
import PeerSync
import Scorebook

struct ImageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image",
        abstract: "Add, list, show, save, edit, delete or restore pictures.",
        discussion: """
            Pictures belong to matches. A person's avatar and a game's thumbnail are set with \
            `person edit PERSON --avatar FILE` and `game edit GAME --thumbnail FILE`.
            """,
        subcommands: [Add.self, List.self, Show.self, Save.self, Edit.self, Delete.self, Restore.self],
        defaultSubcommand: List.self)

    struct Add: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add pictures to a match.",
            discussion: """
                JPEG, PNG, GIF, WebP, TIFF, HEIC, HEIF and AVIF are taken, up to 2 GiB each. The files are copied; \
                what becomes of them afterwards does not matter. With --json it prints a list.
                """)

        @Argument(
            help: "The match: last, yesterday, Hearts@2024-12-25, its number in the last list, or its id.")
        var match: String

        @Argument(help: ArgumentHelp("The files.", valueName: "file"), completion: .file())
        var files: [String]

        @Option(help: "What is to be seen.")
        var caption: String?

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let files = files.map { URL(fileURLWithPath: $0) }
            let (match, caption) = (match, caption)
            let images = try await ProgressLine.shared.during("copying \(files.count.counted("picture"))") {
                try await store.scorebook.addImages(match: match, files: files, caption: caption)
            }
            let title = try await store.scorebook.phrase(for: store.scorebook.find(.match, match))
            try output.write(images, "added \(images.count.counted("picture")) to \(title)")
        }
    }

    struct List: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List all pictures: of matches, persons and games (the default).")

        @Argument(
            help: "Only those of this match, as last, yesterday, Hearts@2024-12-25, its number or its id.")
        var match: String?

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: ListOptions

        func run(_ store: OpenStore) async throws {
            let pictures = try await store.scorebook.pictures(match: match)
            try await output.write(
                pictures, of: store,
                header: ["OF", "NAME", "SIZE", "TYPE", "FILE", "CAPTION"],
                none: "there are no pictures yet"
            ) {
                [
                    $0.subject, $0.image.map { $0.name.isEmpty ? "-" : $0.name } ?? "no picture",
                    $0.image?.size.byteCount ?? "-", $0.image?.mediaType ?? "-",
                    $0.image == nil ? "-" : $0.isHere ? "here" : "not here", $0.caption ?? "-",
                ]
            }
        }
    }

    struct Show: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show what is known of a picture, and where its file is.")

        @Argument(
            help: """
                The picture: its number in the last list, or its id; also a match that has one \
                picture, a person or a game.
                """)
        var image: String

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let picture = try await store.scorebook.picture(image)
            let file = picture.image.flatMap { store.scorebook.records.assets.file($0)?.path }
            try await output.write(
                Figures(picture: picture, file: file), of: store,
                fields: [
                    ("of", picture.subject), ("match", picture.match?.description),
                    ("name", picture.image?.name.filledOrNil), ("caption", picture.caption),
                    ("size", picture.image?.size.byteCount), ("type", picture.image?.mediaType),
                    ("file", picture.image == nil ? "no picture" : file ?? "not on this machine"),
                    ("changed", picture.modificationDate.map(store.scorebook.time.text)),
                    ("record name", "\(picture.recordName)"),
                ])
        }

        /// The keys of the picture, and `file` beside them, null if the file is not on this machine.
        private struct Figures: RecordListing {
            let picture: Picture
            let file: String?
            var zone: String { picture.zone }
            var recordName: RecordName { picture.recordName }

            enum CodingKeys: String, CodingKey { case file }

            func encode(to encoder: any Encoder) throws {
                try picture.encode(to: encoder)
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(file, forKey: .file)
            }
        }
    }

    struct Edit: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit",
            abstract: "Change the caption of a match's picture.",
            discussion: "An empty value takes what was there away.")

        @Argument(help: "The picture: its number in the last list, or its id.")
        var image: String

        @Option(help: "What is to be seen.")
        var caption: String?

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let image = try await store.scorebook.editImage(image, caption: change(caption))
            try await output.write(image, store.changed(image.recordName))
        }
    }

    struct Delete: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a picture of a match.",
            discussion: """
                `person edit PERSON --avatar ""` and `game edit GAME --thumbnail ""` take those pictures away.

                \(DeletionOptions.discussion("image restore"))
                """)

        @Argument(help: "The picture: its number in the last list, or its id.")
        var image: String

        @OptionGroup var deletion: DeletionOptions
        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions

        func run(_ store: OpenStore) async throws {
            try await deletion.run(store, .matchImage, image)
        }
    }

    struct Restore: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Bring back a deleted picture of a match.",
            discussion: "`record list --deleted` shows what can be restored, and until when.")

        @Argument(
            help: "The picture: last, which is the last deletion; its number in the last list; or its id.")
        var image = "last"

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            try await output.write(try await store.scorebook.restore(.matchImage, image), in: store)
        }
    }
}

extension String {
    fileprivate var filledOrNil: String? { isEmpty ? nil : self }
}
