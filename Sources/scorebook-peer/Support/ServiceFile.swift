import Foundation
import Scorebook

/// The file that lets a system start `listen` for a user: a unit of systemd, or an agent of launchd.
///
/// scripts/package puts the unit into the package, so there is one text for both.
struct ServiceFile {
    /// The name of the agent.
    static let label = "org.scorebook-peer.listen"

    let manager: ServiceManager
    /// The path of the program to start.
    let program: String
    /// The directory of the scorebook; nil for the user's default one.
    let store: String?

    /// The sign of a file that this program wrote. It replaces and removes no other.
    private static let mark = "Written by `scorebook-peer service`"

    /// Whether this program wrote the text of a file.
    static func isOurs(_ text: String) -> Bool { text.contains(mark) }

    /// Homebrew keeps a program in the folder of its version, which an upgrade removes, and a link below `opt` that leads to the newest version.
    ///
    /// - Returns: the path by that link, and any other path as it is.
    static func lasting(_ program: String) -> String {
        program.replacing(/\/Cellar\/([^\/]+)\/[^\/]+\//) { "/opt/\($0.1)/" }
    }

    private var arguments: [String] { ["listen"] + (store.map { ["--store", $0] } ?? []) }

    /// - Throws: ``Failure`` if a path has control characters, which no manager reads as they are, or if the agent's log would be in a
    ///   home directory that is not there.
    func text() throws -> String {
        for path in [program, store].compactMap(\.self)
        where path.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw Failure(
                .dataError, "no service can be made for “\(path)”, which has control characters in its name")
        }
        return switch manager {
        case .systemd: unit
        case .launchd: try agent()
        }
    }

    // MARK: systemd

    /// The user's manager has no rights to give away, so it knows fewer ways to lock a service in than the system's.
    private var unit: String {
        """
        # \(Self.mark), which replaces or removes this file as long as it has this line.
        [Unit]
        Description=Scorebook that stays in sync with the other machines of the household
        Documentation=man:scorebook-peer(1)

        [Service]
        ExecStart=\(([Self.path(program)] + arguments.map(Self.word)).joined(separator: " "))
        UMask=0077
        # Also after `scorebook-peer sync off`: so `sync on` is enough to go on. Not after a wrong option or an unsafe key.
        Restart=on-failure
        RestartSec=30
        RestartPreventExitStatus=64 78

        # It needs the home of its user, the network, and nothing else.
        CapabilityBoundingSet=
        DevicePolicy=closed
        LockPersonality=yes
        MemoryDenyWriteExecute=yes
        NoNewPrivileges=yes
        PrivateDevices=yes
        PrivateTmp=yes
        PrivateUsers=yes
        ProcSubset=pid
        ProtectClock=yes
        ProtectControlGroups=yes
        ProtectHostname=yes
        ProtectKernelLogs=yes
        ProtectKernelModules=yes
        ProtectKernelTunables=yes
        ProtectProc=invisible
        ProtectSystem=strict
        ReadWritePaths=%h\(store.map { " -" + Self.path($0) } ?? "")
        RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
        RestrictNamespaces=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        SystemCallArchitectures=native
        SystemCallErrorNumber=EPERM
        SystemCallFilter=@system-service
        SystemCallFilter=~@privileged @resources

        [Install]
        WantedBy=default.target

        """
    }

    /// An argument of a program in a unit, where systemd puts variables in.
    private static func word(_ text: String) -> String { path(text.replacingScalars(["$": "$$"])) }

    /// A path in a unit as systemd reads it: in quotation marks if it has to be, and without specifiers. It knows no variables in the path of a
    /// program, and in those that a service may write to.
    private static func path(_ text: String) -> String {
        let escaped = text.replacingScalars(["\\": "\\\\", "\"": "\\\"", "%": "%%"])
        let isPlain = escaped.unicodeScalars.allSatisfy {
            let properties = $0.properties
            return properties.isAlphabetic || properties.numericType != nil
                || "/-_.+:@".unicodeScalars.contains($0)
        }
        return isPlain ? escaped : "\"\(escaped)\""
    }

    // MARK: launchd

    private func agent() throws -> String {
        let log = try Home.directory("Library/Logs").appendingPathComponent("scorebook-peer.log").path
        let words = ([program] + arguments).map { "        <string>\(Self.escaped($0))</string>" }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <!-- \(Self.mark), which replaces or removes this file as long as it has this line. -->
            <plist version="1.0">
            <dict>
                <key>Label</key>
                <string>\(Self.label)</string>
                <key>ProgramArguments</key>
                <array>
            \(words.joined(separator: "\n"))
                </array>
                <key>RunAtLoad</key>
                <true/>
                <key>KeepAlive</key>
                <dict>
                    <key>SuccessfulExit</key>
                    <false/>
                </dict>
                <key>ThrottleInterval</key>
                <integer>30</integer>
                <key>SoftResourceLimits</key>
                <dict>
                    <key>NumberOfFiles</key>
                    <integer>\(OpenFileLimit.wanted)</integer>
                </dict>
                <key>StandardErrorPath</key>
                <string>\(Self.escaped(log))</string>
                <key>Umask</key>
                <integer>63</integer>
            </dict>
            </plist>

            """
    }

    private static func escaped(_ text: String) -> String {
        text.replacingScalars(["&": "&amp;", "<": "&lt;", ">": "&gt;"])
    }
}
