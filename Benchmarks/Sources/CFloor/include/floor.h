#ifndef SCOREBOOK_BENCHMARK_FLOOR_H
#define SCOREBOOK_BENCHMARK_FLOOR_H

/// What SQLite itself takes to write a store: all rows of the record tables, and the row of `remoteRecord` that belongs to
/// each, in order of record name, in one transaction, in WAL mode with `synchronous = NORMAL` and a cache of 64 MiB, with
/// the store's tables, foreign keys and indexes and without its triggers. The rows are read before the time begins.
typedef struct {
    /// How many records were written.
    long long records;
    /// From the beginning of the transaction to the end of its commit.
    double seconds;
} FloorResult;

/// What is written.
typedef enum {
    FLOOR_FULL,
    /// Without what a table need not have: checks, foreign keys, and every index but those of the primary keys.
    FLOOR_BARE,
    /// Without metadata.
    FLOOR_ROWS_ONLY,
} FloorContents;

/// Writes a copy of the store at `source` to the new file at `target`.
///
/// - message: gets what went wrong, as a text that the caller frees; NULL when nothing did.
/// - Returns 0, or a result code of SQLite.
int floor_write(const char *source, const char *target, FloorContents contents, FloorResult *result, char **message);

#endif
