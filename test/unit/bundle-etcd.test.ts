import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { messagesOf } from "../../scripts/bundle-etcd.js";

const OPTIONS = {
	keepCase: true,
	longs: String,
	enums: String,
	defaults: true,
	oneofs: true,
};

it("ships the messages that etcd3 would parse itself", () => {
	const pool = fileURLToPath(
		import.meta.resolve("etcd3/lib/connection-pool.js"),
	);
	const loader = createRequire(pool)("@grpc/proto-loader");
	const parsed = loader.fromJSON(messagesOf(pool), OPTIONS);
	const proto = fileURLToPath(import.meta.resolve("etcd3/proto/rpc.proto"));
	expect(Object.keys(parsed)).toContain("etcdserverpb.Lease");
	expect(JSON.stringify(parsed)).toBe(
		JSON.stringify(loader.loadSync(proto, OPTIONS)),
	);
});
