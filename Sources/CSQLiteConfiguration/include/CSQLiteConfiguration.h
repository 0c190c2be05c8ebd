#ifndef CSQLITECONFIGURATION_H
#define CSQLITECONFIGURATION_H

#include <stdbool.h>

/* What Swift cannot call: functions of SQLite with a variable number of arguments. */

/* Lets the triggers of a connection fire, or not (SQLITE_DBCONFIG_ENABLE_TRIGGER). `connection` is a sqlite3 *.
   Gives back whether they did before. */
bool sqlite_enable_triggers(void *connection, bool isEnabled);

/* Lets a connection close without copying the write-ahead log into the database and removing the file at the log's path
   (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE). `connection` is a sqlite3 *. */
void sqlite_keep_log_on_close(void *connection);

/* Lets SQLite not count the memory that it uses (SQLITE_CONFIG_MEMSTATUS): threads wait for each other to do so.
   Gives back whether that came before the first use of SQLite. For the simulator. */
bool sqlite_count_no_memory(void);

#endif
