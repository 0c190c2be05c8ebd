/// How long this machine waits for each thing. Protocol/ "Limits" has the reasons.
package struct Deadlines: Sendable {
    /// Finding a machine on this network that shows a pairing code. A wireless network loses questions and answers; multicast DNS
    /// asks again after one second, two, four and so on.
    package var search: Duration = .seconds(15)
    /// Making a connection.
    package var connecting: Duration = .seconds(10)
    /// The handshake, from the connection on.
    package var handshake: Duration = .seconds(5)
    /// Pairing and greeting together.
    package var greeting: Duration = .seconds(20)
    /// A person's answer about what becomes of two zones.
    package var decision: Duration = .seconds(600)
    /// The silence after which the peer counts as gone.
    package var silence: Duration = .seconds(45)
    /// The interval between pings, so that a live peer is never silent for longer.
    package var ping: Duration = .seconds(15)
    /// The answer to a ping that asks whether the connection still works, after a network has changed.
    package var probe: Duration = .seconds(6)
    /// This side's own work on one message. While the own disk is slow, the peer is not the silent one.
    package var handling: Duration = .seconds(3600)
    /// The time that the peer may take to read a frame, before it counts as gone. While it works on a message, it may
    /// not read for this long.
    package var writing: Duration = .seconds(300)
    /// Progress of a peer with files that this session waits for.
    package var files: Duration = .seconds(60)
    /// The interval between looks for files that somebody has taken away or damaged, or brought, without a write to the database.
    package var fileLooks: Duration = .seconds(300)
    /// Sending the last messages, until the other side closes the connection.
    package var farewell: Duration = .seconds(2)
}
