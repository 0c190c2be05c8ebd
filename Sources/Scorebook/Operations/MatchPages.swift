import PeerSync

/// A list of matches that is read page by page: a scorebook may have more than anybody looks at.
public struct MatchPages: AsyncSequence, Sendable {
    /// The number of matches of a page.
    private static let size = 500

    let scorebook: ScorebookStore
    /// The matches of all pages, in their order. A page lacks those that were deleted since.
    public let names: [RecordName]

    /// Begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: self) }

    /// Reads the pages, the first one first.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let pages: MatchPages
        private var position = 0

        fileprivate init(pages: MatchPages) {
            self.pages = pages
        }

        /// Reads the next page; nil after the last one.
        public mutating func next() async throws -> [MatchListing]? {
            guard position < pages.names.count else { return nil }
            let page = pages.names[position...].prefix(MatchPages.size)
            position = page.endIndex
            return try await pages.scorebook.matchLines(Array(page))
        }
    }
}
