// A transcript in memory and a model that follows a script, for compaction tests.
import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, ModelError } from "@clew/plugin-sdk/host";
import {
  buildContext,
  type NewTranscriptEntry,
  placeEntry,
  SUMMARY_HEADINGS,
  type TranscriptEntry,
  textOf,
} from "@clew/plugin-sdk/transcript";
import type { CompactionTranscript } from "../compaction/compact-request.ts";
import type { SummaryModel } from "../compaction/request.ts";
import type { UndoTranscript } from "../compaction/undo.ts";

export interface MemorySession extends CompactionTranscript, UndoTranscript {
  /** Everything ever written, also what no longer is on the branch. */
  readonly written: readonly TranscriptEntry[];
  /** Makes the next append fail like a full disk. */
  failNextAppend(): void;
  /** The messages as they were stored, with their ids. */
  say(...messages: AgentMessage[]): readonly AgentMessage[];
  context(): readonly AgentMessage[];
  nextId(): string;
}

export const START = Date.parse("2026-03-01T08:00:00Z");
export const now = () => START;

export function memorySession(messages: readonly AgentMessage[] = []): MemorySession {
  let branch: readonly TranscriptEntry[] = [];
  const written: TranscriptEntry[] = [];
  let ids = 0;
  let failing = false;
  const nextId = () => (0xabc00000 + ids++).toString(16);
  const place = (entries: readonly NewTranscriptEntry[]) => {
    for (const entry of entries) {
      const timestamp = new Date(START + ids * 1000).toISOString();
      const parentId = branch.at(-1)?.id ?? null;
      const placed = placeEntry(entry, { id: nextId(), parentId, timestamp });
      written.push(placed);
      branch = [...branch, placed];
    }
  };
  place(messages.map((message) => ({ type: "message", message })));
  return {
    written,
    branch: () => branch,
    async append(entries) {
      if (failing) {
        failing = false;
        throw new Error("ENOSPC: no space left on device");
      }
      place(entries);
      return branch.slice(-entries.length);
    },
    async graft({ keep, leafId, entries }) {
      if (branch.at(-1)?.id !== leafId) throw new Error("the transcript moved");
      written.push(...entries);
      branch = [...branch.slice(0, keep), ...entries];
    },
    failNextAppend: () => {
      failing = true;
    },
    say(...more) {
      place(more.map((message) => ({ type: "message", message })));
      return branch
        .slice(branch.length - more.length)
        .flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
    },
    context: () => buildContext(branch).items.map(({ message }) => message),
    nextId,
  };
}

type Answer = string | AssistantMessage | ModelError | "never" | Error;

export interface ScriptedModel extends SummaryModel {
  readonly calls: ModelCall[];
}

/** Answers with what the script says, the last of a list for ever; a string is a text reply. */
export function scripted(
  script: readonly Answer[] | ((call: ModelCall, index: number) => Answer),
  limits: { contextWindow?: number; maxOutputTokens?: number } = {},
): ScriptedModel {
  const calls: ModelCall[] = [];
  return {
    calls,
    ref: {
      provider: "test",
      api: "script",
      id: "scripted",
      contextWindow: 128_000,
      maxOutputTokens: 8_000,
      ...limits,
    },
    async complete(call) {
      calls.push(call);
      const answer =
        typeof script === "function"
          ? script(call, calls.length - 1)
          : script[Math.min(calls.length, script.length) - 1]!;
      if (answer === "never") return new Promise(() => {});
      if (answer instanceof Error) throw answer;
      if (typeof answer === "string") return { ok: true, message: reply(answer) };
      return "role" in answer ? { ok: true, message: answer } : { ok: false, error: answer };
    },
  };
}

export function reply(text: string): AssistantMessage {
  return {
    role: "assistant",
    content: text === "" ? [] : [{ type: "text", text }],
    stopReason: "stop",
    usage: { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 120 },
  };
}

/**
 * A model that follows the form and quotes what it was asked to keep: the user
 * lines of the conversation.
 */
export const obedient = (limits?: { contextWindow?: number; maxOutputTokens?: number }) =>
  scripted((call) => obedientSummary(promptOf(call)), limits);

export function obedientSummary(prompt: string): string {
  const asks = [...prompt.matchAll(/^\[User\]: (.*)$/gm)].map((match) => match[1]!.slice(0, 200));
  const listed = /must stand in it exactly: (.*?)\.(?:\s|$)/.exec(prompt)?.[1]?.split(", ") ?? [];
  const under: Record<string, readonly string[]> = {
    [SUMMARY_HEADINGS[3]]: asks.slice(-2).map((ask) => `- ${ask}`),
    [SUMMARY_HEADINGS[4]]: listed.map((identifier) => `- ${identifier}`),
  };
  return SUMMARY_HEADINGS.map((heading) =>
    [heading, ...(under[heading]?.length ? under[heading] : ["- (none)"])].join("\n"),
  ).join("\n\n");
}

export const promptOf = (call: ModelCall): string => textOf(call.messages[0]!);

/**
 * Waits between attempts end at once; longer ones, which are bounds of
 * requests, never end but by abort.
 */
export function patientSleep(
  waits: number[] = [],
): (ms: number, signal: AbortSignal) => Promise<void> {
  return (ms, signal) => {
    if (ms <= 5000) {
      waits.push(ms);
      return Promise.resolve();
    }
    return new Promise((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
    );
  };
}

/** Every wait ends at once: a model that never answers has run into its bound. */
export const hastySleep = (): Promise<void> => Promise.resolve();
