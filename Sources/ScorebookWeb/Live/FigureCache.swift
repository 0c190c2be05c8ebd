import Scorebook

/// The figures that pages show. Computes each once after a commit, however many browsers ask for it.
actor FigureCache {
    /// The maximum number of figures that are kept.
    private static let maximumCount = 32

    private let scorebook: ScorebookStore
    /// nil for a scorebook in memory, of which nothing is kept.
    private let commits: CommitCounter?
    private var count: Int?
    private var kept = Kept()

    /// What was computed since the last commit.
    private struct Kept {
        var figures: [StatisticsFilter: Task<Statistics, any Error>] = [:]
        var games: Task<[RecentRecord], any Error>?
        var persons: Task<[RecentRecord], any Error>?
    }

    init(_ scorebook: ScorebookStore) throws {
        self.scorebook = scorebook
        commits = try CommitCounter(scorebook)
    }

    /// Returns figures that have everything that was committed before the call.
    ///
    /// - Throws: what ``Scorebook/ScorebookStore/statistics(_:)`` throws.
    func statistics(_ filter: StatisticsFilter = StatisticsFilter()) async throws -> Statistics {
        try await kept(\.figures[filter]) { try await $0.statistics(filter) }
    }

    /// The games, those that were played last first, likewise.
    func games() async throws -> [RecentRecord] { try await kept(\.games) { try await $0.recentGames() } }

    /// The persons, those who played last first, likewise.
    func persons() async throws -> [RecentRecord] {
        try await kept(\.persons) { try await $0.recentPersons() }
    }

    private func kept<Value: Sendable>(
        _ place: WritableKeyPath<Kept, Task<Value, any Error>?>,
        _ compute: @escaping @Sendable (ScorebookStore) async throws -> Value
    ) async throws -> Value {
        guard let commits else { return try await compute(scorebook) }
        // Before the figures: a commit that comes between is in them, and only makes them be computed once more.
        let count = try await commits.count()
        if count != self.count || kept.figures.count >= Self.maximumCount { kept = Kept() }
        self.count = count
        if let task = kept[keyPath: place] { return try await task.value }
        // Others may wait for it, so it does not end with the request.
        let task = Task { [scorebook] in try await compute(scorebook) }
        kept[keyPath: place] = task
        do {
            return try await task.value
        } catch {
            if kept[keyPath: place] == task { kept[keyPath: place] = nil }
            throw error
        }
    }
}
