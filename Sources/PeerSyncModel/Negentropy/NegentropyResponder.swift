/// The answering side of a reconciliation: it learns only the questions, and keeps nothing between two messages.
///
/// The items must not change while a reconciliation runs.
package struct NegentropyResponder: Sendable {
    private let reconciler: NegentropyReconciler

    /// Prepares to answer.
    ///
    /// - Parameter frameSizeLimit: The greatest length of an answer in bytes: 0 for no limit, or at least 4096.
    ///   Without a limit, an answer may hold all own ids.
    package init(storage: any NegentropyStorage, frameSizeLimit: Int = 0) {
        reconciler = NegentropyReconciler(storage: storage, role: .responder, frameSizeLimit: frameSizeLimit)
    }

    /// Returns the answer to a message.
    ///
    /// The answer to a message of another version is the byte of version 1 alone. The length of `message` and the
    /// number of own items bound memory and time.
    package func reconcile(_ message: [UInt8]) throws(NegentropyError) -> [UInt8] {
        try reconciler.answer(to: message).message
    }
}
