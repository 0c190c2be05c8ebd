import Scorebook

extension OutputOptions {
    /// Prints the records that came back.
    func write(_ restored: RestoredRecords) throws {
        let others = restored.names.filter { $0 != restored.name }
        try write(
            restored.names.map {
                StepFigures(recordName: $0.description, action: "restore", field: nil)
            },
            "restored \(restored.name)\(DeletionOptions.companions(others, .comeBackWithIt))")
    }
}
