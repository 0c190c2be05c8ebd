/// The numbers of the format.
package enum MailboxFormat {
    package static let version: UInt8 = 1
    /// The versions that may come. Any other first byte of a head is damage.
    static let laterVersions: ClosedRange<UInt8> = (version + 1)...31
    package static let heads = MailboxFolder("heads")!
}
