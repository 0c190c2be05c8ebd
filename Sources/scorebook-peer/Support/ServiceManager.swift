import ArgumentParser
import Foundation

/// The program of the system that starts services for a user: it says what file it reads, and how it is told of one.
enum ServiceManager: String, ExpressibleByArgument, CaseIterable {
    case systemd, launchd

    static var ofThisSystem: ServiceManager {
        #if canImport(Darwin)
            .launchd
        #else
            .systemd
        #endif
    }

    /// The file of a user's service.
    ///
    /// - Throws: ``Failure`` if it is in a home directory that is not there.
    func file() throws -> URL {
        switch self {
        case .systemd:
            try Home.directory("XDG_CONFIG_HOME", else: ".config")
                .appendingPathComponent("systemd/user/scorebook-peer.service")
        case .launchd:
            try Home.directory("Library/LaunchAgents").appendingPathComponent("\(ServiceFile.label).plist")
        }
    }

    /// Makes sure that the manager is there and can be asked.
    ///
    /// - Throws: ``Failure`` with a way that works without it.
    func check() throws {
        let isThere =
            switch self {
            case .systemd: SystemProgram.run("systemctl", "--user", "show-environment")?.isSuccess
            case .launchd: SystemProgram.run("launchctl", "print", Self.domain)?.isSuccess
            }
        guard isThere == true else {
            throw Failure(
                .unavailable,
                "\(self) does not answer here, which would start the service; let whatever starts programs on this machine "
                    + "run `scorebook-peer listen`")
        }
    }

    /// Starts the service of a file, now and from the next login on.
    func start(_ file: URL) throws {
        switch self {
        case .systemd:
            try ask("systemctl", "--user", "daemon-reload")
            try ask("systemctl", "--user", "enable", "scorebook-peer.service")
            // A service that runs already takes the new file over.
            try ask("systemctl", "--user", "restart", "scorebook-peer.service")
        case .launchd:
            // It refuses a file of which it has an older one, and one that somebody has disabled.
            unload()
            try ask("launchctl", "enable", Self.agent)
            if SystemProgram.run("launchctl", "bootstrap", Self.domain, file.path)?.isSuccess != true {
                Thread.sleep(forTimeInterval: 1)
                try ask("launchctl", "bootstrap", Self.domain, file.path)
            }
        }
    }

    /// Ends the service, before its file goes.
    func stop() throws {
        switch self {
        case .systemd: try ask("systemctl", "--user", "disable", "--now", "scorebook-peer.service")
        case .launchd: unload()
        }
    }

    /// Tells the manager that the file is gone.
    func forget() {
        if self == .systemd { _ = SystemProgram.run("systemctl", "--user", "daemon-reload") }
    }

    /// Ends the agent, and waits until launchd has none any more: it answers before that, and takes no new one until then.
    private func unload() {
        _ = SystemProgram.run("launchctl", "bootout", Self.agent)
        var looks = 0
        while looks < 100, SystemProgram.run("launchctl", "print", Self.agent)?.isSuccess == true {
            Thread.sleep(forTimeInterval: 0.2)
            looks += 1
        }
    }

    private static var domain: String { "gui/\(getuid())" }
    private static var agent: String { "\(domain)/\(ServiceFile.label)" }

    private func ask(_ program: String, _ arguments: String...) throws {
        let result = SystemProgram.run(program, arguments)
        guard result?.isSuccess == true else {
            let reason = result?.errors.split(separator: "\n").first.map { ": \($0)" } ?? ""
            throw Failure(
                .unavailable, "`\(program) \(arguments.joined(separator: " "))` failed\(reason)")
        }
    }
}
