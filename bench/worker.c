/*
 * The worker of every measurement: `worker FILE MODE`. It first appends
 * "start <nanoseconds since 1970> <pid> <rank> <world size>" to FILE, then does what MODE says:
 *
 *   exit        ends with 0 at once
 *   finish      ends with 0 half a second after all workers have started
 *   wait        ends with 0 at SIGUSR1
 *   fail-once   in the first round rank 0 fails once all have started; later all end with 0
 *   print       prints 100 MB of lines a second after all have started
 *   obey        fails at SIGUSR1 and ends with 0 at SIGUSR2, and says so at SIGTERM
 *
 * `verify` as the only argument reads such lines from stdin, each behind any
 * prefix without "#", and says how many bytes came of whole lines in order.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 100, LINES = 1000 * 1000, DIGITS = 10, BATCH = 640, RANKS = 64 };

static const char *marks;

static int number_of(const char *name, int otherwise) {
	const char *text = getenv(name);
	return text == NULL ? otherwise : atoi(text);
}

static void mark(const char *event) {
	struct timespec now;
	char line[96];
	clock_gettime(CLOCK_REALTIME, &now);
	int length = snprintf(line, sizeof line, "%s %lld%09ld %d %d %d\n", event,
			(long long)now.tv_sec, now.tv_nsec, (int)getpid(),
			number_of("RANK", 0), number_of("WORLD_SIZE", 1));
	int file = open(marks, O_WRONLY | O_APPEND | O_CREAT, 0600);
	if (file < 0 || write(file, line, length) != length) exit(99);
	close(file);
}

static void pause_ms(long milliseconds) {
	struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
	nanosleep(&time, NULL);
}

static int lines_of_marks(void) {
	static char text[64 * 1024];
	int file = open(marks, O_RDONLY);
	ssize_t length = file < 0 ? 0 : read(file, text, sizeof text);
	int lines = 0;
	for (ssize_t at = 0; at < length; at++) lines += text[at] == '\n';
	close(file);
	return lines;
}

static void wait_for_all(void) {
	int workers = number_of("WORLD_SIZE", 1);
	while (lines_of_marks() < workers) pause_ms(1);
}

static void end_well(int signal) {
	(void)signal;
	_exit(0);
}

static void fail_now(int signal) {
	(void)signal;
	mark("end");
	_exit(1);
}

static void end_at_term(int signal) {
	(void)signal;
	mark("term");
	_exit(0);
}

/* "#<rank, 2 digits> <number, 10 digits> xxx…": 100 bytes with the newline. */
static void prepare_line(char *line, int rank) {
	memset(line, 'a' + rank % 26, LINE);
	line[0] = '#';
	line[1] = '0' + rank / 10;
	line[2] = '0' + rank % 10;
	line[3] = line[4 + DIGITS] = ' ';
	line[LINE - 1] = '\n';
}

static void number_line(char *line, int number) {
	for (int digit = DIGITS - 1; digit >= 0; digit--, number /= 10)
		line[4 + digit] = '0' + number % 10;
}

static int print_lines(int rank) {
	static char batch[BATCH * LINE];
	for (int line = 0; line < BATCH; line++) prepare_line(batch + line * LINE, rank);
	wait_for_all();
	pause_ms(1000);
	mark("print");
	for (int first = 0; first < LINES; first += BATCH) {
		int count = LINES - first < BATCH ? LINES - first : BATCH;
		for (int line = 0; line < count; line++)
			number_line(batch + line * LINE, first + line);
		for (ssize_t at = 0, length = (ssize_t)count * LINE; at < length;) {
			ssize_t written = write(STDOUT_FILENO, batch + at, length - at);
			if (written < 0) return 1;
			at += written;
		}
	}
	mark("end");
	return 0;
}

static int verify(void) {
	static char input[1 << 20], expected[RANKS][LINE];
	static int next[RANKS];
	size_t kept = 0, good = 0, wrong = 0;
	for (int rank = 0; rank < RANKS; rank++) prepare_line(expected[rank], rank);
	for (;;) {
		ssize_t length = read(STDIN_FILENO, input + kept, sizeof input - kept);
		if (length <= 0) break;
		char *at = input, *end = input + kept + length, *newline;
		while ((newline = memchr(at, '\n', end - at)) != NULL) {
			char *text = memchr(at, '#', newline - at);
			int rank = text != NULL && newline - text == LINE - 1
					? (text[1] - '0') * 10 + text[2] - '0' : -1;
			if (rank >= 0 && rank < RANKS) number_line(expected[rank], next[rank]);
			if (rank >= 0 && rank < RANKS && memcmp(text, expected[rank], LINE) == 0) {
				next[rank]++;
				good += LINE;
			} else {
				wrong++;
			}
			at = newline + 1;
		}
		kept = end - at;
		if (kept == sizeof input) return 1;
		memmove(input, at, kept);
	}
	printf("%zu %zu\n", good, wrong + (kept > 0));
	return 0;
}

int main(int argc, char **argv) {
	if (argc == 2 && strcmp(argv[1], "verify") == 0) return verify();
	if (argc != 3) return 2;
	/* None outlives a bench that was interrupted by more than this. */
	alarm(180);
	marks = argv[1];
	const char *mode = argv[2];
	int rank = number_of("RANK", 0);
	if (strcmp(mode, "wait") == 0) signal(SIGUSR1, end_well);
	int obeys = strcmp(mode, "obey") == 0;
	if (obeys) {
		signal(SIGUSR1, fail_now);
		signal(SIGUSR2, end_well);
		signal(SIGTERM, end_at_term);
	}
	mark("start");
	if (strcmp(mode, "exit") == 0) return 0;
	if (strcmp(mode, "print") == 0) return print_lines(rank);
	if (obeys || strcmp(mode, "wait") == 0) for (;;) pause();
	if (strcmp(mode, "finish") == 0) {
		wait_for_all();
		pause_ms(500);
		mark("end");
		return 0;
	}
	if (strcmp(mode, "fail-once") != 0) return 2;
	if (number_of("TORCHELASTIC_RESTART_COUNT", 0) > 0) return 0;
	if (rank > 0) for (;;) pause();
	wait_for_all();
	pause_ms(300);
	mark("end");
	return 1;
}
