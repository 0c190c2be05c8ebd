import ArgumentParser
import Foundation
import GRDB
import PeerSync

@main
struct Todo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "todo", abstract: "Lists of things to do.",
        subcommands: [
            AddList.self, Add.self, List.self, Done.self,
            TagItem.self, RenameTag.self, Watch.self,
        ])
}

struct Options: ParsableArguments {
    @Option(help: "The file with the lists; it is made if it is not there.") var database = "todo.sqlite"

    var storage: Storage { get throws { try Storage(path: database) } }
}

/// Prints at once, also into a pipe.
func show(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

struct AddList: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Add a list.")
    @OptionGroup var options: Options
    @Argument var name: String

    func run() throws { try options.storage.addList(name) }
}

struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Add an item to a list.")
    @OptionGroup var options: Options
    @Argument var list: String
    @Argument var title: String

    func run() throws { try options.storage.add(title, to: list) }
}

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show all lists.")
    @OptionGroup var options: Options

    func run() throws { show(try options.storage.database.read(Storage.text)) }
}

struct Done: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Mark an item as done.")
    @OptionGroup var options: Options
    @Argument var list: String
    @Argument var number: Int

    func run() throws { try options.storage.markDone(number, of: list) }
}

struct TagItem: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "tag", abstract: "Give an item a tag.")
    @OptionGroup var options: Options
    @Argument var list: String
    @Argument var number: Int
    @Argument var tag: String

    func run() throws { try options.storage.tag(number, of: list, with: tag) }
}

struct RenameTag: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Give a tag another name.")
    @OptionGroup var options: Options
    @Argument var tag: String
    @Argument var name: String

    func run() throws { try options.storage.renameTag(tag, to: name) }
}

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show all lists, now and after each change. A line that you type adds an item: LIST TITLE")
    @OptionGroup var options: Options
    @Option(help: "The port to listen on.") var port: Int?
    @Argument(help: "The address of a machine to pair with.") var address: String?
    @Argument(help: "The code that it shows.") var code = ""

    func run() async throws {
        let storage = try options.storage
        let sync = try SyncEngine(
            for: storage.database, app: "org.example.todo",
            tables: ["todoList", "item", "tag", "itemTag"], port: port
        ) { event in
            if case .retrying(_, _, let error) = event, error.code == .cannotListen {
                show("Error: \(error)")
            }
        }
        if let address { try await sync.pair(with: address, code: code) }
        show(
            "To pair a machine, run there: todo watch ADDRESS:\(sync.port) \(try await sync.showPairingCode())"
        )
        Task {
            do { try await sync.run() } catch { Self.exit(withError: error) }
        }
        Thread.detachNewThread {
            while let line = readLine() {
                let words = line.split(separator: " ", maxSplits: 1).map(String.init)
                do {
                    guard words.count == 2 else { throw TodoError("a line has to be LIST TITLE") }
                    try storage.add(words[1], to: words[0])
                } catch {
                    show("Error: \(error)")
                }
            }
        }
        let observation = ValueObservation.tracking { db in
            let status = try sync.store.status(db)
            let peers = status.peers.map { "\($0.name) is \($0.isConnected ? "connected" : "away")" }
            return try ([Storage.text(db), "unsent: \(status.pending)"] + peers).joined(separator: "\n")
        }
        for try await text in observation.removeDuplicates().values(in: storage.database) {
            show(text + "\n")
        }
    }
}
