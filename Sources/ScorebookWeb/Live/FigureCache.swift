import Scorebook

/// The figures that pages show. Computes each once after a commit, however many browsers ask for it.
actor FigureCache {
    /// The maximum number of figures that are kept.
    private static let maximumCount = 32

    private let scorebook: ScorebookStore
    /// nil for a scorebook in memory, of which nothing is kept.
    private let commits: CommitCounter?
    private var count: Int?
    private var figures: [StatisticsFilter: Task<Statistics, any Error>] = [:]

    init(_ scorebook: ScorebookStore) throws {
        self.scorebook = scorebook
        commits = try CommitCounter(scorebook)
    }

    /// Returns figures that have everything that was committed before the call.
    ///
    /// - Throws: what ``Scorebook/ScorebookStore/statistics(_:)`` throws.
    func statistics(_ filter: StatisticsFilter = StatisticsFilter()) async throws -> Statistics {
        guard let commits else { return try await scorebook.statistics(filter) }
        // Before the figures: a commit that comes between is in them, and only makes them be computed once more.
        let count = try await commits.count()
        if count != self.count || figures.count >= Self.maximumCount { figures = [:] }
        self.count = count
        if let task = figures[filter] { return try await task.value }
        // Others may wait for it, so it does not end with the request.
        let task = Task { [scorebook] in try await scorebook.statistics(filter) }
        figures[filter] = task
        do {
            return try await task.value
        } catch {
            if figures[filter] == task { figures[filter] = nil }
            throw error
        }
    }
}
