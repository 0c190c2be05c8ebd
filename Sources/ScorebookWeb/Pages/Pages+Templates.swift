import Mustache

extension Pages {
    /// Reads the templates, which are in the program itself.
    static func templates() throws -> MustacheLibrary {
        MarkupText.register()
        var library = MustacheLibrary()
        for (name, bytes) in [
            ("layout", PackageResources.layout_mustache),
            ("entered", PackageResources.entered_mustache),
            ("error", PackageResources.error_mustache),
            ("tonight", PackageResources.tonight_mustache),
            ("players", PackageResources.players_mustache),
            ("match", PackageResources.match_mustache),
            ("sheet", PackageResources.sheet_mustache),
            ("conflict", PackageResources.conflict_mustache),
            ("matches", PackageResources.matches_mustache),
            ("matchLines", PackageResources.matchLines_mustache),
            ("names", PackageResources.names_mustache),
            ("person", PackageResources.person_mustache),
            ("game", PackageResources.game_mustache),
            ("edit", PackageResources.edit_mustache),
            ("field", PackageResources.field_mustache),
            ("delete", PackageResources.delete_mustache),
            ("deleted", PackageResources.deleted_mustache),
            ("history", PackageResources.history_mustache),
            ("files", PackageResources.files_mustache),
            ("import", PackageResources.import_mustache),
            ("statistics", PackageResources.statistics_mustache),
            ("tiles", PackageResources.tiles_mustache),
            ("facts", PackageResources.facts_mustache),
            ("chart", PackageResources.chart_mustache),
            ("ranking", PackageResources.ranking_mustache),
            ("matrix", PackageResources.matrix_mustache),
            ("pictures", PackageResources.pictures_mustache),
            ("machines", PackageResources.machines_mustache),
            ("machine", PackageResources.machine_mustache),
            ("pairing", PackageResources.pairing_mustache),
            ("findings", PackageResources.findings_mustache),
            ("mailboxes", PackageResources.mailboxes_mustache),
            ("checked", PackageResources.checked_mustache),
            ("enter", PackageResources.enter_mustache),
            ("browsers", PackageResources.browsers_mustache),
            ("browserLink", PackageResources.browserLink_mustache),
        ] {
            try library.register(MarkupText.pragma + String(decoding: bytes, as: UTF8.self), named: name)
        }
        return library
    }
}
