// Looks up how the changed items of a call differ from what is stored.
import type { ReportItem } from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { originsOf, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { messageInPart, messageText } from "../reports/message-text.ts";
import { saidChanges } from "../reports/said-changes.ts";
import type { Branch } from "./branch-cursor.ts";
import { AS_STORED, type Treatment } from "./fates.ts";
import { engineOf, type PlacedCall } from "./placed-call.ts";
import type { ItemTreatment } from "./sent-items.ts";
import { messageOf, type ResultRecords, recordedForms, recordsOf } from "./stored-message.ts";
import { markOfCallIds, planTreatment } from "./treatment.ts";

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
  let origins:
    | {
        end: TranscriptEntry | undefined;
        /** The entry that first said it, by entry; and the reverse. */
        byEntry: ReadonlyMap<string, string>;
        entries: ReadonlyMap<string, string>;
      }
    | undefined;
  let records: { end: TranscriptEntry | undefined; value: ResultRecords } | undefined;
  const recordsNow = () => {
    const end = path.at(-1);
    if (records === undefined || records.end !== end) records = { end, value: recordsOf(path) };
    return records.value;
  };
  const originsNow = () => {
    const end = path.at(-1);
    if (origins === undefined || origins.end !== end) {
      const byEntry = originsOf(path);
      const entries = new Map([...byEntry].map(([entryId, origin]) => [origin, entryId]));
      origins = { end, byEntry, entries };
    }
    return origins;
  };
  const look = async (
    placed: PlacedCall,
    item: ReportItem,
    index: number,
  ): Promise<ItemTreatment> => {
    const rules = rulesOf(placed, item, index);
    const at = item.source.kind === "entry" ? placeOf(item.source.entryId) : undefined;
    const stored = messageOf(at === undefined ? undefined : path[at]);
    if (item.callIds !== undefined) {
      if (stored === undefined) return { treatment: changed(rules.callIds), merged: [] };
      const marks = markOfCallIds(stored, item.callIds, rules.callIds);
      return marks.length === 0 ? UNCHANGED : { treatment: { cleared: null, marks }, merged: [] };
    }
    const content = await part(item.hash);
    const sent = content === null ? undefined : messageInPart(content);
    const merged = (item.merged ?? []).flatMap((id) => originsNow().entries.get(id) ?? []);
    if (at === undefined || stored === undefined || sent === undefined)
      return { treatment: changed(rules.words), merged };
    const entryId = path[at]!.id;
    const id = () => originsNow().byEntry.get(entryId) ?? entryId;
    const treatment = planTreatment({
      ...{ stored, sent, rules },
      forms: recordedForms(stored, { entryId, id }, recordsNow()),
      joinedBy: item.merged === undefined ? null : mergedBy(placed),
    });
    const isIn = (each: string) => standsIn(sent, messageOf(path[placeOf(each) ?? -1]));
    return { treatment, merged: merged.filter(isIn) };
  };
  return {
    async of(placed, items, from) {
      const found = new Map<ReportItem, ItemTreatment>();
      for (const [offset, item] of items.entries()) {
        if (item.source.kind !== "entry") continue;
        if (item.changed !== true && item.merged === undefined) continue;
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

/** Who changed its words and the ids of its calls, as far as the report says. */
function rulesOf(placed: PlacedCall, item: ReportItem, index: number) {
  const { call, report } = placed;
  const changes = saidChanges([...call.policyChanges, ...report.historyChanges]).filter(
    ({ action }) => action === "changed",
  );
  const engine = `engine "${engineOf(placed)}"`;
  const own = changes.find((change) => change.index === index && !OF_CALL_IDS.has(change.rule));
  // Places in a history are others than those in a request: of ids the rule is enough.
  const ofIds = changes.find(({ rule }) => OF_CALL_IDS.has(rule));
  return {
    words: own?.rule ?? (item.code === "prompt" ? "hooks" : engine),
    callIds: ofIds?.rule ?? engine,
  };
}

/** Rules that change which ids tool calls have, and nothing that is said. */
const OF_CALL_IDS: ReadonlySet<string> = new Set([
  ...["tool-call-ids", "wire-calls", "responses-ids", "responses-item-ids"],
]);

const mergedBy = ({ call, report }: PlacedCall): string =>
  [...call.policyChanges, ...report.historyChanges].find(({ action }) => action === "merged")
    ?.rule ?? "the provider's rules";

/** Characters by whose presence a message is recognised in what it was joined to. */
const RECOGNISED_BY = 60;

/** Whether a merged message was left in; an engine may have cut what a policy had joined. */
function standsIn(sent: AgentMessage, message: AgentMessage | undefined): boolean {
  if (message === undefined) return false;
  const [text, words] = [messageText(sent), messageText(message)];
  return text.includes(words.slice(0, RECOGNISED_BY)) || text.includes(words.slice(-RECOGNISED_BY));
}
