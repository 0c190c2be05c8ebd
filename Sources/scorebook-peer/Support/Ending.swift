import ArgumentParser
import Foundation
import Scorebook
import ScorebookWeb

/// The end of the program: with the result, or with one sentence that says why there is none, and a hint that says what helps.
///
/// Every exit goes through this type, so that all errors look the same, and no output is lost silently.
enum Ending {
    case done
    /// The output of the argument parser itself: help, the version, a completion script.
    case answer(String)
    case failure(Failure)
    /// Whoever read the output has seen enough, and needs no sentence.
    case readerGone

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

    /// Ends the program when all is written.
    ///
    /// - Parameter deadline: until when it waits for output that was handed over before.
    func take(waitingUntil deadline: DispatchTime = .distantFuture) -> Never {
        Self.removeFiles()
        OutputThread.shared.wait(until: deadline)
        WaitingLog.shared.flush(waitingUntil: deadline)
        switch self {
        case .done: Terminal.close()
        case .answer(let text):
            Terminal.write(text)
            Terminal.close()
        case .failure(let failure):
            // Paths, and what somebody typed, may have characters that would make more lines of it.
            Terminal.writeError("error: \(Display.printable(failure.message))")
            if let hint = failure.hint { Terminal.writeError("hint: \(Display.printable(hint))") }
        case .readerGone: break
        }
        // Tasks may have begun more of them meanwhile.
        Self.removeFiles()
        exit(code.rawValue)
    }

    /// Ends the program within two seconds, whatever blocks its threads, and whether or not anybody reads the output.
    func force() -> Never {
        Thread.detachNewThread { take(waitingUntil: .now() + .milliseconds(500)) }
        Thread.sleep(forTimeInterval: 1.8)
        let isRemoved = DispatchSemaphore(value: 0)
        // A disk may hang.
        Thread.detachNewThread {
            Self.removeFiles()
            isRemoved.signal()
        }
        _ = isRemoved.wait(timeout: .now() + .milliseconds(200))
        // Whoever writes may hold what the usual exit takes.
        _exit(code.rawValue)
    }

    /// Removes the files that are half written. A signal may have come while one is written, or while a browser sends one.
    private static func removeFiles() {
        PartialFiles.removeAll()
        UploadDirectories.removeAll()
    }

    private var code: ExitCode {
        switch self {
        case .done, .answer: .success
        case .failure(let failure): failure.code
        case .readerGone: .outputError
        }
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
