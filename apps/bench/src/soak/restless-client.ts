// A client of one session that leaves, sends again, cancels and takes back.
import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "./chance.ts";

/** What a client knows of one message. */
export interface SentMessage {
  session: string;
  /** Its idempotencyKey, which is its text as well. */
  key: string;
  /** The gateway said that it has it. */
  isTaken: boolean;
  /** "unknown": it was asked for, and no answer came. */
  takenBack: "no" | "yes" | "unknown" | "tooLate";
  /** What happened to it, each with the time of day. */
  trail: string[];
}

/** What clients did, by name. */
export type ClientCounts = Record<
  | "messages"
  | "left"
  | "again"
  | "cancelled"
  | "takenBack"
  | "waited"
  | "steered"
  | "refused"
  | "broken",
  number
>;

export interface ClientParts {
  /** Where the gateway is now. */
  url: () => string;
  /** What says who asks. */
  headers: Readonly<Record<string, string>>;
  /** Between two messages at most, ms. */
  pauseMs: number;
  chance: Chance;
  counts: ClientCounts;
  isOver: () => boolean;
  /** Asked before it says something: resolves when it may. Absent: it always may. */
  rest?: () => Promise<void>;
  /** Ended when nobody is to try any more. */
  signal: AbortSignal;
  /** Absent: it talks in one session all the time. */
  renewal?: Renewal;
}

/** When a client leaves its session for a new one, and what becomes of the old one. */
export interface Renewal {
  messages: number;
  leave(session: string, sent: readonly SentMessage[]): Promise<void>;
}

const LEAST_PAUSE_MS = 50;
const RETRY_MS = 300;

/** Resolves when all that it sent was taken, with what it sent in the session it is in. */
export async function beRestless(name: string, parts: ClientParts): Promise<SentMessage[]> {
  const { chance, isOver, pauseMs, rest, renewal } = parts;
  let session = name;
  let sent: SentMessage[] = [];
  await sleep(chance.between(0, pauseMs));
  for (let number = 0, generation = 0; !isOver(); ) {
    await rest?.();
    if (renewal !== undefined && sent.length >= renewal.messages) {
      await renewal.leave(session, sent);
      session = `${name}-${++generation}`;
      number = 0;
      sent = [];
    }
    const burst = chance.happens(0.2) ? chance.between(2, 4) : 1;
    const messages = Array.from({ length: burst }, (): SentMessage => {
      const key = `${session}:${number++}`;
      return { session, key, isTaken: false, takenBack: "no", trail: [] };
    });
    sent.push(...messages);
    await Promise.all(messages.map((message) => sayUntilTaken(message, parts)));
    await sleep(chance.between(LEAST_PAUSE_MS, pauseMs));
  }
  return sent;
}

async function sayUntilTaken(message: SentMessage, parts: ClientParts): Promise<void> {
  const { chance, counts, signal } = parts;
  counts.messages++;
  for (let attempts = 0; !message.isTaken && !signal.aborted; attempts++) {
    if (attempts > 0) counts.again++;
    try {
      await say(message, parts);
    } catch (error) {
      // It left, or the gateway did.
      note(message, `broke off: ${(error as Error).message}`);
      if (!message.isTaken) await sleep(RETRY_MS);
    }
  }
  // Whoever is not sure sends again, also when it was taken.
  const isGone = message.takenBack === "yes" || message.takenBack === "unknown";
  if (!chance.happens(0.1) || signal.aborted || isGone) return;
  counts.again++;
  note(message, "sent again, to be sure");
  await say(message, parts).catch(() => {});
}

const note = ({ trail }: SentMessage, what: string) =>
  trail.push(`${new Date().toISOString().slice(11, 23)} ${what}`);

interface Told {
  type: string;
  message?: { id: string };
}

/** Reads until the turn is over, unless it does something else. */
async function say(message: SentMessage, parts: ClientParts): Promise<void> {
  const { chance, counts, url, headers } = parts;
  const { session, key } = message;
  const gone = new AbortController();
  const steers = chance.happens(0.3);
  const plan = chance.next();
  // The gateway may be gone for good: nobody waits for ever.
  const signal = AbortSignal.any([gone.signal, parts.signal, AbortSignal.timeout(120_000)]);
  note(message, steers ? "sent, may steer" : "sent");
  if (plan < 0.05) setTimeout(() => gone.abort(), chance.between(0, 30));
  const response = await fetch(`${url()}/api/sessions/${session}/messages`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({
      ...{ text: key, idempotencyKey: key },
      whenBusy: steers ? "steer" : "follow",
    }),
    signal,
  });
  if (response.status === 429) {
    counts.refused++;
    await response.body?.cancel();
    await sleep(Math.min(5000, 1000 * Number(response.headers.get("retry-after"))));
    throw new Error("refused");
  }
  if (!response.ok) throw new Error(`answered ${response.status}`);
  let hasWaited = false;
  for await (const event of eventsOf(response)) {
    if (event.type !== "text") note(message, event.type);
    if (event.type === "waiting" || event.type === "accepted") message.isTaken = true;
    if (event.type === "accepted" && hasWaited && steers) counts.steered++;
    if (event.type === "waiting") {
      hasWaited = true;
      counts.waited++;
      if (chance.happens(0.1) && message.takenBack === "no")
        await takeBack(message, event.message!.id, parts);
    }
    if (event.type === "accepted" && plan > 0.95) {
      counts.cancelled++;
      note(message, "cancels");
      await fetch(`${url()}/api/sessions/${session}/abort`, { method: "POST", headers });
    }
    if (message.isTaken && plan > 0.05 && plan < 0.15) {
      counts.left++;
      note(message, "leaves");
      gone.abort();
      return;
    }
    if (event.type === "done" || event.type === "error") return;
  }
  counts.broken++;
}

async function takeBack(message: SentMessage, id: string, { url, counts, headers }: ClientParts) {
  message.takenBack = "unknown";
  const path = `${url()}/api/sessions/${message.session}/waiting/${id}`;
  const { status } = await fetch(path, { method: "DELETE", headers });
  note(message, `taken back: ${status}`);
  message.takenBack = status === 200 ? "yes" : status === 404 ? "tooLate" : "unknown";
  if (status === 200) counts.takenBack++;
}

async function* eventsOf(response: Response): AsyncGenerator<Told> {
  let rest = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    const events = (rest + piece).split("\n\n");
    rest = events.pop()!;
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) yield JSON.parse(data) as Told;
    }
  }
}
