// Keeps up with what the gateway tells of all sessions, while somebody looks at the page.
import type { GatewayEvent } from "../src/events/shapes.ts";
import { applyGatewayEvent, type Joined, withoutTurn } from "./joined-turn.ts";
import type { PageState } from "./page-state.ts";
import { shareEvents } from "./shared-events.ts";
import type { Store } from "./store.ts";

export interface FollowRequest {
  store: Store<PageState>;
  /** Reads again what the gateway stores. */
  read(): Promise<void>;
}

/** What is stored is otherwise than it was. */
const STORED: ReadonlySet<GatewayEvent["type"]> = new Set([
  ...(["reset", "command", "session", "approval", "approval_end", "engine"] as const),
]);

/** Returns how to stop. */
export function followEvents({ store, read }: FollowRequest): () => void {
  return shareEvents<Joined>({
    state: () => store.get().joined,
    onState: (joined) => store.set({ joined }),
    onEvent(event) {
      store.set({ joined: applyGatewayEvent(store.get().joined, event) });
      if (STORED.has(event.type)) void read();
      // Until its reply is read, the turn stays in sight.
      if (event.type === "done")
        void read().finally(() =>
          store.set({ joined: withoutTurn(store.get().joined, event.session) }),
        );
    },
  });
}
