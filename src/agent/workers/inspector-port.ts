const OPTION =
	/(?<=^|\s)--(?:inspect|inspect-brk|inspect-wait|inspect-port|debug-port)(?:=\S+)?(?=\s|$)/g;
const DEFAULT_PORT = 9229;
const TAKES_PORT_ONLY = /^--(?:inspect|debug)-port/;

/**
 * The value of NODE_OPTIONS for a local rank: if it asks for a debugger's port, each worker gets the next one. The host,
 * and port 0, which the system replaces, stay unchanged.
 */
export function withInspectorPort(options: string, localRank: number): string {
	if (localRank === 0) return options;
	const words = options.match(OPTION) ?? [];
	const isPortApart = words.some((word) => TAKES_PORT_ONLY.test(word));
	return options.replace(OPTION, (word) => {
		const [name = "", value] = word.split("=");
		if (value === undefined) {
			return isPortApart ? word : `${name}=${DEFAULT_PORT + localRank}`;
		}
		const { host, port } = parseAddress(value);
		return port === 0 ? word : `${name}=${host}${port + localRank}`;
	});
}

/** `host` includes the colon after it. */
function parseAddress(value: string): { host: string; port: number } {
	const [, host = "", port] = /^(.*:)?(\d+)$/.exec(value) ?? [];
	return port === undefined
		? { host: `${value}:`, port: DEFAULT_PORT }
		: { host, port: Number(port) };
}
