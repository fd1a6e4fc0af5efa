/* The subcommands of `sago`. */
#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

#include <stdbool.h>

enum { EXIT_USAGE = 2 };

/* argv[0] is the name of the subcommand; returns the exit status. */
int cmd_run(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_exchange(int argc, char **argv);      /* `sago bench exchange` */
int cmd_bench_storage(int argc, char **argv); /* `sago bench storage` */
int cmd_bench_ckpt(int argc, char **argv);    /* `sago bench ckpt` */
int cmd_plan(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_topo(int argc, char **argv);
int cmd_tune(int argc, char **argv);
int cmd_ckpt(int argc, char **argv);
int cmd_subfile(int argc, char **argv);
int cmd_tier(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_hints(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* true on one process of a job, whether MPI has been started or not, so that help and errors are printed once. */
bool command_speaks(void);

/* Was --help or -h given?  Then the help was printed, once in a job. */
bool command_helped(int argc, char **argv, void (*print)(void));

/* Prints "sago CMD: message" and what to do next; returns the exit status. */
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
