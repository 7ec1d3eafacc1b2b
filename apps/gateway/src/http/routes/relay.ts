// Hands what another gateway tells of a turn on to this one's client.
import { setTimeout as after } from "node:timers/promises";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { linkSignals } from "@clew/plugin-sdk/host";
import type { Standing } from "../../storage/storage.ts";
import type { StreamedEvent } from "../event-stream.ts";
import { readPlacedEvents } from "../read-events.ts";

/** What ends nothing: another gateway has the session, or will have it. */
const GOES_ON: ReadonlySet<string> = new Set(["SESSION_LOCKED", "GATEWAY_STOPPING"]);

/** Its stream broke off, or told that another gateway is to be asked. */
export class BrokenOff extends Error {}

export interface RelayPorts {
  /** `id`: where a client is that has heard it. Absent: where it was before. */
  send(event: StreamedEvent, id?: string): void;
  /** Resolves when its client has read nearly all that it was sent. */
  drained(): Promise<void>;
  /** Its reader is gone. */
  left: AbortSignal;
  /** False: it was told before. Absent: it is told. */
  isNew?: ((event: StreamedEvent) => boolean) | undefined;
}

/** Throws where it ends before its end; `goesOn` says whether that ends nothing. */
export async function relay(
  { body }: Pick<Response, "body">,
  { send, drained, left, isNew = () => true }: RelayPorts,
): Promise<void> {
  try {
    for await (const { event, id } of body === null ? [] : readPlacedEvents(body)) {
      if (event.type === "queued") continue;
      if (event.type === "error" && GOES_ON.has(event.error.code)) break;
      if (!isNew(event)) continue;
      await drained();
      if (id === "") send(event);
      else send(event, id);
      if (event.type === "done" || event.type === "error") return;
    }
  } catch (error) {
    if (left.aborted) throw error;
  }
  throw new BrokenOff();
}

export interface OwnerPorts {
  /** How the session stands at the next look, which all who wait take together. */
  look(): Promise<Standing>;
  /** Its reader is gone. */
  left: AbortSignal;
}

/** Between two looks whether the gateway that answers has the session still, ms. */
const OWNER_MS = 1000;

export interface OwnerWatch {
  /** Fires when its reader is gone, or the gateway has not got the session any more. */
  signal: AbortSignal;
  stop(): void;
}

/**
 * Looks whether a gateway that is asked still has the session: one that is frozen, or whose machine
 * is off, ends nothing by itself.
 */
export function watchOwner(owner: string, { look, left }: OwnerPorts): OwnerWatch {
  const lost = new AbortController();
  const over = new AbortController();
  // Those that the platform makes of others keep their listeners for ever.
  const { signal } = linkSignals(left, lost.signal);
  const { signal: ends } = linkSignals(signal, over.signal);
  const watch = async () => {
    for (let misses = 0; misses < 2; ) {
      await after(OWNER_MS, undefined, { signal: ends, ref: false });
      // Where the database does not answer, nobody else has it either.
      const standing = await look().catch(() => undefined);
      if (standing !== undefined) misses = standing.owner === owner ? 0 : misses + 1;
    }
    lost.abort(new DOMException("Another gateway has the session.", "AbortError"));
  };
  void watch().catch(() => {});
  return { signal, stop: () => over.abort() };
}

export const goesOn = (error: unknown): boolean =>
  error instanceof BrokenOff || ContextEngineError.is(error, "SESSION_LOCKED");

/**
 * The other gateway is there, and has not got the session, or not for long: also one that does not
 * reach the database.
 */
export async function isAway(answer: Response): Promise<boolean> {
  if (![409, 503, 507].includes(answer.status)) return false;
  const told = await answer
    .clone()
    .json()
    .catch(() => null);
  const { error } = (told ?? {}) as { error?: { code?: unknown } };
  return GOES_ON.has(String(error?.code)) || error?.code === "STORAGE_FAILED";
}
