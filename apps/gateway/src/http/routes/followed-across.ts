// Follows the turn of a session, whichever gateways have it meanwhile.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Standing } from "../../storage/storage.ts";
import type { Followed } from "../told-turn.ts";
import { goesOn, isAway, type OwnerPorts, type RelayPorts, relay, watchOwner } from "./relay.ts";

export interface FollowPorts extends RelayPorts, OwnerPorts {
  /** What this gateway can tell, from where the client is. */
  followHere(): Promise<Followed>;
  /** From where the client is. Throws where it does not answer. */
  sendTo(owner: string, signal: AbortSignal): Promise<Response>;
  /** The address is this gateway's, or null: nobody's who lives. */
  isHere(owner: string | null): boolean;
  /** Of the newest event. */
  lastId(): string;
  /** This gateway may no longer act, and sees nothing through. */
  over: AbortSignal;
}

export type FollowedAcross =
  /** Answered by the gateway that has the session, or without a stream. */
  | { refused: Response }
  /** Nobody else has it. */
  | { followed: Followed }
  /** Settles when all is told, or rejects. */
  | { told: Promise<void> };

/** A turn that nobody takes up for so long is not waited for any more, ms. */
const PATIENCE_MS = 120_000;

/** `owner`: another gateway's address; null: this one has the session, or nobody who lives. */
export async function followAcross(
  owner: string | null,
  ports: FollowPorts,
): Promise<FollowedAcross> {
  if (owner === null) {
    const followed = await ports.followHere();
    if (isLive(followed)) return { told: seeThrough(ports, followed.tell()) };
    return (await ports.look()).isInTurn ? { told: goOn(ports) } : { followed };
  }
  const watch = watchOwner(owner, ports);
  const answer = await ports.sendTo(owner, watch.signal).catch((error: unknown) => {
    if (ports.left.aborted) throw error;
    return undefined;
  });
  if (answer?.status === 200)
    return { told: seeThrough(ports, relay(answer, ports).finally(watch.stop)) };
  watch.stop();
  if (answer === undefined || (await isAway(answer))) return { told: goOn(ports) };
  return { refused: answer };
}

async function seeThrough(ports: FollowPorts, told: Promise<void>): Promise<void> {
  try {
    await told;
  } catch (error) {
    if (!goesOn(error) || ports.left.aborted || ports.over.aborted) throw error;
    await goOn(ports);
  }
}

/** Until the turn's end was told, by whichever gateway goes on with it. */
async function goOn(ports: FollowPorts): Promise<void> {
  for (let since = performance.now(); performance.now() - since < PATIENCE_MS; ) {
    if (ports.left.aborted) return;
    ports.over.throwIfAborted();
    const standing = await ports.look().catch(() => undefined);
    const before = ports.lastId();
    try {
      if (standing !== undefined && (await isToldBy(ports, standing))) return;
    } catch (error) {
      if (!goesOn(error)) throw error;
    }
    if (ports.lastId() !== before) since = performance.now();
  }
  throw nobodyGoesOn();
}

/** False: nobody does yet. */
async function isToldBy(ports: FollowPorts, { owner, isInTurn }: Standing): Promise<boolean> {
  if (ports.isHere(owner) || owner === null) {
    const followed = await ports.followHere();
    if (!isLive(followed) && isInTurn) return false;
    if (followed.kind === "told") await followed.tell();
    return true;
  }
  const watch = watchOwner(owner, ports);
  try {
    const answer = await ports.sendTo(owner, watch.signal).catch(() => null);
    if (answer?.status === 200) {
      await relay(answer, ports);
      return true;
    }
    await answer?.body?.cancel();
    // There is nothing more of it, and nothing runs.
    return answer?.status === 204 || answer?.status === 404;
  } finally {
    watch.stop();
  }
}

/** It is told by who runs it, or ran it. */
const isLive = (followed: Followed): followed is Extract<Followed, { kind: "told" }> =>
  followed.kind === "told" && followed.isLive;

const nobodyGoesOn = () =>
  new ContextEngineError(
    "SESSION_LOCKED",
    "The gateway that has the session does not answer, and no other goes on with its turn; come back with the last event's id.",
  );
