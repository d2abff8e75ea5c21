// Where the etcd is that the tests start: `node scripts/find-etcd.js` prints its path,
// and fetches Debian's where the machine has none.
import { execFileSync } from "node:child_process";
import {
	accessSync,
	chmodSync,
	constants,
	copyFileSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	renameSync,
	rmSync,
	statSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The first version with the JSON gateway under /v3. */
const OLDEST = [3, 4];
const USUAL_FOLDERS = ["/usr/bin", "/usr/sbin", "/usr/local/bin"];
const FETCHED = cachePath();
const LOOK_LIMIT_MS = 10_000;
const INSTALL_LIMIT_MS = 180_000;

/** How a person gets it. */
export const HOW_TO_GET_ETCD =
	"apt-get install etcd-server (Debian, Ubuntu), or set ETCD_BIN to the path of an etcd of version 3.4 or later";

/**
 * The path of an etcd that the tests can use: ETCD_BIN, else the first one on PATH or in
 * the usual folders that is not too old, else the one that `installEtcd` fetched.
 *
 * @param {Readonly<Record<string, string | undefined>>} env
 * @param {readonly string[]} elsewhere files to try where PATH has none
 * @returns {string | undefined}
 * @throws Error where ETCD_BIN is set to something else.
 */
export function findEtcd(
	env = process.env,
	elsewhere = [...USUAL_FOLDERS.map((folder) => join(folder, "etcd")), FETCHED],
) {
	const named = env.ETCD_BIN;
	if (named) {
		const problem = whyUseless(named);
		if (problem === undefined) return named;
		throw new Error(
			`ETCD_BIN=${named} ${problem}. Set it to the path of an etcd of version 3.4 or later, or unset it`,
		);
	}
	const onPath = (env.PATH ?? "")
		.split(":")
		.filter((folder) => isAbsolute(folder))
		.map((folder) => join(folder, "etcd"));
	return [...onPath, ...elsewhere].find(
		(file) => isExecutable(file) && whyUseless(file) === undefined,
	);
}

/**
 * Fetches Debian's or Ubuntu's etcd-server with apt-get, within three minutes, and unpacks its program
 * into a cache. It is not installed: that would need root, add a user, and enable and start
 * a service on port 2379, which then had to be stopped and disabled again. apt-get checks signatures
 * here as ever, by lists of its own, so that nothing of the machine changes.
 *
 * @param {string} destination where the program is put
 * @param {Readonly<Record<string, string | undefined>>} env with the PATH by which apt-get and dpkg-deb are found
 * @returns {string} its path
 * @throws Error that says why it was not to be had, and how to get it.
 */
export function installEtcd(destination = FETCHED, env = process.env) {
	const folder = mkdtempSync(join(tmpdir(), "elastic-run-etcd-"));
	try {
		// As root, apt-get reads as another user what it has fetched.
		chmodSync(folder, 0o755);
		const program = fetchProgram(folder, env);
		const problem = whyUseless(program);
		if (problem !== undefined)
			throw new Error(`the etcd of etcd-server ${problem}`);
		putInPlace(program, destination);
		return destination;
	} catch (error) {
		throw new Error(
			`no etcd here, and none could be fetched (${messageOf(error)}): ${HOW_TO_GET_ETCD}`,
		);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** In the package's own folder, or in the user's where that one is another user's, as after a global installation. */
function cachePath() {
	const root = fileURLToPath(new URL("..", import.meta.url));
	try {
		accessSync(root, constants.W_OK);
		return join(root, "node_modules/.cache/elastic-run/etcd");
	} catch {
		return join(homedir(), ".cache/elastic-run/etcd");
	}
}

/**
 * @param {string} folder where the package is fetched and unpacked
 * @param {Readonly<Record<string, string | undefined>>} env
 * @param {string} packageName
 * @param {string} program its file name in /usr/bin
 * @returns {string} the path of the unpacked program below the folder
 */
export function fetchProgram(
	folder,
	env,
	packageName = "etcd-server",
	program = "etcd",
) {
	const deadline = performance.now() + INSTALL_LIMIT_MS;
	const run = (command, ...args) =>
		execFileSync(command, args, {
			cwd: folder,
			env: { ...env, LC_ALL: "C" },
			stdio: ["ignore", "ignore", "pipe"],
			timeout: Math.max(1, Math.round(deadline - performance.now())),
			killSignal: "SIGKILL",
		});
	const aptGet = (...words) => run("apt-get", ...aptOptions(folder), ...words);

	let updateError;
	try {
		aptGet("update");
	} catch (error) {
		// One of several package sources may be broken, and not the one that is needed.
		updateError = error;
	}
	try {
		aptGet("download", packageName);
	} catch (error) {
		throw updateError ?? error;
	}
	const archive = readdirSync(folder).find((name) => name.endsWith(".deb"));
	if (archive === undefined) throw new Error("apt-get downloaded nothing");
	run("dpkg-deb", "--extract", archive, "unpacked");
	return join(folder, "unpacked/usr/bin", program);
}

function aptOptions(folder) {
	mkdirSync(join(folder, "lists/partial"), { recursive: true });
	mkdirSync(join(folder, "cache/archives/partial"), { recursive: true });
	const options = {
		"Dir::State::Lists": join(folder, "lists"),
		"Dir::Cache": join(folder, "cache"),
		// Not only a warning where nothing could be fetched.
		"APT::Update::Error-Mode": "any",
		"Acquire::http::Timeout": 20,
		"Acquire::https::Timeout": 20,
		"Acquire::Retries": 1,
		"Acquire::Languages": "none",
	};
	return Object.entries(options).flatMap(([name, value]) => [
		"-o",
		`${name}=${value}`,
	]);
}

/**
 * Whoever fetches it at the same time puts the same there.
 *
 * @param {string} program
 * @param {string} destination
 */
export function putInPlace(program, destination) {
	mkdirSync(join(destination, ".."), { recursive: true });
	const draft = `${destination}.${process.pid}`;
	copyFileSync(program, draft);
	chmodSync(draft, 0o755);
	renameSync(draft, destination);
}

/** Says what is wrong with a program as the tests' etcd; undefined: nothing. */
function whyUseless(file) {
	if (!isExecutable(file)) return "is not an executable file";
	const version = versionOf(file);
	if (version === undefined) return "does not say an etcd's version";
	const [major, minor] = version.split(".").map(Number);
	const isNewEnough =
		major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
	return isNewEnough
		? undefined
		: `is etcd ${version}, older than ${OLDEST.join(".")}`;
}

/**
 * @param {string} file
 * @returns {string | undefined} "3.4.23"
 */
export function versionOf(file) {
	try {
		const text = execFileSync(file, ["--version"], {
			encoding: "utf8",
			env: { ETCD_UNSUPPORTED_ARCH: process.arch },
			stdio: ["ignore", "pipe", "ignore"],
			timeout: LOOK_LIMIT_MS,
		});
		return /^etcd Version: (\d+\.\d+\.\S+)/m.exec(text)?.[1];
	} catch {
		return undefined;
	}
}

function isExecutable(file) {
	try {
		accessSync(file, constants.X_OK);
		return statSync(file).isFile();
	} catch {
		return false;
	}
}

/** The first error that a program wrote to stderr says more than its exit code. */
function messageOf(error) {
	if (error.code === "ENOENT") return `there is no ${error.path}`;
	if (error.code === "ETIMEDOUT")
		return `${error.path} took longer than ${INSTALL_LIMIT_MS / 1000} s`;
	const lines = error.stderr?.toString().trim().split("\n") ?? [];
	return (
		lines.find((line) => line.startsWith("E: ")) ??
		(lines.at(-1) || error.message)
	);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	try {
		console.log(findEtcd() ?? installEtcd());
	} catch (error) {
		console.error(error.message);
		process.exitCode = 1;
	}
}
