import { describe, expect, it } from "vitest";
import { failureOf } from "../../../../src/store/etcd/errors.js";

const unconnected = (reason: string) =>
	`No connection established. Last error: ${reason}. Resolution note: `;

const ALERT =
	"808C8898287F0000:error:0A000412:SSL routines:ssl3_read_bytes:sslv3 alert bad certificate:../deps/openssl/openssl/ssl/record/rec_layer_s3.c:1601:SSL alert number 42\n (2026-11-21T19:45:31.727Z)";

describe("what a status means", () => {
	it.each([
		[4, "no answer within 1 s", "silent", "no answer within 1 s"],
		[
			4,
			"Deadline exceeded after 1.501s,name resolution: 0.014s,Waiting for LB pick",
			"silent",
			"no answer in time",
		],
		[
			14,
			unconnected("Error: connect ECONNREFUSED 127.0.0.1:1"),
			"unconnected",
			"connection refused",
		],
		[
			14,
			unconnected("Error: connect EHOSTUNREACH 10.0.0.9:2379"),
			"unconnected",
			"cannot connect: connect EHOSTUNREACH 10.0.0.9:2379",
		],
		[
			14,
			unconnected("Protocol error (2026-11-21T19:39:38.157Z)"),
			"unconnected",
			"does not speak gRPC",
		],
		[
			14,
			unconnected("Failed to connect (2026-11-21T19:45:31.139Z)"),
			"unconnected",
			"closed the connection at once",
		],
		[
			14,
			"Name resolution failed for target dns:nonexistent.invalid:2379",
			"unconnected",
			"its name cannot be resolved",
		],
		[
			14,
			"Connection dropped",
			"broken",
			"the connection broke: Connection dropped",
		],
		[0, "OK", "broken", "it ended the stream"],
		[1, "this store was closed", "broken", "this store was closed"],
		[14, "etcdserver: no leader", "leaderless", "no leader at present"],
		[
			14,
			"etcdserver: request timed out, possibly due to previous leader failure",
			"busy",
			"it says: request timed out",
		],
		[
			8,
			"etcdserver: mvcc: database space exceeded",
			"refused",
			"it says: mvcc: database space exceeded",
		],
		[16, "etcdserver: invalid auth token", "token", "does not know our token"],
		[2, "auth: revision in header is old", "token", "does not know our token"],
		[
			5,
			"etcdserver: requested lease not found",
			"lease",
			"the lease has ended",
		],
	])("%i %s: %s, mended by waiting", (code, details, kind, words) => {
		expect(failureOf({ code, details })).toEqual({
			kind,
			words: expect.stringContaining(words),
			isHopeless: false,
		});
	});

	it.each([
		[
			14,
			unconnected("Error: unable to verify the first certificate"),
			"unconnected",
			"name it with cacert=FILE",
		],
		[
			14,
			unconnected("Error: certificate has expired"),
			"unconnected",
			"has expired",
		],
		[
			14,
			unconnected(
				"Error: Hostname/IP does not match certificate's altnames: IP: 127.0.0.2 is not in the cert's list: 127.0.0.1",
			),
			"unconnected",
			"another name or address",
		],
		[14, unconnected(ALERT), "unconnected", "cert=FILE and key=FILE"],
		[
			14,
			unconnected("tlsv1 alert unknown ca:SSL alert number 48"),
			"unconnected",
			"does not trust the authority",
		],
		[
			14,
			unconnected(
				"error:0A00010B:SSL routines:ssl3_get_record:wrong version number",
			),
			"unconnected",
			"does not speak TLS",
		],
		[
			3,
			"etcdserver: authentication failed, invalid user ID or password",
			"refused",
			"wrong user name or password",
		],
		[
			3,
			"etcdserver: user name is empty",
			"token",
			"asks for a user name and a password",
		],
		[
			7,
			"etcdserver: permission denied",
			"refused",
			"may not read and write these keys",
		],
		[
			3,
			"etcdserver: request is too large",
			"refused",
			"it says: request is too large",
		],
		[12, "Received HTTP status code 404", "refused", "not etcd v3"],
	])("%i %s: %s, not mended by waiting", (code, details, kind, words) => {
		expect(failureOf({ code, details })).toEqual({
			kind,
			words: expect.stringContaining(words),
			isHopeless: true,
		});
	});
});
