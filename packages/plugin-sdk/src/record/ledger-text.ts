// How a ledger reads to a model within a number of tokens.
import { estimateText } from "../tokens/estimate.ts";
import { type LedgerItem, type LedgerState, ledgerScore } from "./ledger.ts";

/** Tokens a ledger may take in a context unless a host says otherwise. */
const DEFAULT_LEDGER_TOKENS = 3_000;

/** Prompt budget and ledger, tokens: straight lines between. */
const ROOM: readonly (readonly [budget: number, tokens: number])[] = [
  [0, 0],
  [8_000, 1_000],
  [32_000, 3_000],
  [64_000, 4_500],
];

/**
 * The room of a ledger under a prompt budget, both in tokens: 1,000 at 8k, 3,000 at 32k, 4,500 from
 * 64k (spec "compaction", "Decided since" 5). It is worth its whole room: of the names a session
 * goes back to, most of those a smaller one misses stood once in an output.
 */
export function ledgerRoomOf(promptBudget: number): number {
  const above = ROOM.findIndex(([budget]) => promptBudget < budget);
  if (above < 0) return ROOM.at(-1)![1];
  const [low, least] = ROOM[above - 1] ?? [0, 0];
  const [high, most] = ROOM[above]!;
  return Math.max(0, Math.floor(least + ((promptBudget - low) / (high - low)) * (most - least)));
}

/** A ledger as a model reads it. */
export interface LedgerText {
  /** Empty when the ledger is, or when nothing fits. */
  text: string;
  /** What the text names, most important first; each with the entry it comes from. */
  items: readonly LedgerItem[];
}

const HEADING =
  "# Ledger of this session: exact names as last seen, kept by code; @ is the transcript entry";
/** Lists of names are under-estimated by up to 5 %, counted against o200k_base. */
const SLACK = 0.95;
const RECENT_WEIGHT = 3;
/** Entries. */
const RECENT_HALF_LIFE = 30;
/** Work goes back to a file more often than to a symbol of it. */
const PATH_WEIGHT = 1.6;
/**
 * Room counts a little more than in proportion: of two names the short one leaves room for a third.
 */
const ROOM_EXPONENT = 1.2;
const CHARS_PER_TOKEN = 4;
const MAX_COMMANDS = 8;
const MAX_ERRORS = 5;

/** Text and items of a ledger, at most `maxTokens`, estimated with some slack. Deterministic. */
export function renderLedger(
  state: LedgerState,
  { maxTokens = DEFAULT_LEDGER_TOKENS }: { maxTokens?: number } = {},
): LedgerText {
  const ranked = [...state.items.values()]
    .map((item) => ({ item, rank: rankOf(item, state.entries) }))
    .sort(
      (a, b) => b.rank - a.rank || b.item.at - a.item.at || (a.item.name < b.item.name ? -1 : 1),
    )
    .map(({ item }) => item);
  const chosen = withoutCovered(limited(ranked));
  let fits: LedgerText = { text: "", items: [] };
  // The largest number of items that fits.
  for (let low = 1, high = chosen.length; low <= high; ) {
    const middle = (low + high) >> 1;
    const items = chosen.slice(0, middle);
    const text = textOfItems(items);
    if (estimateText(text).estimate <= maxTokens * SLACK) {
      fits = { text, items };
      low = middle + 1;
    } else high = middle - 1;
  }
  return fits;
}

/** Only the newest commands and errors: they are long, and of old ones only the names matter. */
function limited(ranked: readonly LedgerItem[]): LedgerItem[] {
  const newest = (kind: LedgerItem["kind"], limit: number) =>
    ranked
      .filter((item) => item.kind === kind)
      .sort((a, b) => b.at - a.at)
      .slice(0, limit);
  const lines = new Set([...newest("command", MAX_COMMANDS), ...newest("error", MAX_ERRORS)]);
  return ranked.filter(
    (item) => lines.has(item) || (item.kind !== "command" && item.kind !== "error"),
  );
}

function textOfItems(items: readonly LedgerItem[]): string {
  const of = (kind: LedgerItem["kind"]) => items.filter((item) => item.kind === kind);
  const list = (heading: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${heading}: ${names.join(" ")}`];
  const lines = (heading: string, kind: LedgerItem["kind"]) => {
    const found = of(kind).sort((a, b) => a.at - b.at);
    return found.length === 0
      ? []
      : [
          heading,
          ...found.map(
            ({ name, state, stateEntryId, entryId }) =>
              `- ${name}${state ? ` → ${state}` : ""} @${stateEntryId ?? entryId}`,
          ),
        ];
  };
  const files = fileLines(of("path"));
  return [
    HEADING,
    ...(files.length === 0 ? [] : ["## Files", ...files]),
    ...list(
      "## Symbols",
      of("symbol").map(({ name }) => name),
    ),
    ...list(
      "## Ids",
      of("id").map(({ name }) => name),
    ),
    ...lines("## Commands", "command"),
    ...lines("## Errors", "error"),
  ].join("\n");
}

/**
 * Without paths that a more important one names anyway: the end of a longer path, or a
 * folder with a file in it.
 */
function withoutCovered(ranked: readonly LedgerItem[]): LedgerItem[] {
  const covered = new Set<string>();
  return ranked.filter(({ kind, name }) => {
    if (kind !== "path") return true;
    const whole = name.replace(/\/$/, "");
    if (covered.has(whole)) return false;
    for (let at = whole.indexOf("/"); at >= 0; at = whole.indexOf("/", at + 1))
      covered.add(whole.slice(at + 1)).add(whole.slice(0, at));
    return true;
  });
}

/** Where a file stands that was named without its folder: nobody said that it is "./". */
const SEEN = "seen";

/** One line per folder: "src/: a.ts (edited @e1) b.ts". */
function fileLines(items: readonly LedgerItem[]): string[] {
  const folders = new Map<string, string[]>();
  for (const item of items) {
    const { name, state, stateEntryId } = item;
    const shown = shownName(item);
    const folder = name.slice(0, name.length - shown.length) || SEEN;
    const changed =
      state !== undefined && /^(?:edited|written|failed)/.test(state)
        ? ` (${state} @${stateEntryId})`
        : "";
    folders.set(folder, [...(folders.get(folder) ?? []), `${shown}${changed}`]);
  }
  return [...folders].map(([folder, names]) => `${folder}: ${names.join(" ")}`);
}

/**
 * Every path a ledger's text names, whole: folders joined with their files. For measuring and for
 * tests.
 */
export function pathsInLedger(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const [, folder, names] = /^([^\s#-]\S*\/|\/|seen): (.+)$/.exec(line) ?? [];
    if (folder === undefined || names === undefined) return [];
    return names
      .replace(/ \([^)]*\)/g, "")
      .split(" ")
      .map((name) => (folder === SEEN ? name : folder + name));
  });
}

/** What was just said counts extra, what takes more room counts less. */
function rankOf(item: LedgerItem, entries: number): number {
  const recency = RECENT_WEIGHT * 0.5 ** ((entries - item.at) / RECENT_HALF_LIFE);
  const worth = (item.kind === "path" ? PATH_WEIGHT : 1) * (ledgerScore(item, entries) + recency);
  return worth / (1 + shownName(item).length / CHARS_PER_TOKEN) ** ROOM_EXPONENT;
}

/** Of a path its last part: the folder is written once for all. */
function shownName({ kind, name }: LedgerItem): string {
  return kind === "path" ? name.slice(name.lastIndexOf("/", name.length - 2) + 1) : name;
}
