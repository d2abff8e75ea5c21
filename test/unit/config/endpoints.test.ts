import { expect, test } from "vitest";
import {
	addressOf,
	isLoopback,
	parseEndpoints,
} from "../../../src/config/parse/endpoints.js";
import { outcome } from "./outcome.js";

test.each([
	["etcd1:2379", ["etcd1:2379"]],
	["a:1, b:65535", ["a:1", "b:65535"]],
	["https://etcd:2379/", ["https://etcd:2379"]],
	["http://[::1]:2379", ["[::1]:2379"]],
	["10.0.0.1:02379", ["10.0.0.1:2379"]],
])("%s", (text, endpoints) => {
	expect(outcome(parseEndpoints(text, "flag"))).toEqual(endpoints);
});

test.each([
	["foo", '"foo": port missing; use host:port, for example foo:2379'],
	["foo:", '"foo": port missing; use host:port, for example foo:2379'],
	["[::1]", '"[::1]": port missing; use host:port, for example [::1]:2379'],
	["host:99999", '"host:99999": port 99999 is out of range; use 1-65535'],
	["host:0", '"host:0": port 0 is out of range; use 1-65535'],
	["host:x", '"host:x": "x" is no port; use 1-65535'],
	[
		"a:1/foo",
		'"a:1/foo": a path has no meaning; use host:port, for example a:1',
	],
	["https://a:1/v3/", expect.stringContaining("a path has no meaning")],
	[
		"::1:2379",
		'"::1:2379": write an IPv6 address in brackets, for example [::1]:2379',
	],
	["[::g]:1", expect.stringContaining("is not an address")],
	["ho st:1", expect.stringContaining("is not an address")],
	["", expect.stringContaining("is not an address")],
	["a:1,,b:2", expect.stringContaining("is not an address")],
	["ftp://a:1", expect.stringContaining('"ftp" is not supported')],
	["a,b:0", expect.stringMatching(/port missing.* \/ .*out of range/)],
])("not %s", (text, words) => {
	expect(outcome(parseEndpoints(text, "flag"))).toEqual(words);
});

test("credentials are refused and not repeated", () => {
	const words = outcome(parseEndpoints("http://user:hunter2@h:2379", "flag"));
	expect(words).toContain("password_file=FILE");
	expect(words).not.toContain("hunter2");
});

test.each([
	["etcd1:80", { host: "etcd1", port: 80 }],
	["https://etcd1:443", { host: "etcd1", port: 443 }],
	["[::1]:2379", { host: "::1", port: 2379 }],
])("the address of %s", (endpoint, address) => {
	expect(addressOf(endpoint)).toEqual(address);
});

test.each([
	["localhost", true],
	["LOCALHOST.", true],
	["etcd.localhost", true],
	["127.0.0.1", true],
	["127.9.9.9", true],
	["::1", true],
	["0.0.0.0", true],
	["10.0.0.1", false],
	["127.example.org", false],
	["localhost.example.org", false],
	["2001:db8::1", false],
])("whether %s is this very machine: %s", (host, answer) => {
	expect(isLoopback(host)).toBe(answer);
});
