// Finds in which calls a text could be read, and what took it from there.
import type { ReportItem } from "@clew/engine-core";
import { createSlices } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { messageText } from "../reports/message-text.ts";
import { counted } from "../text/number.ts";
import { fateOnScale } from "./call-scale.ts";
import { type Part, type PlacedItem, summaryIn } from "./describe-items.ts";
import { readContent } from "./item-contents.ts";
import type { LeftEntry } from "./left-entries.ts";
import { AS_ESTIMATED, describeEntry } from "./list-entries.ts";
import type { OpenedCall } from "./opened-call.ts";
import { describeFate } from "./plan-diff.ts";
import type { SessionCalls, WalkedCall } from "./session-calls.ts";
import type { FoundText } from "./shapes/found-text.ts";
import { messageOf } from "./stored-message.ts";

export interface TextAsked {
  text: string;
  /** Entries behind this number. Absent: from the first on. */
  after?: number | undefined;
  /** At most so many entries are told of, one at least; all are counted. */
  limit: number;
}

/** An entry that says it, with its number in the transcript. */
interface Saying {
  entry: TranscriptEntry;
  number: number;
}

/** So many entries are named in what took a text. */
const MOST_NAMED = 20;

/** Upper and lower case differ; each content is looked at once. */
export async function findText(
  calls: SessionCalls,
  { text, after = 0, limit }: TextAsked,
): Promise<FoundText> {
  const { part: partOf, rows } = calls;
  const says = new Map<string, boolean>();
  const summaries = new Map<string, boolean>();
  const shownIn: FoundText["shownIn"] = [];
  const unseenIn: FoundText["unseenIn"] = [];
  const lost: FoundText["lost"] = [];
  const newest = await calls.open(rows.at(-1)?.id ?? "");
  const saying = await entriesThatSay(newest, text);
  const left = (await calls.left()).filter(({ entry }) => isSaying(entry, text));
  /** Messages of the call before that say it, in order, as far as they are kept. */
  let shown: boolean[] = [];
  /** Entries that said it in a call before. */
  const seen = new Set<string>();
  let wasShown = false;
  /** Nobody knows of the call before. */
  let wasUnseen = false;

  const isIn = async (walked: WalkedCall, placed: PlacedItem): Promise<boolean> => {
    const { hash, source } = placed.item;
    const known = says.get(hash);
    if (known !== undefined) return known;
    const entry = source.kind === "entry" ? walked.find(source.entryId) : undefined;
    const content = await readContent(partOf, placed, entry);
    const is = content.text.includes(text);
    says.set(hash, is);
    return is;
  };
  const lookAt = async (walked: WalkedCall, part: Part, items: readonly ReportItem[]) => {
    const found: boolean[] = [];
    for (const [index, item] of items.entries()) {
      const is = await isIn(walked, { part, index, item });
      const id = summaryIn(item.source, walked);
      if (is && item.source.kind === "entry") seen.add(item.source.entryId);
      if (id !== null) summaries.set(id, is || summaries.get(id) === true);
      found.push(is);
    }
    return found;
  };
  const leftBy = ({ find }: WalkedCall) =>
    left.filter(({ entry: { id } }) => seen.has(id) && find(id) === undefined);
  const slices = createSlices();
  await calls.walk(async (walked) => {
    if (slices.isOver()) await slices.next();
    const { system, tools, messages } = walked.call;
    const added = await lookAt(walked, "messages", messages.items);
    shown = [...shown.slice(0, messages.kept), ...added];
    // Nobody knows whether it was there: a range ends, and nothing is said to have taken it.
    if (walked.row.lost !== null) {
      wasShown = false;
      wasUnseen = false;
      return;
    }
    const fixed = [
      ...(await lookAt(walked, "system", system)),
      ...(await lookAt(walked, "tools", tools)),
    ];
    const isShown = shown.includes(true) || fixed.includes(true);
    const { id } = walked.row;
    const [range, gone] = [shownIn.at(-1), lost.at(-1)];
    const unseen = isShown ? undefined : whereUnseen(walked, saying);
    const hidden = unseenIn.at(-1);
    if (unseen !== undefined) {
      if (wasUnseen && hidden?.why === unseen) {
        hidden.to = id;
        hidden.calls++;
      } else unseenIn.push({ from: id, to: id, calls: 1, why: unseen });
      wasUnseen = true;
      // It may have been there: what comes next begins a range of its own, or took it.
      return;
    }
    if (isShown && wasShown && !wasUnseen && range !== undefined) {
      range.to = id;
      range.calls++;
    } else if (isShown) shownIn.push({ from: id, to: id, calls: 1 });
    else if (wasShown)
      lost.push({ id, to: id, calls: 1, why: whyLost(walked, saying, leftBy(walked)) });
    else if (gone !== undefined && !wasUnseen) {
      gone.to = id;
      gone.calls++;
    }
    wasShown = isShown;
    wasUnseen = false;
  });
  const behind = saying.filter(({ number }) => number > after);
  const page = behind.slice(0, limit);
  return {
    ...{ text, shownIn, unseenIn, lost, calls: rows.length, letGoTurns: calls.letGo },
    entries: page.map(({ entry, number }) => describeEntry(newest!, entry, number)),
    matching: saying.length,
    left: left
      .slice(0, Math.max(1, limit))
      .map(({ entry, why }) => ({ ...rowOf(newest, entry), why })),
    next: page.length < behind.length ? page.at(-1)!.number : null,
    summaries: [...summaries].map(([summaryId, is]) => ({ summaryId, says: is })),
  };
}

/** Where a program may have shown what says it, in words; undefined = it is known not to. */
function whereUnseen({ fateOf }: WalkedCall, saying: readonly Saying[]): string | undefined {
  for (const { entry, number } of saying) {
    const known = fateOf(entry.id);
    if (known?.fate.kind === "unseen") return `entry ${number} is ${known.fate.why}`;
  }
  return undefined;
}

/** In order; others have their turn meanwhile. */
async function entriesThatSay(newest: OpenedCall | undefined, text: string): Promise<Saying[]> {
  const found: Saying[] = [];
  const slices = createSlices();
  for (const [at, entry] of (newest?.members() ?? []).entries()) {
    if (slices.isOver()) await slices.next();
    if (isSaying(entry, text)) found.push({ entry, number: at + 1 });
  }
  return found;
}

const isSaying = (entry: TranscriptEntry, text: string): boolean => {
  const message = messageOf(entry);
  return message !== undefined && messageText(message).includes(text);
};

function rowOf(
  newest: OpenedCall | undefined,
  entry: TranscriptEntry,
): Omit<ReturnType<typeof describeEntry>, "number"> {
  const { number: _none, ...row } = describeEntry(newest ?? AS_ESTIMATED, entry, 0);
  return row;
}

/** What became of the entries that say it, in the call that did not show it any more. */
function whyLost(
  { row, find, fateOf }: WalkedCall,
  saying: readonly Saying[],
  left: readonly LeftEntry[],
): string {
  const stored = saying.filter(({ entry }) => find(entry.id) !== undefined);
  const fates = stored.slice(0, MOST_NAMED).flatMap(({ entry, number }) => {
    const fate = fateOf(entry.id);
    return fate === undefined ? [] : [`entry ${number}: ${describeFate(fateOnScale(row, fate))}`];
  });
  const gone = left.slice(0, MOST_NAMED).map(({ entry, why }) => `entry ${entry.id}: ${why}`);
  const all = [...fates, ...gone];
  const known = all.length > 0 ? all : ["it stood in something that was made anew"];
  const more = stored.length - MOST_NAMED;
  const others = more > 0 ? [`and so on for ${counted(more, "more entry", "more entries")}`] : [];
  return [...row.happened, ...known, ...others].join("; ");
}
