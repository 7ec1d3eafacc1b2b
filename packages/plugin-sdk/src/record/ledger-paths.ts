// How the paths of a ledger share their folders, and how to read them back.
import type { LedgerItem } from "./state.ts";

/** A name with how much it counts. */
export interface Ranked {
  item: LedgerItem;
  /** Likeliness of being needed; only compared. */
  worth: number;
}

/** Where a file stands that was named without its folder: nobody said that it is "./". */
const SEEN = "seen";
/** Stands for the folder that most files have in common; no path begins like this. */
const HERE = "…/";
const HEADING = "## Files";
const ROOT = " (…/ is ";
/** Newest edits that say in which entry; of the others that they were edited. */
const MAX_SOURCES = 8;

/**
 * A path that is the end of another one is the same file: the longer one counts for both. Of
 * several longer ones, for the one that counts most.
 */
export function mergeSuffixes(names: readonly Ranked[]): Ranked[] {
  const shorter = new Set(
    names.flatMap(({ item }) => (item.kind === "path" ? [trimmed(item.name)] : [])),
  );
  const longer = new Map<string, Ranked>();
  for (const ranked of names) {
    if (ranked.item.kind !== "path") continue;
    const name = trimmed(ranked.item.name);
    for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) {
      const end = name.slice(at + 1);
      if (!shorter.has(end)) continue;
      if ((longer.get(end)?.worth ?? -1) < ranked.worth) longer.set(end, ranked);
    }
  }
  const added = new Map<Ranked, number>();
  const owners = (ranked: Ranked): Ranked => {
    let owner = ranked;
    for (let next = ownerOf(owner); next !== undefined; next = ownerOf(owner)) owner = next;
    return owner;
  };
  const ownerOf = ({ item }: Ranked) =>
    item.kind === "path" ? longer.get(trimmed(item.name)) : undefined;
  for (const ranked of names) {
    const owner = owners(ranked);
    if (owner !== ranked) added.set(owner, (added.get(owner) ?? 0) + ranked.worth);
  }
  return names
    .filter((ranked) => owners(ranked) === ranked)
    .map((ranked) => ({ ...ranked, worth: ranked.worth + (added.get(ranked) ?? 0) }));
}

/** Without folders that hold a more important file; names by importance. */
export function withoutFolders(ranked: readonly LedgerItem[]): LedgerItem[] {
  const folders = new Set<string>();
  return ranked.filter(({ kind, name }) => {
    if (kind !== "path") return true;
    const whole = trimmed(name);
    if (folders.has(whole)) return false;
    for (let at = whole.indexOf("/"); at >= 0; at = whole.indexOf("/", at + 1))
      folders.add(whole.slice(0, at));
    return true;
  });
}

/** One line per folder: "…/src/: a.ts (edited @e1) b.ts". */
export function fileLines(items: readonly LedgerItem[]): string[] {
  if (items.length === 0) return [];
  const root = rootOf(items.map(({ name }) => name));
  const sources = new Set(
    items
      .filter(({ state }) => isChanged(state))
      .sort((a, b) => b.at - a.at)
      .slice(0, MAX_SOURCES),
  );
  const folders = new Map<string, string[]>();
  for (const item of items) {
    const { name, state, stateEntryId } = item;
    const shown = lastPart(name);
    const folder = name.slice(0, name.length - shown.length) || SEEN;
    const short =
      root !== "" && folder.startsWith(root) ? HERE + folder.slice(root.length) : folder;
    const heading = /\s/.test(short) ? asOneWord(short) : short;
    const source = sources.has(item) ? ` @${stateEntryId}` : "";
    const changed = isChanged(state) ? ` (${state}${source})` : "";
    const names = folders.get(heading);
    const shownName = `${asOneWord(shown)}${changed}`;
    if (names === undefined) folders.set(heading, [shownName]);
    else names.push(shownName);
  }
  return [
    root === "" ? HEADING : `${HEADING}${ROOT}${asOneWord(root)})`,
    ...[...folders].map(([folder, names]) => `${folder}: ${names.join(" ")}`),
  ];
}

/** A name that could be read as several, or as said of another, is quoted. */
const asOneWord = (name: string) => (/[\s"]|^[(@]/.test(name) ? JSON.stringify(name) : name);
const ofOneWord = (word: string) => (word.startsWith('"') ? String(JSON.parse(word)) : word);

/** Something happened to it that a reader has to know. */
export const isChanged = (state: string | undefined) =>
  state !== undefined && /^(?:edited|written)$|failed$/.test(state);

/** The folder from the root of the disk that, left out, saves most; empty when none does. */
function rootOf(paths: readonly string[]): string {
  const folders = new Map<string, Set<string>>();
  for (const path of paths) {
    const own = path.slice(0, path.length - lastPart(path).length);
    if (!/^[/~]/.test(own)) continue;
    for (let at = own.indexOf("/", 1); at >= 0; at = own.indexOf("/", at + 1)) {
      const folder = own.slice(0, at + 1);
      const within = folders.get(folder) ?? new Set();
      folders.set(folder, within.add(own));
    }
  }
  let best = "";
  let saved = 0;
  for (const [folder, { size }] of folders) {
    const saves = (size - 1) * folder.length;
    if (saves > saved) [best, saved] = [folder, saves];
  }
  return best;
}

/** One name, or what is said of the one before. */
const WORD = /"(?:[^"\\]|\\.)*"|\((?:edited|written|[a-z]+ failed)(?: @[^\s)]+)?\)|\S+/g;
const SAID = /^\((?:edited|written|[a-z]+ failed)(?: @[^\s)]+)?\)$/;

/**
 * Every path a ledger's text names, whole: its folders, and their files joined with them. For
 * measuring and for tests.
 */
export function pathsInLedger(text: string): string[] {
  const root = ofOneWord(/^## Files \(…\/ is (.+)\)$/m.exec(text)?.[1] ?? HERE);
  return text.split("\n").flatMap((line) => {
    const [, heading, names] =
      /^("(?:[^"\\]|\\.)*\/"|[^\s#-]\S*\/|\/|seen): (.+)$/.exec(line) ?? [];
    if (heading === undefined || names === undefined) return [];
    const folder = ofOneWord(heading);
    const whole = folder.startsWith(HERE) ? root + folder.slice(HERE.length) : folder;
    const files = (names.match(WORD) ?? []).filter((word) => !SAID.test(word)).map(ofOneWord);
    return folder === SEEN ? files : [whole, ...files.map((name) => whole + name)];
  });
}

/** Of a path its last part: the folder is written once for all. */
export const lastPart = (path: string) => path.slice(path.lastIndexOf("/", path.length - 2) + 1);

const trimmed = (path: string) => path.replace(/\/$/, "");
