// Sees a message through to its end, whichever gateways have its session meanwhile.
import { setTimeout as after } from "node:timers/promises";
import { ContextEngineError, isAbort } from "@clew/plugin-sdk/core";
import type { WaitingView } from "../../waiting/waiting-message.ts";
import type { StreamedEvent } from "../event-stream.ts";
import type { SentMessage } from "../message-body.ts";
import { readEvents } from "../read-events.ts";

/** Where a session is: at this gateway, or at one that answered a message for it. */
export type Reached = "here" | { answer: Response };

export interface AcrossPorts {
  /** Address of the gateway that has the session; null: this one, or nobody who lives. */
  ownerOf(): Promise<string | null>;
  /** Throws where it does not answer. `isKept`: it was kept before. */
  sendTo(owner: string, isKept: boolean): Promise<Response>;
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
  send(event: StreamedEvent): void;
  /** Its reader is gone. */
  left: AbortSignal;
  onDisconnect: SentMessage["onDisconnect"];
}

export type SentAcross =
  /** Refused before anything was told. */
  | { refused: Response }
  /** Settles when all is told, or rejects. */
  | { told: Promise<void> };

/** Time between two looks for who has the session, ms. */
const LOOK_MS = 250;
/** A message that nobody takes up for so long goes on waiting without its reader, ms. */
const PATIENCE_MS = 120_000;

/** What ends nothing: another gateway has the session, or will have it. */
const GOES_ON: ReadonlySet<string> = new Set(["SESSION_LOCKED", "GATEWAY_STOPPING"]);

export async function sendAcross(ports: AcrossPorts): Promise<SentAcross> {
  const owner = await ports.ownerOf();
  if (owner === null) {
    const { told } = await ports.sendHere(false);
    return { told: seeThrough(ports, told) };
  }
  const answer = await ports.sendTo(owner, false).catch(unlessGone(ports.left));
  if (answer === undefined || (await isAway(answer))) {
    const kept = await ports.keep();
    return { told: goOn(ports, { kept, hasText: false }) };
  }
  if (!answer.ok) return { refused: answer };
  const progress: Progress = { kept: null, hasText: false };
  return { told: seeThrough(ports, tell(ports, answer, progress), progress) };
}

interface Progress {
  /** Null: nobody kept it, as far as is known. */
  kept: WaitingView | null;
  /** Something of a reply was told. */
  hasText: boolean;
}

/** Its stream broke off, or told that another gateway is to be asked. */
class BrokenOff extends Error {}

async function seeThrough(
  ports: AcrossPorts,
  told: Promise<void>,
  progress: Progress = { kept: null, hasText: false },
): Promise<void> {
  try {
    await told;
  } catch (error) {
    if (!goesOn(error) || ports.left.aborted) throw error;
    await goOn(ports, progress);
  }
}

/** Until a gateway that has the session told its end. */
async function goOn(ports: AcrossPorts, progress: Progress): Promise<void> {
  progress.kept ??= await ports.keep();
  ports.send({ type: "waiting", message: progress.kept });
  for (let since = performance.now(); ; ) {
    if (ports.left.aborted) return leave(ports, progress.kept);
    if (performance.now() - since > PATIENCE_MS) throw stillKept();
    const reached = await reach(ports);
    if (reached === null) {
      // A gateway that lives and does not answer here may have said it.
      if (await ports.tellSaid().catch(() => false)) return;
      await after(LOOK_MS, undefined, { signal: ports.left }).catch(() => {});
      continue;
    }
    try {
      if (progress.hasText) ports.send({ type: "restarted" });
      progress.hasText = false;
      if (reached === "here") await (await ports.sendHere(true)).told;
      else await tell(ports, reached.answer, progress);
      return;
    } catch (error) {
      if (!goesOn(error)) throw error;
      if (progress.hasText) since = performance.now();
    }
    await after(LOOK_MS, undefined, { signal: ports.left }).catch(() => {});
  }
}

/** Null: nobody yet. */
async function reach(ports: AcrossPorts): Promise<Reached | null> {
  const owner = await ports.ownerOf().catch(() => undefined);
  if (owner === null) return "here";
  if (owner === undefined) return null;
  const answer = await ports.sendTo(owner, true).catch(() => null);
  if (answer?.ok === true) return { answer };
  await answer?.body?.cancel();
  return null;
}

/** What another gateway tells of it. Throws where that ends before its end. */
async function tell(ports: AcrossPorts, { body }: Response, progress: Progress): Promise<void> {
  try {
    for await (const event of body === null ? [] : readEvents(body)) {
      if (event.type === "queued") continue;
      if (event.type === "error" && GOES_ON.has(event.error.code)) break;
      if (event.type === "waiting") {
        if (progress.kept !== null) continue;
        progress.kept = event.message;
      }
      progress.hasText ||= event.type === "text" || event.type === "thinking";
      ports.send(event);
      if (event.type === "done" || event.type === "error") return;
    }
  } catch (error) {
    if (ports.left.aborted) throw error;
  }
  throw new BrokenOff();
}

/** The other gateway is there, and has not got the session, or not for long. */
async function isAway(answer: Response): Promise<boolean> {
  if (answer.ok || (answer.status !== 409 && answer.status !== 503)) return false;
  const told = await answer
    .clone()
    .json()
    .catch(() => null);
  const { error } = (told ?? {}) as { error?: { code?: unknown } };
  return GOES_ON.has(String(error?.code));
}

async function leave({ onDisconnect, takeBack }: AcrossPorts, kept: WaitingView): Promise<void> {
  if (onDisconnect === "abort") await takeBack(kept.id);
}

const goesOn = (error: unknown): boolean =>
  error instanceof BrokenOff || ContextEngineError.is(error, "SESSION_LOCKED");

const unlessGone = (left: AbortSignal) => (error: unknown) => {
  if (isAbort(error) || left.aborted) throw error;
  return undefined;
};

const stillKept = () =>
  new ContextEngineError(
    "SESSION_LOCKED",
    "The gateway that has the session does not answer; the message is kept, and has its turn as soon as one does.",
  );
