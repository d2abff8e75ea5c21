export const MIB = 2 ** 20;

/** "512 MiB", "2.0 GiB". */
export function inBytes(bytes: number): string {
	const mebibytes = bytes / MIB;
	return mebibytes < 1024
		? `${Math.floor(mebibytes)} MiB`
		: `${(mebibytes / 1024).toFixed(1)} GiB`;
}
