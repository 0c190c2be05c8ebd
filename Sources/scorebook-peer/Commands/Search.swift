import ArgumentParser
import Scorebook

struct Search: ZonedCommand {
    static let makesStore = false

    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Search in everything that is written down.",
        discussion: """
            It finds the persons, games and matches in which each word begins a word: of names, notes, boards, places, \
            teams, roles and captions.
            """)

    @Argument(help: "The words.")
    var words: [String]

    @Option(help: "At most this many.")
    var limit = 100

    @OptionGroup var zoneOptions: ZoneOptions
    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: ListOptions

    func run(_ store: OpenStore) async throws {
        let hits = try await store.scorebook.search(words.joined(separator: " "), limit: limit)
        try await output.write(
            hits, of: store, header: ["WHAT", "NAME", "WHERE"], none: "nothing has these words"
        ) {
            [$0.kind, $0.title, $0.excerpt]
        }
    }
}
