import ArgumentParser

/// The name of the command that somebody typed.
enum CommandName {
    /// The command of this process, as in `match edit`, without the program's name.
    static var current: String {
        path(Array(CommandLine.arguments.dropFirst())).dropFirst().joined(separator: " ")
    }

    /// Returns the name of the command in the arguments, with the commands above it, as far as there is one.
    static func path(_ arguments: [String]) -> [String] {
        var command: any ParsableCommand.Type = ScorebookPeer.self
        var path = [ScorebookPeer._commandName]
        for argument in arguments {
            let next = command.configuration.subcommands.first { $0._commandName == argument }
            guard let next else { break }
            command = next
            path.append(argument)
        }
        return path
    }
}
