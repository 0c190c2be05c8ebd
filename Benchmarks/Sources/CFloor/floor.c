#include "floor.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/// The record tables of a scorebook.
static const char *const tables[] = {"SBGame",   "SBMatch",  "SBMatchImage", "SBMatchLocation",
                                     "SBPerson", "SBPlayer", "SBScore"};
enum { tableCount = sizeof tables / sizeof *tables, maximumColumns = 32 };

typedef struct {
    sqlite3 *source;
    sqlite3 *target;
    char *message;
} Databases;

/// A value as it is bound; texts and blobs lie in a block.
typedef struct {
    int type;
    int length;
    union {
        sqlite3_int64 integer;
        double real;
        const char *bytes;
    };
} Cell;

/// Bytes of texts and blobs. Blocks stay where they are, so that cells can point into them.
typedef struct Block {
    struct Block *next;
    size_t used;
    size_t capacity;
    char bytes[];
} Block;

/// Rows in memory, in the order in which they are written: of each record its own, then that of grdb_sync_remoteRecord.
typedef struct {
    Cell *cells;
    size_t count;
    size_t capacity;
    Block *blocks;
} Values;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int failed(Databases *databases, sqlite3 *database, int code) {
    if (databases->message == NULL) databases->message = sqlite3_mprintf("%s", sqlite3_errmsg(database));
    return code;
}

static int run(Databases *databases, const char *sql) {
    int code = sqlite3_exec(databases->target, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? code : failed(databases, databases->target, code);
}

static const char *keepBytes(Values *values, const void *bytes, size_t length) {
    Block *block = values->blocks;
    if (block == NULL || block->capacity - block->used < length) {
        size_t capacity = length > 1 << 20 ? length : 1 << 20;
        block = malloc(sizeof *block + capacity);
        if (block == NULL) return NULL;
        *block = (Block){.next = values->blocks, .capacity = capacity};
        values->blocks = block;
    }
    char *copy = block->bytes + block->used;
    if (length > 0) memcpy(copy, bytes, length);
    block->used += length;
    return copy;
}

static int keep(Values *values, sqlite3_stmt *statement, int column) {
    if (values->count == values->capacity) {
        size_t capacity = values->capacity == 0 ? 1024 : values->capacity * 2;
        Cell *larger = realloc(values->cells, capacity * sizeof *larger);
        if (larger == NULL) return SQLITE_NOMEM;
        values->cells = larger;
        values->capacity = capacity;
    }
    Cell cell = {.type = sqlite3_column_type(statement, column)};
    if (cell.type == SQLITE_INTEGER) {
        cell.integer = sqlite3_column_int64(statement, column);
    } else if (cell.type == SQLITE_FLOAT) {
        cell.real = sqlite3_column_double(statement, column);
    } else if (cell.type != SQLITE_NULL) {
        const void *bytes = sqlite3_column_blob(statement, column);
        cell.length = sqlite3_column_bytes(statement, column);
        cell.bytes = keepBytes(values, bytes, (size_t)cell.length);
        if (cell.bytes == NULL) return SQLITE_NOMEM;
    }
    values->cells[values->count++] = cell;
    return SQLITE_OK;
}

static void forget(Values *values) {
    free(values->cells);
    while (values->blocks != NULL) {
        Block *next = values->blocks->next;
        free(values->blocks);
        values->blocks = next;
    }
}

/// Makes the tables and indexes of the source in the target.
static int copySchema(Databases *databases, FloorContents contents) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(databases->source,
                                  "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type IN ('table', 'index') "
                                  "AND (tbl_name GLOB 'SB*' OR tbl_name IN ('grdb_sync_remoteRecord', 'grdb_sync_recordZone') AND ?) "
                                  "ORDER BY type = 'index'",
                                  -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_bind_int(statement, 1, contents == FLOOR_FULL);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW)
        code = run(databases, (const char *)sqlite3_column_text(statement, 0));
    if (code != SQLITE_DONE) failed(databases, databases->source, code);
    sqlite3_finalize(statement);
    if (code != SQLITE_DONE) return code;
    if (contents == FLOOR_ROWS_ONLY) return SQLITE_OK;
    return run(databases, "INSERT INTO grdb_sync_recordZone (id, name) VALUES (1, 'ScorebookData')");
}

/// Makes tables of the same columns with nothing but their primary keys.
static int makeBareTables(Databases *databases) {
    for (int table = 0; table < tableCount; table++) {
        sqlite3_stmt *statement = NULL;
        char *pragma = sqlite3_mprintf(
            "SELECT group_concat(name || ' ' || type || iif(pk, ' NOT NULL PRIMARY KEY', ''), ', ') FROM pragma_table_info(%Q)",
            tables[table]);
        int code = sqlite3_prepare_v2(databases->source, pragma, -1, &statement, NULL);
        sqlite3_free(pragma);
        if (code != SQLITE_OK || sqlite3_step(statement) != SQLITE_ROW) {
            sqlite3_finalize(statement);
            return failed(databases, databases->source, code);
        }
        char *sql = sqlite3_mprintf("CREATE TABLE %s (%s)", tables[table], sqlite3_column_text(statement, 0));
        sqlite3_finalize(statement);
        code = run(databases, sql);
        sqlite3_free(sql);
        if (code != SQLITE_OK) return code;
    }
    return run(databases,
               "CREATE TABLE grdb_sync_remoteRecord (remoteRecordID TEXT PRIMARY KEY, zone, status, changeSequence, changeGroup, "
               "sourcePeer, remoteRecord BLOB) WITHOUT ROWID");
}

static int countColumns(Databases *databases, const char *table, int *columns) {
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf("SELECT COUNT(*) FROM pragma_table_info(%Q)", table);
    int code = sqlite3_prepare_v2(databases->source, sql, -1, &statement, NULL);
    sqlite3_free(sql);
    if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) *columns = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    if (code != SQLITE_OK) return failed(databases, databases->source, code);
    if (*columns > 0 && *columns <= maximumColumns) return SQLITE_OK;
    if (databases->message == NULL) databases->message = sqlite3_mprintf("%s is no table of a scorebook", table);
    return SQLITE_ERROR;
}

/// A statement that inserts all columns of a table, and how many they are.
static int prepareInsert(Databases *databases, const char *table, sqlite3_stmt **insert, int *columns) {
    int code = countColumns(databases, table, columns);
    if (code != SQLITE_OK) return code;
    char marks[2 * maximumColumns] = "?";
    for (int column = 1; column < *columns; column++) strcat(marks, ",?");
    char *sql = sqlite3_mprintf("INSERT INTO %s VALUES (%s)", table, marks);
    code = sqlite3_prepare_v2(databases->target, sql, -1, insert, NULL);
    sqlite3_free(sql);
    return code == SQLITE_OK ? code : failed(databases, databases->target, code);
}

/// Reads all rows of a type with those of grdb_sync_remoteRecord, in order of name.
static int readRows(Databases *databases, const char *table, Values *values) {
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf(
        "SELECT t.*, r.* FROM %s AS t JOIN grdb_sync_remoteRecord AS r ON r.remoteRecordID = t.recordName ORDER BY t.recordName", table);
    int code = sqlite3_prepare_v2(databases->source, sql, -1, &statement, NULL);
    sqlite3_free(sql);
    int columns = statement == NULL ? 0 : sqlite3_column_count(statement);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        code = SQLITE_OK;
        for (int column = 0; code == SQLITE_OK && column < columns; column++)
            code = keep(values, statement, column);
    }
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? SQLITE_OK : failed(databases, databases->source, code);
}

static int bindCell(sqlite3_stmt *insert, int index, const Cell *cell) {
    switch (cell->type) {
    case SQLITE_INTEGER: return sqlite3_bind_int64(insert, index, cell->integer);
    case SQLITE_FLOAT: return sqlite3_bind_double(insert, index, cell->real);
    case SQLITE_TEXT: return sqlite3_bind_text(insert, index, cell->bytes, cell->length, SQLITE_STATIC);
    case SQLITE_BLOB: return sqlite3_bind_blob(insert, index, cell->bytes, cell->length, SQLITE_STATIC);
    default: return sqlite3_bind_null(insert, index);
    }
}

static int insertRow(sqlite3_stmt *insert, const Cell *row, int columns) {
    int code = SQLITE_OK;
    for (int column = 0; code == SQLITE_OK && column < columns; column++)
        code = bindCell(insert, column + 1, &row[column]);
    if (code != SQLITE_OK) return code;
    code = sqlite3_step(insert);
    int reset = sqlite3_reset(insert);
    return code == SQLITE_DONE ? SQLITE_OK : reset != SQLITE_OK ? reset : code;
}

static int writeAll(Databases *databases, Values *values, FloorContents contents, FloorResult *result) {
    sqlite3_stmt *inserts[tableCount] = {NULL}, *metadata = NULL;
    int columns[tableCount] = {0}, metadataColumns = 0;
    int code = countColumns(databases, "grdb_sync_remoteRecord", &metadataColumns);
    if (code == SQLITE_OK && contents != FLOOR_ROWS_ONLY)
        code = prepareInsert(databases, "grdb_sync_remoteRecord", &metadata, &metadataColumns);
    for (int table = 0; code == SQLITE_OK && table < tableCount; table++)
        code = prepareInsert(databases, tables[table], &inserts[table], &columns[table]);
    double begin = now();
    if (code == SQLITE_OK) code = run(databases, "BEGIN IMMEDIATE");
    for (int table = 0; code == SQLITE_OK && table < tableCount; table++) {
        const Cell *row = values[table].cells;
        const Cell *end = row + values[table].count;
        while (code == SQLITE_OK && row < end) {
            code = insertRow(inserts[table], row, columns[table]);
            if (code == SQLITE_OK && metadata != NULL) code = insertRow(metadata, row + columns[table], metadataColumns);
            row += columns[table] + metadataColumns;
            result->records++;
        }
        if (code != SQLITE_OK) failed(databases, databases->target, code);
    }
    if (code == SQLITE_OK) code = run(databases, "COMMIT");
    result->seconds = now() - begin;
    for (int table = 0; table < tableCount; table++) sqlite3_finalize(inserts[table]);
    sqlite3_finalize(metadata);
    return code;
}

int floor_write(const char *source, const char *target, FloorContents contents, FloorResult *result, char **message) {
    Databases databases = {0};
    Values values[tableCount] = {{NULL}};
    *result = (FloorResult){0};
    int code = sqlite3_open_v2(source, &databases.source, SQLITE_OPEN_READONLY, NULL);
    if (code != SQLITE_OK) failed(&databases, databases.source, code);
    if (code == SQLITE_OK && (code = sqlite3_open(target, &databases.target)) != SQLITE_OK)
        failed(&databases, databases.target, code);
    if (code == SQLITE_OK)
        code = run(&databases, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536");
    if (code == SQLITE_OK) code = run(&databases, contents == FLOOR_BARE ? "PRAGMA foreign_keys = OFF" : "PRAGMA foreign_keys = ON");
    if (code == SQLITE_OK) code = contents == FLOOR_BARE ? makeBareTables(&databases) : copySchema(&databases, contents);
    for (int table = 0; code == SQLITE_OK && table < tableCount; table++)
        code = readRows(&databases, tables[table], &values[table]);
    if (code == SQLITE_OK) code = writeAll(&databases, values, contents, result);
    for (int table = 0; table < tableCount; table++) forget(&values[table]);
    sqlite3_close(databases.source);
    sqlite3_close(databases.target);
    *message = code == SQLITE_OK ? NULL : strdup(databases.message != NULL ? databases.message : "unknown");
    sqlite3_free(databases.message);
    return code;
}
