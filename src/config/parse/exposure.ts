/** Who can read a secret given at this origin (see `Setting`). */
export function exposure(origin: string): string {
	if (origin === "flag") return "visible to other users of this machine";
	return origin.startsWith("environment ")
		? "handed to every worker"
		: "in clear text for anybody who reads the file";
}
