# The same as reaper.py, for images without Python.
use strict;
use warnings;
use POSIX qw(:signal_h :sys_wait_h);

my %prctl_of = (x86_64 => 157, aarch64 => 167, riscv64 => 167, ppc64le => 171, s390x => 172);
my $prctl = $prctl_of{(POSIX::uname())[4]};
my $set_child_subreaper = 36;
unless (defined $prctl && syscall($prctl, $set_child_subreaper, 1, 0, 0, 0) == 0) {
	print STDERR "elastic-run: orphaned processes are not reaped: prctl failed\n";
}

my @received;
my $every = POSIX::SigSet->new;
my $before = POSIX::SigSet->new;
my $none = POSIX::SigSet->new;
$every->fillset;
sigprocmask(SIG_BLOCK, $every, $before);
defined(my $child = fork) or die "elastic-run: fork: $!\n";
if ($child == 0) {
	sigprocmask(SIG_SETMASK, $before);
	exec { $ARGV[0] } @ARGV or die "elastic-run: $ARGV[0]: $!\n";
}
for my $name (grep { !/^(?:KILL|STOP|CHLD|CLD|__WARN__|__DIE__)$/ } keys %SIG) {
	$SIG{$name} = sub { push @received, $_[0] };
}
$SIG{CHLD} = sub { };
while (1) {
	while ((my $pid = waitpid(-1, WNOHANG)) > 0) {
		next if $pid != $child;
		POSIX::_exit(WIFEXITED($?) ? WEXITSTATUS($?) : 128 + WTERMSIG($?));
	}
	kill(shift @received, $child) while @received;
	sigsuspend($none);
}
