// Does the ledger still name what a session goes on to use? Paths and identifiers of later tool calls, at each compaction (measure M3).
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import { loadExactCounter } from "@clew/plugin-sdk/tokens";
import { EMPTY_LEDGER, foldLedger, pathsInLedger, renderLedger, type TranscriptEntry, textOf } from "@clew/plugin-sdk/transcript";
import { type BenchCase, type CaseResult, defineBench } from "../runner/bench.ts";
import { type Recording, readRecordings } from "../shared/recordings.ts";

const GOAL = 0.97;

/** Arguments that hold whole texts; the names in them were written then, not looked up. */
const BULK = new Set([
  "content",
  "old_string",
  "new_string",
  "oldText",
  "newText",
  "prompt",
  "description",
  "activeForm",
  "todos",
  "thought",
]);

// Independent of the ledger's own reading: words with a slash or a file's ending, in camelCase or snake_case, hexadecimal, or ticket numbers.
const NAME =
  /^(?:[~.]?[\w.@-]*\/[\w./@-]*\w\/?|\w[\w-]*\.(?:ts|js|json|md|go|py|sh|ya?ml|toml|sql)|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[a-z]\w*_\w+|[A-Z]\w*_\w+|(?=[a-f]*\d)[0-9a-f]{7,40}|[A-Z]{2,}-\d+|(?=[A-Z]*\d)[A-Z0-9]{6,})$/;

interface Point {
  cut: number;
  /** What the recorded client summarised, where the file says so. */
  summary: string;
}

/** Where the recorded client compacted. */
function observed({ branch }: Recording): Point[] {
  return branch.flatMap((entry, cut) => {
    if (entry.type !== "custom" || entry.customType !== "observed-compaction") return [];
    return [{ cut, summary: String((entry.data as { summary?: unknown }).summary ?? "") }];
  });
}

function evidence(branch: readonly TranscriptEntry[], cut: number): string[] {
  const before = branch.slice(0, cut).map(everythingIn).join("\n");
  const used = branch
    .slice(cut)
    .flatMap((entry) => (entry.type === "message" && entry.message.role === "assistant" ? namesUsed(entry.message) : []));
  return [...new Set(used)].filter((name) => stands(before, name));
}

function namesUsed({ content }: AssistantMessage): string[] {
  const texts = content.flatMap((block) => (block.type === "toolCall" ? textsIn(block.arguments) : []));
  return texts.flatMap((text) => text.split(/[\s"'`<>()[\]{}|,;:=\\]+/)).filter((word) => word.length > 3 && NAME.test(word));
}

function measure({ branch }: Recording, { cut, summary }: Point) {
  const names = evidence(branch, cut);
  const { text } = renderLedger(foldLedger(EMPTY_LEDGER, branch.slice(0, cut)));
  const shown = [text, ...pathsInLedger(text)];
  const inLedger = names.filter((name) => shown.some((line) => stands(line, name)));
  const inSummary = names.filter((name) => stands(summary, name));
  const missed = names.filter((name) => !inLedger.includes(name) && !inSummary.includes(name));
  return { text, evidence: names.length, ledger: inLedger.length, summary: inSummary.length, both: names.length - missed.length };
}

export default (folder: string | undefined) =>
  defineBench({
    name: "ledger",
    description: "names used after each recorded compaction that the ledger (3,000 tokens) still holds; goal 97 % (needs FOLDER)",
    rounds: 3,
    cases: readRecordings(folder).flatMap((recording) =>
      observed(recording).map(
        (point): BenchCase => ({
          name: `${recording.name} at ${point.cut}`,
          async prepare() {
            const { text, ...counts } = measure(recording, point);
            const tokens = (await loadExactCounter()).count(text);
            const entries = recording.branch.slice(0, point.cut);
            return { run: () => renderLedger(foldLedger(EMPTY_LEDGER, entries)), facts: () => ({ ...counts, tokens }) };
          },
        }),
      ),
    ),
    check(results: ReadonlyMap<string, CaseResult>) {
      const sum = (fact: string) => [...results.values()].reduce((total, { facts }) => total + (facts?.[fact] ?? 0), 0);
      const share = sum("both") / Math.max(1, sum("evidence"));
      const tooLong = [...results.values()]
        .filter(({ facts }) => (facts?.tokens ?? 0) > 3_000)
        .map(({ name }) => `${name}: more than 3,000 tokens.`);
      return [
        ...tooLong,
        ...(results.size === 0 || share >= GOAL
          ? []
          : [`${(share * 100).toFixed(1)} % of the names used later are held; the goal is 97 %.`]),
      ];
    },
  });

function everythingIn(entry: TranscriptEntry): string {
  if (entry.type !== "message") return "";
  const { message } = entry;
  return message.role === "assistant" ? allTexts(message.content).join("\n") : textOf(message);
}

const textsIn = (value: unknown): string[] => allTexts(value, BULK);

function allTexts(value: unknown, without: ReadonlySet<string> = new Set()): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap((one) => allTexts(one, without));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => (without.has(key) ? [] : allTexts(one, without)));
}

/** As a whole name, not as a part of a longer word. */
function stands(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (!/\w/.test(text[at - 1] ?? " ") && !/\w/.test(text[at + name.length] ?? " ")) return true;
  return false;
}
