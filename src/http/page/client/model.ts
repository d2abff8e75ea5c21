import type { StatusDocument } from "../../status-document.js";
import type { Connection } from "./connection.js";
import type { Series } from "./series.js";
import type { Zoom } from "./time-window.js";

/** The state from which the whole page is drawn. */
export interface Model {
	/** The agent's newest document; null if there is none yet. */
	readonly document: StatusDocument | null;
	readonly connection: Connection;
	/** By the agent's clock, in milliseconds since 1970. */
	readonly now: number;
	/** By the browser's clock. */
	readonly localNow: number;
	readonly zoom: Zoom;
	/** The width of the picture, in pixels. */
	readonly width: number;
	/** The mark of the picture that last had the focus. */
	readonly mark: string | null;
	readonly control: Control;
	readonly series: Series;
}

export type ControlRequest = "leave" | "stop";

export interface Control {
	/** As the user entered it; kept in this page only. */
	readonly token: string | null;
	/** The action to confirm. */
	readonly asking: ControlRequest | null;
	/** The result of the last request. */
	readonly said: string | null;
}
