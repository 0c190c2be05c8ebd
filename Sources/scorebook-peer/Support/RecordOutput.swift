import ArgumentParser
import Foundation
import Scorebook

extension OutputOptions {
    /// Writes a value as JSON, or a sentence.
    func write(_ value: some Encodable, _ sentence: String) throws {
        if json {
            try Terminal.write(json: value)
        } else {
            Terminal.write(sentence)
        }
    }

    /// Writes one record as JSON, or its fields one per line, with its zone if there are several.
    func write(_ value: some RecordListing, of store: OpenStore, fields: [(String, String?)]) async throws {
        let zone = try await store.hasSeveralZones() ? value.zone : nil
        try write(value, fields: fields + [("zone", zone)])
    }

    /// Writes one record as JSON, or its fields one per line.
    func write(_ value: some Encodable, fields: [(String, String?)]) throws {
        if json { return try Terminal.write(json: value) }
        Terminal.write(aligned(fields.compactMap { name, text in text.map { [name, $0] } }))
    }
}

/// Returns the change of a value by an option: a missing option keeps it, an empty text clears it.
func change(_ text: String?) -> Change<String> {
    guard let text else { return .keep }
    return text.isEmpty ? .clear : .set(text)
}

/// Returns the file that an option names; nil if its text is empty.
func file(_ path: String?) -> URL? {
    path.flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0) }
}

/// Returns the change as ``change(_:)`` does, for options that name a file.
func fileChange(_ path: String?) -> Change<URL> {
    guard let path else { return .keep }
    return file(path).map(Change.set) ?? .clear
}
