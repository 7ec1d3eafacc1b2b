// The command `/compact`, its preview and its undo.
import type { SideCallReport } from "@clew/engine-core";
import type { CompactionPreview, UndoResult, UndoTarget } from "@clew/legacy-engine";
import type { CompactResult } from "@clew/plugin-sdk/core";
import { dollarsText } from "../costs/describe.ts";
import type { HarnessFacts } from "../harness/harness.ts";
import { costOfSideCalls } from "../inspect/cost.ts";
import { nearestOf } from "../text/nearest.ts";
import { counted, number } from "../text/number.ts";
import type { CommandAnswer, CommandSession, MadeCompaction } from "./answer.ts";

export type CompactRequest =
  | { kind: "undo"; only?: string }
  | { kind: "undo-preview" }
  | { kind: "preview"; focus: string | undefined }
  | { kind: "compact"; focus: string | undefined };

/** Words that are no focus, and what was probably meant; null = nothing known. */
export interface UnclearCompact {
  kind: "unclear";
  /** The word that is no option, or what follows one that takes nothing. */
  said: string;
  meant: string | null;
  /** The focus that it would have become. */
  focus: string;
}

/**
 * Pure. "undo [--dry-run | --only ID]", "--dry-run [focus]", "[focus]", or "-- focus" for one that
 * begins like an option.
 * What looks like a slip is no focus: a compaction is not done by mistake.
 */
export function parseCompact(args: string): CompactRequest | UnclearCompact {
  const [, word = "", after = ""] = /^\s*(\S*)\s*([\s\S]*?)\s*$/.exec(args) ?? [];
  const focus = after === "" ? undefined : after;
  const name = word.toLowerCase();
  if (name === "") return { kind: "compact", focus: undefined };
  if (name === "--") return { kind: "compact", focus };
  if (name === "--dry-run") return { kind: "preview", focus };
  if (name === "undo" && focus === undefined) return { kind: "undo" };
  if (name === "undo" && after === "--dry-run") return { kind: "undo-preview" };
  const [, only] = /^--only\s+(\S+)$/.exec(after) ?? [];
  if (name === "undo" && only !== undefined) return { kind: "undo", only };
  const whole = focus === undefined ? word : `${word} ${focus}`;
  const unclear = (meant: string | null) =>
    ({ kind: "unclear", said: word, meant, focus: whole }) as const;
  if (name === "undo") return unclear("/compact undo");
  const bare = name.replace(/^[-–—]+/, "");
  if (bare === name && focus !== undefined) return { kind: "compact", focus: whole };
  const near = nearestOf(bare, ["undo", "dry-run"]) ?? (/^dry/.test(bare) ? "dry-run" : null);
  if (bare === name && near === null) return { kind: "compact", focus: whole };
  return unclear(near === null ? null : near === "undo" ? "/compact undo" : "/compact --dry-run");
}

/** Pure. What one would type for it. */
export function compactLine(request: CompactRequest): string {
  switch (request.kind) {
    case "undo":
      return request.only === undefined ? "/compact undo" : `/compact undo --only ${request.only}`;
    case "undo-preview":
      return "/compact undo --dry-run";
    case "preview":
      return `/compact --dry-run ${request.focus ?? ""}`.trim();
    case "compact":
      return request.focus === undefined ? "/compact" : `/compact -- ${request.focus}`;
  }
}

/** Pure. */
export function describeUnclear({ said, meant, focus }: UnclearCompact): string {
  const guess = meant === null ? 'is no option of "/compact"' : `looks like "${meant}"`;
  return `Nothing was done: "${said}" ${guess}. To compact with this focus: "/compact -- ${focus}".`;
}

export async function runCompact(
  request: CompactRequest | UnclearCompact,
  session: CommandSession,
): Promise<Omit<CommandAnswer, "command">> {
  if (request.kind === "unclear") return { ok: false, text: describeUnclear(request) };
  const harness = await session.harness();
  if (harness?.cannot.includes("compact")) return { ok: false, text: describeOutOfReach(harness) };
  switch (request.kind) {
    case "undo": {
      const undone = await session.undoCompaction(request.only);
      const engine = await session.compactingEngine();
      return { ok: undone.ok, text: describeUndo(undone, engine) };
    }
    case "undo-preview": {
      const data = await session.compactionToUndo();
      const engine = await session.compactingEngine();
      return { ok: true, text: describeUndoPreview(data, engine), data };
    }
    case "preview": {
      const engine = await session.compactingEngine();
      if (engine !== null)
        return { ok: true, text: describeEngines(engine), data: { kind: "engine", engine } };
      const data = await session.previewCompaction(request.focus);
      return { ok: true, text: describeCompactionPreview(data), data };
    }
    case "compact": {
      const engine = await session.compactingEngine();
      const made = await session.compact(request.focus);
      return { ok: made.result.ok, text: describeCompaction(made, engine) };
    }
  }
}

/** Pure. */
export const describeOutOfReach = ({ label }: Pick<HarnessFacts, "label">): string =>
  `Nothing was compacted: the model of this session is shown what ${label} keeps of it, which nobody else can make smaller. "/new" begins another conversation there.`;

/** Pure. `engine`: id of the one that did it for itself; null = the host did. */
export function describeCompaction(
  { result, sideCalls }: MadeCompaction,
  engine: string | null,
): string {
  return `${describeResult(result, engine)}${askedText(sideCalls)}`;
}

/** " It asked a model 8 times, for $0.11."; "" = it asked none. */
function askedText(sideCalls: readonly SideCallReport[]): string {
  if (sideCalls.length === 0) return "";
  const cost = costOfSideCalls(sideCalls);
  const paid = cost === null ? "; what that cost is not known" : `, for ${dollarsText(cost.total)}`;
  return ` It asked a model ${sideCalls.length === 1 ? "once" : `${sideCalls.length} times`}${paid}.`;
}

function describeResult(
  { ok, compacted, reason, result }: CompactResult,
  engine: string | null,
): string {
  const why = reason === undefined ? "" : ` (${reason})`;
  if (!compacted)
    return ok
      ? `Nothing was compacted: ${reason ?? "there was nothing to do"}.`
      : `Not compacted: ${reason ?? "no reason was given"}.`;
  const sizes =
    result?.tokensAfter === undefined
      ? ""
      : `: ${number(result.tokensBefore)} → ${number(result.tokensAfter)} tokens`;
  return engine === null
    ? `Compacted${sizes}${why}. "/compact undo" undoes it.`
    : `Engine "${engine}" compacted${sizes}${why}; the history stays as it is.`;
}

/** Pure. What an engine would do is its own: the host cannot try it. */
const describeEngines = (engine: string) =>
  `Engine "${engine}" compacts for itself: "/compact" asks it to, and what it would leave out it decides then. The history stays as it is, and "/context" shows what the model would be shown now.`;

/** A bound that says no more than "less" says what the model's summary adds to. */
function sizeAfter({
  tokensBefore,
  tokensAfterAtMost,
  summaryTokensAtMost,
}: Extract<CompactionPreview, { kind: "summarise" }>): string {
  const isBound = tokensAfterAtMost < tokensBefore - 1 || summaryTokensAtMost === 0;
  return isBound
    ? `at most ${number(tokensAfterAtMost)}`
    : "fewer; how many depends on the model's summary";
}

const NAMED_FILES = 8;

function filesText(files: readonly string[]): string {
  const more = files.length - NAMED_FILES;
  const named = files.slice(0, NAMED_FILES).join(", ");
  return `what was seen of ${named}${more > 0 ? ` and ${counted(more, "other file")}` : ""}`;
}

/** Pure. `engine`: id of the one that compacts for itself; null = the host compacts. */
export function describeUndo(undone: UndoResult, engine: string | null): string {
  if (!undone.ok && undone.code === "another")
    return `Nothing was undone: ${undone.reason}. "/compact undo --dry-run" says which it is now.`;
  if (!undone.ok && engine !== null)
    return `Nothing was undone: ${undone.reason}; ${cannotUndo(engine)}.`;
  if (!undone.ok) return `Nothing was undone: ${undone.reason}.`;
  const { target, next, remapped } = undone;
  const since =
    remapped.size === 0
      ? "nothing was said since"
      : `what came since is kept (${counted(remapped.size, "entry", "entries")})`;
  const left =
    next === null
      ? "There is no other to undo."
      : `The next "/compact undo" would take back ${describeTarget(next)}, too.`;
  return engine === null
    ? `Undone: ${describeTarget(target)}; ${since}. ${left}`
    : `Undone: ${describeTarget(target)}, which the host made, not engine "${engine}", which leaves the history as it is; ${since}. ${left}`;
}

/** Pure. The history is whole, and the model is shown less of it all the same. */
const cannotUndo = (engine: string) =>
  `what engine "${engine}" compacts cannot be undone: the session keeps all that was said, and the model goes on being shown what the engine chooses of it ("/context" says what)`;

/** Pure. `target` null: there is nothing to undo. */
export function describeUndoPreview(target: UndoTarget | null, engine: string | null): string {
  if (target !== null) return `Would undo ${describeTarget(target)}. What was said since is kept.`;
  const own = engine === null ? "" : `: ${cannotUndo(engine)}`;
  return `There is no compaction to undo${own}.`;
}

/** "the compaction of 2026-11-27 10:03 UTC (118 messages in a summary; 33,684 tokens before)". */
function describeTarget({ timestamp, messages, clearedResults, tokensBefore }: UndoTarget): string {
  const facts = [
    ...(messages > 0 ? [`${counted(messages, "message")} in a summary`] : []),
    ...(clearedResults > 0 ? [`${counted(clearedResults, "old tool result")} cleared`] : []),
    ...(tokensBefore === null ? [] : [`${number(tokensBefore)} tokens before it`]),
  ];
  const at = `${timestamp.slice(0, 16).replace("T", " ")} UTC`;
  return `the compaction of ${at}${facts.length === 0 ? "" : ` (${facts.join("; ")})`}`;
}

/** Pure. */
export function describeCompactionPreview(preview: CompactionPreview): string {
  switch (preview.kind) {
    case "nothing":
      return `Nothing would be compacted: ${preview.reason} (${number(preview.tokensBefore)} tokens).`;
    case "prune":
      return `Would clear ${counted(preview.clearedResults, "old tool result")}: ${number(preview.tokensBefore)} → about ${number(preview.tokensAfter)} tokens; no model is called.`;
    case "summarise":
      return [
        `Would summarise ${counted(preview.summarisedMessages, "message")} (${number(preview.summarisedTokens)} tokens) and keep the newest ${preview.keptMessages} (${number(preview.keptTokens)} tokens).`,
        `Tokens: ${number(preview.tokensBefore)} → ${sizeAfter(preview)}.`,
        preview.requests === 0
          ? `Calls no model${preview.notAsked === null ? "" : `, because the summarising one is left alone (${preview.notAsked})`}: code quotes and lists what is left out.`
          : `Calls the model ${preview.requests === 1 ? "once" : `${preview.requests} times`}: about ${number(preview.inputTokens)} tokens in, at most ${number(preview.outputTokensAtMost)} out, and as much again for an answer that is refused. If it does not answer, code writes the summary.`,
        ...(preview.files.length > 0 ? [`Leaves the view: ${filesText(preview.files)}.`] : []),
        ...(preview.splitsTurn
          ? ["The oldest kept turn is cut in two; its beginning is summarised with what is older."]
          : []),
        ...(preview.repeatsOpenRequest
          ? ["Your unanswered request is repeated word for word."]
          : []),
        ...(preview.clearedResults > 0
          ? [`Also clears ${counted(preview.clearedResults, "old tool result")}.`]
          : []),
      ].join("\n");
  }
}
