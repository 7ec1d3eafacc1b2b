// Looks up how the changed items of a call differ from what is stored.
import type { ReportItem } from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { messageInPart, messageText } from "../reports/message-text.ts";
import { saidChanges } from "../reports/said-changes.ts";
import type { Branch } from "./branch-cursor.ts";
import { AS_STORED, type Treatment } from "./fates.ts";
import { engineOf, type PlacedCall } from "./placed-call.ts";
import type { ItemTreatment } from "./sent-items.ts";
import {
  CONTEXT_PRUNING,
  messageOf,
  placeholderOf,
  type ResultRecords,
  recordsOf,
} from "./stored-message.ts";
import { planTreatment } from "./treatment.ts";

/** Remembers what it looked up: the same entry and content are treated alike. */
export interface Treatments {
  /** To be called with the cursor at the call. The treatments of `items`, which begin at `from`. */
  of(
    placed: PlacedCall,
    items: readonly ReportItem[],
    from: number,
  ): Promise<(item: ReportItem, index: number) => ItemTreatment>;
}

const UNCHANGED: ItemTreatment = { treatment: AS_STORED, merged: [] };

/** What was looked up before, by entry and content. */
export type KnownTreatments = Map<string, ItemTreatment>;

/** `part`: the content a report names by a hash; null = it is not stored any more. */
export function createTreatments(
  part: (hash: string) => Promise<string | null>,
  { path, placeOf }: Pick<Branch, "path" | "placeOf">,
  known: KnownTreatments = new Map(),
): Treatments {
  let records: { end: TranscriptEntry | undefined; value: ResultRecords } | undefined;
  const recordsNow = () => {
    const end = path.at(-1);
    if (records === undefined || records.end !== end) records = { end, value: recordsOf(path) };
    return records.value;
  };
  const look = async (
    placed: PlacedCall,
    item: ReportItem,
    index: number,
  ): Promise<ItemTreatment> => {
    const at = item.source.kind === "entry" ? placeOf(item.source.entryId) : undefined;
    const stored = messageOf(at === undefined ? undefined : path[at]);
    const content = await part(item.hash);
    const sent = content === null ? undefined : messageInPart(content);
    const rule = ruleOf(placed, item, index);
    if (at === undefined || stored === undefined || sent === undefined)
      return { treatment: changed(rule), merged: [] };
    const entryId = path[at]!.id;
    const treatment = planTreatment({
      ...{ stored, sent, rule },
      placeholder: placeholderOf(entryId, recordsNow()),
      trimmedBy: recordsNow().trimmed.has(entryId) ? CONTEXT_PRUNING : null,
    });
    return { treatment, merged: isMerging(placed) ? mergedInto(path, at, sent) : [] };
  };
  return {
    async of(placed, items, from) {
      const found = new Map<ReportItem, ItemTreatment>();
      for (const [offset, item] of items.entries()) {
        if (item.source.kind !== "entry" || item.changed !== true) continue;
        const key = `${item.source.entryId} ${item.hash}`;
        const treatment = known.get(key) ?? (await look(placed, item, from + offset));
        known.set(key, treatment);
        found.set(item, treatment);
      }
      return (item) => found.get(item) ?? UNCHANGED;
    },
  };
}

const changed = (rule: string): Treatment => ({
  cleared: null,
  marks: [{ kind: "changed", rule }],
});

/** Who changed it, as far as the report says. */
function ruleOf(placed: PlacedCall, item: ReportItem, index: number): string {
  const { call, report } = placed;
  const own = saidChanges([...call.policyChanges, ...report.historyChanges]).find(
    (change) => change.action === "changed" && change.index === index,
  );
  if (own !== undefined) return own.rule;
  if (item.code === "prompt") return "hooks";
  return `engine "${engineOf(placed)}"`;
}

const isMerging = ({ call, report }: PlacedCall): boolean =>
  [...call.policyChanges, ...report.historyChanges].some(({ action }) => action === "merged");

/** Entries right behind the one at `at` whose words stand in `sent`, too. */
function mergedInto(
  path: readonly TranscriptEntry[],
  at: number,
  sent: AgentMessage,
): readonly string[] {
  const text = messageText(sent);
  const merged: string[] = [];
  let from = text.indexOf(messageText(messageOf(path[at])!));
  for (const entry of path.slice(at + 1)) {
    const message = messageOf(entry);
    if (message === undefined) continue;
    const words = messageText(message);
    from = message.role === sent.role ? text.indexOf(words, Math.max(0, from)) : -1;
    if (from < 0 || words === "") break;
    merged.push(entry.id);
  }
  return merged;
}
