/// The name and the secret by which a server knows a user: a name and a password, or an access key and its secret key.
///
/// No way of printing shows the secret.
public struct WebCredentials: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The name of the user, or the access key.
    public let user: String
    /// The password, or the secret key.
    public let secret: String

    /// Takes a name and its secret.
    public init(user: String, secret: String) {
        self.user = user
        self.secret = secret
    }

    public var description: String { "credentials of \(user)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}
