// Makes one file of etcd3 and the gRPC behind it. etcd3 reads and parses three files of
// messages at each start; here they are parsed already.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { bundlePackage } from "./bundle-package.js";

/** What stands in etcd3: it loads a file, with options that follow. */
const LOAD =
	/\(0, proto_loader_1\.loadSync\)\(`\$\{__dirname\}\/\.\.\/proto\/rpc\.proto`,/;

/**
 * Writes `<directory>/etcd3.js`.
 * @param {string} directory where it goes
 * @param {import("esbuild").BuildOptions & { absWorkingDir: string }} options for all that runs on Node
 */
export function bundleEtcd(directory, options) {
	const used = {
		etcd3: ["Etcd3"],
		"@grpc/grpc-js": ["InterceptingCall", "setLogger"],
	};
	return bundlePackage("etcd3", used, directory, {
		...options,
		plugins: [parsedMessages()],
	});
}

/** @returns {import("esbuild").Plugin} what gives etcd3 its messages in place of their file */
function parsedMessages() {
	return {
		name: "parsed messages",
		setup({ onLoad }) {
			onLoad({ filter: /\/etcd3\/lib\/connection-pool\.js$/ }, ({ path }) => {
				const source = readFileSync(path, "utf8");
				if (!LOAD.test(source)) {
					throw new Error(`${path} loads its messages in another way now`);
				}
				const messages = JSON.stringify(messagesOf(path));
				return {
					contents: source.replace(
						LOAD,
						() => `(0, proto_loader_1.fromJSON)(${messages},`,
					),
				};
			});
		},
	};
}

/**
 * @param {string} asker the file of etcd3 that loads the messages
 * @returns {object} the messages, as protobufjs writes them as JSON
 */
export function messagesOf(asker) {
	const ofEtcd3 = createRequire(asker);
	const loader = createRequire(ofEtcd3.resolve("@grpc/proto-loader"));
	const { Root } = loader("protobufjs");
	const file = join(dirname(asker), "../proto/rpc.proto");
	// etcd3 uses the names as etcd writes them: range_end, not rangeEnd.
	return new Root().loadSync(file, { keepCase: true }).toJSON();
}
