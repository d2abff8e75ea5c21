import { type MetadataServer, reply, serve } from "./metadata-server.js";

/** Azure's scheduled events, of a machine with this name. */
export async function azure(name: string): Promise<
	MetadataServer & {
		/** Replaces all events, as Azure does: with another incarnation. */
		schedule(...events: readonly object[]): void;
		/** The ids that were told to go ahead. */
		readonly started: string[];
	}
> {
	const started: string[] = [];
	let incarnation = 1;
	let events: readonly object[] = [];
	const server = await serve(({ method, path, headers, body }, response) => {
		if (headers.metadata !== "true") return reply(response, 400);
		if (path === "/metadata/instance") {
			return reply(response, 200, JSON.stringify({ compute: { name } }));
		}
		if (path !== "/metadata/scheduledevents") return reply(response, 404);
		if (method === "POST") {
			for (const { EventId } of JSON.parse(body).StartRequests) {
				started.push(EventId);
			}
			return reply(response, 200);
		}
		const document = { DocumentIncarnation: incarnation, Events: events };
		return reply(response, 200, JSON.stringify(document));
	});
	return {
		...server,
		started,
		schedule(...now) {
			incarnation += 1;
			events = now;
		},
	};
}

/** An event of Azure's, so many milliseconds from now. */
export function azureEvent(
	EventType: string,
	Resources: string[],
	inMs: number,
) {
	return {
		EventId: `id-${EventType}`,
		...{ EventType, ResourceType: "VirtualMachine", Resources },
		...{ EventStatus: "Scheduled", EventSource: "Platform" },
		NotBefore: new Date(Date.now() + inMs).toUTCString(),
		...{ Description: "", DurationInSeconds: -1 },
	};
}
