/// Small numbers for record names, from 0. A row of statistics has several names, and to compare and to look up numbers takes far less
/// time.
final class RecordNumbers {
    /// The record names, by number.
    private(set) var names: [String] = []
    private var numbers: [String: Int] = [:]

    /// - Parameter names: record names that have numbers, in the order of these.
    init(_ names: [String] = []) {
        self.names = names
        numbers = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
    }

    /// Returns the number of a name, the same each time.
    func number(of name: String) -> Int {
        if let number = numbers[name] { return number }
        numbers[name] = names.count
        names.append(name)
        return names.count - 1
    }
}

/// Values of records that have small numbers.
struct Numbered<Value> {
    private var values: [Value?] = []

    /// Changes the value of a number, beginning with `first`.
    mutating func update(_ number: Int, from first: @autoclosure () -> Value, _ body: (inout Value) -> Void) {
        while values.count <= number { values.append(nil) }
        if values[number] == nil { values[number] = first() }
        body(&values[number]!)
    }

    /// The numbers that have a value, with it.
    var all: [(number: Int, value: Value)] {
        values.enumerated().compactMap { number, value in value.map { (number, $0) } }
    }

    subscript(number: Int) -> Value? { number < values.count ? values[number] : nil }
}

extension Numbered: Sendable where Value: Sendable {}
