// An owner that keeps a decision per session in a file, broken as it is told to be.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentMessage } from "../../contract/message.ts";
import { extractiveSummary } from "../../record/extractive-summary.ts";
import { estimateMessage, estimateMessages } from "../../tokens/message.ts";
import { activeBranch } from "../../transcript/branch.ts";
import { buildContext } from "../../transcript/context.ts";
import { freshTail } from "../../transcript/fresh-tail.ts";
import { parseTranscript } from "../../transcript/parse.ts";
import type { EngineMaker } from "../case-context.ts";
import { nameOf } from "../full-engine.ts";

/** What stands for all up to the message of that name. */
interface Decision {
  summary: string;
  through: string;
}

export interface OwnerWays {
  save?(file: string, text: string): void;
  read?(file: string): string | undefined;
  /** What is known of the summary before when the next one is written. */
  remembers?(summary: string | undefined): string | undefined;
  shows?(message: AgentMessage): AgentMessage;
}

/** What takes the place of the old file is whole. */
const renamed = (file: string, text: string) => {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
};
const readIfThere = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : undefined);

/** Right where nothing is told of its ways; a summary takes a fifth of the view before. */
export const ownerWith =
  ({
    save = renamed,
    read = readIfThere,
    remembers = (summary) => summary,
    shows = (message) => message,
  }: OwnerWays = {}): EngineMaker =>
  ({ agentDir }) => {
    const fileOf = (sessionId: string) =>
      join(agentDir, "owner", `${encodeURIComponent(sessionId)}.json`);
    const viewOf = (messages: readonly AgentMessage[], sessionId: string) => {
      const text = read(fileOf(sessionId));
      const kept = text === undefined ? undefined : (JSON.parse(text) as Decision);
      const at = messages.findIndex((message) => nameOf(message) === kept?.through);
      if (kept === undefined || at < 0 || at === messages.length - 1)
        return { head: [], rest: [...messages], summary: undefined };
      return { head: headOf(kept.summary), rest: messages.slice(at + 1), summary: kept.summary };
    };
    return {
      info: { id: "owner", name: "Owner", ownsCompaction: true },
      ingest: () => ({ ingested: false }),
      assemble({ messages, tokenBudget = Infinity, sessionId }) {
        const { head, rest } = viewOf(messages, sessionId);
        const { start } = freshTail(rest, {
          ...{ tokens: Infinity, maxTokens: tokenBudget - estimateMessages(head).high },
          count: (message) => estimateMessage(message).high,
        });
        const shown = [...head, ...rest.slice(start)].map(shows);
        const fits = estimateMessages(shown).high <= tokenBudget;
        return {
          ...{ messages: shown, estimatedTokens: estimateMessages(shown).estimate },
          promptAuthority: fits ? "assembled" : "preassembly_may_overflow",
        };
      },
      compact({ sessionFile, sessionId, tokenBudget = 1_000, abortSignal }) {
        abortSignal?.throwIfAborted();
        const text = sessionFile === undefined ? undefined : readIfThere(sessionFile);
        if (text === undefined)
          return { ok: false, compacted: false, reason: "this host keeps no file of the session" };
        const { items } = buildContext(activeBranch(parseTranscript(text).entries));
        const {
          head,
          rest,
          summary: previous,
        } = viewOf(
          items.map(({ message }) => message),
          sessionId,
        );
        const tokensBefore = estimateMessages([...head, ...rest]).estimate;
        const room = Math.min(tokenBudget, tokensBefore);
        const { start } = freshTail(rest, { tokens: room / 2, maxTokens: room / 2 });
        const previousSummary = remembers(previous);
        const summary = extractiveSummary({
          messages: rest.slice(0, start),
          maxTokens: Math.floor(room / 5),
          ...(previousSummary !== undefined && { previousSummary }),
        });
        const after = [...headOf(summary), ...rest.slice(start)];
        const tokensAfter = estimateMessages(after).estimate;
        if (start === 0 || tokensAfter >= tokensBefore)
          return { ok: true, compacted: false, reason: "nothing older than the newest turns" };
        mkdirSync(dirname(fileOf(sessionId)), { recursive: true });
        const through = nameOf(rest[start - 1]!);
        save(fileOf(sessionId), JSON.stringify({ summary, through } satisfies Decision));
        return { ok: true, compacted: true, result: { summary, tokensBefore, tokensAfter } };
      },
    };
  };

const headOf = (summary: string): AgentMessage[] =>
  summary === "" ? [] : [{ role: "compactionSummary", summary }];
