import Synchronization

/// Those who are to be told of something, for as long as they want to be.
final class Registry<Element: Sendable>: Sendable {
    /// Ends when it is let go of, or with ``end()``.
    final class Membership: Sendable {
        private let number: Int
        private let registry: Registry

        fileprivate init(_ number: Int, _ registry: Registry) {
            self.number = number
            self.registry = registry
        }

        func end() { registry.state.withLock { _ = $0.elements.removeValue(forKey: number) } }

        deinit { end() }
    }

    private struct State {
        var lastNumber = 0
        var elements: [Int: Element] = [:]
    }

    private let state = Mutex(State())

    /// Takes somebody in, for as long as what is returned is kept.
    func add(_ element: Element) -> Membership {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.elements[state.lastNumber] = element
            return state.lastNumber
        }
        return Membership(number, self)
    }

    /// Those who are in it now, in the order in which they came.
    var elements: [Element] {
        state.withLock { state in state.elements.sorted { $0.key < $1.key }.map(\.value) }
    }
}
