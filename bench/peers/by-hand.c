/*
 * The least that a launcher can cost: N workers with an environment and files,
 * and all of them started again when one fails.
 * Usage: by-hand DIRECTORY N PROGRAM [ARGUMENTS]
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORKERS = 1024 };

static pid_t workers[MOST_WORKERS];

static void set_number(const char *name, int number) {
	char text[16];
	snprintf(text, sizeof text, "%d", number);
	setenv(name, text, 1);
}

static void redirect(int stream, const char *directory, int restarts, int rank) {
	char path[4096];
	snprintf(path, sizeof path, "%s/round-%d-%d.%d", directory, restarts, rank, stream);
	int file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
	if (file < 0 || dup2(file, stream) < 0) _exit(126);
	close(file);
}

static pid_t start(int rank, int count, int restarts, char **argv) {
	pid_t pid = fork();
	if (pid != 0) return pid;
	setsid();
	set_number("RANK", rank);
	set_number("WORLD_SIZE", count);
	set_number("TORCHELASTIC_RESTART_COUNT", restarts);
	redirect(STDOUT_FILENO, argv[1], restarts, rank);
	redirect(STDERR_FILENO, argv[1], restarts, rank);
	execvp(argv[3], argv + 3);
	_exit(127);
}

/* Returns whether all workers of one round ended well. */
static int run_round(int count, int restarts, char **argv) {
	int failed = 0, status;
	for (int rank = 0; rank < count; rank++)
		workers[rank] = start(rank, count, restarts, argv);
	for (int left = count; left > 0; left--) {
		pid_t ended = wait(&status);
		for (int rank = 0; rank < count; rank++)
			if (workers[rank] == ended) workers[rank] = 0;
		if (status == 0 || failed) continue;
		failed = 1;
		for (int rank = 0; rank < count; rank++)
			if (workers[rank] > 0) kill(-workers[rank], SIGTERM);
	}
	return !failed;
}

int main(int argc, char **argv) {
	int count = argc > 3 ? atoi(argv[2]) : 0, restarts = 0;
	if (count < 1 || count > MOST_WORKERS) return 2;
	while (!run_round(count, restarts, argv)) restarts++;
	return 0;
}
