import SyncModel

/// Something that happens to a machine while a session runs, when nothing is on its way.
package struct SessionStep {
    let isAtCaller: Bool
    let writes: [RecordState]
}
