import type { KeeperEnd } from "./keeper.js";

/** The exit code by which a keeper tells its agent how it ended. */
export const KEEPER_EXIT: Readonly<Record<KeeperEnd["kind"], number>> = {
	done: 0,
	failed: 1,
	taken: 3,
	asked: 4,
};
