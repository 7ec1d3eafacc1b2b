// Decides whether a turn that was cut short goes on, and what it lacks before it can.
import type { ToolCallBlock, UserMessage } from "@clew/plugin-sdk/core";
import {
  blocksOf,
  type NewTranscriptEntry,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import { isOfRun } from "./run-name.ts";

export type GoingOnPlan =
  /** There is nothing to ask a model for. */
  | { kind: "over" }
  | {
      kind: "goes-on";
      prompt: UserMessage;
      /** Results of tool calls that nobody knows the end of, to be stored first. */
      lacking: readonly NewTranscriptEntry[];
    };

const OVER: GoingOnPlan = { kind: "over" };

/** Pure. What no person said is begun anew by whoever began it, or by nobody, but for jobs. */
export function planGoingOn(branch: readonly TranscriptEntry[], entryId: string): GoingOnPlan {
  const at = branch.findIndex(({ id }) => id === entryId);
  const prompt = messageOf(branch[at]);
  if (prompt?.role !== "user" || !(isByPerson(prompt) || isOfRun(prompt))) return OVER;
  const said = branch.slice(at + 1).flatMap((entry) => messageOf(entry) ?? []);
  const reply = said.findLastIndex(({ role }) => role === "assistant");
  const last = said[reply];
  if (last?.role !== "assistant") return { kind: "goes-on", prompt, lacking: [] };
  const calls = last.stopReason === "toolUse" ? blocksOf(last.content).flatMap(callIn) : [];
  const behind = said.slice(reply + 1);
  if (calls.length === 0 && behind.length === 0) return OVER;
  const answered = new Set(
    behind.flatMap((message) => (message.role === "toolResult" ? message.toolCallId : [])),
  );
  const lacking = calls.filter(({ id }) => !answered.has(id)).map(lostResult);
  return { kind: "goes-on", prompt, lacking };
}

const messageOf = (entry: TranscriptEntry | undefined) =>
  entry?.type === "message" ? entry.message : undefined;

const isByPerson = ({ provenance, __openclaw }: UserMessage): boolean =>
  __openclaw?.kind === undefined &&
  (provenance === undefined || provenance.kind === "external_user");

const callIn = (block: { type: string }): ToolCallBlock[] =>
  block.type === "toolCall" ? [block as ToolCallBlock] : [];

const lostResult = ({ id, name }: ToolCallBlock): NewTranscriptEntry => ({
  type: "message",
  message: {
    ...{ role: "toolResult", toolCallId: id, toolName: name, isError: true },
    content: [{ type: "text", text: LOST }],
  },
});

const LOST =
  "The gateway that ran this call ended before it told what came of it: it may be done, in part or whole. Look before you do it again.";
