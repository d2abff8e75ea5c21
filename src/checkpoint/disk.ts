import {
	closeSync,
	fsyncSync,
	linkSync,
	openSync,
	renameSync,
	writeSync,
} from "node:fs";

/** The system calls that make a checkpoint durable, as a port: tests check their order. */
export interface CheckpointDisk {
	open(path: string, flags: "wx" | "r"): number;
	/** Returns how many bytes were written. */
	write(fd: number, bytes: Uint8Array, offset: number): number;
	/** Returns once a file, or a rename or link in a directory, would survive a crash of the machine. */
	sync(fd: number): void;
	close(fd: number): void;
	rename(from: string, to: string): void;
	link(from: string, to: string): void;
}

export const systemDisk: CheckpointDisk = {
	open: openSync,
	write: writeSync,
	sync: fsyncSync,
	close: closeSync,
	rename: renameSync,
	link: linkSync,
};
