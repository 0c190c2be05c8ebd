#if WebStorage
    import NIOHTTP1

    /// A request to the server of a ``WebClient``.
    struct WebRequest: Sendable {
        let method: HTTPMethod
        /// Percent-encoded, from the root of the server.
        let path: String
        /// Percent-encoded, without the question mark; nil for none.
        var query: String?
        var headers = HTTPHeaders()
        var body: [UInt8]?
    }
#endif
