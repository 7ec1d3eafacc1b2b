// Follows the gateway over one connection for all pages of a browser.
import type { GatewayEvent } from "../src/events/shapes.ts";

/** What pages tell each other; the one with the connection leads. */
type Said<State> =
  | { kind: "join" }
  /** What is known behind event `id`. */
  | { kind: "state"; id: string; state: State }
  | { kind: "event"; event: GatewayEvent };

export interface SharedEvents<State> {
  /** Once each, in order. */
  onEvent(event: GatewayEvent): void;
  /** What another page knows already, for one that has heard nothing yet. */
  onState(state: State): void;
  state(): State;
}

/** Pages of another build may tell otherwise. */
const NAME = "clew-events-1";

const TYPES = [
  ...["hello", "reset", "started", "accepted", "call", "text", "thinking", "call_end"],
  ...["tool_start", "tool_end", "message", "compaction", "notice", "approval", "approval_end"],
  ...["waiting"],
  ...["done", "command", "session", "engine", "stopping"],
] as const satisfies readonly GatewayEvent["type"][];

/**
 * A browser has six connections to one place, and a page that follows takes one: so one page does
 * for all. Where pages cannot agree, each has its own. Returns how to stop.
 */
export function shareEvents<State>(shared: SharedEvents<State>): () => void {
  // Only pages of this machine, or over TLS, can agree on who leads.
  if (!("locks" in navigator)) return listen(null, shared.onEvent);
  const channel = new BroadcastChannel(NAME);
  const leaving = new AbortController();
  let last: string | null = null;
  let resign: (() => void) | undefined;
  const tell = (said: Said<State>) => channel.postMessage(said);
  const take = (event: GatewayEvent) => {
    if (!isNew(event, last)) return;
    last = event.id;
    shared.onEvent(event);
  };
  channel.onmessage = ({ data }: MessageEvent<Said<State>>) => {
    if (data.kind === "event") take(data.event);
    else if (data.kind === "state" && last === null) {
      last = data.id;
      shared.onState(data.state);
    } else if (data.kind === "join" && resign !== undefined && last !== null)
      tell({ kind: "state", id: last, state: shared.state() });
  };
  const lead = () =>
    new Promise<void>((resolve) => {
      if (leaving.signal.aborted) return resolve();
      const stop = listen(last, (event) => {
        take(event);
        tell({ kind: "event", event });
      });
      resign = () => {
        stop();
        resolve();
      };
      // Whoever came while nobody led.
      if (last !== null) tell({ kind: "state", id: last, state: shared.state() });
    });
  navigator.locks.request(NAME, { signal: leaving.signal }, lead).catch(() => {});
  tell({ kind: "join" });
  return () => {
    leaving.abort();
    resign?.();
    channel.close();
  };
}

/** A browser tries again by itself when the connection breaks, from where it was. */
function listen(since: string | null, onEvent: (event: GatewayEvent) => void): () => void {
  const query = since === null ? "" : `?${new URLSearchParams({ since })}`;
  const source = new EventSource(`/api/events${query}`);
  const onMessage = ({ data }: MessageEvent<string>) => onEvent(JSON.parse(data) as GatewayEvent);
  for (const type of TYPES) source.addEventListener(type, onMessage);
  return () => source.close();
}

/**
 * Pure. False: it was told before, by the page that led then. Before it is told what is under
 * way, a page can do nothing with what happens.
 */
export function isNew({ id, type }: Pick<GatewayEvent, "id" | "type">, last: string | null) {
  if (type === "hello" || type === "reset") return true;
  if (last === null) return false;
  const [[process, number], [known, before]] = [id.split("."), last.split(".")];
  return process !== known || Number(number) > Number(before);
}
