import ArgumentParser
import Foundation
import Scorebook

/// The end of the program: with the result, or with one sentence that says why there is none, and a hint that says what helps.
///
/// Every exit goes through this type, so that all errors look the same, and no output is lost silently.
enum Ending {
    case done
    /// The output of the argument parser itself: help, the version, a completion script.
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
        // A signal may have come while one is written.
        PartialFiles.removeAll()
        switch self {
        case .done: break
        case .answer(let text): Terminal.write(text)
        case .failure(let failure):
            // Paths, and what somebody typed, may have characters that would make more lines of it.
            Terminal.writeError("error: \(Display.printable(failure.message))")
            if let hint = failure.hint { Terminal.writeError("hint: \(Display.printable(hint))") }
            exit(failure.code.rawValue)
        }
        Terminal.close()
        exit(ExitCode.success.rawValue)
    }
}

extension Failure {
    /// Puts the argument parser's message about a wrong command line into the style of all other errors.
    fileprivate init(usage message: String, _ arguments: [String]) {
        let sentence = message.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .joined(separator: " ")
            .replacing(/\. Did you mean ('.*')\?$/) { ", but there is \($0.output.1)" }
            .replacing(". Please provide one of ", with: "; it is one of ")
            .replacing(/\.$/, with: "")
        let text = sentence.prefix(1).lowercased() + sentence.dropFirst()
        let command = CommandName.path(arguments).joined(separator: " ")
        // If the command is wrong, so are its options.
        let isCommandUnknown = text.contains("unexpected argument") || text.hasPrefix("unknown option")
        let near = isCommandUnknown ? CommandName.near(arguments) : []
        self.init(
            .validationFailure,
            NegativeNumber.unmasked(text),
            hint: near.isEmpty
                ? "see `\(command) --help`"
                : "did you mean \(near.map { "`\(command) \($0)`" }.joined(separator: " or "))?")
    }
}
