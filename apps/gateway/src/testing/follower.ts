// Follows the events of a gateway, for tests.
import { createParser } from "eventsource-parser";
import { onTestFinished } from "vitest";
import { type GatewayEvent, GatewayEventSchema } from "../events/shapes.ts";

export interface Follower {
  /** All that came so far. */
  readonly events: readonly GatewayEvent[];
  /** What a browser would name when it comes back. */
  lastId(): string;
  /** The first event of this type that comes, or came, and is like that. */
  on<Type extends GatewayEvent["type"]>(
    type: Type,
    isIt?: (event: Extract<GatewayEvent, { type: Type }>) => boolean,
  ): Promise<Extract<GatewayEvent, { type: Type }>>;
  /** Of the reply that came last. */
  text(): string;
  /** Ended by either side. */
  readonly ended: Promise<void>;
  leave(): Promise<void>;
}

/** Every event is checked against its shape. */
export async function follow(
  url: string,
  { query = "", lastEventId }: { query?: string; lastEventId?: string } = {},
): Promise<Follower> {
  const leaving = new AbortController();
  const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  const response = await fetch(`${url}/api/events${query}`, { headers, signal: leaving.signal });
  if (!response.ok) throw new Error(await response.text());
  const events: GatewayEvent[] = [];
  const listeners = new Set<() => void>();
  let lastId = "";
  let problem: Error | undefined;
  const parser = createParser({
    onEvent({ id, data }) {
      if (id !== undefined) lastId = id;
      if (data === "") return;
      events.push(GatewayEventSchema.parse(JSON.parse(data)));
      for (const listener of [...listeners]) listener();
    },
  });
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const piece of response.body!) parser.feed(decoder.decode(piece, { stream: true }));
  };
  const ended = read().catch((error: Error) => {
    if (!leaving.signal.aborted && error.name === "ZodError") problem = error;
    for (const listener of [...listeners]) listener();
  });
  const leave = async () => {
    leaving.abort();
    await ended;
  };
  onTestFinished(leave);
  return {
    events,
    ended,
    leave,
    lastId: () => lastId,
    on(type, isIt = () => true) {
      type Wanted = Extract<GatewayEvent, { type: typeof type }>;
      return new Promise<Wanted>((resolve, reject) => {
        const look = () => {
          if (problem !== undefined) return reject(problem);
          const found = events.find(
            (event): event is Wanted => event.type === type && isIt(event as Wanted),
          );
          if (found === undefined) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
      });
    },
    text() {
      const begun = events.findLastIndex(({ type }) => ["hello", "reset", "call"].includes(type));
      const before = events[begun];
      const told = before?.type === "hello" || before?.type === "reset" ? before.running : [];
      const after = events.slice(begun + 1);
      return (
        told.map(({ text }) => text).join("") +
        after.flatMap((event) => (event.type === "text" ? [event.delta] : [])).join("")
      );
    },
  };
}
