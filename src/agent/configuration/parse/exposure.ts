/** Who can read a secret that stands in a setting of this origin: see `Setting`. */
export function exposure(origin: string): string {
	if (origin === "flag") return "visible to other users of this machine";
	return origin.startsWith("environment ")
		? "handed to every worker"
		: "in clear text for whoever reads the file";
}
