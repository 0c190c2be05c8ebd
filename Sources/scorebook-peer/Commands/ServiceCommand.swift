import ArgumentParser
import Foundation
import NIOPosix
import PeerSync

struct ServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Let this machine start `listen` by itself, or stop that.",
        discussion: """
            For a program that you built yourself. The Debian package brings its own units: \
            `systemctl --user enable --now scorebook-peer`.
            """,
        subcommands: [Install.self, Remove.self, Show.self])

    struct Install: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "install",
            abstract: "Start `listen` with each login, and now.",
            discussion: """
                Writes a unit of systemd, or on macOS an agent of launchd, that starts this program from where it is. \
                A file there that somebody else wrote stays as it is.
                """)

        @OptionGroup var storeOptions: StoreOptions

        func run() async throws {
            let manager = ServiceManager.ofThisSystem
            let file = try manager.file()
            let text = try ServiceFile(
                manager: manager, program: ServiceCommand.thisProgram(), store: storeOptions.unusual()
            ).text()
            try await NIOThreadPool.singleton.runIfActive {
                try ServiceCommand.checkOurs(file)
                try manager.check()
                try ServiceCommand.write(text, to: file)
                try manager.start(file)
            }
            Terminal.write("`listen` runs now, and from each login on; \(file.path) says how")
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Stop the service, and start it no more; the scorebook stays.")

        func run() async throws {
            let manager = ServiceManager.ofThisSystem
            let file = try manager.file()
            guard FileManager.default.fileExists(atPath: file.path) else {
                throw Failure(.noInput, "there is no service to remove: \(file.path) does not exist")
            }
            try await NIOThreadPool.singleton.runIfActive {
                try ServiceCommand.checkOurs(file)
                try manager.check()
                try manager.stop()
                do {
                    try FileManager.default.removeItem(at: file)
                } catch {
                    throw Failure(.cannotCreate, "\(file.path) cannot be removed; check who may write there")
                }
                manager.forget()
            }
            Terminal.write("removed \(file.path); the scorebook stays as it is")
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Print the file that `service install` would write.")

        @Option(
            name: .customLong("for"),
            help: "The program that reads the file: systemd or launchd (default: that of this system).")
        var manager: ServiceManager?

        @Option(help: ArgumentHelp("The program to start (default: this one).", valueName: "path"))
        var program: String?

        @OptionGroup var storeOptions: StoreOptions

        func run() throws {
            let file = ServiceFile(
                manager: manager ?? .ofThisSystem, program: try program ?? ServiceCommand.thisProgram(),
                store: try storeOptions.unusual())
            Terminal.write(bytes: Data(try file.text().utf8))
        }
    }

    // MARK: The file

    /// The path of this program, without links, which may lead elsewhere tomorrow; except that of Homebrew to the version that is installed.
    private static func thisProgram() throws -> String {
        guard let url = Bundle.main.executableURL else {
            throw Failure(.softwareError, "this program does not know where it is; name it with --program")
        }
        let path = url.resolvingSymlinksInPath().path
        let lasting = ServiceFile.lasting(path)
        return FileManager.default.isExecutableFile(atPath: lasting) ? lasting : path
    }

    /// Refuses a file that this program did not write.
    private static func checkOurs(_ file: URL) throws {
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        let text = try? String(contentsOf: file, encoding: .utf8)
        guard text.map(ServiceFile.isOurs) == true else {
            throw Failure(
                .cannotCreate,
                "somebody else wrote \(file.path), so it stays as it is; move it away, or edit it yourself")
        }
    }

    private static func write(_ text: String, to file: URL) throws {
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file, options: .atomic)
        } catch {
            throw Failure(.cannotCreate, "\(file.path) cannot be written; check who may write there")
        }
    }
}
