#include "CSQLite.h"

#include <sqlite3.h>

bool csqlite_enable_triggers(void *connection, bool isEnabled) {
    int wasEnabled = 1;
    sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, -1, &wasEnabled);
    /* To set what is set already would cost as much as a change: all statements are compiled again. */
    if ((wasEnabled != 0) != isEnabled) sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, (int)isEnabled, (int *)0);
    return wasEnabled != 0;
}
