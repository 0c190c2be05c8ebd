import Synchronization

/// The elements that want to be told of something, each for as long as it keeps its membership.
final class Registry<Element: Sendable>: Sendable {
    /// Keeps an element in the registry until ``end()`` or its own deinitialization.
    final class Membership: Sendable {
        private let number: Int
        private let registry: Registry

        fileprivate init(_ number: Int, _ registry: Registry) {
            self.number = number
            self.registry = registry
        }

        func end() {
            // Releases the element outside of the lock: it may hold a membership of its own.
            _ = registry.state.withLock { $0.elements.removeValue(forKey: number) }
        }

        deinit { end() }
    }

    private struct State {
        var lastNumber = 0
        var elements: [Int: Element] = [:]
    }

    private let state = Mutex(State())

    /// Adds an element for as long as the caller keeps the returned membership.
    func add(_ element: Element) -> Membership {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.elements[state.lastNumber] = element
            return state.lastNumber
        }
        return Membership(number, self)
    }

    /// The elements, in the order in which they were added.
    var elements: [Element] {
        state.withLock { state in state.elements.sorted { $0.key < $1.key }.map(\.value) }
    }
}
