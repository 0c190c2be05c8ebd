import Foundation

/// A program of the system that was run to its end, and what it wrote.
struct SystemProgram {
    let isSuccess: Bool
    let output: String
    let errors: String

    /// Programs for administrators are not in everybody's path.
    private static let directories = [
        "/usr/sbin", "/sbin", "/usr/bin", "/bin", "/usr/libexec/ApplicationFirewall",
    ]

    /// Runs a program.
    ///
    /// - Returns: nil when it is not there, or cannot be started.
    static func run(_ name: String, _ arguments: String...) -> SystemProgram? { run(name, arguments) }

    static func run(_ name: String, _ arguments: [String]) -> SystemProgram? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let directories = path.split(separator: ":").map(String.init) + Self.directories
        let candidates = directories.map { "\($0)/\(name)" }
        guard let program = candidates.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            return nil
        }
        let (output, errors) = (Pipe(), Pipe())
        let process = start(
            [program] + arguments, output.fileHandleForWriting.fileDescriptor,
            errors.fileHandleForWriting.fileDescriptor)
        try? output.fileHandleForWriting.close()
        try? errors.fileHandleForWriting.close()
        guard let process else { return nil }
        // None of these programs writes so much to its errors that the pipe fills up while this reads the output.
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let error = errors.fileHandleForReading.readDataToEndOfFile()
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return SystemProgram(
            isSuccess: status == 0, output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: error, as: UTF8.self))
    }

    /// Starts a program with no input, and with the environment of this one.
    ///
    /// Foundation has a type for this. At times it never hears that a program has ended, and waits for ever.
    ///
    /// - Parameters:
    ///   - words: the path of the program, and its arguments.
    ///   - output: where it writes, as `errors`.
    /// - Returns: the number of the process; nil if the program cannot be started.
    private static func start(_ words: [String], _ output: Int32, _ errors: Int32) -> pid_t? {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        guard posix_spawn_file_actions_init(&actions) == 0 else { return nil }
        defer { posix_spawn_file_actions_destroy(&actions) }
        guard posix_spawnattr_init(&attributes) == 0 else { return nil }
        defer { posix_spawnattr_destroy(&attributes) }
        #if canImport(Darwin)
            // It gets none of the files and sockets that this program has open.
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
        #endif
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        let variables = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        let arguments = words.map { strdup($0) } + [nil]
        let environment = variables.map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var process = pid_t()
        return posix_spawn(&process, words[0], &actions, &attributes, arguments, environment) == 0
            ? process : nil
    }
}
