extension Duration {
    /// The nearest duration of a range.
    package func clamped(to range: ClosedRange<Duration>) -> Duration {
        min(max(self, range.lowerBound), range.upperBound)
    }
}
