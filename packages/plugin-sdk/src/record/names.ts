// Which files, symbols and ids a text names.
import { headOf, ownText } from "../transcript/text.ts";
import { withoutData } from "./data-text.ts";

/** What a word of a text may name: a file or folder, a piece of code, or a thing by its id. */
export type NameKind = "path" | "symbol" | "id";

/** A name that a text holds. */
export interface Name {
  /** By its shape. */
  kind: NameKind;
  /** Exactly as it stands there. */
  name: string;
  /** Where the words begin that name it, in characters; as many as it is named times. */
  places: number[];
  /** Its shape alone says little: a name when it recurs, or when somebody asks for it. */
  weak?: true;
}

const MAX_CHARS = 50_000;
const MAX_NAME = 160;
/** A line of this many characters without white space is data. */
const MAX_UNBROKEN = 400;

// All of these are linear: they meet hostile tool output.
const SEPARATORS = /(?:[\s"'`<>()[\]{}|;，。；：！？、（）《》「」『』“”‘’«»…]|,(?!\d{3}(?!\d)))+/u;
const PATH = /^[~$\p{L}\p{N}\p{M}_.@+=/-]*[\p{L}\p{N}\p{M}_]$|^[~$\p{L}\p{N}\p{M}_.@+=/-]*\/$/u;
const EXTENSIONS =
  "[cm]?[jt]sx?|json5?|jsonl|mdx?|rst|adoc|tex|py|ipynb|rs|go|mod|sum|rb|java|kts?|gradle|swift|scala|clj|exs?|erl|hs|mli?|lua|pl|jl|dart|zig|nim|c|h|cc|cpp|hpp|cs|fs|vb|sh|bash|zsh|ps1|bat|ya?ml|toml|sql|html?|s?css|less|txt|csv|tsv|parquet|lock|env|xml|xsd|svg|png|jpe?g|gif|webp|pdf|docx?|xlsx?|pptx?|od[tsp]|log|ini|cfg|conf|proto|graphql|tf|hcl|vue|svelte|astro|php|diff|patch|zip|gz|tgz|tar|whl|jar|wasm|bin|db|sqlite|pem|crt|key";
const FILE = new RegExp(`^[\\p{L}\\p{N}\\p{M}_.@+-]+\\.(?:${EXTENSIONS})$`, "iu");
/** A member of something in a program: "registry.Lock", "process.env". */
const MEMBER = /\.[A-Z][a-z]+$|^(?:process|import\.meta)\.env$|^console\.log$/;
const WELL_KNOWN_FILE =
  /^(?:Dockerfile|[A-Z][a-z]+file|LICENSE|README|CHANGELOG|\.[a-z]+(?:rc|ignore|config))$/;
const WINDOWS_PATH = /^(?:[A-Za-z]:|\\)\\[^\\:*?]+(?:\\[^\\:*?]+)*\\?$/;
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/\S+$/i;
const MAIL = /^[\p{L}\p{N}_.%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$/u;
const HOST_PORT = /^(?:localhost|[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+):\d{2,5}$/u;
const IMAGE = /^[\w-]+(?:\.[\w-]+)+(?:\/[\w.-]+)+:[\w][\w.-]*$/;
const CLOUD = /^arn:[\w-]+:[\w-]*:[\w-]*:\d*:\S+$/;
/** What a diff writes before both names of a file. */
const DIFF_SIDE = /^[ab]\/(?=[^/]+\/)/;
const PLACE = /(?::\d+){1,2}(?::.*)?$/;
const ID =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?=[0-9a-f]*\d)[0-9a-f]{7,64}|[A-Za-z]{2,}[A-Za-z0-9]*(?:-\d+)+|#\d+|(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,}|[a-z]+(?:_[a-z0-9]+)*_\d+|v?\d+\.\d+\.\d+\S*|[a-z]{2,6}[_-](?=\w*\d)\w{6,})$/;
const SYMBOL =
  /^(?:\p{L}[\p{L}\p{N}_]*_[\p{L}\p{N}_]+|_[\p{L}\p{N}_]{3,}|\p{Ll}[\p{Ll}\p{N}]*\p{Lu}[\p{L}\p{N}_]*|\p{Lu}[\p{Ll}\p{N}]+\p{Lu}[\p{L}\p{N}_]*|\p{Lu}{2,}\p{Ll}[\p{L}\p{N}_]{2,}|E[A-Z]{4,14})$/u;
/** Words joined by hyphens or dots of which one holds a digit; dates, amounts, numbers. */
const WEAK_ID =
  /^(?=.{6})(?=\D*\d)[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)+$|^\+?\d[\d-]{6,}\d$|^[€$£¥]\d[\d.,]*$/u;
const FLAG = /^--[a-z][\w-]{3,}$/;

/**
 * The names in the first 50,000 characters of `text`, each once, in the order they stand there: the
 * one reading of names for ledgers, anchors, checks and summaries. What is data (base64, dumps,
 * lock files, minified code) names nothing. Linear.
 */
export function namesIn(text: string): Name[] {
  const head = withoutData(headOf(text, MAX_CHARS));
  const found = new Map<string, Name>();
  let end = 0;
  for (const word of head.split(SEPARATORS)) {
    const at = head.indexOf(word, end);
    end = at + word.length;
    for (const { kind, name, weak } of namesOfWord(word)) {
      // "registry.Lock(" is called, whatever its ending.
      if (kind === "path" && isCalled(head, end, name)) continue;
      const before = found.get(name);
      if (before !== undefined) before.places.push(at);
      else found.set(name, { kind, name, places: [at], ...(weak && { weak: true as const }) });
    }
  }
  return [...found.values()];
}

const isCalled = (text: string, end: number, name: string) =>
  text[end] === "(" && !name.includes("/") && text.endsWith(name, end);

interface Found {
  kind: NameKind;
  name: string;
  weak: boolean;
}

/** Most words of any text; not "Makefile". */
const PLAIN = /^(?:[a-z]+|[A-Z](?![a-z]*file$)[a-z]+|\d{1,6})$/;
const NONE: readonly Found[] = [];
/** Texts say the same words again and again. */
const remembered = new Map<string, readonly Found[]>();
const MAX_REMEMBERED = 20_000;
const MAX_REMEMBERED_CHARS = 80;

function namesOfWord(word: string): readonly Found[] {
  if (word.length < 3 || word.length > MAX_UNBROKEN || PLAIN.test(word)) return NONE;
  const before = remembered.get(word);
  if (before !== undefined) return before;
  const own = ownText(word);
  const found = readNames(own);
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  if (own.length <= MAX_REMEMBERED_CHARS) remembered.set(own, found);
  return found;
}

function readNames(raw: string): readonly Found[] {
  const found: Found[] = [];
  const add: Add = (kind, name, weak = false) => {
    if (name.length <= MAX_NAME) found.push({ kind, name, weak });
  };
  if (WINDOWS_PATH.test(raw)) add("path", raw);
  else if (!raw.includes("\\")) readWord(raw, add);
  else for (const part of raw.split(/\\+/)) if (part.length >= 3) readWord(part, add);
  return found.length === 0 ? NONE : found;
}

type Add = (kind: NameKind, name: string, weak?: boolean) => void;

function readWord(raw: string, add: Add): void {
  const word = raw.replace(/^[*:=!&]+/, "").replace(/[.:!?*,]+$/, "");
  // A place in a file: "src/a.ts:12:3", "src/a.ts-12-const".
  const name = word
    .replace(PLACE, "")
    .replace(/(\.[a-z]{1,5})-\d+-.*$/i, "$1")
    .replace(DIFF_SIDE, "");
  if (name.length < 3) return;
  if (isAddressed(word)) add("id", word);
  else if (PLAIN.test(name)) return;
  else if (ID.test(name)) add("id", name);
  else if (isFile(name) || isPath(name)) add("path", name);
  else readParts(name, add);
}

/** Nothing as a whole: what it is made of may be. */
function readParts(word: string, add: Add): void {
  // What a search printed without a line number: "src/a.ts:const x".
  const file = word.slice(0, Math.max(0, word.indexOf(":")));
  if (file.length >= 3 && (isFile(file) || isPath(file))) add("path", file);
  const flag = word.split("=", 1)[0]!;
  if (FLAG.test(flag)) add("symbol", flag, true);
  if (WEAK_ID.test(word)) add("id", word, true);
  else
    for (const part of word.split(/[^\p{L}\p{N}\p{M}_-]+/u))
      if (part.length >= 4) readPart(part, add);
}

function readPart(part: string, add: Add): void {
  if (ID.test(part)) add("id", part);
  else if (SYMBOL.test(part)) add("symbol", part);
  else if (WEAK_ID.test(part)) add("id", part, true);
}

/** Found by an address of its own: a link, a mailbox, a host and port, an image, a resource. */
const isAddressed = (word: string) =>
  ADDRESS.test(word) ||
  MAIL.test(word) ||
  CLOUD.test(word) ||
  (HOST_PORT.test(word) && !isFile(word.slice(0, word.indexOf(":")))) ||
  (IMAGE.test(word) && !FILE.test(word.slice(0, word.lastIndexOf(":")).replace(/^.*\//, "")));

const isFile = (word: string) =>
  (FILE.test(word) && !MEMBER.test(word)) || WELL_KNOWN_FILE.test(word);

/** "src/index", "./a", "~/b/c", "feature/x-1"; not "and/or" and not "/word", which closes a tag. */
function isPath(word: string): boolean {
  if (!word.includes("/") || word.includes("//") || !PATH.test(word)) return false;
  if (!/[^\d/]/.test(word)) return false;
  const parts = word.split("/").filter((part) => part !== "");
  if (parts.length < 2) return /^[~.]|^[\p{L}\p{N}_][\p{L}\p{N}_.-]*\/$/u.test(word);
  return (
    /^[~./$]/.test(word) ||
    parts.length > 2 ||
    parts.some((part) => /[\d._-]/.test(part) || NOT_ASCII.test(part))
  );
}

const NOT_ASCII = /[^ -~]/;
