import type { StatusDocument } from "../../status-document.js";
import type { Connection } from "./connection.js";
import type { Zoom } from "./time-window.js";

/** All that the page shows follows from this. */
export interface Model {
	/** The newest that the agent has told; null: nothing yet. */
	readonly document: StatusDocument | null;
	readonly connection: Connection;
	/** By the agent's clock, in milliseconds since 1970. */
	readonly now: number;
	/** By the browser's. */
	readonly localNow: number;
	readonly zoom: Zoom;
	/** What the picture may take, in pixels. */
	readonly width: number;
	/** The mark of the picture that had the focus last. */
	readonly mark: string | null;
	readonly control: Control;
}

export type Wish = "leave" | "stop";

export interface Control {
	/** As the user has given it; kept in this page only. */
	readonly token: string | null;
	/** What is to be confirmed. */
	readonly asking: Wish | null;
	/** What came of the last wish. */
	readonly said: string | null;
}
