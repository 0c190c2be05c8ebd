/* SQLite's session extension, measured.
 *
 * session-apply version                 prints the version of the library
 * session-apply diff OLD NEW CHANGESET  writes what makes a copy of the store OLD equal to NEW
 * session-apply apply STORE CHANGESET   applies that in one transaction and prints how many seconds it took
 *
 * A changeset got by comparison is the one that a session attached to the tables would have recorded. */
#define _DEFAULT_SOURCE
#define SQLITE_ENABLE_PREUPDATE_HOOK
#define SQLITE_ENABLE_SESSION
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const tables[] = {"SBPerson", "SBGame",          "SBMatch",     "SBPlayer",
                                     "SBScore",  "SBMatchLocation", "SBMatchImage"};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int failed(sqlite3 *database, int code) {
    fprintf(stderr, "session-apply: %s\n", code == SQLITE_ERROR ? sqlite3_errmsg(database) : sqlite3_errstr(code));
    return 1;
}

static int writeFile(const char *path, const void *bytes, int length) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) return SQLITE_CANTOPEN;
    size_t written = fwrite(bytes, 1, (size_t)length, file);
    return fclose(file) == 0 && written == (size_t)length ? SQLITE_OK : SQLITE_IOERR;
}

static int readFile(const char *path, void **bytes, int *length) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return SQLITE_CANTOPEN;
    int code = SQLITE_IOERR;
    if (fseek(file, 0, SEEK_END) == 0 && (*length = (int)ftell(file)) >= 0) {
        rewind(file);
        *bytes = malloc((size_t)*length + 1);
        if (*bytes == NULL) code = SQLITE_NOMEM;
        else if (fread(*bytes, 1, (size_t)*length, file) == (size_t)*length) code = SQLITE_OK;
    }
    fclose(file);
    return code;
}

static int attachOld(sqlite3 *database, const char *path) {
    char *sql = sqlite3_mprintf("ATTACH %Q AS old", path);
    int code = sql == NULL ? SQLITE_NOMEM : sqlite3_exec(database, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return code;
}

static int writeDifference(const char *oldStore, const char *newStore, const char *path) {
    sqlite3 *database = NULL;
    sqlite3_session *session = NULL;
    void *changeset = NULL;
    int length = 0;
    int code = sqlite3_open_v2(newStore, &database, SQLITE_OPEN_READWRITE, NULL);
    if (code == SQLITE_OK) code = attachOld(database, oldStore);
    if (code == SQLITE_OK) code = sqlite3session_create(database, "main", &session);
    for (size_t table = 0; code == SQLITE_OK && table < sizeof tables / sizeof *tables; table++) {
        code = sqlite3session_attach(session, tables[table]);
        if (code == SQLITE_OK) code = sqlite3session_diff(session, "old", tables[table], NULL);
    }
    if (code == SQLITE_OK) code = sqlite3session_changeset(session, &length, &changeset);
    if (code == SQLITE_OK) code = writeFile(path, changeset, length);
    int status = code == SQLITE_OK ? 0 : failed(database, code);
    sqlite3_free(changeset);
    sqlite3session_delete(session);
    sqlite3_close(database);
    return status;
}

static int refuse(void *context, int conflict, sqlite3_changeset_iter *change) {
    (void)context, (void)conflict, (void)change;
    return SQLITE_CHANGESET_ABORT;
}

static int apply(const char *store, const char *path) {
    sqlite3 *database = NULL;
    void *changeset = NULL;
    int length = 0;
    int code = sqlite3_open_v2(store, &database, SQLITE_OPEN_READWRITE, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON",
                            NULL, NULL, NULL);
    if (code == SQLITE_OK) code = readFile(path, &changeset, &length);
    double begin = now();
    if (code == SQLITE_OK) code = sqlite3changeset_apply(database, length, changeset, NULL, refuse, NULL);
    double seconds = now() - begin;
    int status = code == SQLITE_OK ? 0 : failed(database, code);
    if (status == 0) printf("%.9f\n", seconds);
    free(changeset);
    sqlite3_close(database);
    return status;
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "version") == 0) {
        puts(sqlite3_libversion());
        return 0;
    }
    if (count == 5 && strcmp(arguments[1], "diff") == 0)
        return writeDifference(arguments[2], arguments[3], arguments[4]);
    if (count == 4 && strcmp(arguments[1], "apply") == 0) return apply(arguments[2], arguments[3]);
    fputs("usage: session-apply version | diff OLD NEW CHANGESET | apply STORE CHANGESET\n", stderr);
    return 64;
}
