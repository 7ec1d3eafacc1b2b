// Which exact names a session goes on to use, and where they still stand.
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import { type TranscriptEntry, textOf } from "@clew/plugin-sdk/transcript";
import type { Recording } from "./recordings.ts";

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

// Independent of the ledger's own reading: words with a slash or a file's ending, in any script,
// in camelCase or snake_case, hexadecimal, or ticket numbers.
const NAME =
  /^(?:[~.]?[\p{L}\p{M}\p{N}_.@-]*\/[\p{L}\p{M}\p{N}_./@-]*[\p{L}\p{M}\p{N}_]\/?|[\p{L}\p{M}\p{N}_][\p{L}\p{M}\p{N}_-]*\.(?:ts|js|json|md|go|py|sh|ya?ml|toml|sql)|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[a-z]\w*_\w+|[A-Z]\w*_\w+|(?=[a-f]*\d)[0-9a-f]{7,40}|[A-Z]{2,}-\d+|(?=[A-Z]*\d)[A-Z0-9]{6,})$/u;

export interface ObservedCompaction {
  cut: number;
  /** What the recorded client summarised, where the file says so. */
  summary: string;
}

/** Where the recorded client compacted. */
export function observedCompactions({ branch }: Pick<Recording, "branch">): ObservedCompaction[] {
  return branch.flatMap((entry, cut) => {
    if (entry.type !== "custom" || entry.customType !== "observed-compaction") return [];
    return [{ cut, summary: String((entry.data as { summary?: unknown }).summary ?? "") }];
  });
}

/** Names in tool calls from `from` on that stand in the entries before `cut`; each once. */
export function evidenceOf(
  branch: readonly TranscriptEntry[],
  cut: number,
  from: number = cut,
): string[] {
  const before = branch.slice(0, cut).map(everythingIn).join("\n");
  const used = branch
    .slice(from)
    .flatMap((entry) =>
      entry.type === "message" && entry.message.role === "assistant"
        ? namesUsed(entry.message)
        : [],
    );
  return [...new Set(used)].filter((name) => stands(before, name));
}

/** Names in the arguments of a reply's tool calls, in order, not each once. */
export function namesUsed({ content }: AssistantMessage): string[] {
  const texts = content.flatMap((block) =>
    block.type === "toolCall" ? textsIn(block.arguments) : [],
  );
  return texts.flatMap(namesInText);
}

/** Every exact name of a text, in order, not each once. */
export function namesInText(text: string): string[] {
  return text
    .split(/[\s"'`<>()[\]{}|,;:=\\，。；：、（）「」]+/)
    .filter((word) => word.length > 3 && NAME.test(word));
}

/** All text of an entry's message, arguments of calls included. */
export function everythingIn(entry: TranscriptEntry): string {
  if (entry.type !== "message") return "";
  const { message } = entry;
  return message.role === "assistant" ? allTexts(message.content).join("\n") : textOf(message);
}

const textsIn = (value: unknown): string[] => allTexts(value, BULK);

/** Every text in a value, except under the keys in `without`. */
export function allTexts(value: unknown, without: ReadonlySet<string> = new Set()): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap((one) => allTexts(one, without));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    without.has(key) ? [] : allTexts(one, without),
  );
}

/** As a whole name, not as a part of a longer word. */
export function stands(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (!/\w/.test(text[at - 1] ?? " ") && !/\w/.test(text[at + name.length] ?? " ")) return true;
  return false;
}
