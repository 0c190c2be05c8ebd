import ArgumentParser
import Foundation
import Scorebook

/// How a command gets a password. It is no argument: all users of a machine can read the arguments of its programs.
struct CredentialsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A file that only you can read, with the user or access key in its first line and the password or secret key in the second; \
            - for standard input (default: ask on the terminal).
            """, valueName: "file"))
    var credentials: String?

    @Option(
        help: ArgumentHelp(
            "A certificate as PEM to trust there as well: that of the server, or of the authority that signed it.",
            valueName: "file"))
    var certificate: String?

    /// Reads the two lines and the certificate, or asks for the lines.
    ///
    /// - Parameters:
    ///   - user: what the server calls the first, as in “user”.
    ///   - secret: what it calls the second, as in “password”.
    func read(user: String, secret: String) async throws -> MailboxSecrets {
        let certificate = try trusted()
        let lines = try await lines((user, secret))
        guard !lines.user.isEmpty, !lines.secret.isEmpty else {
            throw Failure(.dataError, "neither the \(user) nor the \(secret) may be empty")
        }
        return MailboxSecrets(user: lines.user, secret: lines.secret, certificate: certificate)
    }

    private typealias Lines = (user: String, secret: String)

    private func lines(_ words: Lines) async throws -> Lines {
        guard let credentials else { return try await ask(words) }
        let data: Data
        if credentials == "-" {
            data = try FileHandle.standardInput.read(upToCount: 1 << 16) ?? Data()
        } else {
            data = try SecretFile.content(of: Home.expanding(credentials)) ?? Data()
        }
        let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard lines.count == 2 else {
            throw Failure(
                .dataError,
                "the credentials are two lines, the \(words.user) and the \(words.secret), and there are \(lines.count)"
            )
        }
        return (String(lines[0]), String(lines[1]))
    }

    private func ask(_ words: Lines) async throws -> Lines {
        guard Terminal.isInputATerminal else {
            throw Failure(
                ExitCode(64),
                "the server's \(words.user) and \(words.secret) are needed, and nobody can be asked",
                hint: "put them into a file with mode 0600, a line each, and give --credentials FILE")
        }
        guard let user = await Terminal.answer(to: "\(words.user):"),
            let secret = await Terminal.secret(for: "\(words.secret):")
        else { throw Failure(.temporaryFailure, "nothing was added") }
        return (user, secret)
    }

    /// Reads the certificate; nil if none is given.
    private func trusted() throws -> String? {
        guard let certificate else { return nil }
        let path = try Home.expanding(certificate)
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw Failure(.noInput, "the certificate \(Display.printable(path)) cannot be read")
        }
        try Self.check(text, of: Display.printable(path))
        return text
    }

    /// - Parameter place: where the text comes from, for people.
    /// - Throws: ``Failure`` for a text that is no certificate as PEM.
    static func check(_ text: String, of place: String) throws {
        guard text.contains("-----BEGIN CERTIFICATE-----") else {
            throw Failure(.dataError, "\(place) holds no certificate as PEM")
        }
        // The file of all passwords has a bound.
        guard text.utf8.count <= 1 << 16 else {
            throw Failure(
                .dataError, "\(place) holds more than a certificate of a server and of its authority")
        }
    }
}
