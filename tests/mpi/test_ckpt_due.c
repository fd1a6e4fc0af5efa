/* Is it time for a checkpoint?  By interval, share of the time, failures, signals, the end of the allocation; the
 * same answer on all ranks, whoever knows.  The clock is the test's. */
/* RUN: n=1,3 */
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ckpt/state.h"
#include "mpi/check.h"
#include "support/inject.h"

static int64_t value = 7;

static sago_ckpt *open_with(const char *hints) {
    sago_ckpt *ckpt = NULL;
    scene = hints;
    CHECK_OK(ckpt_open_hinted(MPI_COMM_WORLD, scratch("ckpt"), hints, &ckpt));
    return ckpt;
}

/* One number: 0 nothing, 1 due, 3 due and leave. */
static int ask(sago_ckpt *ckpt) {
    int due = -1, leave = -1;
    CHECK_OK(sago_ckpt_due(ckpt, &due, &leave));
    CHECK(same_everywhere(due) && same_everywhere(leave));
    CHECK(due == 0 || due == 1);
    CHECK(leave == 0 || (leave == 1 && due == 1));
    return due + 2 * leave;
}

/* So many seconds pass; for rank 0, whose clock counts, or only for the others. */
static void pass(double seconds, bool for_rank_0) {
    if ((rank == 0) == for_rank_0)
        inject_clock_shift(seconds);
}

/* As if the last save had held the application so long, just now. */
static void pretend_save(sago_ckpt *ckpt, double held) {
    ckpt->last_held = held;
    ckpt->last_save = sagoi_ckpt_now();
}

static void never(void) {
    sago_ckpt *ckpt = open_with("");
    CHECK_INT(ask(ckpt), 0);
    pass(1e6, true);
    CHECK_INT(ask(ckpt), 0);
    CHECK_OK(sago_ckpt_due(ckpt, NULL, NULL));
    CHECK_OK(sago_ckpt_close(&ckpt));
}

static void by_interval(void) {
    static int64_t step = 1;
    sago_ckpt *ckpt = open_with("sago_ckpt_interval=600");
    CHECK_OK(sago_ckpt_protect_shared(ckpt, "value", &value, sizeof value));
    CHECK_INT(ask(ckpt), 0);
    pass(590, true);
    CHECK_INT(ask(ckpt), 0);
    pass(1000, false);
    CHECK_INT(ask(ckpt), 0); /* not by clocks that are wrong */
    pass(20, true);
    CHECK_INT(ask(ckpt), 1);
    CHECK_INT(ask(ckpt), 1); /* until somebody saves */
    CHECK_OK(sago_ckpt_save(ckpt, step++));
    CHECK_INT(ask(ckpt), 0);
    pass(610, true);
    CHECK_INT(ask(ckpt), 1);
    CHECK_OK(sago_ckpt_close(&ckpt));
}

/* A save that held it 5 s is 10% of 50 s. */
static void by_share(void) {
    sago_ckpt *ckpt = open_with("sago_ckpt_overhead=10");
    CHECK_INT(ask(ckpt), 1); /* the first one, to know what it costs */
    pretend_save(ckpt, 5);
    CHECK_INT(ask(ckpt), 0);
    pass(48, true);
    CHECK_INT(ask(ckpt), 0);
    pass(4, true);
    CHECK_INT(ask(ckpt), 1);
    CHECK_OK(sago_ckpt_close(&ckpt));
    ckpt = open_with("sago_ckpt_overhead=10 sago_ckpt_interval=20");
    pretend_save(ckpt, 5);
    pass(30, true);
    CHECK_INT(ask(ckpt), 0); /* the share is a limit */
    pass(21, true);
    CHECK_INT(ask(ckpt), 1);
    CHECK_OK(sago_ckpt_close(&ckpt));
}

static void by_failures(void) {
    sago_ckpt *ckpt = open_with("sago_ckpt_mtbf=86400");
    double interval = sagoi_daly_interval(20, 86400);
    CHECK(fabs(interval - (sqrt(2 * 20 * 86400.) - 20)) < 20); /* near Young's, less the save itself */
    CHECK(sagoi_daly_interval(20, 10) == 10);                  /* saves longer than the time between failures */
    pretend_save(ckpt, 20);
    pass(interval - 5, true);
    CHECK_INT(ask(ckpt), 0);
    pass(10, true);
    CHECK_INT(ask(ckpt), 1);
    pretend_save(ckpt, 80); /* four times the cost: about twice the interval */
    pass(interval + 20, true);
    CHECK_INT(ask(ckpt), 0);
    pass(interval, true);
    CHECK_INT(ask(ckpt), 1);
    CHECK_OK(sago_ckpt_close(&ckpt));
}

static void on_signal(int number) { (void)number; }

static bool handles(int number, void (*handler)(int)) {
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == handler;
}

static void by_signal(void) {
    CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
    sago_ckpt *ckpt = open_with("sago_ckpt_signal=usr1"), *other = NULL;
    CHECK(!handles(SIGUSR1, on_signal));
    CHECK(handles(SIGTERM, SIG_DFL));
    CHECK_INT(ask(ckpt), 0);
    if (rank == ranks - 1)
        raise(SIGUSR1);
    CHECK_INT(ask(ckpt), 3);
    CHECK_INT(ask(ckpt), 3);
    CHECK_OK(sago_ckpt_close(&ckpt));
    CHECK(handles(SIGUSR1, on_signal)); /* the application's own again */
    ckpt = open_with("sago_ckpt_signal=both");
    CHECK_INT(ask(ckpt), 0); /* old signals are over */
    CHECK_OK(ckpt_open_hinted(MPI_COMM_WORLD, scratch("other"), "sago_ckpt_signal=usr1", &other));
    if (rank == 0)
        raise(SIGTERM);
    CHECK_INT(ask(other), 0); /* asked for the other signal only */
    CHECK_INT(ask(ckpt), 3);
    CHECK_OK(sago_ckpt_close(&ckpt));
    CHECK(!handles(SIGUSR1, on_signal));
    CHECK_OK(sago_ckpt_close(&other));
    CHECK(handles(SIGUSR1, on_signal) && handles(SIGTERM, SIG_DFL));
}

/* One rank knows when the allocation ends: after so many seconds there is time to go on, some later there is not.
 */
static void by_end(int seconds, int go_on, int then) {
    char end[32];
    snprintf(end, sizeof end, "%.0f", sagoi_ckpt_date() + seconds);
    if (rank == ranks - 1)
        setenv("SLURM_JOB_END_TIME", end, 1);
    sago_ckpt *ckpt = open_with("");
    CHECK_INT(ask(ckpt), 0);
    pass(go_on, true);
    pass(go_on, false);
    CHECK_INT(ask(ckpt), 0);
    pass(then, true);
    pass(then, false);
    CHECK_INT(ask(ckpt), 3);
    CHECK_OK(sago_ckpt_close(&ckpt));
}

static void by_allocation(void) {
    sago_ckpt *ckpt;
    by_end(1000, 900, 50);
    by_end(300, 250, 30); /* of a short one less is kept */
    for (int i = 0; i < 2; i++) {
        setenv("SLURM_JOB_END_TIME", i == 0 ? "0" : "never", 1);
        ckpt = open_with("");
        CHECK_INT(ask(ckpt), 0); /* no time that means anything */
        CHECK_OK(sago_ckpt_close(&ckpt));
    }
    unsetenv("SLURM_JOB_END_TIME");
}

/* A command of a batch system that is the test's: it writes down that it was asked, and how, and answers. */
static void make_command(const char *name, const char *answer) {
    char path[4200];
    snprintf(path, sizeof path, "%s", scratch(name));
    FILE *out = rank == 0 ? fopen(path, "w") : NULL;
    if (out) {
        fprintf(out, "#!/bin/sh\necho \"$@\" >>%s.asked\n%s\n", path, answer);
        CHECK_INT(fclose(out), 0);
        CHECK_INT(chmod(path, 0755), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The command was asked once, with these words. */
static void check_asked(const char *name, const char *words) {
    char path[4200], line[200] = "", more[2];
    snprintf(path, sizeof path, "%s.asked", scratch(name));
    FILE *in = fopen(path, "r");
    CHECK(in && fgets(line, sizeof line, in) && !fgets(more, sizeof more, in));
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, words) != 0) {
        printf("%s was asked '%s', not '%s'\n", name, line, words);
        CHECK(false);
    }
    if (in)
        (void)fclose(in);
    (void)unlink(path);
}

/* Asks until the command has answered, since a machine may be busy; a command that sleeps never does. */
static int ask_long(sago_ckpt *ckpt, const char *answer) {
    int said = ask(ckpt), answered = 0;
    for (int turn = 0; turn < 600 && !answered; turn++) {
        struct timespec pause = {0, 20000000};
        (void)nanosleep(&pause, NULL);
        said = ask(ckpt);
        answered = rank == 0 && !ckpt->allocation.process;
        MPI_Bcast(&answered, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (strstr(answer, "sleep") && turn == 20)
            break;
    }
    return said;
}

static const struct {
    const char *variable, *command, *words, *answer;
    int wanted;
} batch_cases[] = {
    {"SLURM_JOB_ID", "squeue", "--noheader --format=%e --jobs 42", "date -d '-5 seconds' +%Y-%m-%dT%H:%M:%S", 3},
    {"SLURM_JOB_ID", "squeue", "--noheader --format=%e --jobs 42", "expr $(date +%s) - 5", 3},
    {"SLURM_JOB_ID", "squeue", "--noheader --format=%e --jobs 42", "date -d '+1000 seconds' +%Y-%m-%dT%H:%M:%S",
     0},
    {"SLURM_JOB_ID", "squeue", "--noheader --format=%e --jobs 42", "echo N/A", 0},
    {"SLURM_JOB_ID", "squeue", "--noheader --format=%e --jobs 42", "exit 1", 0},
    {"SLURM_JOB_ID", "squeue", "--noheader --format=%e --jobs 42", "sleep 600", 0},
    {"FLUX_JOB_ID", "flux", "job timeleft 42", "echo 0", 3},
    {"FLUX_JOB_ID", "flux", "job timeleft 42", "echo 3600", 0},
    {"FLUX_JOB_ID", "flux", "job timeleft 42", "echo 4294967295", 0},
    {"LSB_JOBID", "bjobs", "-noheader -o time_left 42", "echo '0:00 L'", 3},
    {"LSB_JOBID", "bjobs", "-noheader -o time_left 42", "echo '1:07 L'", 0},
    {"LSB_JOBID", "bjobs", "-noheader -o time_left 42", "echo -", 0},
    {"PBS_JOBID", "qstat", "-f 42",
     "printf '    Job_Name = systimes\\n    Resource_List.walltime = 00:10:00\\n    stime = %s\\n' \"$(LC_ALL=C "
     "date -d '-601 "
     "seconds' "
     "+'%a %b %e %H:%M:%S %Y')\"",
     3},
    {"PBS_JOBID", "qstat", "-f 42",
     "printf '    Resource_List.walltime = 01:00:00\\n    stime = %s\\n' \"$(LC_ALL=C date +'%a %b %e %H:%M:%S "
     "%Y')\"",
     0},
    {"PBS_JOBID", "qstat", "-f 42", "echo '    Walltime.Remaining = 0'", 3},
    {"PBS_JOBID", "qstat", "-f 42", "echo '    job_state = R'", 0},
};

/* The batch system has not put the end of the allocation into the environment: rank 0 asks, once, and waits for
 * nothing. */
static void by_asking(void) {
    char path[8400], *before = getenv("PATH") ? strdup(getenv("PATH")) : NULL;
    snprintf(path, sizeof path, "%s", scratch("squeue"));
    *strrchr(path, '/') = '\0';
    snprintf(path + strlen(path), sizeof path - strlen(path), ":%s", before ? before : "/usr/bin:/bin");
    setenv("PATH", path, 1);
    for (size_t i = 0; i < sizeof batch_cases / sizeof batch_cases[0]; i++) {
        scene = batch_cases[i].answer;
        setenv(batch_cases[i].variable, "42", 1);
        make_command(batch_cases[i].command, batch_cases[i].answer);
        sago_ckpt *ckpt = open_with("");
        CHECK_INT(ask_long(ckpt, batch_cases[i].answer), batch_cases[i].wanted);
        CHECK_OK(sago_ckpt_close(&ckpt));
        if (rank == 0)
            check_asked(batch_cases[i].command, batch_cases[i].words);
        unsetenv(batch_cases[i].variable);
    }
    setenv("PATH", before ? before : "/usr/bin:/bin", 1);
    free(before);
}

int main(int argc, char **argv) {
    unsetenv("SLURM_JOB_END_TIME");
    for (size_t i = 0; i < sizeof batch_cases / sizeof batch_cases[0]; i++)
        unsetenv(batch_cases[i].variable);
    check_start(&argc, &argv);
    by_asking(); /* while the clock is still the machine's */
    never();
    by_interval();
    by_share();
    by_failures();
    by_signal();
    by_allocation();
    return check_end();
}
