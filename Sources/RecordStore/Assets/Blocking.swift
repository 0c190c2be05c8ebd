import Dispatch

private let blockingQueue = DispatchQueue(label: "RecordStore.files", attributes: .concurrent)

/// Runs what blocks, such as reading a file, on a thread where that keeps nobody else waiting.
///
/// Each waiting call has a thread of its own, so callers bound how many there are.
package func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        blockingQueue.async { continuation.resume(with: Result { try body() }) }
    }
}
