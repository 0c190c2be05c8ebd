/// How many files a store has, and how many it has not.
public struct AssetStatus: Sendable, Hashable {
    /// A number of files, and the bytes they have together.
    public struct Count: Sendable, Hashable {
        public var files = 0
        public var bytes: Int64 = 0

        public init() {}

        mutating func add(_ size: Int64) {
            files += 1
            bytes += size
        }
    }

    /// What live records refer to.
    public internal(set) var referred = Count()
    /// Of that, what is not here although the policy says that it should be.
    public internal(set) var missing = Count()
    /// Of that, what is not here because of the policy.
    public internal(set) var excluded = Count()
    public internal(set) var policy = AssetPolicy.all
}
