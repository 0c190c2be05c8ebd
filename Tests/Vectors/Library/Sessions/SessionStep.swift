import PeerSyncModel

/// An event at a machine during a session, at a moment when no message is on its way.
package struct SessionStep {
    let isAtCaller: Bool
    let writes: [RecordState]
}
