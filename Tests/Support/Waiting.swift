/// What a test waited for did not come.
package struct DeadlineExceeded: Error {
    package let awaited: String
}

/// Waits until a condition gives a value.
///
/// The condition is asked once more after the deadline, which may have passed while other tests held the cores.
package func eventually<Value>(
    _ awaited: @autoclosure () -> String, within limit: Duration = .seconds(30),
    _ condition: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit
    while true {
        let isLast = ContinuousClock.now >= deadline
        if let value = try await condition() { return value }
        guard !isLast else { throw DeadlineExceeded(awaited: awaited()) }
        try await Task.sleep(for: .milliseconds(10))
    }
}

/// Waits until a condition holds.
package func eventually(
    _ awaited: @autoclosure () -> String, within limit: Duration = .seconds(30),
    _ condition: () async throws -> Bool
) async throws {
    let _: Void = try await eventually(awaited(), within: limit) { try await condition() ? () : nil }
}
