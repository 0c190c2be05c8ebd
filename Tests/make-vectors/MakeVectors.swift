import Foundation
import ProtocolVectors

/// Writes the files of `Protocol/vectors` that this package makes.
@main
enum MakeVectors {
    static func main() throws {
        guard CommandLine.arguments.count == 2 else {
            FileHandle.standardError.write(Data("usage: make-vectors Protocol/vectors\n".utf8))
            exit(EX_USAGE)
        }
        let folder = URL(fileURLWithPath: CommandLine.arguments[1])
        for file in try VectorFile.all() {
            try Data(file.content.text.utf8).write(to: folder.appendingPathComponent(file.name))
            print(file.name)
        }
    }
}
