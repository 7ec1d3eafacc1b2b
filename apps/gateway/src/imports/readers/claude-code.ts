// Reads a transcript of Claude Code, which is a tree of lines with subagents beside.
import type {
  AgentMessage,
  AssistantBlock,
  AssistantMessage,
  ImageBlock,
  TextBlock,
} from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import type { NewTranscriptEntry } from "@clew/plugin-sdk/transcript";
import { readAnthropic } from "../../door/transcript/read-anthropic.ts";
import type { WireRead } from "../../door/transcript/wire-read.ts";
import { objectsOf, textOf } from "../../door/wires/json.ts";
import type {
  ForeignEntry,
  ForeignLine,
  FormatReader,
  FoundSession,
  ReaderOptions,
} from "../foreign.ts";
import { createStrand, isoTime, memberOf, recordOf, type Strand, stamp } from "../strand.ts";
import { count } from "../tally.ts";
import { anthropicUsage } from "../usage.ts";
import {
  type ClaudeNode,
  type ClaudePlan,
  nodeOf,
  planClaude,
  planStrands,
} from "./claude-tree.ts";

const FORMAT = "claude-code";

/** One conversation of the file while it is read. */
interface Reading {
  found: FoundSession;
  strand: Strand;
  plan: ClaudePlan;
  /** What is not given yet, because a reply before it goes on further below. */
  held: Held[];
  /** Replies in `held` by their ids. */
  open: Map<string, Held>;
  /** Newest entry that a line gave, by the line's uuid. */
  entryOf: Map<string, string | null>;
  toolNames: Map<string, string>;
  /** What the compaction that comes next had before it. */
  tokensBefore: number;
}

/** What a line, or the lines of a reply, come to. */
interface Held {
  node: ClaudeNode | null;
  isOnPath: boolean;
  uuids: string[];
  time: unknown;
  entries: { key: string; entry: NewTranscriptEntry }[];
  /** False: there is more of it below. */
  isWhole: boolean;
}

export function createClaudeReader({ fileName, writtenAt, tally }: ReaderOptions): FormatReader {
  const nodes: ClaudeNode[] = [];
  const seen = new Map<string, number>();
  const facts = new Facts();
  let readings: Map<string, Reading> | undefined;
  let strandOf = new Map<number, string>();

  const begin = () => {
    const strands = planStrands(nodes);
    strandOf = new Map(
      [...strands].flatMap(([name, own]) => own.map(({ line }) => [line, name] as const)),
    );
    // A file of one subagent alone is its own conversation.
    const alone = strands.size === 1 ? ([...strands.keys()][0] ?? "") : "";
    const main = facts.sessionId || fileName;
    const begun = new Map<string, Reading>();
    for (const [name, own] of new Map([["", []], ...strands])) {
      if (name === "" && alone !== "") continue;
      const isChild = name !== "";
      const sourceId = isChild ? `${main}/${name}` : main;
      const startedAt = facts.startOf(own) ?? writtenAt;
      const found: FoundSession = {
        ...{ name: name === alone ? "" : name, sourceId, startedAt, cwd: facts.cwd },
        parent: isChild ? main : null,
        label: isChild ? null : facts.title(seen),
      };
      begun.set(found.name, {
        ...{ found, strand: createStrand(`${FORMAT} ${sourceId}`, startedAt) },
        ...{ plan: planClaude(own), held: [], open: new Map(), entryOf: new Map() },
        ...{ toolNames: new Map(), tokensBefore: 0 },
      });
      if (name === alone) for (const { line } of own) strandOf.set(line, "");
    }
    facts.forget();
    return begun;
  };
  const all = () => {
    readings ??= begin();
    return readings;
  };
  return {
    survey({ number, value }) {
      facts.learn(value, number);
      const node = nodeOf(value, number);
      if (node === undefined || seen.has(node.uuid)) return;
      seen.set(node.uuid, number);
      nodes.push(node);
    },
    read(line) {
      const known = all();
      const name = strandOf.get(line.number) ?? "";
      const reading = known.get(name)!;
      const uuid = memberOf(line.value, "uuid");
      const isAgain = typeof uuid === "string" && uuid !== "" && seen.get(uuid) !== line.number;
      if (isAgain) {
        count(tally.repeated, textOf(memberOf(line.value, "type")));
        return [];
      }
      hold(reading, line, tally);
      return release(reading, name);
    },
    end: () =>
      [...all()].flatMap(([name, reading]) => {
        for (const held of reading.held) held.isWhole = true;
        return release(reading, name);
      }),
    session: (name) => all().get(name)!.found,
  };
}

/** What a file says of itself, wherever it does. */
class Facts {
  sessionId = "";
  cwd = "";
  #ownTitle = "";
  #titles: { title: string; leaf: string }[] = [];
  #times = new Map<number, string>();

  learn(value: unknown, line: number): void {
    const id = memberOf(value, "sessionId");
    // A file that goes on from another one may begin with that one's lines.
    if (typeof id === "string" && id !== "") this.sessionId = id;
    if (this.cwd === "") this.cwd = textOf(memberOf(value, "cwd"));
    const time = isoTime(memberOf(value, "timestamp"));
    if (time !== undefined) this.#times.set(line, time);
    const title = titleIn(value);
    if (title === undefined) return;
    const leaf = memberOf(value, "leafUuid");
    if (typeof leaf === "string") this.#titles.push({ title, leaf });
    else this.#ownTitle = title;
  }

  /** Titles of other sessions may stand in the file, too. */
  title(known: ReadonlyMap<string, number>): string | null {
    return this.#ownTitle || (this.#titles.findLast(({ leaf }) => known.has(leaf))?.title ?? null);
  }

  startOf(nodes: readonly ClaudeNode[]): string | undefined {
    for (const { line } of nodes) {
      const time = this.#times.get(line);
      if (time !== undefined) return time;
    }
    return undefined;
  }

  forget(): void {
    this.#times.clear();
  }
}

const TITLES: Readonly<Record<string, string>> = {
  ...{ "custom-title": "customTitle", "ai-title": "aiTitle", summary: "summary" },
};

function titleIn(value: unknown): string | undefined {
  const type = textOf(memberOf(value, "type"));
  const title = Object.hasOwn(TITLES, type) ? memberOf(value, TITLES[type]!) : undefined;
  return typeof title === "string" && title !== "" ? title : undefined;
}

function hold(reading: Reading, { number, value }: ForeignLine, tally: ReaderOptions["tally"]) {
  const node = nodeOf(value, number) ?? null;
  const time = memberOf(value, "timestamp");
  const isOnPath = node === null || reading.plan.path.has(number);
  const messageId = node?.messageId ?? "";
  const parts = reading.open.get(messageId);
  const lastLine = messageId === "" ? number : (reading.plan.lastOf.get(messageId) ?? number);
  if (parts !== undefined && node !== null) {
    tally.understood++;
    addPart(parts, value, reading);
    parts.uuids.push(node.uuid);
    parts.isWhole = number >= lastLine;
    if (parts.isWhole) reading.open.delete(messageId);
    return;
  }
  const entries = entriesOf(value, node, reading);
  if (entries === undefined) count(tally.kept, textOf(memberOf(value, "type")));
  else tally.understood++;
  const key = node?.uuid ?? `line ${number}`;
  const made = entries ?? [recordOf(FORMAT, memberOf(value, "type"), value)];
  const held: Held = {
    ...{ node, isOnPath, time, isWhole: number >= lastLine },
    uuids: node === null ? [] : [node.uuid],
    entries: made.map((entry, at) => ({ key: at === 0 ? key : `${key} ${at}`, entry })),
  };
  reading.held.push(held);
  if (!held.isWhole && entries !== undefined) reading.open.set(messageId, held);
  else held.isWhole = true;
}

/** A reply that is written block by block is one. */
function addPart(held: Held, value: unknown, reading: Reading): void {
  const [first] = held.entries;
  if (first?.entry.type !== "message" || first.entry.message.role !== "assistant") return;
  const more = replyOf(memberOf(value, "message"), value, reading);
  const before = first.entry.message;
  const message = {
    ...{ ...before, ...more, content: [...before.content, ...more.content] },
    ...(before.timestamp !== undefined && { timestamp: before.timestamp }),
  };
  first.entry = { ...first.entry, message: { ...message, stopReason: stopOf(message, value) } };
}

/** Undefined: it is kept as a record. */
function entriesOf(
  value: unknown,
  node: ClaudeNode | null,
  reading: Reading,
): NewTranscriptEntry[] | undefined {
  const type = memberOf(value, "type");
  if (node === null) return isTitle(value, reading) ? [nameOf(reading.found)] : undefined;
  const message = memberOf(value, "message");
  if (node.kind === "reply" && isRecord(message)) {
    const reply = replyOf(message, value, reading);
    return [{ type: "message", message: { ...reply, stopReason: stopOf(reply, value) } }];
  }
  if (type === "system" && memberOf(value, "subtype") === "compact_boundary") {
    reading.tokensBefore = sizeIn(value);
    return [];
  }
  if (type === "user" && isRecord(message)) {
    if (memberOf(value, "isCompactSummary") === true) return [compactionOf(message, reading)];
    if (memberOf(value, "isVisibleInTranscriptOnly") === true) return undefined;
    return saidIn(message, value, reading);
  }
  return undefined;
}

const isTitle = (value: unknown, { found }: Reading): boolean =>
  found.label !== null && titleIn(value) === found.label;

const nameOf = ({ label }: FoundSession): NewTranscriptEntry => ({
  ...{ type: "session_info", name: label ?? "" },
});

/** It stands for all that was said before. */
function compactionOf(message: object, { tokensBefore }: Reading): NewTranscriptEntry {
  const summary = readAnthropic({ role: "user", content: memberOf(message, "content") })
    .flatMap(({ content }) => content.map((block) => (block.type === "text" ? block.text : "")))
    .join("\n");
  return { type: "compaction", summary, firstKeptEntryId: NOTHING_KEPT, tokensBefore };
}

function sizeIn(boundary: unknown): number {
  const tokens = memberOf(memberOf(boundary, "compactMetadata"), "preTokens");
  return typeof tokens === "number" && tokens > 0 ? tokens : 0;
}

/** No entry has this id. */
const NOTHING_KEPT = "none";

function saidIn(
  message: Record<string, unknown>,
  value: unknown,
  { toolNames }: Reading,
): NewTranscriptEntry[] | undefined {
  const { content } = message;
  if (typeof content !== "string" && !Array.isArray(content)) return undefined;
  const time = stamp(memberOf(value, "timestamp"));
  const isOwn = memberOf(value, "isMeta") === true;
  return readAnthropic({ role: "user", content }).flatMap((read): NewTranscriptEntry[] => {
    if (read.by === "tool") return [{ type: "message", message: resultOf(read, toolNames, time) }];
    if (read.by !== "person") return [];
    if (!isOwn && !isEcho(read.content))
      return [{ type: "message", message: { role: "user", content: read.content, ...time } }];
    const customType = `${FORMAT}.context`;
    return [{ type: "custom_message", customType, content: read.content, display: false }];
  });
}

/** What a command of the client printed is nobody's question. */
const isEcho = (content: readonly (TextBlock | ImageBlock)[]): boolean =>
  content[0]?.type === "text" && /^<local-command-(?:stdout|stderr|caveat)>/.test(content[0].text);

const resultOf = (
  { id, content, isError }: Extract<WireRead, { by: "tool" }>,
  toolNames: ReadonlyMap<string, string>,
  time: { timestamp?: number },
): AgentMessage => ({
  ...{ role: "toolResult", toolCallId: id, toolName: toolNames.get(id) ?? "" },
  ...{ content, isError, ...time },
});

function replyOf(message: unknown, value: unknown, { toolNames }: Reading): AssistantMessage {
  const model = textOf(memberOf(message, "model"));
  const usage = anthropicUsage(memberOf(message, "usage"));
  const responseId = textOf(memberOf(message, "id"));
  const content = blocksIn(memberOf(message, "content"), model);
  for (const block of content) if (block.type === "toolCall") toolNames.set(block.id, block.name);
  const failed = memberOf(value, "isApiErrorMessage") === true;
  return {
    ...{ role: "assistant", content, stopReason: "stop" },
    ...{ api: "anthropic-messages", provider: "anthropic", model },
    ...(failed && { errorMessage: textIn(content) }),
    ...(responseId !== "" && { responseId }),
    ...(usage !== undefined && { usage }),
    ...stamp(memberOf(value, "timestamp")),
  };
}

const textIn = (content: readonly AssistantBlock[]): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("\n");

const STOPS: Readonly<Record<string, AssistantMessage["stopReason"]>> = {
  ...{ end_turn: "stop", stop_sequence: "stop", tool_use: "toolUse", max_tokens: "length" },
};

/** The client writes most blocks before it knows. */
function stopOf(reply: AssistantMessage, value: unknown): AssistantMessage["stopReason"] {
  if (reply.errorMessage !== undefined) return "error";
  const word = textOf(memberOf(memberOf(value, "message"), "stop_reason"));
  if (Object.hasOwn(STOPS, word)) return STOPS[word]!;
  return reply.content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop";
}

const KNOWN = new Set(["text", "thinking", "redacted_thinking", "tool_use"]);

/** What only its provider understands stays as it was. */
function blocksIn(content: unknown, model: string): AssistantBlock[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return objectsOf(content).flatMap((block): AssistantBlock[] => {
    const kind = textOf(block.type);
    if (!KNOWN.has(kind)) {
      const origin = { api: "anthropic-messages", provider: "anthropic", model };
      return [{ type: "provider", ...origin, kind, data: block }];
    }
    const [read] = readAnthropic({ role: "assistant", content: [block] });
    return read?.by === "model" ? read.content : [];
  });
}

const MOST_HELD = 1000;

/** Gives what is whole, in order, up to what is not. */
function release(reading: Reading, session: string): ForeignEntry[] {
  const given: ForeignEntry[] = [];
  const { held, strand, entryOf, plan } = reading;
  let done = 0;
  // A reply that is said to go on for ever is no longer waited for.
  if (held.length > MOST_HELD) {
    for (const each of held) each.isWhole = true;
    reading.open.clear();
  }
  while (held[done]?.isWhole === true) {
    const { node, isOnPath, time, uuids, entries } = held[done++]!;
    let parentId = isOnPath ? strand.leafId : ancestorOf(node, { entryOf, plan });
    for (const { key, entry } of entries) {
      const placed = strand.add(entry, { key, time, ...(!isOnPath && { parentId }) });
      parentId = placed.id;
      given.push({ session, entry: placed });
    }
    for (const uuid of uuids) entryOf.set(uuid, parentId);
  }
  held.splice(0, done);
  return given;
}

/** The entry that a line of another branch follows. */
function ancestorOf(
  node: ClaudeNode | null,
  { entryOf, plan }: Pick<Reading, "entryOf" | "plan">,
): string | null {
  const seen = new Set<string>();
  for (let uuid = node?.parent ?? null; uuid !== null && !seen.has(uuid); ) {
    seen.add(uuid);
    const entry = entryOf.get(uuid);
    if (entry !== undefined) return entry;
    uuid = plan.nodes.get(uuid)?.parent ?? null;
  }
  return null;
}
