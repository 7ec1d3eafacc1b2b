// Reads a rollout of Codex, which tells each item as its wire does and events beside.
import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import type { NewTranscriptEntry } from "@clew/plugin-sdk/transcript";
import { readResponses } from "../../door/transcript/read-responses.ts";
import type { WireRead } from "../../door/transcript/wire-read.ts";
import type { JsonObject } from "../../door/wires/door-wire.ts";
import { recordOf as objectOf, objectsOf, textOf } from "../../door/wires/json.ts";
import { chatText } from "../../door/wires/openai-completions.ts";
import type { ForeignEntry, FormatReader, FoundSession, ReaderOptions } from "../foreign.ts";
import { createStrand, isoTime, memberOf, recordOf, type Strand, stamp } from "../strand.ts";
import { count } from "../tally.ts";
import { openaiUsage } from "../usage.ts";

const FORMAT = "codex";

/** A reply and what answered its calls, until the next one begins. */
interface OpenReply {
  message: AssistantMessage;
  key: string;
  time: unknown;
  /** True: something came behind it, so that what the model says next is another reply. */
  isClosed: boolean;
  behind: { entry: NewTranscriptEntry; key: string; time: unknown }[];
}

export function createCodexReader({ fileName, writtenAt, tally }: ReaderOptions): FormatReader {
  let found: FoundSession | undefined;
  let strand: Strand | undefined;
  let provider = "openai";
  let model = "";
  let effort = "";
  let open: OpenReply | undefined;
  const toolNames = new Map<string, string>();
  /** Where the branch stood before each message of a person that is on it. */
  const turns: (string | null)[] = [];

  const known = (): { found: FoundSession; strand: Strand } => {
    found ??= {
      ...{ name: "", sourceId: fileName, cwd: "", startedAt: writtenAt },
      ...{ parent: null, label: null },
    };
    strand ??= createStrand(`${FORMAT} ${found.sourceId}`, found.startedAt);
    return { found, strand };
  };
  const placed = (entry: NewTranscriptEntry, key: string, time: unknown): ForeignEntry => ({
    session: "",
    entry: known().strand.add(entry, { key, time }),
  });
  const flush = (): ForeignEntry[] => {
    if (open === undefined) return [];
    const { message, key, time, behind } = open;
    open = undefined;
    const isAsking = message.content.some(({ type }) => type === "toolCall");
    const reply: AssistantMessage = { ...message, stopReason: isAsking ? "toolUse" : "stop" };
    return [
      placed({ type: "message", message: reply }, key, time),
      ...behind.map((one) => placed(one.entry, one.key, one.time)),
    ];
  };
  /** Behind the reply that is open, as nothing may stand before it that came later. */
  const add = (entry: NewTranscriptEntry, key: string, time: unknown): ForeignEntry[] => {
    if (open === undefined) return [placed(entry, key, time)];
    open.behind.push({ entry, key, time });
    return [];
  };
  const keep = (kind: string, value: unknown, key: string, time: unknown) => {
    count(tally.kept, kind);
    return add(recordOf(FORMAT, kind, value), key, time);
  };

  const takeItem = (item: JsonObject, key: string, time: unknown): ForeignEntry[] | undefined => {
    const type = textOf(item.type) || (typeof item.role === "string" ? "message" : "");
    if (!isItem(type)) return undefined;
    const given: ForeignEntry[] = [];
    for (const [at, read] of readResponses(type === "message" ? withoutType(item) : item).entries())
      given.push(...takeRead(read, at === 0 ? key : `${key} ${at}`, time));
    return given;
  };
  const takeRead = (read: WireRead, key: string, time: unknown): ForeignEntry[] => {
    if (read.by === "model") {
      for (const block of read.content)
        if (block.type === "toolCall") toolNames.set(block.id, block.name);
      if (open !== undefined && !open.isClosed) {
        open.message.content.push(...read.content);
        return [];
      }
      const flushed = flush();
      const message: AssistantMessage = {
        ...{ role: "assistant", content: [...read.content], stopReason: "stop" },
        ...{ api: "openai-responses", provider, model, ...stamp(time) },
      };
      open = { message, key, time, isClosed: false, behind: [] };
      return flushed;
    }
    if (open !== undefined) open.isClosed = true;
    if (read.by === "tool")
      return add({ type: "message", message: resultOf(read, toolNames, time) }, key, time);
    const isContext = read.by === "system" || isClientText(read.content);
    if (isContext) {
      const customType = `${FORMAT}.context`;
      const { content } = read;
      return add({ type: "custom_message", customType, content, display: false }, key, time);
    }
    const flushed = flush();
    turns.push(known().strand.leafId);
    const message: AgentMessage = { role: "user", content: read.content, ...stamp(time) };
    return [...flushed, placed({ type: "message", message }, key, time)];
  };
  const takeEvent = (payload: JsonObject, line: unknown, key: string, time: unknown) => {
    const type = textOf(payload.type);
    if (type === "token_count") {
      const usage = openaiUsage(memberOf(payload.info, "last_token_usage"));
      if (open === undefined || usage === undefined) count(tally.repeated, `event_msg/${type}`);
      else {
        open.message.usage = usage;
        tally.understood++;
      }
      return [];
    }
    if (SAID_TWICE.has(type)) {
      count(tally.repeated, `event_msg/${type}`);
      return [];
    }
    if (type === "thread_rolled_back") {
      const flushed = flush();
      const { num_turns: number } = payload;
      const back = typeof number === "number" && number > 0 ? Math.min(number, turns.length) : 0;
      const left = turns.splice(turns.length - back, back);
      if (left.length > 0) known().strand.leafId = left[0]!;
      return [...flushed, ...keep(`event_msg/${type}`, line, key, time)];
    }
    return keep(`event_msg/${type}`, line, key, time);
  };
  const takeContext = (payload: JsonObject, key: string, time: unknown): ForeignEntry[] => {
    tally.understood++;
    const given: ForeignEntry[] = [];
    const named = textOf(payload.model);
    if (named !== "" && named !== model) {
      model = named;
      const change = { type: "model_change", provider, modelId: named } as const;
      given.push(...flush(), placed(change, `${key} model`, time));
    }
    const thinks = textOf(payload.effort);
    if (thinks !== "" && thinks !== effort) {
      effort = thinks;
      const change = { type: "thinking_level_change", thinkingLevel: thinks } as const;
      given.push(...flush(), placed(change, `${key} effort`, time));
    }
    return given;
  };
  const takeCompacted = (payload: JsonObject, key: string, time: unknown): ForeignEntry[] => {
    tally.understood++;
    const summary = textOf(payload.message) || summaryIn(payload.replacement_history);
    const entry: NewTranscriptEntry = {
      ...{ type: "compaction", summary, firstKeptEntryId: "none", tokensBefore: 0 },
      ...(payload.replacement_history !== undefined && { details: payload }),
    };
    return [...flush(), placed(entry, key, time)];
  };

  return {
    read({ number, value }) {
      const key = `line ${number}`;
      const time = memberOf(value, "timestamp");
      const type = textOf(memberOf(value, "type"));
      const payload = memberOf(value, "payload");
      if (!isRecord(value)) return keep("value", value, key, time);
      if (found === undefined && (type === "session_meta" || isOldHead(value))) {
        const meta = type === "session_meta" ? objectOf(payload) : value;
        found = foundIn(meta, { fileName, startedAt: isoTime(time) ?? writtenAt });
        provider = textOf(meta.model_provider) || provider;
        tally.understood++;
        return [placed(recordOf(FORMAT, "session_meta", meta), key, time)];
      }
      if (!isRecord(payload)) {
        const given = takeItem(value, key, time);
        if (given === undefined) return keep(type || textOf(value.record_type), value, key, time);
        tally.understood++;
        return given;
      }
      if (type === "event_msg") return takeEvent(payload, value, key, time);
      if (type === "turn_context") return takeContext(payload, key, time);
      if (type === "compacted") return takeCompacted(payload, key, time);
      if (type !== "response_item") return keep(type, value, key, time);
      const given = takeItem(payload, key, time);
      if (given === undefined)
        return keep(`response_item/${textOf(payload.type)}`, value, key, time);
      tally.understood++;
      return given;
    },
    end: flush,
    session: () => known().found,
  };
}

/** Items that a model is shown; others are the client's own. */
const isItem = (type: string): boolean =>
  type === "message" || type === "reasoning" || /_call(?:_output)?$/.test(type);

/** As a message may say that it is one, or not. */
const withoutType = ({ type: _message, ...item }: JsonObject): JsonObject => item;

/** What the client says again in events for its own screen. */
const SAID_TWICE = new Set([
  ...["user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content"],
  ...["agent_reasoning_section_break", "context_compacted"],
]);

/** What the client tells the model of itself goes as a person's message. */
const isClientText = (content: readonly { type: string; text?: string }[]): boolean =>
  /^\s*(?:<(?:environment_context|user_instructions|turn_aborted|user_shell_command|INSTRUCTIONS)>|# AGENTS\.md instructions for )/.test(
    content[0]?.text ?? "",
  );

const isOldHead = (value: JsonObject): boolean =>
  value.type === undefined &&
  typeof value.id === "string" &&
  isoTime(value.timestamp) !== undefined;

function foundIn(
  meta: JsonObject,
  { fileName, startedAt }: { fileName: string; startedAt: string },
): FoundSession {
  const spawn = memberOf(memberOf(meta.source, "subagent"), "thread_spawn");
  const parent = textOf(memberOf(spawn, "parent_thread_id"));
  return {
    ...{ name: "", sourceId: textOf(meta.id) || fileName, cwd: textOf(meta.cwd) },
    startedAt: isoTime(meta.timestamp) ?? startedAt,
    parent: parent === "" ? null : parent,
    label: textOf(memberOf(spawn, "agent_nickname")) || null,
  };
}

function resultOf(
  read: Extract<WireRead, { by: "tool" }>,
  toolNames: ReadonlyMap<string, string>,
  time: unknown,
): AgentMessage {
  const [first] = read.content;
  const whole = first?.type === "text" && read.content.length === 1 ? wrapped(first.text) : null;
  return {
    ...{ role: "toolResult", toolCallId: read.id, toolName: toolNames.get(read.id) ?? "" },
    content: whole === null ? read.content : [{ type: "text", text: whole.output }],
    ...{ isError: whole?.isError ?? false, ...stamp(time) },
  };
}

/** A tool's output with its exit code, as JSON in a text. */
function wrapped(text: string): { output: string; isError: boolean } | null {
  if (!text.startsWith("{")) return null;
  try {
    const value: unknown = JSON.parse(text);
    const output = memberOf(value, "output");
    const code = memberOf(memberOf(value, "metadata"), "exit_code");
    return typeof output === "string" && typeof code === "number"
      ? { output, isError: code !== 0 }
      : null;
  } catch {
    return null;
  }
}

/** What the client goes on with, where it says no summary. */
const summaryIn = (items: unknown): string =>
  objectsOf(items)
    .map(({ content }) => chatText(content))
    .filter((text) => text !== "")
    .join("\n\n");
