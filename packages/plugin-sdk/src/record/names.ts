// Which files, symbols and ids a text names.
import { headOf, ownText } from "../transcript/text.ts";
import { withoutData } from "./data-text.ts";
import {
  FLAG,
  isAddress,
  isFile,
  isId,
  isLikeId,
  isLikePair,
  isPath,
  isScoped,
  isSymbol,
  WINDOWS_PATH,
} from "./name-shapes.ts";
import { cutAtBorders } from "./word-borders.ts";

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
/** Of a text of which this much is known everything is known that it names, and what is around. */
export const TELLING_CHARS = MAX_CHARS + 1_000;
const MAX_NAME = 160;
/** A line of this many characters without white space is data. */
const MAX_UNBROKEN = 400;

const SEPARATORS =
  /(?:[\s\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"'`<>()[\]{}|;،؛؟¿¡，。；：！？、（）《》「」『』“”‘’«»…—–]|,(?!\d{3}(?!\d)))+/u;
/** "src/[id]/page.tsx": a folder in brackets, which separate nothing. */
const FOLDER = /(?<=\/)[([]{1,2}\.{0,3}[\w-]{1,40}[)\]]{1,2}(?=\/)/g;
const HIDDEN = "\ue000\ue001\ue002\ue003";
const hideFolders = (text: string) =>
  text.replace(FOLDER, (folder) =>
    folder.replace(/[()[\]]/g, (mark) => HIDDEN["()[]".indexOf(mark)]!),
  );
const showFolders = (name: string) =>
  name.replace(/[\ue000-\ue003]/g, (mark) => "()[]"[HIDDEN.indexOf(mark)]!);
/** What a diff writes before both names of a file. */
const DIFF_SIDE = /^[ab]\/(?=[^/]+\/)/;
const PLACE = /(?::\d+){1,2}(?::.*)?$|#L\d+(?:-L?\d+)?$/;
const ASSIGNED = /^(-{0,2}[A-Za-z][\w-]*)=(?=.)/;

/**
 * The names in the first 50,000 characters of `text`, each once, in the order they stand there: the
 * one reading of names for ledgers, anchors, checks and summaries. What is data (base64, dumps,
 * lock files, minified code) names nothing. Linear.
 */
export function namesIn(text: string): Name[] {
  const head = hideFolders(withoutData(headOf(text, MAX_CHARS)));
  const found = new Map<string, Name>();
  let end = 0;
  for (const word of head.split(SEPARATORS)) {
    const at = head.indexOf(word, end);
    end = at + word.length;
    const named = namesOfWord(word);
    const all = named.length === 0 && isModule(head, at, word) ? [moduleOf(word)] : named;
    for (const { kind, name, weak } of all) {
      // "registry.Lock(" is called, whatever its ending.
      if (kind === "path" && isCalled(head, end, name)) continue;
      const before = found.get(name);
      if (before !== undefined) before.places.push(at);
      else found.set(name, { kind, name, places: [at], ...(weak && { weak: true as const }) });
    }
  }
  return [...found.values()];
}

/** "net/http" in quotes is what a program imports; without them two words are "read/write". */
const isModule = (text: string, at: number, word: string) =>
  MODULE.test(word) && QUOTE.test(text[at - 1] ?? "") && text[at - 1] === text[at + word.length];

const MODULE = /^[a-z][a-z0-9]+\/[a-z][a-z0-9]+$/;
const QUOTE = /["'`]/;

/** Quotes stand around other words too: it is a name when it comes again. */
const moduleOf = (name: string): Found => ({ kind: "path", name, weak: true });

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
/**
 * Texts say the same words again and again; those that were said lately, and before that. Few, so
 * that hardly any are there when garbage is collected: those would wait for a large collection.
 */
let lately = new Map<string, readonly Found[]>();
let before = new Map<string, readonly Found[]>();
const MAX_LATELY = 200;
const MAX_REMEMBERED_CHARS = 80;

function namesOfWord(word: string): readonly Found[] {
  if (word.length < 3 || word.length > MAX_UNBROKEN || PLAIN.test(word)) return NONE;
  const known = lately.get(word);
  if (known !== undefined) return known;
  const earlier = before.get(word);
  const own = ownText(word);
  const found = earlier ?? readNames(own);
  if (own.length <= MAX_REMEMBERED_CHARS) remember(own, found);
  return found;
}

function remember(word: string, found: readonly Found[]): void {
  if (lately.size >= MAX_LATELY) [before, lately] = [lately, new Map()];
  lately.set(word, found);
}

function readNames(raw: string): readonly Found[] {
  const found: Found[] = [];
  const add: Add = (kind, name, weak = false) => {
    if (name.length <= MAX_NAME) found.push({ kind, name: showFolders(name), weak });
  };
  if (WINDOWS_PATH.test(raw)) add("path", raw);
  else
    for (const part of raw.includes("\\") ? raw.split(/\\+/) : [raw])
      for (const piece of cutAtBorders(part)) if (piece.length >= 3) readWord(piece, add);
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
  if (isAddress(word)) add("id", word);
  else if (PLAIN.test(name)) return;
  else if (isId(name)) add("id", name);
  else {
    if (isScoped(name)) add("symbol", name);
    readValue(name, add);
  }
}

function readValue(word: string, add: Add): void {
  const value = word.replace(ASSIGNED, "");
  if (!isFile(value) && !isPath(value)) {
    readParts(word, add);
    return;
  }
  const flag = word.slice(0, word.length - value.length - 1);
  if (FLAG.test(flag)) add("symbol", flag, true);
  add("path", value);
}

/** Nothing as a whole: what it is made of may be. */
function readParts(word: string, add: Add): void {
  // What a search printed without a line number: "src/a.ts:const x".
  const file = word.slice(0, Math.max(0, word.indexOf(":")));
  if (file.length >= 3 && (isFile(file) || isPath(file))) add("path", file);
  const flag = word.split("=", 1)[0]!;
  if (FLAG.test(flag)) add("symbol", flag, true);
  if (isLikePair(word)) add("id", word, true);
  if (isLikeId(word)) add("id", word, true);
  else
    for (const part of word.split(/[^\p{L}\p{N}\p{M}_-]+/u))
      if (part.length >= 4) readPart(part, add);
}

function readPart(part: string, add: Add): void {
  if (isId(part)) add("id", part);
  else if (isSymbol(part)) add("symbol", part);
  else if (isLikeId(part)) add("id", part, true);
}
