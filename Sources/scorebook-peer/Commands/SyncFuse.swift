import ArgumentParser
import PeerSync

extension SyncCommand {
    struct FuseCommand: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "fuse",
            abstract: "Say or set how much may go at once before somebody is asked.",
            discussion: """
                When another machine, or a program on this one, deletes or overwrites more than the share of the scorebook within \
                an hour, and at least so many records, this waits until somebody decides. New records never wait, nor does \
                what the commands of scorebook-peer do on this machine.
                """)

        @Option(help: ArgumentHelp("The share of the records, from 0 to 1.", valueName: "0.1"))
        var share: Double?

        @Option(help: ArgumentHelp("The least number of records.", valueName: "50"))
        var records: Int?

        @Flag(help: "Ask nobody, whatever goes.")
        var off = false

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard !off || share == nil && records == nil else {
                throw ValidationError("--off goes with no other option")
            }
            guard FuseSetting(share: share ?? 0, records: records ?? 1) != nil else {
                throw ValidationError("--share goes from 0 to 1, and --records from 1 on")
            }
        }

        func run(_ store: OpenStore) async throws {
            let fuse = store.scorebook.records.fuse
            let database = store.scorebook.records.database
            let present = try await database.read { try fuse.setting($0) }
            if off {
                try await database.write { try fuse.set($0, nil) }
            } else if share != nil || records != nil {
                let base = present ?? .standard
                let setting = FuseSetting(share: share ?? base.share, records: records ?? base.records)
                try await database.write { try fuse.set($0, setting) }
            }
            let setting = try await database.read { try fuse.setting($0) }
            try output.write(Figures(setting), Self.words(setting))
        }

        private static func words(_ setting: FuseSetting?) -> String {
            guard let setting else { return "the fuse is off: nobody is asked, whatever goes" }
            let percent = (setting.share * 100).formatted(
                .number.precision(.fractionLength(0...1)).locale(.ofSentences))
            return
                "somebody is asked before more than \(percent) % of the scorebook go within an hour, from "
                + "\(setting.records.counted("record")) on"
        }

        private struct Figures: Encodable {
            @OrNull var share: Double?
            @OrNull var records: Int?

            init(_ setting: FuseSetting?) {
                share = setting?.share
                records = setting?.records
            }
        }
    }
}
