// Keeps up with what the gateway tells of all sessions, while somebody looks at the page.
import type { GatewayEvent } from "../src/events/shapes.ts";
import { applyGatewayEvent, withoutTurn } from "./joined-turn.ts";
import type { PageState } from "./page-state.ts";
import type { Store } from "./store.ts";

const TYPES = [
  ...["hello", "reset", "started", "accepted", "call", "text", "thinking", "call_end"],
  ...["tool_start", "tool_end", "message", "compaction", "notice", "done", "command", "session"],
] as const;

export interface FollowRequest {
  store: Store<PageState>;
  /** Reads again what the gateway stores. */
  read(): Promise<void>;
}

/** Returns how to stop. A browser tries again by itself when the connection breaks. */
export function followEvents({ store, read }: FollowRequest): () => void {
  const source = new EventSource("/api/events");
  const onEvent = ({ data }: MessageEvent<string>) => {
    const event = JSON.parse(data) as GatewayEvent;
    store.set({ joined: applyGatewayEvent(store.get().joined, event) });
    if (event.type === "reset" || event.type === "command" || event.type === "session") void read();
    // Until its reply is read, the turn stays in sight.
    if (event.type === "done")
      void read().finally(() =>
        store.set({ joined: withoutTurn(store.get().joined, event.session) }),
      );
  };
  for (const type of TYPES) source.addEventListener(type, onEvent);
  return () => source.close();
}
