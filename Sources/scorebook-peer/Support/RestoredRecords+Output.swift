import Scorebook

extension OutputOptions {
    /// Prints the records that came back.
    func write(_ restored: RestoredRecords, in store: OpenStore) async throws {
        try write(
            restored.names.map {
                StepFigures(recordName: $0.description, action: "restore", field: nil)
            }, try await "restored \(store.phrase(for: restored.name, with: restored.names))")
    }
}
