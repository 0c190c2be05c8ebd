/// How long a session waits for what. Protocol/ "Limits" has the reasons.
struct Deadlines: Sendable {
    /// Making a connection.
    var connecting: Duration = .seconds(10)
    /// The handshake, from the connection on.
    var handshake: Duration = .seconds(5)
    /// Pairing and greeting, all together.
    var greeting: Duration = .seconds(20)
    /// People who say what becomes of two zones.
    var decision: Duration = .seconds(600)
    /// A peer that was silent for this long is gone.
    var silence: Duration = .seconds(45)
    /// A ping goes out this often, so that a live peer is never silent for longer.
    var ping: Duration = .seconds(15)
    /// Our own work on one message. However long our disk takes, it is not the peer that is silent.
    var handling: Duration = .seconds(3600)
    /// A peer that has not taken a frame for this long is gone, too. It may be dealing with a message, and not read
    /// meanwhile, for as long as that.
    var writing: Duration = .seconds(300)
    /// A peer that is waited for because of files, and does not go on with them.
    var files: Duration = .seconds(60)
    /// The last messages that have to leave, and the other side that has to close.
    var farewell: Duration = .seconds(2)
}
