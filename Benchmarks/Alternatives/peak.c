/* Runs a program and writes its peak resident memory in KiB to a file: peak FILE PROGRAM [ARGUMENT ...]
 *
 * A process takes its parent's peak with it through fork and exec. This one needs about 1 MiB, Python more than some
 * of the programs that are measured. Ends with the status of the program. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (count < 3) return 64;
    pid_t child = fork();
    if (child < 0) return 71;
    if (child == 0) {
        execv(arguments[2], arguments + 2);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child) return 71;
#ifdef __APPLE__
    long peak = usage.ru_maxrss / 1024;
#else
    long peak = usage.ru_maxrss;
#endif
    FILE *file = fopen(arguments[1], "w");
    if (file == NULL || fprintf(file, "%ld\n", peak) < 0 || fclose(file) != 0) return 74;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
