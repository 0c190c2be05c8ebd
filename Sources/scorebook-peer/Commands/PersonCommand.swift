import ArgumentParser
import Foundation
import Scorebook

struct PersonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "person",
        abstract: "Add, list, show, edit, merge, delete or restore the people who play.",
        subcommands: [
            Add.self, List.self, Show.self, Edit.self, MergeCommand<PersonListing>.self, Delete.self,
            Restore.self,
        ],
        defaultSubcommand: List.self)

    struct Add: ZonedCommand {
        static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a person.")

        @Argument(help: "First and last name, as one argument: \"Ada Lovelace\".")
        var name: String

        @Option(help: "The e-mail address.")
        var email: String?

        @Option(help: "The user name at BoardGameGeek.")
        var bgg: String?

        @Option(help: ArgumentHelp("A picture of them.", valueName: "file"), completion: .file())
        var avatar: String?

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            try await store.checkIsNew(.person, name)
            let person = try await store.scorebook.addPerson(
                name, emailAddress: email, bggUsername: bgg, avatar: file(avatar))
            try output.write(person, "added \(Display.printable(person.name))")
        }
    }

    struct List: ZonedCommand {
        static let makesStore = false

        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List all persons (the default).")

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: ListOptions

        func run(_ store: OpenStore) async throws {
            let persons = try await store.scorebook.persons()
            try await output.write(
                persons, of: store, header: ["NAME", "MATCHES"],
                none: "there are no persons yet"
            ) { [$0.person.name, $0.matches.grouped] }
            try await store.noteSharedNames(.person, output)
        }
    }

    struct Show: ZonedCommand {
        static let makesStore = false

        static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a person.")

        @Argument(help: "The person: the name or a part of it, the number in the last list, or the id.")
        var person: String

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let found = try await store.scorebook.person(person)
            try await output.write(
                found, of: store,
                fields: [
                    ("name", found.person.name), ("e-mail", found.person.emailAddress),
                    ("BoardGameGeek", found.person.bggUsername), ("avatar", found.person.avatar?.summary),
                    ("matches", found.matches.grouped),
                    ("changed", found.person.modificationDate.map(store.scorebook.time.text)),
                    ("record name", "\(found.person.recordName)"),
                ])
        }
    }

    struct Edit: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit",
            abstract: "Change a person.", discussion: "An empty value takes what was there away.")

        @Argument(help: "The person: the name or a part of it, the number in the last list, or the id.")
        var person: String

        @Option(help: "The new name.")
        var name: String?

        @Option(help: "The new e-mail address.")
        var email: String?

        @Option(help: "The new user name at BoardGameGeek.")
        var bgg: String?

        @Option(help: ArgumentHelp("A new picture of them.", valueName: "file"), completion: .file())
        var avatar: String?

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard !edit.isEmpty else { throw ValidationError("say what to change") }
        }

        func run(_ store: OpenStore) async throws {
            if let name { try await store.checkIsNew(.person, name, renamed: person) }
            let person = try await store.scorebook.editPerson(person, edit)
            try await output.write(person, store.changed(person.recordName))
        }

        private var edit: PersonEdit {
            PersonEdit(
                name: change(name), emailAddress: change(email), bggUsername: change(bgg),
                avatar: fileChange(avatar))
        }
    }

    struct Delete: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a person, and their part in all matches.",
            discussion: DeletionOptions.discussion("person restore"))

        @Argument(help: "The person: the name or a part of it, the number in the last list, or the id.")
        var person: String

        @OptionGroup var deletion: DeletionOptions
        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions

        func run(_ store: OpenStore) async throws {
            try await deletion.run(store, .person, person)
        }
    }

    struct Restore: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Bring back a deleted person, and their part in all matches.",
            discussion: "`record list --deleted` shows what can be restored, and until when.")

        @Argument(
            help:
                "The person: last, which is the last deletion; the name or a part of it; its number in the last list; or the id."
        )
        var person = "last"

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            try await output.write(try await store.scorebook.restore(.person, person), in: store)
        }
    }
}
