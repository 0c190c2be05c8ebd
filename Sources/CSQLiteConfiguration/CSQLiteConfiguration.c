#include "CSQLiteConfiguration.h"

#include <sqlite3.h>

bool sqlite_enable_triggers(void *connection, bool isEnabled) {
    int wasEnabled = 1;
    sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, -1, &wasEnabled);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, (int)isEnabled, (int *)0);
    return wasEnabled != 0;
}

void sqlite_keep_log_on_close(void *connection) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

bool sqlite_count_no_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK;
}
