// Finds what a store did wrong, in one sentence.
import { ContextEngineError, type ErrorCode, messageId } from "@clew/plugin-sdk/core";
import {
  type NewTranscriptEntry,
  ORIGIN,
  ROLE,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import type { TranscriptPort } from "../transcript-port.ts";

export const said = (content: string, id?: string): NewTranscriptEntry => ({
  type: "message",
  message: { role: "user", content, ...(id !== undefined && { __openclaw: { id } }) },
});

export const idOf = (entry: TranscriptEntry | undefined) =>
  entry?.type === "message" ? messageId(entry.message) : undefined;

export const whenOf = (again: boolean) => (again ? "after another open" : "at once");

export const there = (is: boolean) => (is ? "there" : "missing");

const textsOf = (entries: readonly TranscriptEntry[]) =>
  entries
    .map((entry) =>
      entry.type === "message" && "content" in entry.message ? entry.message.content : "",
    )
    .join(" ");

export const says = (entries: readonly TranscriptEntry[], texts: string) =>
  textsOf(entries) === texts;

export async function checkChain(transcript: TranscriptPort, texts: string): Promise<void> {
  const branch = (await transcript.read({ after: null })) ?? [];
  check(textsOf(branch) === texts, `"${textsOf(branch)}" is on the branch instead of "${texts}".`);
  checkParents(branch);
}

export function checkParents(branch: readonly TranscriptEntry[]): void {
  check(new Set(branch.map(({ id }) => id)).size === branch.length, "two entries have one id.");
  for (const [index, { parentId }] of branch.entries())
    check(parentId === (branch[index - 1]?.id ?? null), `entry ${index} hangs on another one.`);
}

/** Whoever asks an entry twice gets the same message, and what an entry says of it holds. */
export function checkLate(entry: TranscriptEntry): void {
  if (entry.type !== "message") return;
  const { message, [ORIGIN]: origin, [ROLE]: role } = entry;
  check(entry.message === message, "a message was another object when it was asked for again.");
  check(
    origin === undefined || (origin === messageId(message) && message.role !== "custom"),
    "an entry gave the id of another message, or one of a message that engines are not told of.",
  );
  check(
    role === undefined || role === message.role,
    "an entry named somebody else as the speaker.",
  );
}

export async function refusedWith(
  code: ErrorCode,
  what: string,
  attempt: () => Promise<unknown>,
): Promise<void> {
  const error = await attempt().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  check(ContextEngineError.is(error, code), `${what} was not refused with ${code}.`);
}

export function check(holds: boolean, reason: string): asserts holds {
  if (!holds) throw new Error(`The store broke a rule: ${reason}`);
}
