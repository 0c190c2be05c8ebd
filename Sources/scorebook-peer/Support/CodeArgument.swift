import Foundation

/// A pairing code, or the text of a QR code, as an argument; `-` for one that somebody types when they are asked, or that is the next line of standard
/// input. Other users of a computer can read the arguments of its programs.
enum CodeArgument<Value: Sendable>: Sendable {
    case given(Value)
    case asked

    /// - Parameter read: reads what somebody typed.
    init(_ text: String, _ read: (String) throws -> Value) rethrows {
        self = text == "-" ? .asked : .given(try read(text))
    }

    /// Returns the code. Asks on a terminal if it was not given.
    ///
    /// - Throws: ``Failure`` if nobody types one; what `read` throws.
    func value(_ read: (String) throws -> Value) async throws -> Value {
        switch self {
        case .given(let value): return value
        case .asked:
            let line =
                Terminal.isInputATerminal
                ? await Terminal.answer(to: "The code that the other machine shows:")
                : try await Terminal.nextLine()
            guard let text = line?.trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty else {
                throw Failure(.dataError, "no code was typed")
            }
            return try read(text)
        }
    }
}
