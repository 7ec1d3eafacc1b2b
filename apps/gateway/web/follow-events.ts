// Keeps up with what the gateway tells of all sessions, while somebody looks at the page.
import type { GatewayEvent } from "../src/events/shapes.ts";
import { applyGatewayEvent, hasEnded, type Joined, withoutEnded } from "./joined-turn.ts";
import type { PageState } from "./page-state.ts";
import { problemsAfter, toldAfter } from "./settle-turn.ts";
import { shareEvents } from "./shared-events.ts";
import type { Store } from "./store.ts";

export interface FollowRequest {
  store: Store<PageState>;
  /** Reads again what the gateway stores. */
  read(): Promise<void>;
  /** Reads again what waits in a session. */
  readWaiting(key: string): Promise<void>;
}

/** What is stored is otherwise than it was. */
const STORED: ReadonlySet<GatewayEvent["type"]> = new Set([
  ...(["reset", "command", "session", "approval", "approval_end", "engine"] as const),
]);

/** Returns how to stop. */
export function followEvents({ store, read, readWaiting }: FollowRequest): () => void {
  const take = (joined: Joined) => {
    store.set({ joined });
    // Until its reply is read, a turn that is over stays in sight.
    if (hasEnded(joined))
      void read().finally(() =>
        store.set({
          joined: withoutEnded(store.get().joined, joined),
          problems: problemsAfter(store.get(), joined),
          told: toldAfter(store.get(), joined),
        }),
      );
  };
  return shareEvents<Joined>({
    state: () => store.get().joined,
    // Another page may know of turns that are over, of whose end nobody tells again.
    onState: take,
    onEvent(event) {
      const joined = applyGatewayEvent(store.get().joined, event);
      if (event.type === "done") return take(joined);
      store.set({ joined, ...(event.type === "started" && newTurn(store.get(), event.session)) });
      if (event.type === "waiting") void readWaiting(event.session);
      if (STORED.has(event.type)) void read();
    },
  });
}

/** What went wrong or was told before is no news of the turn that begins. */
function newTurn({ problems, told }: PageState, key: string): Pick<PageState, "problems" | "told"> {
  const { [key]: _problem, ...otherProblems } = problems;
  const { [key]: _told, ...otherTold } = told;
  return { problems: otherProblems, told: otherTold };
}
