// Finds stretches of the past by what was asked in them and which files were at hand.
import { stepsInSlices } from "@clew/plugin-sdk/host";
import { patiently } from "../patiently.ts";
import { matcherOf } from "../search/pattern/matcher.ts";
import { PatternError, parsePattern, unsearchable } from "../search/pattern/parse.ts";
import type { Scope } from "../store/recall.ts";
import type { Store } from "../store/store.ts";
import { leavesBetween } from "../store/summaries.ts";
import { queryWords } from "../store/word-text.ts";
import { FULL_DETAIL, lineOf } from "../summaries/lines.ts";
import { growAsked } from "./grow-asked.ts";
import { onOneLine } from "./quoted.ts";

/** What to look for in summaries. */
export interface SummaryQuery {
  readonly pattern: string;
  readonly mode: "regex" | "full_text";
  /** Ms. */
  readonly since: number;
  readonly before: number;
  readonly limit: number;
  /** Number of a message: only stretches that begin before it. */
  readonly olderThan?: number | undefined;
}

const MOST_LEAVES = 20_000;
const MOST_CHARS = 40_000;

/** Newest first. */
export async function grepSummaries(
  store: Store,
  { pattern, mode, since, before, limit, olderThan = Infinity }: SummaryQuery,
  { scope, signal }: { scope: Scope; signal?: AbortSignal | undefined },
): Promise<string> {
  const missing = await growAsked(store, { scope, signal });
  const find = finderOf(pattern, mode);
  if (typeof find === "string") return find;
  const leaves = await patiently(
    () => leavesBetween(store, { scope, since, before, limit: MOST_LEAVES }),
    signal,
  );
  const older = leaves.filter(({ first }) => first < olderThan);
  const found: string[] = [];
  let [chars, oldest] = [0, 0];
  for (const leaf of older.toSorted((a, b) => b.first - a.first)) {
    const line = onOneLine(lineOf(leaf, FULL_DETAIL));
    if (!(await find(line, signal))) continue;
    if (found.length === limit || chars + line.length > MOST_CHARS)
      return page(found, `There may be more; for older ones add olderThan: ${oldest}.${missing}`);
    found.push(line);
    chars += line.length;
    oldest = leaf.first;
  }
  return page(found, `All ${older.length} were searched.${missing}`);
}

const page = (found: readonly string[], searched: string) =>
  [
    `${found.length === 0 ? "No summary holds that" : `${found.length} summaries, newest first`}. ${searched} They quote a part of what was said: scope "messages" searches all of it.`,
    ...found.map((line) => `- ${line}`),
  ].join("\n\n");

type Find = (line: string, signal: AbortSignal | undefined) => Promise<boolean>;

/** Why it cannot be searched for is a text. */
function finderOf(pattern: string, mode: SummaryQuery["mode"]): Find | string {
  if (mode === "regex")
    try {
      const matcher = matcherOf(parsePattern(pattern));
      return async (line, signal) => (await stepsInSlices(matcher(line), { signal })) !== undefined;
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      return `${unsearchable(error)}. mode "full_text" takes plain words.`;
    }
  const { words, literals } = queryWords(pattern);
  const wanted = [...words, ...literals].map((word) => word.toLowerCase());
  return async (line) => {
    const text = line.toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
}
