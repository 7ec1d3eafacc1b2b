// Which files, symbols and ids a text names.
import { headOf } from "./text.ts";

/** What a word of a text may name: a file or folder, a piece of code, or a thing by its id. */
export type NameKind = "path" | "symbol" | "id";

export interface Name {
  kind: NameKind;
  name: string;
}

const MAX_CHARS = 50_000;
const MAX_NAME = 160;

// Without nested repetition: these meet hostile tool output.
const PATH = /^[~\w.@+=/-]*\w$|^[~\w.@+=/-]*\/$/;
const FILE =
  /^[\w.@+-]+\.(?:[cm]?[jt]sx?|json5?|jsonl|mdx?|py|rs|go|mod|sum|rb|java|kt|swift|c|h|cc|cpp|hpp|cs|sh|bash|ya?ml|toml|sql|html|s?css|txt|csv|lock|env|xml|svg|png|jpe?g|pdf|log|ini|cfg|conf|proto|tf|vue|php|diff|patch)$/i;
const ADDRESS = /^[a-z]+:\/\/\S+$/;
const ID =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?=[0-9a-f]*\d)[0-9a-f]{7,64}|[A-Za-z]{2,}[A-Za-z0-9]*-\d+|#\d+|(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,}|[a-z]+(?:_[a-z0-9]+)*_\d+|v?\d+\.\d+\.\d+\S*|[a-z]{2,6}[_-](?=\w*\d)\w{6,})$/;
const SYMBOL = /^(?:[A-Za-z]\w*_\w+|_\w{3,}|[a-z][a-z0-9]*[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*)$/;

/**
 * The names in the first 50,000 characters of `text`, each once, in the order
 * they stand there. Linear.
 */
export function namesIn(text: string): Name[] {
  const found = new Map<string, Name>();
  const add = (kind: NameKind, name: string) => {
    if (!found.has(name)) found.set(name, { kind, name });
  };
  for (const raw of headOf(text, MAX_CHARS).split(/[\s"'`<>()[\]{}|,;\\]+/)) {
    const word = raw
      .replace(/^[*:=!&]+/, "")
      .replace(/[.:!?*]+$/, "")
      // A place in a file: "src/a.ts:12:3", "src/a.ts-12-const".
      .replace(/(?::\d+){1,2}(?::.*)?$/, "")
      .replace(/(\.[a-z]{1,5})-\d+-.*$/i, "$1");
    if (word.length < 3 || word.length > MAX_NAME) continue;
    if (ADDRESS.test(word) || ID.test(word)) add("id", word);
    else if (FILE.test(word) || isPath(word)) add("path", word);
    else for (const part of word.split(/[^\w-]+/)) if (part.length >= 4) addPart(part, add);
  }
  return [...found.values()];
}

function addPart(part: string, add: (kind: NameKind, name: string) => void): void {
  if (ID.test(part)) add("id", part);
  else if (SYMBOL.test(part)) add("symbol", part);
}

/** "src/index", "./a", "~/b/c", "feature/x-1"; not "and/or" and not "/word", which closes a tag. */
function isPath(word: string): boolean {
  if (!word.includes("/") || word.includes("//") || !PATH.test(word)) return false;
  const parts = word.split("/").filter((part) => part !== "");
  if (parts.length < 2) return /^[~.]|^\w[\w.-]*\/$/.test(word);
  return /^[~./]/.test(word) || parts.length > 2 || parts.some((part) => /[\d._-]/.test(part));
}
