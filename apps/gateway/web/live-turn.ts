// Folds the streamed events of a running turn into the messages so far.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { CommandAnswer } from "../src/commands/answer.ts";
import {
  type ChatItem,
  foldChat,
  type ReplyPart,
  type ShownEntry,
} from "../src/conversation/chat-view.ts";
import type { StreamedEvent } from "../src/http/event-stream.ts";

export interface Problem {
  /** Error kind or code, e.g. "unavailable", "SESSION_LOCKED". */
  code: string;
  /** What happened and what to do next. */
  message: string;
}

export interface LiveTurn {
  phase: "sending" | "waiting" | "running" | "ended";
  /** The person's message, to be given back when it was not stored. */
  text: string;
  /** True once the message is durable. */
  isStored: boolean;
  entries: readonly { type: "message"; id: string; message: AgentMessage }[];
  /** Of the message that is arriving. */
  arriving: { thinking: string; text: string };
  tools: Readonly<Record<string, "running" | "done" | "failed">>;
  /** What the host told while the turn ran: it compacts, an engine failed. */
  notices: readonly string[];
  problem: Problem | null;
  /** Null: the text was no command, or is not answered yet. */
  answer: Pick<CommandAnswer, "ok" | "text"> | null;
}

const NOTHING = { thinking: "", text: "" };
const PENDING_ID = "pending";

export function startTurn(text: string): LiveTurn {
  const message: AgentMessage = { role: "user", content: text };
  const entries = [{ type: "message" as const, id: PENDING_ID, message }];
  return {
    phase: "sending",
    text,
    isStored: false,
    entries,
    arriving: NOTHING,
    tools: {},
    notices: [],
    problem: null,
    answer: null,
  };
}

/** Pure. */
export function applyEvent(turn: LiveTurn, event: StreamedEvent): LiveTurn {
  switch (event.type) {
    case "queued":
      return { ...turn, phase: "waiting" };
    case "accepted":
      return {
        ...turn,
        phase: "running",
        isStored: true,
        entries: turn.entries.map((entry) => stored(entry, event.entryId)),
      };
    case "text":
    case "thinking":
      return {
        ...turn,
        arriving: { ...turn.arriving, [event.type]: turn.arriving[event.type] + event.delta },
      };
    case "tool_start":
      return { ...turn, tools: { ...turn.tools, [event.call.id]: "running" } };
    case "tool_end":
      return {
        ...turn,
        tools: { ...turn.tools, [event.callId]: event.isError ? "failed" : "done" },
      };
    case "message": {
      // What is too large to be told is read when the turn is over.
      if (event.message === undefined) return turn;
      const entry = { type: "message" as const, id: event.entryId, message: event.message };
      // A tool's result does not end the message that is arriving.
      const arriving = event.message.role === "assistant" ? NOTHING : turn.arriving;
      return { ...turn, arriving, entries: [...turn.entries, entry] };
    }
    case "notice":
      return { ...turn, notices: [...turn.notices, event.text] };
    case "restarted":
      return {
        ...turn,
        arriving: NOTHING,
        // The message itself stays in sight, whatever is told of it anew.
        entries: turn.entries.slice(0, placeBehind(turn, event.keeps)),
      };
    // What waits is shown apart from what is said.
    case "waiting":
    case "approval":
    case "approval_end":
      return turn;
    case "command":
      return { ...turn, entries: [], answer: { ok: event.ok, text: event.text } };
    case "done":
      return endTurn(turn, problemOf(event.error));
    case "error":
      return endTurn(turn, event.error.code === "ABORTED" ? null : event.error);
  }
}

const placeBehind = ({ entries }: LiveTurn, keeps: string | null): number =>
  Math.max(1, entries.findIndex(({ id }) => id === keeps) + 1);

type TurnError = Extract<StreamedEvent, { type: "done" }>["error"];

/** Pure. A stop is nobody's failure; the history tells of it. */
export function problemOf(error: TurnError): Problem | null {
  if (error === null || error.kind === "aborted") return null;
  return { code: error.code ?? error.kind, message: error.message };
}

export function endTurn(turn: LiveTurn, problem: Problem | null): LiveTurn {
  return { ...turn, phase: "ended", problem };
}

/**
 * What the chat shows: the stored history, then the turn; entries that are in both are shown once.
 */
export function chatItems(history: readonly ShownEntry[], turn: LiveTurn | null): ChatItem[] {
  if (turn === null) return foldedHistory(history);
  const known = new Set(history.map(({ id }) => id));
  const fresh = turn.entries.filter(({ id }) => !known.has(id));
  const items = foldChat(fresh, foldedHistory(history)).map((item) => withToolStates(item, turn));
  return withArriving(items, turn);
}

/**
 * Remembered, so that a piece of a reply costs no second look at the history, and its
 * items stay the same objects.
 */
function foldedHistory(history: readonly ShownEntry[]): ChatItem[] {
  const items = foldedHistories.get(history) ?? foldChat(history);
  foldedHistories.set(history, items);
  return items;
}

const foldedHistories = new WeakMap<readonly ShownEntry[], ChatItem[]>();

/** True while the person may stop it. */
export function isRunning(turn: LiveTurn | null | undefined): boolean {
  return turn !== null && turn !== undefined && turn.phase !== "ended";
}

function stored(entry: LiveTurn["entries"][number], entryId: string): LiveTurn["entries"][number] {
  return entry.id === PENDING_ID ? { ...entry, id: entryId } : entry;
}

function withToolStates(item: ChatItem, { tools }: LiveTurn): ChatItem {
  if (
    item.kind !== "reply" ||
    !item.parts.some((part) => part.kind === "tool" && part.state === "waiting")
  )
    return item;
  const parts = item.parts.map((part): ReplyPart => {
    const state = part.kind === "tool" && part.state === "waiting" ? tools[part.callId] : undefined;
    return part.kind === "tool" && state !== undefined ? { ...part, state } : part;
  });
  return { ...item, parts };
}

function withArriving(items: ChatItem[], { arriving }: LiveTurn): ChatItem[] {
  const parts: ReplyPart[] = [
    ...(arriving.thinking === "" ? [] : [{ kind: "thinking" as const, text: arriving.thinking }]),
    ...(arriving.text === "" ? [] : [{ kind: "text" as const, text: arriving.text }]),
  ];
  if (parts.length === 0) return items;
  const last = items.at(-1);
  if (last?.kind !== "reply")
    return [...items, { kind: "reply", id: "arriving", parts, ending: null }];
  return items.with(-1, { ...last, parts: [...last.parts, ...parts] });
}
