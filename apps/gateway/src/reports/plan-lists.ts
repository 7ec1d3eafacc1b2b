// Decides which reported calls list all their messages, and which only what is new in them.
import type { ReportItem, TurnReport } from "@clew/engine-core";
import { toJson } from "../own-json.ts";

/** What a report file says of its session's newest call. */
export interface KnownList {
  items: readonly ReportItem[];
  /** Written since the last full list, bytes. */
  bytesSince: number;
}

/** About what an item of a list takes in the file. */
const ITEM_BYTES = 60;
/** Lists in full take no more than one byte for so many others. */
const SHARE = 2;

/** About what the newest list takes when it is written in full. */
export const listBytes = (known: KnownList | undefined): number =>
  ITEM_BYTES * (known?.items.length ?? 0);

/** What the calls of a report are a difference to, and what they are written as a difference to. */
export interface ReportedLists {
  /** Undefined: nobody knows what the file says. */
  known: KnownList | undefined;
  /**
   * Of the newest call of Clew's own: those of the door list all their messages, and the next one
   * of Clew's own knows nothing of them. Undefined: it is as the file says.
   */
  own: readonly ReportItem[] | undefined;
}

/**
 * Pure. The report, whose calls are told by what is new in them as far as that is known, the newest
 * lists, and whether a call lists all its messages: it does when so much was written since the last
 * one that reading back to it costs as much.
 */
export function planLists(
  report: TurnReport,
  { known, own: before }: ReportedLists,
): ReportedLists & { report: TurnReport; listsAll: boolean } {
  let list = known;
  let own = before;
  let listsAll = false;
  const modelCalls = report.modelCalls.map((call) => {
    const { kept, items, tokens } = call.messages;
    const base = own ?? list?.items;
    if (kept > 0 && base === undefined) return call;
    const all = kept === 0 ? items : base!.slice(0, kept).concat(items);
    if (report.door === undefined) own = all;
    const isDue = (list?.bytesSince ?? Infinity) >= SHARE * ITEM_BYTES * all.length;
    const same = isDue ? 0 : sameItems(list?.items ?? [], all);
    listsAll ||= same === 0;
    list = { items: all, bytesSince: same === 0 ? 0 : (list?.bytesSince ?? 0) };
    return { ...call, messages: { kept: same, items: all.slice(same), tokens } };
  });
  return { report: { ...report, modelCalls }, known: list, own, listsAll };
}

/** Leading items that say the same; why they are there is told where they first were. */
function sameItems(left: readonly ReportItem[], right: readonly ReportItem[]): number {
  const most = Math.min(left.length, right.length);
  let same = 0;
  while (same < most && isSame(left[same]!, right[same]!)) same++;
  return same;
}

const isSame = (left: ReportItem, right: ReportItem): boolean =>
  left === right ||
  (left.hash === right.hash &&
    left.role === right.role &&
    left.changed === right.changed &&
    left.tokens === right.tokens &&
    left.engineReason === right.engineReason &&
    isAlike(left.source, right.source) &&
    isAlike(left.merged, right.merged) &&
    isAlike(left.callIds, right.callIds));

const isAlike = (left: unknown, right: unknown): boolean =>
  left === right || toJson(left) === toJson(right);
