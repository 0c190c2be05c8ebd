import Dispatch

/// Runs a blocking call, such as reading a file, on a thread where it delays nobody else.
///
/// Each waiting call takes a thread of its own, so callers must bound their number.
package func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        // On Linux a concurrent queue takes its threads from the few in which all tasks run. A serial one gets another thread.
        DispatchQueue(label: "RecordStore.files").async {
            continuation.resume(with: Result { try body() })
        }
    }
}
