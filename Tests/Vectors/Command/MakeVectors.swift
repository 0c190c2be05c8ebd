import Foundation
import ProtocolVectors

/// Writes the files of `Protocol/vectors` that this package makes.
@main
enum MakeVectors {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            FileHandle.standardError.write(Data("usage: make-vectors Protocol/vectors\n".utf8))
            exit(EX_USAGE)
        }
        let folder = URL(fileURLWithPath: CommandLine.arguments[1])
        for file in try await VectorFile.all() {
            do {
                try Data(file.content.text.utf8).write(to: folder.appendingPathComponent(file.name))
            } catch {
                let sentence =
                    "error: cannot write \(file.name) into \(folder.path); name the folder Protocol/vectors\n"
                FileHandle.standardError.write(Data(sentence.utf8))
                exit(EX_CANTCREAT)
            }
            print(file.name)
        }
    }
}
