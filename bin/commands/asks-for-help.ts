/** Of a command that has no flags but this one. */
export function asksForHelp(args: readonly string[]): boolean {
	return args.some((word) => word === "--help" || word === "-h");
}
