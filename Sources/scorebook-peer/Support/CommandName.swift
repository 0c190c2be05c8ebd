import ArgumentParser
import Scorebook

/// The name of the command that somebody typed.
enum CommandName {
    /// The command of this process, as in `match edit`, without the program's name.
    static var current: String {
        path(Array(CommandLine.arguments.dropFirst())).dropFirst().joined(separator: " ")
    }

    /// Returns the name of the command in the arguments, with the commands above it, as far as there is one.
    static func path(_ arguments: [String]) -> [String] {
        [ScorebookPeer._commandName] + commands(arguments).map(\.name)
    }

    /// Returns the commands that somebody may have meant by the first argument that is none; nothing if there is no such
    /// argument.
    static func near(_ arguments: [String]) -> [String] {
        let path = commands(arguments)
        guard arguments.indices.contains(path.count) else { return [] }
        let names = (path.last?.command ?? ScorebookPeer.self).configuration.subcommands.map {
            $0._commandName
        }
        return EditDistance.near(arguments[path.count], among: names)
    }

    private static func commands(_ arguments: [String]) -> [(name: String, command: any ParsableCommand.Type)]
    {
        var path: [(name: String, command: any ParsableCommand.Type)] = []
        for argument in arguments {
            let command = path.last?.command ?? ScorebookPeer.self
            guard let next = command.configuration.subcommands.first(where: { $0._commandName == argument })
            else { break }
            path.append((argument, next))
        }
        return path
    }
}
