/// What a test waited for did not come.
package struct DeadlineExceeded: Error {
    package let awaited: String
}

/// Waits until a condition gives a value.
///
/// The condition is asked once more after the deadline, which may have passed while other tests held the cores. Between
/// two questions there is a pause at least as long as a question takes: asking must not keep the cores from those who are
/// to answer.
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
