#ifndef CFAULTYDISK_H
#define CFAULTYDISK_H

/* A file system for SQLite (sqlite3_vfs) that fails where a test wants it. It hands each call on to the system's own one, and counts
   those that concern a disk: reads, writes, truncations, syncs, deletions and openings of files below its directory. */

typedef enum {
    /* Nothing fails. */
    FAULTY_DISK_NONE = 0,
    /* One call fails, as from a bad sector. */
    FAULTY_DISK_ERROR = 1,
    /* From one call on no file can grow: SQLITE_FULL. */
    FAULTY_DISK_FULL = 2,
    /* From one call on everything fails: the power is cut. */
    FAULTY_DISK_CUT = 3,
} faulty_disk_fault;

/* Makes this the file system of all connections that are opened from now on. It touches no file outside of a disk's directory. */
void faulty_disk_install(void);

/* Adds a disk: the files below a directory. Gives back its number, or -1 if there are too many. */
int faulty_disk_add(const char *directory);

/* Forgets a disk. No file of it may be open. */
void faulty_disk_remove(int disk);

/* Begins to count anew, and plans a fault at the call of that number, the first being 1. */
void faulty_disk_plan(int disk, faulty_disk_fault fault, long call);

/* How many calls there were since then. */
long faulty_disk_calls(int disk);

/* What the disk holds after its power was cut: every write since the last sync of its file is undone, or, where `seed` says so, kept,
   whole or its first half. Nothing may be open any more. */
void faulty_disk_settle(int disk, unsigned seed);

#endif
