import Dispatch

private let blockingQueue = DispatchQueue(label: "RecordStore.files", attributes: .concurrent)

/// Runs a blocking call, such as reading a file, on a thread where it delays nobody else.
///
/// Each waiting call takes a thread of its own, so callers must bound their number.
package func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        blockingQueue.async { continuation.resume(with: Result { try body() }) }
    }
}
