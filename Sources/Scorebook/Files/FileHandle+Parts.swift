import Foundation

extension FileHandle {
    /// Reads the next part of a file.
    ///
    /// A thread of macOS may keep what `read(upToCount:)` has read until the thread ends. This gives the memory back with the data.
    ///
    /// - Parameter count: how many bytes at most.
    /// - Returns: empty or nil at the end of the file.
    /// - Throws: what `read(upToCount:)` throws.
    public func readPart(upTo count: Int) throws -> Data? {
        #if canImport(ObjectiveC)
            try autoreleasepool { try read(upToCount: count) }
        #else
            try read(upToCount: count)
        #endif
    }
}
