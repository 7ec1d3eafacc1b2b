// What became different from one model call to another.
import { number } from "../text/number.ts";
import type { EntryFate } from "./fates.ts";
import type { CallRow } from "./shapes/calls.ts";
import type { CallDiff, SentItem } from "./shapes/one-call.ts";

/** A call and everything it sent. */
export interface ComparedCall {
  row: CallRow;
  /** In the order of the wire. */
  items: readonly SentItem[];
  /** Of an entry that was sent: what it says may have been stored again under another id. */
  originOf: (entryId: string) => string;
}

/** What is known of what call `to` does not show as `from` did. */
interface KnownOfTo {
  /** Of an entry. */
  fateOf: (entryId: string) => EntryFate | undefined;
  /** Of an entry that is not on its branch. */
  whyLeft: (entryId: string) => string;
  /** Why it shows a summary no more; null = nobody knows. */
  whySummaryLeft: (summaryId: string) => string | null;
}

/** Pure. */
export function planDiff(
  from: ComparedCall,
  to: ComparedCall,
  { fateOf, ...why }: KnownOfTo,
): CallDiff {
  const limit = Math.min(from.items.length, to.items.length);
  let same = 0;
  while (same < limit && from.items[same]!.hash === to.items[same]!.hash) same++;
  const tokens = sumOf(from.items.slice(0, same));
  const isEarlier = comesBefore(to.row, from.row);
  const [left, right] = [from.items.slice(same), to.items.slice(same)];
  const before = byKey(left, from.originOf);
  const after = byKey(right, to.originOf);
  const pairs = [...after].flatMap(([key, item]) => {
    const old = before.get(key);
    return old === undefined ? [] : [{ before: old, after: item }];
  });
  return {
    from: from.row,
    to: to.row,
    prefix: { items: same, tokens, share: share(tokens, sumOf(from.items)) },
    added: [...after].flatMap(([key, item]) => (before.has(key) ? [] : [item])),
    removed: [...before].flatMap(([key, item]) =>
      after.has(key)
        ? []
        : [{ item, why: whyGone(item, { fate: fateOf(item.entryId ?? ""), isEarlier, ...why }) }],
    ),
    recounted:
      sumOf(to.items.slice(0, same)) -
      tokens +
      pairs.reduce(
        (sum, { before: old, after: now }) =>
          old.hash === now.hash ? sum + now.tokens - old.tokens : sum,
        0,
      ),
    changed: pairs.flatMap((pair) =>
      pair.before.hash === pair.after.hash
        ? []
        : [{ ...pair, why: whyChanged(pair.after, fateOf(pair.after.entryId ?? "")) }],
    ),
  };
}

const sumOf = (items: readonly SentItem[]) => items.reduce((sum, { tokens }) => sum + tokens, 0);

const share = (part: number, whole: number) => (whole === 0 ? 1 : part / whole);

/** By what they are, not what they say; the second of two alike is another. */
function byKey(
  items: readonly SentItem[],
  originOf: (entryId: string) => string,
): ReadonlyMap<string, SentItem> {
  const keys = new Map<string, SentItem>();
  for (const item of items) {
    const { part, entryId, source, hash } = item;
    const entry = entryId === null ? null : originOf(entryId);
    const own = entry ?? (part === "messages" ? hash : source.name);
    let key = `${part} ${source.kind} ${own}`;
    while (keys.has(key)) key += "+";
    keys.set(key, item);
  }
  return keys;
}

const comesBefore = (row: CallRow, other: CallRow) =>
  row.turn < other.turn || (row.turn === other.turn && row.call < other.call);

/** `isEarlier`: it is missing in a call before the one that sent it. */
function whyGone(
  item: SentItem,
  {
    fate: known,
    isEarlier,
    ...why
  }: { fate: EntryFate | undefined; isEarlier: boolean } & Omit<KnownOfTo, "fateOf">,
): string {
  if (known !== undefined) return describeFate(known);
  const { entryId, summaryId } = item;
  if (isEarlier && entryId !== null && summaryId === null) return "it was not said yet";
  if (isEarlier) return "it was made later only";
  if (summaryId !== null)
    return why.whySummaryLeft(summaryId) ?? "another summary stands for it now, or none does";
  if (entryId !== null) return why.whyLeft(entryId);
  return item.part === "messages" ? "it was made for one call only" : "it is not offered any more";
}

function whyChanged({ part }: SentItem, known: EntryFate | undefined): string {
  if (known !== undefined) return describeFate(known);
  return part === "system" ? "the system prompt changed" : "it was made anew";
}

/** Pure. One fate in words. */
export function describeFate({ fate, marks }: EntryFate): string {
  switch (fate.kind) {
    case "shown":
      return marks.length === 0 ? "shown as it is stored" : marks.map(describeMark).join("; ");
    case "summary":
      return `in summary ${fate.summaryId}`;
    case "cleared":
      return `cleared by ${fate.rule}; a placeholder stands for it`;
    case "left-out":
      return `left out by the ${fate.by}: ${fate.why}`;
    case "unseen":
      return fate.why;
  }
}

const describeMark = (mark: EntryFate["marks"][number]): string =>
  mark.kind === "shortened"
    ? `shortened from ${number(mark.from)} to ${number(mark.to)} tokens by ${mark.rule}`
    : `changed by ${mark.rule}${(mark.ids ?? []).map(({ from, to }) => `, id ${from} → ${to}`).join("")}`;
