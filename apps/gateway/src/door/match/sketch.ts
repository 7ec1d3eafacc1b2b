// What the matcher looks at of one request.
import { type Steps, stepsAtOnce } from "@clew/plugin-sdk/host";
import { contentHash } from "../../text/content-hash.ts";
import type { DoorRequest, DoorWire, JsonObject, MessageLook } from "../wires/door-wire.ts";
import { callKeys, isCounting, isSure, keyOfOlder, strayKey } from "./call-key.ts";
import type { ClientKey } from "./client-key.ts";
import { headOf } from "./head.ts";

/** Its identity is the hash of what it was. */
export interface SketchedMessage extends MessageLook {
  /** The same; null: it has none. */
  hash: string | null;
  /** By what the calls it makes are known; see `callKeys`. */
  callKeys: readonly string[];
  /** The same of those it answers, as they stand before it. */
  answerKeys: readonly string[];
  /** Of this message and all before it. */
  end: string;
  /**
   * The same without what clients write anew when they begin again: the first message where the
   * second is a person's too, else the first part of it; null where it has but one.
   */
  behindFirst: string | null;
  /**
   * What it is found by when what stands before it has changed: its first call, or the first one
   * that it answers, a reply by its words, anything else as a whole. Null: it has nothing to be
   * found by.
   */
  token: string | null;
}

export interface RequestSketch {
  client: ClientKey;
  /** Those behind the leading system and developer messages. */
  messages: readonly SketchedMessage[];
  /** Names, sorted. */
  tools: readonly string[];
  /** Of everything that leads: system prompt, instructions, developer messages. */
  head: string;
  /** The same in words. */
  rules: string;
  /**
   * The messages as the client sent them, but for ids that it puts on calls in place of those which
   * were given; see `sketchAsGiven`. Absent: it puts none.
   */
  renamed?: readonly JsonObject[];
}

export const sketchRequest = (
  wire: DoorWire,
  request: DoorRequest,
  client: ClientKey,
): RequestSketch => stepsAtOnce(sketchSteps(wire, request, client));

/** A step for each message; of one that was sketched so before, only a look. */
export function* sketchSteps(
  wire: DoorWire,
  request: DoorRequest,
  client: ClientKey,
): Steps<RequestSketch> {
  const { messages, leading } = request;
  const sketched: SketchedMessage[] = [];
  let chain = chainOf(wire);
  for (const message of messages.slice(leading)) {
    const link = linkBehind(chain, wire, message, { index: sketched.length });
    sketched.push(link.newest);
    chain = link;
    yield;
  }
  return { client, messages: sketched, tools: [...request.tools].sort(), ...headOf(wire, request) };
}

const START_BEHIND = "behind the first: ";

/** It begins with the wire: what looks alike on two is not the same conversation. */
export const chainOf = ({ api }: Pick<DoorWire, "api">): Chain => ({
  ...{ end: api, behindFirst: START_BEHIND + api, isIntroduced: false },
  ...{ newest: undefined, open: [] },
});

/** Of all messages up to one. */
export interface Chain {
  end: string;
  behindFirst: string;
  /** True: something stands before the person's first words. */
  isIntroduced: boolean;
  newest: SketchedMessage | undefined;
  /** What the model called when it spoke last. */
  open: readonly OpenCall[];
}

interface OpenCall {
  /** Empty: it has none. */
  id: string;
  key: string;
}

type Link = Chain & { newest: SketchedMessage };

/** What was made of a message behind another one. */
export type Links = WeakMap<JsonObject, { before: SketchedMessage | undefined; link: Link }>;

/** A client sends its messages with each request again, and most of them are the same objects. */
const LINKS: Links = new WeakMap();

/** `index`: its place among those behind the leading ones. */
export function linkBehind(
  chain: Chain,
  wire: DoorWire,
  message: JsonObject,
  { index, links = LINKS }: { index: number; links?: Links },
): Link {
  const before = chain.newest;
  const known = links.get(message);
  if (known !== undefined && known.before === before) return known.link;
  const link = lookAt(wire, message, chain, index);
  links.set(message, { before, link });
  return link;
}

function lookAt(wire: DoorWire, message: JsonObject, before: Chain, index: number): Link {
  const look = wire.look(message);
  // Of the identity only the hash is kept: all of them are as large as the request.
  const hash = look.identity === null ? null : contentHash(look.identity);
  const end = hash === null ? before.end : contentHash(before.end + hash);
  const isSecondOfPerson =
    index === 1 && before.newest?.speaker === "person" && look.speaker === "person";
  const hashBehind = index === 0 ? hashBehindFirstPart(wire, message) : hash;
  const isIntroduced = index === 0 ? hashBehind !== null : before.isIntroduced || isSecondOfPerson;
  const chained = isSecondOfPerson ? START_BEHIND + wire.api : before.behindFirst;
  const behindFirst =
    isIntroduced && hashBehind !== null ? contentHash(chained + hashBehind) : chained;
  const calls = keysOfCalls(look);
  const answers = keysOfAnswers(look, before.open);
  const open = openBehind(look, calls, before);
  // What is only computed when it is asked for stays so.
  const newest = Object.assign(look, {
    ...{ identity: hash, hash, end, callKeys: calls, answerKeys: answers },
    token: tokenOf(look, { hash: hashAnywhere(look) ?? hash, calls, answers }),
    wordsAnywhere: null,
    behindFirst: isIntroduced ? behindFirst : null,
  });
  return { end, behindFirst, isIntroduced, newest, open };
}

const hashAnywhere = ({ wordsAnywhere }: MessageLook): string | undefined =>
  wordsAnywhere == null ? undefined : contentHash(wordsAnywhere);

function keysOfCalls(look: MessageLook): readonly string[] {
  if (look.speaker !== "model") return look.calls;
  if (look.calls.length > 0 && !look.calls.some(isCounting)) return look.calls;
  return callKeys(look.calls, look.forms.map(hashOfForm));
}

/** Where ids repeat, the call is the one that stands right before. */
function keysOfAnswers(look: MessageLook, open: readonly OpenCall[]): readonly string[] {
  const { speaker, answers } = look;
  if (answers.length === 0) return speaker === "tools" && open[0] ? [open[0].key] : [];
  return answers.map((id) => open.findLast((call) => call.id === id)?.key ?? strayKey(id));
}

function openBehind(
  { speaker, calls, answers }: MessageLook,
  keys: readonly string[],
  { open, newest }: Chain,
): readonly OpenCall[] {
  // Results without ids come in the order of the calls.
  if (speaker === "tools") return answers.length === 0 ? open.slice(1) : open;
  if (speaker !== "model") return open;
  const own = keys.map((key, at) => ({ id: calls[at] ?? "", key }));
  return newest?.speaker === "model" ? [...open.slice(-MOST_OPEN), ...own] : own;
}

/** Calls before these, of one reply, are not answered any more. */
const MOST_OPEN = 128;

function hashBehindFirstPart(wire: DoorWire, message: JsonObject): string | null {
  const list = ["content", "parts"].find((name) => Array.isArray(message[name]));
  const [, ...rest] = list === undefined ? [] : (message[list] as readonly unknown[]);
  if (list === undefined || rest.length === 0) return null;
  const { identity } = wire.look({ ...message, [list]: rest });
  return identity === null ? null : contentHash(identity);
}

function tokenOf(
  { speaker, text }: MessageLook,
  {
    hash,
    calls,
    answers,
  }: Record<"calls" | "answers", readonly string[]> & {
    hash: string | null;
  },
) {
  if (calls.length > 0) return `${CALLS}${calls[0]}`;
  if (answers.length > 0) return `${ANSWERS}${answers[0]}`;
  if (hash === null) return null;
  return speaker === "model" && text.trim() !== "" ? saidToken(text) : hash;
}

/** The message as an answer to these calls, which stand in no message before it. */
export const answering = (
  message: SketchedMessage,
  answerKeys: readonly string[],
): SketchedMessage => ({ ...message, answerKeys, token: `${ANSWERS}${answerKeys[0]}` });

/** The tokens that a reply will be found by. */
export const tokensOfReply = ({
  said,
  calls,
  forms,
}: Record<"said" | "calls" | "forms", readonly string[]>): string[] => [
  ...said,
  ...callKeys(calls, forms).map((key) => `${CALLS}${key}`),
];

/** The same token, in which older lines of a journal name a call by its id alone. */
export function tokenOfOlder(token: string, keys: readonly string[]): string {
  const start = [CALLS, ANSWERS].find((each) => token.startsWith(each));
  return start === undefined ? token : `${start}${keyOfOlder(token.slice(start.length), keys)}`;
}

/** The key of the call that the token tells; undefined: it tells something else. */
export const callOfToken = (token: string): string | undefined =>
  token.startsWith(CALLS) ? token.slice(CALLS.length) : undefined;

/** True: it is said or called once, unless a server repeats itself. */
export const tellsAlone = (token: string): boolean =>
  isSaid(token) || (token.startsWith(CALLS) && isSure(token.slice(CALLS.length)));

/** True: a model says or calls it. */
export const isOfModel = (token: string): boolean => isSaid(token) || token.startsWith(CALLS);

/** Of a model or a tool: hardly ever said twice. */
export const isAnchor = (token: string): boolean => token.startsWith(ANCHOR);

/** True: the token ends a turn. */
export const isSaid = (token: string | undefined): boolean =>
  token?.startsWith(`${ANCHOR}said `) === true;

const ANCHOR = "= ";
const CALLS = `${ANCHOR}calls `;
const ANSWERS = `${ANCHOR}answers `;

/** By name and arguments; see `formOf`. */
export const hashOfForm = (form: string): string => contentHash(form.normalize());

export const saidToken = (text: string): string =>
  `${ANCHOR}said ${contentHash(text.trim().normalize())}`;
