/// The error of a test that waited in vain until its deadline.
package struct DeadlineExceeded: Error {
    package let awaited: String
}

/// Waits until a condition gives a value.
///
/// It evaluates the condition once more after the deadline, which may have passed while other tests held the cores. It
/// pauses between two evaluations for at least as long as one takes, so that they leave the cores to the code under
/// test.
package func eventually<Value>(
    _ awaited: @autoclosure () -> String, within limit: Duration = .seconds(30),
    _ condition: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit
    while true {
        let begin = ContinuousClock.now
        let isLast = begin >= deadline
        if let value = try await condition() { return value }
        guard !isLast else { throw DeadlineExceeded(awaited: awaited()) }
        try await Task.sleep(for: max(.milliseconds(10), ContinuousClock.now - begin))
    }
}

/// Waits until a condition holds.
package func eventually(
    _ awaited: @autoclosure () -> String, within limit: Duration = .seconds(30),
    _ condition: () async throws -> Bool
) async throws {
    let _: Void = try await eventually(awaited(), within: limit) { try await condition() ? () : nil }
}
