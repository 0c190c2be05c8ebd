import ArgumentParser
import Foundation
import Scorebook

/// How the program ends: with what was asked for, or with one sentence that says why not.
///
/// All ways out lead through here, so that errors of every kind look the same, and no output is lost silently.
enum Ending {
    case done
    /// What the argument parser prints itself: help, the version, a completion script.
    case answer(String)
    case failure(Failure)

    init(_ error: any Error, _ arguments: [String]) {
        switch ScorebookPeer.exitCode(for: error) {
        case .success:
            self = .answer(ScorebookPeer.fullMessage(for: error))
        case .validationFailure:
            self = .failure(Failure(usage: ScorebookPeer.message(for: error), arguments))
        default:
            self = .failure(Failure(error))
        }
    }

    func take() -> Never {
        switch self {
        case .done: break
        case .answer(let text): Terminal.write(text)
        case .failure(let failure):
            Terminal.writeError("error: \(failure.message)")
            exit(failure.code.rawValue)
        }
        Terminal.close()
        exit(ExitCode.success.rawValue)
    }
}

extension Failure {
    /// What the argument parser says of a command line that it does not understand, in the style of all other errors.
    fileprivate init(usage message: String, _ arguments: [String]) {
        let sentence = message.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .joined(separator: " ")
            .replacing(/\. Did you mean ('.*')\?$/) { ", but there is \($0.output.1)" }
            .replacing(". Please provide one of ", with: "; it is one of ")
            .replacing(/\.$/, with: "")
        let text = sentence.prefix(1).lowercased() + sentence.dropFirst()
        self.init(
            .validationFailure,
            "\(Display.printable(text)); see `\(ScorebookPeer.path(of: arguments)) --help`")
    }
}

extension ScorebookPeer {
    /// The words that lead to the command that arguments mean, as far as there is one.
    fileprivate static func path(of arguments: [String]) -> String {
        var command: any ParsableCommand.Type = self
        var path = _commandName
        for argument in arguments {
            let next = command.configuration.subcommands.first { $0._commandName == argument }
            guard let next else { break }
            command = next
            path += " \(argument)"
        }
        return path
    }
}
