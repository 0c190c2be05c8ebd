/// The side that answers: it learns nothing but what it is asked, and remembers nothing from one message to the next.
///
/// The items must not change while a reconciliation runs.
package struct NegentropyResponder<Storage: NegentropyStorage>: Sendable {
    private let reconciler: NegentropyReconciler<Storage>

    /// Prepares to answer.
    ///
    /// - Parameter frameSizeLimit: The greatest length of an answer in bytes: 0 for none, or at least 4096. Without
    ///   a limit an answer may hold all own ids.
    package init(storage: Storage, frameSizeLimit: Int = 0) {
        reconciler = NegentropyReconciler(storage: storage, role: .responder, frameSizeLimit: frameSizeLimit)
    }

    /// The answer to a message.
    ///
    /// A message of another version is answered with the byte of version 1 alone. Memory and time are bounded by
    /// the length of `message` and the number of own items.
    package func reconcile(_ message: [UInt8]) throws(NegentropyError) -> [UInt8] {
        try reconciler.answer(to: message).message
    }
}
