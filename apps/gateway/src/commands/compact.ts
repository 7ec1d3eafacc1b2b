// The command `/compact`, its preview and its undo.
import type { CompactionPreview, UndoResult } from "@clew/legacy-engine";
import type { CompactResult } from "@clew/plugin-sdk/core";
import { counted, number } from "../text/number.ts";
import type { CommandAnswer, CommandSession } from "./answer.ts";

export type CompactRequest =
  | { kind: "undo" }
  | { kind: "preview"; focus: string | undefined }
  | { kind: "compact"; focus: string | undefined };

/** Pure. "undo", "--dry-run [focus]" or "[focus]". */
export function parseCompact(args: string): CompactRequest {
  if (args.toLowerCase() === "undo") return { kind: "undo" };
  const [, dryRun, rest = ""] = /^(--dry-run\b)?\s*([\s\S]*)$/.exec(args) ?? [];
  const focus = rest.trim() === "" ? undefined : rest.trim();
  return { kind: dryRun === undefined ? "compact" : "preview", focus };
}

export async function runCompact(
  request: CompactRequest,
  session: CommandSession,
): Promise<Omit<CommandAnswer, "command">> {
  switch (request.kind) {
    case "undo": {
      const undone = await session.undoCompaction();
      return { ok: undone.ok, text: describeUndo(undone) };
    }
    case "preview": {
      const data = await session.previewCompaction(request.focus);
      return { ok: true, text: describeCompactionPreview(data), data };
    }
    case "compact": {
      const result = await session.compact(request.focus);
      return { ok: result.ok, text: describeCompaction(result) };
    }
  }
}

/** Pure. */
export function describeCompaction({ ok, compacted, reason, result }: CompactResult): string {
  const why = reason === undefined ? "" : ` (${reason})`;
  if (!compacted)
    return ok
      ? `Nothing was compacted: ${reason ?? "there was nothing to do"}.`
      : `Not compacted: ${reason ?? "no reason was given"}.`;
  const sizes =
    result?.tokensAfter === undefined
      ? ""
      : `: ${number(result.tokensBefore)} → ${number(result.tokensAfter)} tokens`;
  return `Compacted${sizes}${why}. "/compact undo" undoes it.`;
}

const NAMED_FILES = 8;

function filesText(files: readonly string[]): string {
  const more = files.length - NAMED_FILES;
  const named = files.slice(0, NAMED_FILES).join(", ");
  return `what was seen of ${named}${more > 0 ? ` and ${counted(more, "other file")}` : ""}`;
}

/** Pure. */
export function describeUndo(undone: UndoResult): string {
  return undone.ok
    ? `The last compaction is undone; ${undone.remapped.size === 0 ? "nothing was said since" : `what came since is kept (${counted(undone.remapped.size, "entry", "entries")})`}.`
    : `Nothing was undone: ${undone.reason}.`;
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
        `Tokens: ${number(preview.tokensBefore)} → at most ${number(preview.tokensAfterAtMost)}.`,
        preview.requests === 0
          ? "Calls no model: code quotes and lists what is left out."
          : `Calls the model ${preview.requests === 1 ? "once" : `${preview.requests} times`}: about ${number(preview.inputTokens)} tokens in, at most ${number(preview.outputTokensAtMost)} out. If it does not answer, code writes the summary.`,
        ...(preview.files.length > 0 ? [`Leaves the view: ${filesText(preview.files)}.`] : []),
        ...(preview.splitsTurn
          ? ["The newest kept turn is cut in two; its beginning gets a summary of its own."]
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
