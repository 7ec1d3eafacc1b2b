// Checks what a memory plugin answers against the shapes of the contract.
import type { LogPort } from "@clew/engine-core";
import type {
  MemoryFlushPlan,
  MemorySearchManager,
  MemorySearchResult,
} from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { z } from "zod";
import { counted } from "../../text/number.ts";
import { currentPluginScope } from "../load/scope.ts";

/** What can be used of an answer. */
export interface Taken<Value> {
  value: Value;
  /** Half a sentence; null = nothing is wrong. */
  wrong: string | null;
}

/** Nobody waits for it, and its failure is nobody's. */
export function isPromise(given: unknown): given is PromiseLike<unknown> {
  if (given instanceof Promise) given.catch(() => {});
  return isRecord(given) && typeof given.then === "function";
}

/** Pure. Lines that are no text are left out. */
export function takeLines(given: unknown): Taken<string[]> {
  if (!Array.isArray(given)) return { value: [], wrong: shape(z.array(z.string()), given) };
  const value = given.filter((line) => typeof line === "string");
  const others = given.length - value.length;
  const wrong = `${counted(others, "line")} of ${given.length} ${others === 1 ? "is" : "are"} no text`;
  return { value, wrong: others === 0 ? null : `${wrong}, and left out` };
}

const Result = z.looseObject({ path: z.string().max(4_096), snippet: z.string() });

/** Pure. The first `most` that say where they stand and what is there; null = no list. */
export function takeResults(given: unknown, most: number): Taken<MemorySearchResult[] | null> {
  if (!Array.isArray(given)) return { value: null, wrong: shape(z.array(Result), given) };
  const value: MemorySearchResult[] = [];
  const wrong: string[] = [];
  for (const [index, result] of given.entries()) {
    if (value.length === most) break;
    const parsed = Result.safeParse(result);
    if (parsed.success) value.push(parsed.data as unknown as MemorySearchResult);
    else wrong.push(`result ${index + 1}: ${wrongIn(parsed.error)}`);
  }
  if (wrong.length === 0) return { value, wrong: null };
  return { value, wrong: `${counted(wrong.length, "result")} left out (${wrong[0]})` };
}

/** Pure. Null where it cannot be told whether there is one. */
export function takeManager(
  given: unknown,
): Taken<{ manager: MemorySearchManager | null; error: string | undefined } | null> {
  const manager = isRecord(given) ? given.manager : undefined;
  if (!isRecord(given) || (manager !== null && !isRecord(manager)))
    return { value: null, wrong: shape(Given, given) };
  const error = typeof given.error === "string" ? given.error : undefined;
  // As it is, since its methods are called on it.
  return { value: { manager: manager as MemorySearchManager | null, error }, wrong: null };
}

const Given = z.looseObject({ manager: z.looseObject({}).nullable() });

const Read = z.looseObject({ text: z.string() });

/** Pure. Null = no text. */
export function takeText(given: unknown): Taken<string | null> {
  const parsed = Read.safeParse(given);
  return parsed.success
    ? { value: parsed.data.text, wrong: null }
    : { value: null, wrong: `it answered in a wrong shape: ${wrongIn(parsed.error)}` };
}

const tokens = z.number().nonnegative();
const Plan = z.looseObject({
  prompt: z.string().optional(),
  systemPrompt: z.string().optional(),
  relativePath: z.string().optional(),
  softThresholdTokens: tokens.optional(),
  forceFlushTranscriptBytes: tokens.optional(),
});

/** Pure. Without the members that are wrong; null = nothing is to be asked. */
export function takePlan(given: unknown): Taken<MemoryFlushPlan | null> {
  if (given === null || given === undefined) return { value: null, wrong: null };
  if (isPromise(given))
    return { value: null, wrong: "it is a promise, and a plan is needed at once" };
  const whole = Plan.safeParse(given);
  if (whole.success) return { value: given as MemoryFlushPlan, wrong: null };
  const members = new Set(whole.error.issues.map(({ path }) => path[0]));
  if (members.has(undefined)) return { value: null, wrong: shape(Plan, given) };
  const right = Object.entries(given).filter(([key]) => !members.has(key));
  const wrong = `without ${[...members].join(" and ")} (${wrongIn(whole.error)})`;
  return { value: Object.fromEntries(right) as MemoryFlushPlan, wrong };
}

const shape = (schema: z.ZodType, given: unknown): string =>
  `it answered in a wrong shape: ${wrongIn(schema.safeParse(given).error!)}`;

/** What is wrong first. */
function wrongIn({ issues: [issue] }: z.ZodError): string {
  const { path, message } = issue!;
  const what = message.replace(/^Invalid input: |^Too \w+: /, "");
  return path.length === 0 ? what : `${path.join(".")}: ${what}`;
}

/** What a section is called where it is told of. */
export const MEMORY_SECTION = "memory section";

export interface WrongAnswer {
  plugin: string;
  /** What it was asked for, as in "memory_search". */
  asked: string;
  /** Null: nothing is wrong, and nothing is told. */
  wrong: string | null;
}

/** In the log, and in the report of the turn that goes on. */
export function tellWrong(log: LogPort, { plugin, asked, wrong: reason }: WrongAnswer): void {
  if (reason === null) return;
  const scope = currentPluginScope();
  const sessionKey = scope?.sessionKey;
  log.warn(`[plugins] ${plugin}: ${asked}: ${reason}`, {
    ...(sessionKey !== undefined && { sessionKey }),
  });
  scope?.refused?.({ plugin, asked, reason });
}
