// Sees a message through to its end, whichever gateways have its session meanwhile.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Standing } from "../../storage/storage.ts";
import type { WaitingView } from "../../waiting/waiting-message.ts";
import type { StreamedEvent } from "../event-stream.ts";
import type { SentMessage } from "../message-body.ts";
import { goesOn, isAway, type OwnerWatch, relay, watchOwner } from "./relay.ts";

/** Where a session is: at this gateway, or at one that answered a message for it. */
export type Reached = "here" | Answering;

interface Answering {
  answer: Response;
  watch: OwnerWatch;
}

export interface AcrossPorts {
  /** Address of the gateway that has the session; null: this one, or nobody who lives. */
  ownerOf(): Promise<string | null>;
  /** How its session stands at the next look, which all who wait take together. */
  look(): Promise<Standing>;
  /** The address is this gateway's, or null: nobody's who lives. */
  isHere(owner: string | null): boolean;
  /** Throws where it does not answer. `isKept`: it was kept before. */
  sendTo(owner: string, isKept: boolean, signal: AbortSignal): Promise<Response>;
  /**
   * Takes the message in here, or takes part in it where it was kept; `told` settles when its end
   * was told, or rejects. Throws what refuses it.
   */
  sendHere(isKept: boolean): Promise<{ told: Promise<void> }>;
  /** Durable for whoever has the session when it resolves. Throws what refuses it. */
  keep(): Promise<WaitingView>;
  takeBack(id: string): Promise<void>;
  /** Tells what came of it where that is stored. False: it was not answered yet. */
  tellSaid(): Promise<boolean>;
  /** `id`: where a client is that has heard it. Absent: where it was before. */
  send(event: StreamedEvent, id?: string): void;
  /** Of the newest event. */
  lastId(): string;
  /** Resolves when its client has read nearly all that it was sent. */
  drained(): Promise<void>;
  /** Its reader is gone. */
  left: AbortSignal;
  /** This gateway may no longer act, and sees nothing through. */
  over: AbortSignal;
  onDisconnect: SentMessage["onDisconnect"];
}

export type SentAcross =
  /** Refused before anything was told. */
  | { refused: Response }
  /** Settles when all is told, or rejects. */
  | { told: Promise<void> };

/** A message that nobody takes up for so long goes on waiting without its reader, ms. */
const PATIENCE_MS = 120_000;

export async function sendAcross(ports: AcrossPorts): Promise<SentAcross> {
  const owner = await ports.ownerOf();
  if (owner === null) {
    const { told } = await ports.sendHere(false);
    return { told: seeThrough(ports, told) };
  }
  const watch = watchOwner(owner, ports);
  const answer = await ports.sendTo(owner, false, watch.signal).catch((error: unknown) => {
    if (ports.left.aborted) throw error;
    return undefined;
  });
  if (answer?.status === 200) {
    const progress: Progress = { kept: null };
    const told = tell(ports, { answer, watch }, progress);
    return { told: seeThrough(ports, told, progress) };
  }
  watch.stop();
  if (answer !== undefined && !(await isAway(answer))) return { refused: answer };
  return { told: goOn(ports, { kept: await ports.keep() }) };
}

interface Progress {
  /** Null: nobody kept it, as far as is known. */
  kept: WaitingView | null;
}

async function seeThrough(
  ports: AcrossPorts,
  told: Promise<void>,
  progress: Progress = { kept: null },
): Promise<void> {
  try {
    await told;
  } catch (error) {
    if (!goesOn(error) || ports.left.aborted || ports.over.aborted) throw error;
    await goOn(ports, progress);
  }
}

/** Until a gateway that has the session told its end. */
async function goOn(ports: AcrossPorts, progress: Progress): Promise<void> {
  progress.kept ??= await ports.keep();
  ports.send({ type: "waiting", message: progress.kept });
  for (let since = performance.now(); ; ) {
    if (ports.left.aborted) return leave(ports, progress.kept);
    ports.over.throwIfAborted();
    if (performance.now() - since > PATIENCE_MS) throw stillKept();
    const standing = await ports.look().catch(() => undefined);
    if (standing === undefined) continue;
    const reached = await reach(ports, standing);
    if (reached === null) {
      // A gateway that lives and does not answer here may have said it.
      if (!standing.isKept && (await ports.tellSaid().catch(() => false))) return;
      continue;
    }
    const before = ports.lastId();
    try {
      if (reached === "here") await (await ports.sendHere(true)).told;
      else await tell(ports, reached, progress);
      return;
    } catch (error) {
      if (!goesOn(error)) throw error;
      if (ports.lastId() !== before) since = performance.now();
    }
  }
}

/** Null: nobody yet. */
async function reach(ports: AcrossPorts, { owner }: Standing): Promise<Reached | null> {
  if (owner === null || ports.isHere(owner)) return "here";
  const watch = watchOwner(owner, ports);
  const answer = await ports.sendTo(owner, true, watch.signal).catch(() => null);
  if (answer?.status === 200) return { answer, watch };
  watch.stop();
  await answer?.body?.cancel();
  return null;
}

/** What another gateway tells of it. Throws where that ends before its end. */
const tell = (
  { send, drained, left }: AcrossPorts,
  { answer, watch }: Answering,
  progress: Progress,
): Promise<void> =>
  relay(answer, {
    ...{ send, drained, left },
    isNew(event) {
      if (event.type !== "waiting") return true;
      if (progress.kept !== null) return false;
      progress.kept = event.message;
      return true;
    },
  }).finally(watch.stop);

async function leave({ onDisconnect, takeBack }: AcrossPorts, kept: WaitingView): Promise<void> {
  if (onDisconnect === "abort") await takeBack(kept.id);
}

const stillKept = () =>
  new ContextEngineError(
    "SESSION_LOCKED",
    "The gateway that has the session does not answer; the message is kept, and has its turn as soon as one does.",
  );
