// Says in a sentence what is wrong with what a program asked of a message store.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { PatternError, unsearchable } from "../search/pattern/parse.ts";

const refused = (what: string): ContextEngineError =>
  new ContextEngineError("REQUEST_INVALID", `The message store ${what}`, { engineId: "lossless" });

export function assertFile(file: unknown): void {
  if (typeof file === "string" && file !== "") return;
  throw refused('was given no file to open; name one, or ":memory:" for one that is not kept.');
}

export function assertSession(session: unknown, method: string): void {
  if (typeof session === "string" && session !== "") return;
  throw refused(`cannot answer ${method}: it was given no session; pass its name, a text.`);
}

export function assertMessages(messages: unknown, method: string): void {
  if (Array.isArray(messages)) return;
  throw refused(
    `cannot answer ${method}: it was given no list of messages; pass an array of them.`,
  );
}

export function assertBudget(tokenBudget: unknown): void {
  if (typeof tokenBudget === "number" && tokenBudget > 0) return;
  throw refused(
    "cannot answer assemble: tokenBudget is no number above 0; say how much may be shown.",
  );
}

const WAYS: readonly unknown[] = ["words", "pattern", "relevance"];

export function assertQuery({ query, by, limit }: Record<string, unknown>): void {
  if (typeof query !== "string")
    throw refused("cannot answer search: query is no text; say what to look for.");
  if (by !== undefined && !WAYS.includes(by))
    throw refused(`cannot search by ${JSON.stringify(by)}; there are ${WAYS.join(", ")}.`);
  if (limit !== undefined && !(Number.isSafeInteger(limit) && (limit as number) > 0))
    throw refused("cannot answer search: limit is no whole number above 0.");
}

const FORGETTABLE: readonly string[] = ["number", "id", "text", "session"];

export function assertForgetRequest(request: unknown): void {
  const asked = typeof request === "object" && request !== null ? Object.entries(request) : [];
  const [first] = asked;
  if (asked.length !== 1 || !FORGETTABLE.includes(first![0]) || first![1] === undefined)
    throw refused(
      `cannot plan what to forget: it takes one of ${FORGETTABLE.join(", ")}; for example { text: "INV-2041" }.`,
    );
}

export function assertForgetting(plan: unknown): void {
  const { numbers, messages, sessions } = { ...(plan as Record<string, unknown>) };
  if (Array.isArray(numbers ?? messages) && Array.isArray(sessions)) return;
  throw refused(
    "cannot forget: it was given no plan; pass what planForget answers, or { numbers, sessions }.",
  );
}

export const refusedPlan = (why: string): ContextEngineError => refused(`forgot nothing. ${why}`);

/** A pattern that is not offered is the program's; all else is thrown as it came. */
export const patternRefused = (error: unknown): unknown =>
  error instanceof PatternError
    ? new ContextEngineError("REQUEST_INVALID", `${unsearchable(error)}.`, { cause: error })
    : error;
