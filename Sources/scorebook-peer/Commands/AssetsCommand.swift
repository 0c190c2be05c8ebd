import ArgumentParser
import PeerSync
import Scorebook

struct AssetsCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "assets",
        abstract: "Say how many pictures there are, and choose which come to this machine.",
        discussion: """
            The records always come; the files of pictures as chosen here, from the next sync on:

              scorebook-peer assets all          every picture (the default)
              scorebook-peer assets under 5MB    those of less than that
              scorebook-peer assets none         no picture

            Sizes are in bytes, kB, MB, GB, KiB, MiB or GiB. What is here already stays. Pictures that are added on this machine are kept here in any case.
            """)

    @Argument(help: ArgumentHelp("all, none, or under and a size.", valueName: "policy"))
    var policy: [String] = []

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    private var chosen: AssetPolicy? { AssetPolicy(policy.joined(separator: " ")) }

    func validate() throws {
        guard policy.isEmpty || chosen != nil else {
            throw ValidationError("a policy is all, none, or under and a size, as in: under 5MB")
        }
    }

    func run(_ store: OpenStore) async throws {
        let records = store.scorebook.records
        try await store.scorebook.foldForReading()
        if let chosen { try await records.assets.setPolicy(chosen) }
        let figures = AssetFigures(try await records.assets.status())
        try output.write(
            figures,
            fields: [
                ("policy", figures.policy),
                ("pictures", "\(figures.files.grouped) (\(figures.bytes.byteCount))"),
                ("missing", "\(figures.missing.grouped) (\(figures.missingBytes.byteCount))"),
                ("without a file yet", "\(figures.unstored.grouped) (\(figures.unstoredBytes.byteCount))"),
                ("left on other machines", "\(figures.left.grouped) (\(figures.leftBytes.byteCount))"),
            ])
    }
}
