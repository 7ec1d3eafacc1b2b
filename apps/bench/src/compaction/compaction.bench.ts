// What a compaction without a model costs at three lengths of history.
import {
  type CompactTranscriptRequest,
  compactTranscript,
  type SummaryModel,
} from "@clew/legacy-engine";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import {
  buildContext,
  type NewTranscriptEntry,
  placeEntry,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import {
  type BenchCase,
  type CaseResult,
  defineBench,
  type PreparedCase,
} from "../runner/bench.ts";

const LENGTHS = [100_000, 200_000, 400_000];
const KINDS = ["prune", "summary by code"] as const;
const caseName = (kind: (typeof KINDS)[number], tokens: number) =>
  `${kind}, ${tokens / 1000}k tokens`;
/** Issue goal: linear in history. Twice the history may cost this much more. */
const MOST_FOR_DOUBLE = 2.8;

/** No request is ever answered: what is left is code. */
const noModel: SummaryModel = {
  ref: {
    provider: "bench",
    api: "none",
    id: "none",
    contextWindow: 1_000_000,
    maxOutputTokens: 16_000,
  },
  complete: async () => ({ ok: false, error: { kind: "auth", message: "no model here" } }),
};

/**
 * A coding session: request, six calls with file-like output, a reply that decides and plans; as
 * many turns as `tokens` hold.
 */
function history(tokens: number): AgentMessage[] {
  const messages: AgentMessage[] = [];
  for (let turn = 0, sum = 0; sum < tokens; turn++) {
    const added = codingTurn(turn);
    sum += estimateMessages(added).estimate;
    messages.push(...added);
  }
  return messages;
}

function codingTurn(turn: number): AgentMessage[] {
  const steps = Array.from({ length: 6 }, (_, step): AgentMessage[] => {
    const id = `call_${turn}_${step}`;
    const path = `src/module-${turn % 31}/part-${step}.ts`;
    const lines = Array.from(
      { length: 40 },
      (_, line) =>
        `${line + 1}: export const value_${turn}_${line} = compute(${turn * line}, "${path}"); // kept since ${2000 + (line % 26)}`,
    );
    return [
      {
        role: "assistant",
        stopReason: "toolUse",
        content: [
          { type: "text", text: `I look at ${path} next.` },
          { type: "toolCall", id, name: step === 5 ? "edit" : "read", arguments: { path } },
        ],
      },
      {
        role: "toolResult",
        toolCallId: id,
        toolName: step === 5 ? "edit" : "read",
        isError: step === 4 && turn % 5 === 0,
        content: [{ type: "text", text: lines.join("\n") }],
      },
    ];
  });
  return [
    {
      role: "user",
      content: `Request ${turn}: please move the values of module ${turn % 31} into one table. Never touch the generated files.`,
    },
    ...steps.flat(),
    {
      role: "assistant",
      stopReason: "stop",
      content: [
        {
          type: "text",
          text: `We decided to keep table_${turn} in src/tables.ts. The next step is the test of module ${turn % 31}.`,
        },
      ],
    },
  ];
}

function prepare(kind: (typeof KINDS)[number], tokens: number): PreparedCase {
  const messages = history(tokens);
  const options: CompactTranscriptRequest["options"] = kind === "prune" ? {} : { prune: false };
  let last:
    | {
        before: readonly TranscriptEntry[];
        after: readonly TranscriptEntry[];
        tokensBefore: number;
        tokensAfter: number;
      }
    | undefined;
  return {
    async run() {
      // New objects share their text: nothing is remembered of the ones before, as after a restart.
      const transcript = memoryTranscript(messages.map((message) => ({ ...message })));
      const before = transcript.branch();
      const result = await compactTranscript({
        transcript,
        model: noModel,
        trigger: "threshold",
        options,
      });
      if (!result.compacted) throw new Error(`nothing was compacted: ${result.reason}`);
      last = {
        before,
        after: transcript.branch(),
        tokensBefore: result.result!.tokensBefore,
        tokensAfter: result.result!.tokensAfter!,
      };
      return result;
    },
    facts() {
      if (last === undefined) return {};
      const { before, after, tokensBefore, tokensAfter } = last;
      const [old, fresh] = [shown(before), shown(after)];
      return {
        tokensBefore,
        tokensAfter,
        "bytes after": fresh.length,
        "of them cached": commonPrefix(old, fresh),
      };
    },
  };
}

/** What a provider is sent of a branch, near enough to compare prefixes of two. */
const shown = (branch: readonly TranscriptEntry[]) =>
  Buffer.from(
    buildContext(branch)
      .items.map(({ message }) => JSON.stringify(message))
      .join("\n"),
  );

/** Bytes that a warm prompt cache still serves. */
function commonPrefix(one: Buffer, other: Buffer): number {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length++;
  return length;
}

function memoryTranscript(messages: readonly AgentMessage[]) {
  let branch: readonly TranscriptEntry[] = messages.map((message, index) => ({
    type: "message",
    message,
    ...place(index),
  }));
  return {
    branch: () => branch,
    async append(entries: readonly NewTranscriptEntry[]) {
      const placed = entries.map((entry, index) => placeEntry(entry, place(branch.length + index)));
      branch = [...branch, ...placed];
      return placed;
    },
  };
}

const place = (index: number) => ({
  id: `e${index}`,
  parentId: index === 0 ? null : `e${index - 1}`,
  timestamp: "2026-01-01T00:00:00Z",
});

export default defineBench({
  name: "compaction",
  description: "a compaction without a model; goals: 100 ms at 200,000 tokens, linear in history",
  cases: KINDS.flatMap((kind) =>
    LENGTHS.map(
      (tokens, index): BenchCase => ({
        name: caseName(kind, tokens),
        ...(index > 0 && { compareTo: caseName(kind, LENGTHS[index - 1]!) }),
        prepare: () => prepare(kind, tokens),
      }),
    ),
  ),
  rounds: 9,
  check(results: ReadonlyMap<string, CaseResult>) {
    return KINDS.flatMap((kind) =>
      LENGTHS.slice(1).flatMap((tokens) => {
        // The quickest rounds: how work grows, without what else the machine was doing.
        const least = (count: number) => results.get(caseName(kind, count))?.minMs ?? Number.NaN;
        const ratio = least(tokens) / least(tokens / 2);
        return ratio <= MOST_FOR_DOUBLE
          ? []
          : [`${caseName(kind, tokens)} takes ×${ratio.toFixed(1)} of half as many.`];
      }),
    );
  },
});
