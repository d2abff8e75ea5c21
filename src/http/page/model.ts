import type { StatusDocument } from "../status-document.js";
import type { Connection } from "./connection.js";
import type { Zoom } from "./scale.js";

/** The state from which the whole page is drawn. Times are milliseconds since 1970. */
export interface Model {
	/** The agent's newest document; null if there is none yet. */
	readonly document: StatusDocument | null;
	readonly connection: Connection;
	/** By the agent's clock. */
	readonly now: number;
	/** By the browser's clock. */
	readonly localNow: number;
	readonly zoom: Zoom;
	/** The width of the picture, in pixels. */
	readonly width: number;
	readonly control: Control;
	readonly series: Series;
}

/** A reported number over the time that the page has been open. */
export interface Series {
	/** The number's name; null before one was reported. */
	readonly name: string | null;
	readonly points: readonly Point[];
}

export interface Point {
	readonly at: number;
	readonly step: number;
	readonly value: number;
}

export type ControlRequest = "leave" | "stop";

export interface Control {
	/** As the user entered it; kept in this page only. */
	readonly token: string | null;
	readonly asking: ControlRequest | null;
	/** The result of the last request. */
	readonly said: string | null;
}

/** What each section gets. */
export interface SectionProps {
	readonly document: StatusDocument;
	readonly model: Model;
	readonly actions: Actions;
}

/** What a user can do. */
export interface Actions {
	zoom(zoom: Zoom): void;
	control(change: Partial<Control>): void;
	request(request: ControlRequest): void;
}

/** Whether more may have happened than the agent has said. After an outcome nothing does. */
export function isOld({ connection, document }: Model): boolean {
	return connection.state === "lost" && !document?.run?.outcome;
}
