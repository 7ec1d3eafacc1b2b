// Lists what a request consists of, as a delta to the session's previous request.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { createNotes, type Notes, type ToolDefinition } from "@clew/plugin-sdk/host";
import { estimateMessage, estimateText } from "@clew/plugin-sdk/tokens";
import { dequal } from "dequal/lite";
import type { ReportItem, ReportParts } from "../report/item.ts";

import { callIdsOf, withCallIds } from "./call-ids.ts";
import { whatIsSaid } from "./says-the-same.ts";
import type { SharedPrefix } from "./shared-prefix.ts";
import type { Why } from "./view-item.ts";

/**
 * After this many deltas a full list is written again, so that a report file can
 * be read from the middle.
 */
const CALLS_PER_FULL_LIST = 64;

/** A piece of the system prompt; the parts are joined by blank lines. */
export interface SystemPart {
  /** Names the part in reports: "base", "workspace", "engine". */
  id: string;
  /** As the model is shown it. */
  text: string;
  /** True: a provider may cache the system prompt up to and including this part. Absent: false. */
  cacheBoundary?: boolean;
}

/**
 * The messages of a session's last request, as reported; grows in place, private to one session.
 */
export interface RequestMemory {
  messages: readonly AgentMessage[];
  items: ReportItem[];
  /** `chain[i]` is a hash over the items 0..i. */
  chain: string[];
  tokens: number[];
  /** Hashes of messages' contents, by message. */
  hashes: Notes<AgentMessage, string>;
  /** Calls since the last full list; -1 = none yet. */
  deltas: number;
}

export const emptyRequestMemory = (): RequestMemory => ({
  messages: [],
  items: [],
  chain: [],
  tokens: [],
  hashes: createNotes(),
  deltas: -1,
});

export interface RequestDescription {
  system: ReportItem[];
  tools: ReportItem[];
  messages: { kept: number; items: ReportItem[]; tokens: number };
  /**
   * Leading messages that are what they were in the previous request, and their tokens; `moved`:
   * those of the others that stood in it too.
   */
  shared: { messages: number; tokens: number; moved: number };
  requestHash: string;
  parts: ReportParts;
}

export interface RequestToDescribe {
  model: string;
  system: readonly SystemPart[];
  tools: readonly ToolDefinition[];
  messages: readonly AgentMessage[];
  /** Why the message at `index` is there, and where from. */
  whyOf: (message: AgentMessage, index: number) => Why;
  hash: (text: string) => string;
  prefixOf: SharedPrefix;
  /** The session's previous request; becomes this one. */
  memory: RequestMemory;
}

/**
 * Describes a request as a delta to the session's previous one, and makes it the previous one, also
 * when it is not sent in the end. Work and size grow with what is new.
 */
export function advanceRequest(request: RequestToDescribe): RequestDescription {
  const { messages, memory, hash, whyOf } = request;
  const { items, chain, tokens } = memory;
  const parts: ReportParts = {};
  const same = sameMessages(request);
  const known = keptItems(request, same);
  const fresh = messages
    .slice(known)
    .map((message, index) =>
      describeMessage(message, whyOf(message, known + index), request, parts),
    );
  const before = items.slice(same).map((item) => item.hash);
  const shared = {
    messages: same,
    tokens: tokens[same - 1] ?? 0,
    moved: tokensAmong(fresh.slice(same - known), before),
  };
  for (const list of [items, chain, tokens]) list.length = known;
  for (const item of fresh) {
    items.push(item);
    chain.push(hash(`${chain.at(-1) ?? ""}\n${item.hash}`));
    tokens.push((tokens.at(-1) ?? 0) + item.tokens);
  }

  const system = request.system.map(({ id, text }) =>
    describePart(
      { source: { kind: "system", part: id }, code: "system-prompt", reason: "system prompt" },
      text,
      hash,
      parts,
    ),
  );
  const tools = request.tools.map((tool) =>
    describePart(
      {
        source: { kind: "tool-schema", name: tool.name },
        code: "tool-schema",
        reason: "tool schema",
      },
      JSON.stringify(tool),
      hash,
      parts,
    ),
  );
  const full = memory.deltas < 0 || memory.deltas + 1 >= CALLS_PER_FULL_LIST;
  memory.deltas = full ? 0 : memory.deltas + 1;
  memory.messages = messages;
  const heads = [...system, ...tools].map((item) => item.hash);
  return {
    system,
    tools,
    messages: {
      kept: full ? 0 : known,
      items: full ? items.slice() : fresh,
      tokens: tokens.at(-1) ?? 0,
    },
    shared,
    requestHash: hash([request.model, ...heads, chain.at(-1) ?? ""].join("\n")),
    parts,
  };
}

/** Pure. Tokens of the items with one of these hashes, each as often as it is among them. */
export function tokensAmong(items: readonly ReportItem[], hashes: readonly string[]): number {
  const left = new Map<string, number>();
  for (const hash of hashes) left.set(hash, (left.get(hash) ?? 0) + 1);
  let sum = 0;
  for (const { hash, tokens } of items) {
    const times = left.get(hash) ?? 0;
    if (times === 0) continue;
    left.set(hash, times - 1);
    sum += tokens;
  }
  return sum;
}

/** How many leading messages are what they were: the same object, or one that says the same. */
function sameMessages(request: RequestToDescribe): number {
  const { messages, memory: previous, prefixOf } = request;
  const limit = Math.min(messages.length, previous.messages.length);
  let index = prefixOf(messages, previous.messages);
  while (index < limit && contentHash(messages[index]!, request) === previous.items[index]!.hash)
    index++;
  return index;
}

/**
 * How many of the leading messages that are the same are told already: what says the same may come
 * from elsewhere, as a summary that reads like the one before it.
 */
function keptItems(
  { messages, memory: previous, prefixOf, whyOf }: RequestToDescribe,
  same: number,
) {
  const isTold = (index: number) =>
    dequal(whyOf(messages[index]!, index).source, previous.items[index]!.source);
  let index = Math.min(same, prefixOf(messages, previous.messages));
  while (index < same && isTold(index)) index++;
  return index;
}

function describeMessage(
  message: AgentMessage,
  { source, code, reason, engineReason, changed, covers, stored }: Why,
  request: RequestToDescribe,
  parts: ReportParts,
): ReportItem {
  const key = contentHash(message, request);
  const isStored = () => contentHash(stored ?? message, request) === key;
  // What differs by nothing else can be made again from what is stored.
  const callIds = changed && stored !== undefined ? callIdsOf(message) : [];
  const isRenamed =
    callIds.length > 0 && contentHash(withCallIds(stored!, callIds), request) === key;
  if (!isRenamed && (source.kind !== "entry" || changed || !isStored()))
    parts[key] = withoutImages(message, request.hash);
  const { estimate } = estimateMessage(message);
  return {
    source,
    role: message.role,
    ...(code !== undefined && { code }),
    reason,
    ...(engineReason !== undefined && { engineReason }),
    ...(covers !== undefined && { covers }),
    ...(message.__openclaw?.merged !== undefined && { merged: message.__openclaw.merged }),
    tokens: Math.ceil(estimate),
    hash: key,
    ...(changed && { changed }),
    ...(isRenamed && { callIds }),
  };
}

function describePart(
  why: Pick<ReportItem, "source" | "code" | "reason">,
  text: string,
  hash: (text: string) => string,
  parts: ReportParts,
): ReportItem {
  const key = hash(text);
  parts[key] = text;
  return { ...why, tokens: Math.ceil(estimateText(text).estimate), hash: key };
}

function contentHash(
  message: AgentMessage,
  { hash, memory: { hashes } }: Pick<RequestToDescribe, "hash" | "memory">,
): string {
  const known = hashes.get(message);
  if (known !== undefined) return known;
  const made = hash(JSON.stringify(whatIsSaid(message)));
  hashes.set(message, made);
  return made;
}

/**
 * What the message says, as JSON with every image's bytes replaced by their hash: reports
 * hold references, not copies.
 */
function withoutImages(message: AgentMessage, hash: (text: string) => string): string {
  return JSON.stringify(whatIsSaid(message), (key, value: unknown) =>
    key === "data" && typeof value === "string" ? { contentHash: hash(value) } : value,
  );
}
