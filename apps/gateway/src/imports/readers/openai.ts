// Reads conversations as requests of model APIs hold them, whole or line by line.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { isRecord, withoutDeepParts } from "@clew/plugin-sdk/host";
import type { NewTranscriptEntry } from "@clew/plugin-sdk/transcript";
import { toAgentMessages } from "../../door/transcript/agent-messages.ts";
import type { JsonObject } from "../../door/wires/door-wire.ts";
import { objectsOf, textOf } from "../../door/wires/json.ts";
import type { ForeignEntry, FormatReader, FoundSession, ReaderOptions } from "../foreign.ts";
import {
  createStrand,
  hashOf,
  isoTime,
  memberOf,
  recordOf,
  type Strand,
  stamp,
} from "../strand.ts";
import { count } from "../tally.ts";
import { anthropicUsage, openaiUsage } from "../usage.ts";

const FORMAT = "openai";
type Api = "openai-completions" | "openai-responses" | "anthropic-messages";

const PROVIDERS: Readonly<Record<Api, string>> = {
  "openai-completions": "openai",
  "openai-responses": "openai",
  "anthropic-messages": "anthropic",
};

/** One conversation while it is read. */
interface Talk {
  found: FoundSession;
  strand: Strand;
  /** Names all that was said until now. */
  chain: string;
  toolNames: Map<string, string>;
  /** Items of one reply. */
  open: JsonObject[];
}

export function createOpenaiReader({ fileName, writtenAt, tally }: ReaderOptions): FormatReader {
  let conversations = 0;
  let hasLoose = false;
  let read = 0;
  const talks = new Map<string, Talk>();
  const talkOf = (name: string, startedAt = writtenAt): Talk => {
    const known = talks.get(name);
    if (known !== undefined) return known;
    const sourceId = name === "" ? fileName : `${fileName}/${name}`;
    const found = { name, sourceId, cwd: "", startedAt, parent: null, label: null };
    const strand = createStrand(FORMAT, startedAt);
    const talk: Talk = { found, strand, chain: "", toolNames: new Map(), open: [] };
    talks.set(name, talk);
    return talk;
  };
  return {
    survey({ value }) {
      if (listIn(value) !== undefined) conversations++;
      else if (isMessage(value)) hasLoose = true;
    },
    read({ value }) {
      const list = listIn(value);
      if (list !== undefined) {
        tally.understood++;
        const name = conversations > 1 || hasLoose ? String(++read) : "";
        const talk = talkOf(name, timeIn(value) ?? writtenAt);
        const model = textOf(memberOf(value, "model"));
        const usage = memberOf(value, "usage");
        const given = list.flatMap((message, at) => {
          const isLast = at === list.length - 1;
          return say(talk, message, { model, usage: isLast ? usage : undefined });
        });
        return [...given, ...flush(talk, { model, usage })];
      }
      const talk = talkOf("", timeIn(value) ?? writtenAt);
      if (isMessage(value)) {
        tally.understood++;
        return say(talk, value, {});
      }
      count(tally.kept, textOf(memberOf(value, "type")));
      return [...flush(talk, {}), ...keep(talk, value)];
    },
    end: () => [...talks.values()].flatMap((talk) => flush(talk, {})),
    session: (name) => talkOf(name).found,
  };
}

/** What the conversation as a whole says of its replies. */
interface Around {
  model?: string;
  usage?: unknown;
}

function say(talk: Talk, message: unknown, around: Around): ForeignEntry[] {
  if (!isMessage(message)) return [...flush(talk, around), ...keep(talk, message)];
  // One reply may be several items, and only what follows tells that it is over.
  if (isItemOfModel(message)) {
    talk.open.push(message);
    return [];
  }
  return [...flush(talk, around), ...tell(talk, [message], around)];
}

function flush(talk: Talk, around: Around): ForeignEntry[] {
  const items = talk.open;
  talk.open = [];
  return items.length === 0 ? [] : tell(talk, items, around);
}

function tell(talk: Talk, messages: readonly JsonObject[], around: Around): ForeignEntry[] {
  const [first] = messages;
  const api = apiOf(first!);
  const model = textOf(first!.model) || around.model || "";
  const answerer = { provider: PROVIDERS[api], model };
  const { toolNames } = talk;
  const time = timeIn(first);
  const made = toAgentMessages(api, messages, { answerer, toolNames });
  talk.chain = hashOf(talk.chain, JSON.stringify(withoutDeepParts(messages)));
  return made.map((message, at) => {
    if (message.role === "assistant")
      for (const block of message.content)
        if (block.type === "toolCall") toolNames.set(block.id, block.name);
    const told = withUsage(message, messages.at(-1)?.usage ?? around.usage, api);
    const key = at === 0 ? talk.chain : `${talk.chain} ${at}`;
    const entry = talk.strand.add(entryOf({ ...told, ...stamp(time) }), { key, time });
    return { session: talk.found.name, entry };
  });
}

function keep(talk: Talk, value: unknown): ForeignEntry[] {
  talk.chain = hashOf(talk.chain, JSON.stringify(withoutDeepParts(value) ?? null));
  const record = recordOf(FORMAT, memberOf(value, "type"), value);
  return [{ session: talk.found.name, entry: talk.strand.add(record, { key: talk.chain }) }];
}

function withUsage(message: AgentMessage, value: unknown, api: Api): AgentMessage {
  if (message.role !== "assistant") return message;
  const usage = api === "anthropic-messages" ? anthropicUsage(value) : openaiUsage(value);
  return usage === undefined ? message : { ...message, usage };
}

/** What models are told beside the conversation is not shown to people. */
function entryOf(message: AgentMessage): NewTranscriptEntry {
  if (message.role !== "custom") return { type: "message", message };
  const { content } = message;
  return { type: "custom_message", customType: `${FORMAT}.system`, content, display: false };
}

/** The messages of a whole conversation; undefined: the value is none. */
export function listIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value.length > 0 && value.every(isMessage) ? value : undefined;
  if (!isRecord(value) || typeof value.role === "string") return undefined;
  const { messages, input, output, instructions, system, choices } = value;
  const said = [messages, input].find((list) => Array.isArray(list)) ?? asPrompt(input);
  const answered = Array.isArray(output) ? output : objectsOf(choices).map((one) => one.message);
  if (said === undefined && answered.length === 0) return undefined;
  const list = [...((said as unknown[] | undefined) ?? []), ...answered];
  if (!list.some(isMessage)) return undefined;
  const told = [instructions, system].find((one) => one !== undefined && one !== null);
  return told === undefined ? list : [{ role: "system", content: told }, ...list];
}

const asPrompt = (input: unknown): unknown[] | undefined =>
  typeof input === "string" && input !== "" ? [{ role: "user", content: input }] : undefined;

const ROLES = new Set(["user", "assistant", "system", "developer", "tool", "function", "model"]);

export const isMessage = (value: unknown): value is JsonObject =>
  isRecord(value) &&
  (typeof value.role === "string" ? ROLES.has(value.role) : isItemType(textOf(value.type)));

const isItemType = (type: string): boolean =>
  type === "reasoning" || /^[a-z_]+_call(?:_output)?$/.test(type);

const isItemOfModel = (message: JsonObject): boolean =>
  message.role === undefined
    ? !textOf(message.type).endsWith("_output")
    : message.role === "assistant" && apiOf(message) === "openai-responses";

/** By what only one wire writes. */
function apiOf(message: JsonObject): Api {
  if (message.role === undefined) return "openai-responses";
  const types = objectsOf(message.content).map(({ type }) => textOf(type));
  if (types.some((type) => ANTHROPIC.has(type))) return "anthropic-messages";
  const isItem = message.type === "message" || types.some((type) => /^(?:in|out)put_/.test(type));
  return isItem ? "openai-responses" : "openai-completions";
}

const ANTHROPIC = new Set([
  ...["tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"],
]);

/** Absent where it says nothing that is a time. */
function timeIn(value: unknown): string | undefined {
  for (const name of ["timestamp", "created_at", "created", "create_time"]) {
    const time = isoTime(memberOf(value, name));
    if (time !== undefined) return time;
  }
  return undefined;
}
