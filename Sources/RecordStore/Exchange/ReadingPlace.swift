import SyncModel

/// Where reading goes on: a token, and what it knows only about.
package struct ReadingPlace: Sendable, Equatable {
    package let token: ChangeToken
    /// In a whole copy the last record that was read, if this process has read it.
    let lastName: RecordName?

    package init(_ token: ChangeToken) { self.init(token, lastName: nil) }

    init(_ token: ChangeToken, lastName: RecordName?) {
        self.token = token
        self.lastName = lastName
    }

    /// The place of a token: this one, if it is its.
    package func at(_ token: ChangeToken) -> ReadingPlace { token == self.token ? self : ReadingPlace(token) }
}
