// A client of the door that leaves, asks again, and goes on with what it had.
import { setTimeout as sleep } from "node:timers/promises";
import type { Said } from "../../../gateway/src/door/testing/conversation.ts";
import { readReply } from "../../../gateway/src/door/testing/read-reply.ts";
import { writeRequest } from "../../../gateway/src/door/testing/write-request.ts";
import type { DoorApi } from "../../../gateway/src/door/wires/door-wire.ts";
import type { Chance } from "./chance.ts";
import { type PostedAnswer, post } from "./door-post.ts";
import type { ClientParts } from "./restless-client.ts";
import { named, namesIn } from "./said-names.ts";

/** Who owns the history. */
export type DoorMode = "transparent" | "session";

/** What a client knows of one conversation. */
export interface Talk {
  name: string;
  mode: DoorMode;
  api: DoorApi;
  /** As answers named it. */
  sessions: Set<string>;
  /** As its client has it. */
  said: Said[];
  /** Of `said`, up to the last reply that was heard whole. */
  heard: number;
  /** What was asked of one gateway, and again of the next. */
  acrossKill: Set<string>;
  /** What a person said, whatever became of it. */
  messages: number;
  trail: string[];
}

/** What clients of the door did, by name. */
export type DoorCounts = Record<
  | ("messages" | "replies" | "calls" | "again")
  | ("left" | "keptPart" | "saidElse" | "refused" | "broken"),
  number
>;

export interface DoorParts extends Omit<ClientParts, "counts" | "renewal"> {
  counts: DoorCounts;
  /** When it begins another conversation, and what becomes of this one. Absent: never. */
  renewal?: { messages: number; leave(talk: Talk): Promise<void> };
}

const TOOL = "read";
const LEAST_PAUSE_MS = 50;
const RETRY_MS = 300;
const LONGEST_MS = 120_000;

/** Resolves when all that it said was answered, with the conversation it is in. */
export async function talkAtDoor(
  name: string,
  { mode, api }: Pick<Talk, "mode" | "api">,
  parts: DoorParts,
): Promise<Talk> {
  const { chance, isOver, pauseMs, rest, renewal } = parts;
  const begin = (as: string): Talk => ({
    ...{ name: as, mode, api, sessions: new Set(), acrossKill: new Set() },
    ...{ said: [], heard: 0, messages: 0, trail: [] },
  });
  let talk = begin(name);
  await sleep(chance.between(0, pauseMs));
  for (let generation = 0; !isOver(); ) {
    await rest?.();
    if (renewal !== undefined && talk.messages >= renewal.messages) {
      await renewal.leave(talk);
      talk = begin(`${name}-${++generation}`);
    }
    sayNext(talk, parts);
    await untilAnswered(talk, parts);
    await sleep(chance.between(LEAST_PAUSE_MS, pauseMs));
  }
  return talk;
}

function sayNext(talk: Talk, { counts }: Pick<DoorParts, "counts">): void {
  counts.messages++;
  const text = `${named(`${talk.name}:${talk.messages++}`)} Look at it, and write down what you find.`;
  talk.said.push({ uid: null, by: "person", text });
}

async function untilAnswered(talk: Talk, parts: DoorParts): Promise<void> {
  const { chance, counts, signal, url } = parts;
  let asked = url();
  for (let tries = 0; !signal.aborted; ) {
    if (tries === 0) asked = url();
    else if (url() !== asked) for (const one of namesIn(talk.said.at(-1))) talk.acrossKill.add(one);
    const answer = await ask(talk, tries, parts);
    const reply = answer.status === 200 ? replyIn(talk.api, answer) : undefined;
    if (reply?.isWhole) {
      counts.replies++;
      if (!takeReply(talk, reply.said)) return;
      counts.calls++;
      tries = 0;
      continue;
    }
    if (answer.status === 429) counts.refused++;
    else if (answer.status === 200) counts.broken++;
    await sleep(pauseAfter(answer));
    // Who is refused asks again; so do most others.
    if (answer.status !== 200 || chance.happens(0.6)) {
      tries++;
      counts.again++;
      continue;
    }
    tries = 0;
    goOnOtherwise(talk, reply?.said.text ?? "", parts);
  }
}

/** True: it calls, and was given the results. */
function takeReply(talk: Talk, reply: SaidByModel): boolean {
  talk.said.push(reply);
  talk.heard = talk.said.length;
  if (reply.calls.length === 0) return false;
  const results = reply.calls.map(({ id, name }) => {
    const text = `${named(`result of ${id}`)} line after line of a file`;
    return { id, name, text };
  });
  talk.said.push({ uid: null, by: "tools", results });
  return true;
}

/** With what came of the reply, or without. */
function goOnOtherwise(talk: Talk, part: string, parts: DoorParts): void {
  const { chance, counts } = parts;
  const keeps = namesIn(part).length > 0 && chance.happens(0.5);
  // Where the session has the history, what was given up is nobody's wish any more.
  if (talk.mode === "session") talk.said.length = talk.heard;
  else if (keeps) talk.said.push({ uid: null, by: "model", text: part, calls: [] });
  counts[keeps ? "keptPart" : "saidElse"]++;
  note(talk, keeps ? `goes on with ${namesIn(part).join()}` : "says something else instead");
  sayNext(talk, parts);
}

async function ask(talk: Talk, tries: number, parts: DoorParts): Promise<PostedAnswer> {
  const { chance, counts, url, headers } = parts;
  const { mode, api, said } = talk;
  const leaves = leavesAt(talk, chance);
  const { path, body } = writeRequest(api, mode === "session" ? newestOf(said) : said, {
    ...{ model: "soak", head: ["You are an agent."], tools: [TOOL, "write"], marks: true },
  });
  note(talk, `asks${tries > 0 ? " again" : ""}: ${namesIn(said.at(-1)).join()}`);
  const answer = await post({
    url: `${url()}${path}${api === "google-generative-ai" ? "?alt=sse" : ""}`,
    headers: {
      ...headers,
      ...(mode === "session" && { "x-clew-session": talk.name }),
      // Google's clients do not count.
      ...(api !== "google-generative-ai" && { "x-stainless-retry-count": String(tries) }),
    },
    body: JSON.stringify(body),
    ...(leaves !== undefined && { leaves }),
    signal: AbortSignal.any([parts.signal, AbortSignal.timeout(LONGEST_MS)]),
  });
  if (leaves !== undefined && !answer.isComplete) counts.left++;
  const session = answer.headers["x-clew-session"];
  if (typeof session === "string") talk.sessions.add(session);
  const isOdd = answer.status !== 0 && answer.status !== 200;
  const left = leaves !== undefined && !answer.isComplete ? ", left" : "";
  const told = isOdd ? `: ${answer.text.slice(0, 200)}` : ` ${namesIn(answer.text).join()}`;
  note(talk, `answered ${answer.status}${left}${told}`);
  return answer;
}

/** Who drops its first reply of all, unread, may be somebody else who begins so. */
function leavesAt({ mode, heard }: Talk, chance: Chance): number | "early" | undefined {
  const plan = chance.next();
  const after = chance.between(0, 30);
  if ((mode === "transparent" && heard === 0) || plan > 0.12) return undefined;
  return plan < 0.06 ? after : "early";
}

const newestOf = (said: readonly Said[]) => said.slice(said.findLastIndex(isOfPerson));

const isOfPerson = ({ by }: Said) => by === "person";

type SaidByModel = Extract<Said, { by: "model" }>;

/** What clients of each wire wait for. */
const FINAL = /\[DONE\]|message_stop|response\.completed|finishReason/;

function replyIn(api: DoorApi, { text, headers }: PostedAnswer) {
  const contentType = headers["content-type"] ?? "";
  const { events, last } = readReply(api, text, contentType);
  const words = events.map((event) => (event.type === "text" ? event.delta : "")).join("");
  const calls = events.flatMap((event) =>
    event.type === "tool_call"
      ? [{ id: event.call.id, name: event.call.name, args: event.call.arguments }]
      : [],
  );
  const said: SaidByModel = { uid: null, by: "model", text: words, calls };
  return { isWhole: last.type === "done" && FINAL.test(text), said };
}

function pauseAfter({ status, headers }: PostedAnswer): number {
  if (status === 200) return 0;
  const seconds = Number(headers["retry-after"]);
  return seconds > 0 ? Math.min(5000, 1000 * seconds) : RETRY_MS;
}

const note = ({ trail }: Talk, what: string) =>
  trail.push(`${new Date().toISOString().slice(11, 23)} ${what}`);
