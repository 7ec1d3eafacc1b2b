// Finds in which calls a text could be read, and what took it from there.
import type { ReportItem } from "@clew/engine-core";
import { messageText } from "../reports/message-text.ts";
import { type Part, type PlacedItem, summaryIn } from "./describe-items.ts";
import { readContent } from "./item-contents.ts";
import { describeEntry } from "./list-entries.ts";
import { describeFate } from "./plan-diff.ts";
import type { SessionCalls, WalkedCall } from "./session-calls.ts";
import type { FoundText } from "./shapes.ts";
import { messageOf } from "./stored-message.ts";

/** Upper and lower case differ; each content is looked at once. */
export async function findText(calls: SessionCalls, text: string): Promise<FoundText> {
  const { folder, rows } = calls;
  const says = new Map<string, boolean>();
  const summaries = new Map<string, boolean>();
  const shownIn: FoundText["shownIn"] = [];
  const lost: FoundText["lost"] = [];
  const entries = await entriesThatSay(calls, text);
  /** Messages of the call before that say it, in order, as far as they are kept. */
  let shown: boolean[] = [];
  let wasShown = false;

  const isIn = async (walked: WalkedCall, placed: PlacedItem): Promise<boolean> => {
    const { hash, source } = placed.item;
    const known = says.get(hash);
    if (known !== undefined) return known;
    const entry = source.kind === "entry" ? walked.find(source.entryId) : undefined;
    const content = await readContent(folder, placed, entry);
    const is = content.text.includes(text);
    says.set(hash, is);
    return is;
  };
  const lookAt = async (walked: WalkedCall, part: Part, items: readonly ReportItem[]) => {
    const found: boolean[] = [];
    for (const [index, item] of items.entries()) {
      const is = await isIn(walked, { part, index, item });
      const id = summaryIn(item.source, walked);
      if (id !== null) summaries.set(id, is || summaries.get(id) === true);
      found.push(is);
    }
    return found;
  };
  await calls.walk(async (walked) => {
    const { system, tools, messages } = walked.call;
    const added = await lookAt(walked, "messages", messages.items);
    shown = [...shown.slice(0, messages.kept), ...added];
    // Nobody knows whether it was there: a range ends, and nothing is said to have taken it.
    if (walked.row.lost !== null) {
      wasShown = false;
      return;
    }
    const fixed = [
      ...(await lookAt(walked, "system", system)),
      ...(await lookAt(walked, "tools", tools)),
    ];
    const isShown = shown.includes(true) || fixed.includes(true);
    const { id } = walked.row;
    const [range, gone] = [shownIn.at(-1), lost.at(-1)];
    if (isShown && wasShown && range !== undefined) {
      range.to = id;
      range.calls++;
    } else if (isShown) shownIn.push({ from: id, to: id, calls: 1 });
    else if (wasShown) lost.push({ id, to: id, calls: 1, why: whyLost(walked, entries) });
    else if (gone !== undefined) {
      gone.to = id;
      gone.calls++;
    }
    wasShown = isShown;
  });
  return {
    ...{ text, entries, shownIn, lost, calls: rows.length },
    summaries: [...summaries].map(([summaryId, is]) => ({ summaryId, says: is })),
  };
}

async function entriesThatSay(calls: SessionCalls, text: string): Promise<FoundText["entries"]> {
  const newest = await calls.open(calls.rows.at(-1)?.id ?? "");
  return (newest?.members() ?? []).flatMap((entry, at) => {
    const message = messageOf(entry);
    const is = message !== undefined && messageText(message).includes(text);
    return is ? [describeEntry(entry, at + 1)] : [];
  });
}

/** What became of the entries that say it, in the call that did not show it any more. */
function whyLost({ row, fateOf }: WalkedCall, entries: FoundText["entries"]): string {
  const fates = entries.flatMap(({ entryId, number }) => {
    const fate = fateOf(entryId);
    return fate === undefined ? [] : [`entry ${number}: ${describeFate(fate)}`];
  });
  const known = fates.length > 0 ? fates : ["it stood in something that was made anew"];
  return [...row.happened, ...known].join("; ");
}
