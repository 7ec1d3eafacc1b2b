// One thing that was sent, as it is told.
import type { ItemSource, ReportItem } from "@clew/engine-core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { HELD } from "../reports/held.ts";
import { marksOnScale, tokensOfItems } from "./call-scale.ts";
import type { OpenedCall } from "./opened-call.ts";
import { engineOf } from "./placed-call.ts";
import type { SentItem } from "./shapes/one-call.ts";

export type Part = SentItem["part"];

/** Characters of an item shown in a list; the whole is asked for one by one. */
export const PREVIEW_CHARS = 280;

/** What a list tells of an item's text. */
export const previewOf = (text: string) => ({
  preview: text.slice(0, PREVIEW_CHARS),
  chars: text.length,
});

export interface PlacedItem {
  part: Part;
  index: number;
  item: ReportItem;
}

/** Everything a call sent, in the order of the wire. */
export function itemsOf({ call, messages }: OpenedCall): PlacedItem[] {
  const placed = (part: Part, items: readonly ReportItem[]): PlacedItem[] =>
    items.map((item, index) => ({ part, index, item }));
  return [
    ...placed("system", call.system),
    ...placed("tools", call.tools),
    ...placed("messages", messages),
  ];
}

/** Pure. The items of a call, or some of them by their places; `textOf` knows their texts. */
export function describeItems(
  opened: OpenedCall,
  textOf: (item: PlacedItem) => string,
  { first = 0, end }: { first?: number; end?: number | undefined } = {},
): SentItem[] {
  const { facts, report, row, call } = opened;
  const engine = engineOf(opened);
  const all = itemsOf(opened);
  const tokens = tokensOfItems(
    row,
    all.map(({ item }) => item),
  );
  const cached = cachedItems(opened, tokens);
  const wanted = all.slice(first, end);
  return wanted.map((placed, offset) => {
    const place = first + offset;
    const { item, part, index } = placed;
    const { source } = item;
    const entryId = source.kind === "entry" ? source.entryId : null;
    const isHeld = part === "messages" && index < (call.held ?? 0);
    return {
      ...{ index, part, entryId },
      source: { kind: source.kind, name: nameOf(source, engine) },
      role: item.role ?? null,
      number: (entryId !== null && opened.numberOf(entryId)) || null,
      summaryId: summaryIn(source, opened),
      reason: `${reasonOf(item, report.promptEntryId)}${isHeld ? HELD : ""}`,
      isHeld,
      engineReason: item.engineReason ?? null,
      ...{ tokens: tokens[place]!, hash: item.hash },
      marks: marksOnScale(row, (entryId !== null && facts.sent.get(entryId)?.marks) || []),
      isFromCache: cached === null ? null : place < cached,
      ...previewOf(textOf(placed)),
    };
  });
}

/** The summary that something sent is, where it is one; `find`: on the branch of the call. */
export function summaryIn(
  source: ItemSource,
  { find }: { find: (entryId: string) => TranscriptEntry | undefined },
): string | null {
  if (source.kind === "summary") return source.summaryId;
  if (source.kind !== "entry") return null;
  return find(source.entryId)?.type === "compaction" ? source.entryId : null;
}

function nameOf(source: ItemSource, engine: string): string {
  switch (source.kind) {
    case "entry":
      return source.entryId;
    case "summary":
      return source.summaryId;
    case "engine":
      return engine;
    case "policy":
      return source.rule;
    case "system":
      return source.part;
    case "tool-schema":
      return source.name;
    case "ledger":
      return "ledger";
  }
}

/** Kept items say why they were first sent: the prompt of an earlier turn is history by now. */
function reasonOf({ code, reason, source, changed }: ReportItem, prompt: string | null): string {
  const isPrompt = source.kind === "entry" && source.entryId === prompt;
  if (code !== "prompt" || isPrompt) return reason;
  return changed === true ? "history, with what hooks added" : "history";
}

/** How many leading items the provider read from its cache; null = it did not say. */
function cachedItems({ row: { cache } }: OpenedCall, tokens: readonly number[]): number | null {
  if (cache?.read == null) return null;
  let seen = 0;
  const end = tokens.findIndex((each) => {
    seen += each;
    // Of an item that is read in part the rest is not.
    return seen > cache.read!;
  });
  return end < 0 ? tokens.length : end;
}
