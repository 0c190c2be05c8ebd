#include "CFaultyDisk.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>

/* A write or truncation that no sync has made durable: what was there before, and what was written. */
typedef struct Change {
    struct Change *previous;
    sqlite3_int64 offset;
    sqlite3_int64 size_before;
    int count_before, count_after;
    bool is_truncation;
    char *before, *after;
} Change;

/* The changes of one file. */
typedef struct Journal {
    struct Journal *next;
    char *path;
    Change *last;
} Journal;

typedef struct {
    char *directory;
    faulty_disk_fault fault;
    long at, calls;
    Journal *journals;
} Disk;

enum { DISKS = 64 };
static Disk disks[DISKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* An open file of a disk. The system's own one stands behind it. */
typedef struct {
    sqlite3_file base;
    int disk;
    char *path;
    bool is_deleted_on_close;
    sqlite3_file *real;
} File;

static sqlite3_vfs *system_vfs(void) { return sqlite3_vfs_find("unix"); }

/* Counts a call. Gives back what it has to answer; SQLITE_OK if it may go on. */
static int answer(int number, int error, bool grows) {
    pthread_mutex_lock(&lock);
    Disk *disk = &disks[number];
    disk->calls += 1;
    int result = SQLITE_OK;
    switch (disk->fault) {
    case FAULTY_DISK_NONE: break;
    case FAULTY_DISK_ERROR: if (disk->calls == disk->at) result = error; break;
    case FAULTY_DISK_FULL: if (disk->calls >= disk->at && grows) result = SQLITE_FULL; break;
    case FAULTY_DISK_CUT: if (disk->calls >= disk->at) result = error; break;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* MARK: What is not durable yet */

static Journal *journal(Disk *disk, const char *path) {
    for (Journal *each = disk->journals; each; each = each->next)
        if (strcmp(each->path, path) == 0) return each;
    Journal *made = calloc(1, sizeof(Journal));
    made->path = strdup(path);
    made->next = disk->journals;
    disk->journals = made;
    return made;
}

static void forget(Journal *journal) {
    while (journal->last) {
        Change *change = journal->last;
        journal->last = change->previous;
        free(change->before);
        free(change->after);
        free(change);
    }
}

/* Notes what a write or a truncation takes the place of. */
static void note(File *file, const void *bytes, int count, sqlite3_int64 offset, bool is_truncation) {
    Change *change = calloc(1, sizeof(Change));
    change->offset = offset;
    change->is_truncation = is_truncation;
    file->real->pMethods->xFileSize(file->real, &change->size_before);
    sqlite3_int64 end = is_truncation ? change->size_before : offset + count;
    if (end > change->size_before) end = change->size_before;
    if (end > offset) {
        change->count_before = (int)(end - offset);
        change->before = malloc((size_t)change->count_before);
        file->real->pMethods->xRead(file->real, change->before, change->count_before, offset);
    }
    if (!is_truncation) {
        change->count_after = count;
        change->after = malloc((size_t)count);
        memcpy(change->after, bytes, (size_t)count);
    }
    pthread_mutex_lock(&lock);
    Journal *kept = journal(&disks[file->disk], file->path);
    change->previous = kept->last;
    kept->last = change;
    pthread_mutex_unlock(&lock);
}

static void undo(int descriptor, const Change *change) {
    if (change->count_before > 0)
        (void)!pwrite(descriptor, change->before, (size_t)change->count_before, change->offset);
    (void)!ftruncate(descriptor, change->size_before);
}

static void redo(int descriptor, const Change *change, int count) {
    if (change->is_truncation)
        (void)!ftruncate(descriptor, change->offset);
    else if (count > 0)
        (void)!pwrite(descriptor, change->after, (size_t)count, change->offset);
}

/* Undoes all, then does some of it again in its order. */
static void settle(Journal *journal, unsigned *random) {
    int descriptor = open(journal->path, O_RDWR);
    if (descriptor < 0) return forget(journal);
    int count = 0;
    for (Change *each = journal->last; each; each = each->previous) {
        undo(descriptor, each);
        count += 1;
    }
    Change **changes = calloc((size_t)count + 1, sizeof(Change *));
    int index = count;
    for (Change *each = journal->last; each; each = each->previous) changes[--index] = each;
    for (index = 0; index < count && *random != 0; index++) {
        switch (rand_r(random) % 3) {
        case 0: break;
        case 1: redo(descriptor, changes[index], changes[index]->count_after); break;
        default: redo(descriptor, changes[index], changes[index]->count_after / 2); break;
        }
    }
    free(changes);
    close(descriptor);
    forget(journal);
}

/* MARK: Files */

static int file_close(sqlite3_file *base) {
    File *file = (File *)base;
    int result = file->real->pMethods ? file->real->pMethods->xClose(file->real) : SQLITE_OK;
    free(file->path);
    file->path = NULL;
    return result;
}

static int file_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
    File *file = (File *)base;
    int result = answer(file->disk, SQLITE_IOERR_READ, false);
    return result ? result : file->real->pMethods->xRead(file->real, bytes, count, offset);
}

static int file_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    File *file = (File *)base;
    sqlite3_int64 size = 0;
    file->real->pMethods->xFileSize(file->real, &size);
    int result = answer(file->disk, SQLITE_IOERR_WRITE, offset + count > size);
    if (result) return result;
    note(file, bytes, count, offset, false);
    return file->real->pMethods->xWrite(file->real, bytes, count, offset);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
    File *file = (File *)base;
    int result = answer(file->disk, SQLITE_IOERR_TRUNCATE, false);
    if (result) return result;
    note(file, NULL, 0, size, true);
    return file->real->pMethods->xTruncate(file->real, size);
}

static int file_sync(sqlite3_file *base, int flags) {
    File *file = (File *)base;
    int result = answer(file->disk, SQLITE_IOERR_FSYNC, false);
    if (result) return result;
    pthread_mutex_lock(&lock);
    forget(journal(&disks[file->disk], file->path));
    pthread_mutex_unlock(&lock);
    /* What the system holds is durable for the test. A real sync would only take time. */
    (void)flags;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
    File *file = (File *)base;
    return file->real->pMethods->xFileSize(file->real, size);
}

static int file_lock(sqlite3_file *base, int level) {
    File *file = (File *)base;
    int result = answer(file->disk, SQLITE_IOERR_LOCK, false);
    return result ? result : file->real->pMethods->xLock(file->real, level);
}

static int file_unlock(sqlite3_file *base, int level) {
    File *file = (File *)base;
    return file->real->pMethods->xUnlock(file->real, level);
}

static int file_check_reserved_lock(sqlite3_file *base, int *result) {
    File *file = (File *)base;
    return file->real->pMethods->xCheckReservedLock(file->real, result);
}

static int file_control(sqlite3_file *base, int operation, void *argument) {
    File *file = (File *)base;
    return file->real->pMethods->xFileControl(file->real, operation, argument);
}

static int file_sector_size(sqlite3_file *base) {
    File *file = (File *)base;
    return file->real->pMethods->xSectorSize(file->real);
}

/* Nothing is promised of this disk: a write may be torn. */
static int file_characteristics(sqlite3_file *base) {
    (void)base;
    return 0;
}

static int file_shm_map(sqlite3_file *base, int region, int size, int extend, void volatile **memory) {
    File *file = (File *)base;
    return file->real->pMethods->xShmMap(file->real, region, size, extend, memory);
}

static int file_shm_lock(sqlite3_file *base, int offset, int count, int flags) {
    File *file = (File *)base;
    return file->real->pMethods->xShmLock(file->real, offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *base) {
    File *file = (File *)base;
    file->real->pMethods->xShmBarrier(file->real);
}

static int file_shm_unmap(sqlite3_file *base, int isDeleted) {
    File *file = (File *)base;
    return file->real->pMethods->xShmUnmap(file->real, isDeleted);
}

static const sqlite3_io_methods methods = {
    2,
    file_close, file_read, file_write, file_truncate, file_sync, file_size, file_lock, file_unlock,
    file_check_reserved_lock, file_control, file_sector_size, file_characteristics,
    file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap,
    NULL, NULL,
};

/* MARK: The file system */

static int disk_of(const char *path) {
    if (!path) return -1;
    pthread_mutex_lock(&lock);
    int found = -1;
    for (int number = 0; number < DISKS && found < 0; number++) {
        const char *directory = disks[number].directory;
        if (directory && strncmp(path, directory, strlen(directory)) == 0) found = number;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *flags_out) {
    (void)vfs;
    int disk = disk_of(path);
    if (disk < 0) return system_vfs()->xOpen(system_vfs(), path, base, flags, flags_out);
    File *file = (File *)base;
    memset(file, 0, sizeof(File));
    int result = answer(disk, SQLITE_CANTOPEN, false);
    if (result) return result;
    file->disk = disk;
    file->real = (sqlite3_file *)(file + 1);
    result = system_vfs()->xOpen(system_vfs(), path, file->real, flags, flags_out);
    if (file->real->pMethods) {
        file->path = strdup(path);
        file->base.pMethods = &methods;
    }
    return result;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int isSynced) {
    (void)vfs;
    int disk = disk_of(path);
    if (disk >= 0) {
        int result = answer(disk, SQLITE_IOERR_DELETE, false);
        if (result) return result;
        pthread_mutex_lock(&lock);
        forget(journal(&disks[disk], path));
        pthread_mutex_unlock(&lock);
    }
    return system_vfs()->xDelete(system_vfs(), path, isSynced);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void install(void) {
    static sqlite3_vfs vfs;
    sqlite3_initialize();
    vfs = *system_vfs();
    vfs.pNext = NULL;
    vfs.zName = "faulty";
    vfs.szOsFile = (int)sizeof(File) + system_vfs()->szOsFile;
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    sqlite3_vfs_register(&vfs, 1);
}

void faulty_disk_install(void) { pthread_once(&once, install); }

int faulty_disk_add(const char *directory) {
    pthread_mutex_lock(&lock);
    int number = 0;
    while (number < DISKS && disks[number].directory) number++;
    if (number < DISKS) disks[number].directory = strdup(directory);
    pthread_mutex_unlock(&lock);
    return number < DISKS ? number : -1;
}

void faulty_disk_remove(int number) {
    pthread_mutex_lock(&lock);
    Disk *disk = &disks[number];
    while (disk->journals) {
        Journal *journal = disk->journals;
        disk->journals = journal->next;
        forget(journal);
        free(journal->path);
        free(journal);
    }
    free(disk->directory);
    memset(disk, 0, sizeof(Disk));
    pthread_mutex_unlock(&lock);
}

void faulty_disk_plan(int number, faulty_disk_fault fault, long call) {
    pthread_mutex_lock(&lock);
    disks[number].fault = fault;
    disks[number].at = call;
    disks[number].calls = 0;
    pthread_mutex_unlock(&lock);
}

long faulty_disk_calls(int number) {
    pthread_mutex_lock(&lock);
    long calls = disks[number].calls;
    pthread_mutex_unlock(&lock);
    return calls;
}

void faulty_disk_settle(int number, unsigned seed) {
    pthread_mutex_lock(&lock);
    unsigned random = seed;
    for (Journal *each = disks[number].journals; each; each = each->next) settle(each, &random);
    pthread_mutex_unlock(&lock);
}
