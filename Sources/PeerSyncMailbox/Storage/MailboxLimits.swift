/// Bounds of what a mailbox holds (Protocol/mailbox.md section 11).
public enum MailboxLimits {
    /// The most bytes of an object: a batch of the longest message, padded and sealed.
    public static let objectSize = 18 << 20
}
