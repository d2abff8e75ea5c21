import { option } from "../option.js";
import { parseHttpAddress } from "../parse/http-address.js";
import { parseText } from "../parse/scalars.js";

export const HTTP_OPTIONS = {
	http: option({
		name: "http",
		group: "Observability",
		argument: "ADDR",
		defaultHelp: "off",
		help: "page, status and metrics of this node at HOST:PORT, or :PORT for this machine alone; port 0: a free one",
		parse: parseHttpAddress,
	}),
	httpTokenFile: option({
		name: "http-token-file",
		group: "Observability",
		argument: "PATH",
		defaultHelp: "none",
		help: "file with the token that --http asks for; needed beyond this machine, and to stop a run or leave it",
		parse: parseText,
	}),
};
