import PeerSyncModel

/// The place where reading goes on: a token, and a record name where the token holds only its beginning.
package struct ReadingPlace: Sendable, Equatable {
    package let token: ChangeToken
    /// The last record that was read of a whole copy, if this process has read it.
    let lastName: RecordName?

    package init(_ token: ChangeToken, lastName: RecordName? = nil) {
        self.token = token
        self.lastName = lastName
    }

    /// Whether more of a whole copy in order of name follows.
    package var isInOrderOfName: Bool { CopyPosition(token) != nil }

    /// Returns the place of a token: this place if it has that token, otherwise a new one.
    package func at(_ token: ChangeToken) -> ReadingPlace { token == self.token ? self : ReadingPlace(token) }
}
