// Makes the context smaller when a person or the host asks for it.
import { type CompactResult, ContextEngineError } from "@clew/plugin-sdk/core";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import { withoutNamesakes } from "../messages/name.ts";
import { patiently } from "../patiently.ts";
import { cutsOf, recordOf, type StoredCut } from "../store/cuts.ts";
import type { Store } from "../store/store.ts";
import { budgetOf, heartbeatsOf, type ViewRequest } from "./assemble.ts";
import { type Count, countAhead, counter, sum } from "./count.ts";
import { cutsAmong, cutsByIds } from "./cuts-among.ts";
import { cutsUnder } from "./cuts-under.ts";
import { talkOf } from "./heartbeats.ts";
import { type CutRequest, type CutView, type EarlierRecord, makeCut } from "./make-cut.ts";
import { marksOf, type NewCut, planCut, type Reached, reach } from "./plan.ts";
import { show, type View } from "./show.ts";
import { leastRecord, pastRoomOf } from "./write-record.ts";

/** A history whose view shall get smaller. */
export interface CompactRequest extends ViewRequest {
  /** Tokens: the smallest of the budgets that views were asked for lately. Absent: not known. */
  readonly askedBudget?: number | undefined;
  /** Tokens: the budget of the view that was asked for last. Absent: `askedBudget`. */
  readonly newestBudget?: number | undefined;
  /** True: what is shown does not fit, whatever its estimate says. Absent: false. */
  readonly isOverflow?: boolean | undefined;
}

/** Cuts down to the low mark; a second time, because that was not enough, to half of it. */
export async function compactView(store: Store, request: CompactRequest): Promise<CompactResult> {
  const { session, signal, askedBudget, newestBudget, isOverflow = false } = request;
  const { listsPast, pastTokens, water } = request;
  signal?.throwIfAborted();
  const { messages, aside } = talkOf(
    withoutNamesakes(request.messages),
    await heartbeatsOf(store, session, signal),
  );
  if (messages.length === 0)
    return nothingDone("no-conversation", "nothing was said in this session yet");
  const { contextWindow } = request;
  await countAhead({ messages, contextWindow, most: Infinity, by: "high", signal });
  const count = counter(contextWindow);
  const stored = await patiently(() => cutsOf(store, session), signal);
  const named = async (cuts: ReadonlyMap<string, StoredCut>) => {
    const among = await cutsAmong(store, { session, messages, cuts, signal });
    return cutsByIds(messages, among, signal);
  };
  const cuts = await named(cutsUnder(stored));
  const limit = budgetOf(request.tokenBudget);
  // A host may compact for less room than it shows: what it shows has to get smaller.
  const budget = askedBudget ?? limit;
  const viewFrom = (at: Reached<StoredCut>) => viewAsItIs(store, { messages, at, count, signal });
  const endless = { messages, budget: Infinity, count };
  const least = await viewFrom(reach({ ...endless, cuts: asAsked(cuts) }, Infinity));
  const viewUnder = async (most: number) => {
    const { high } = marksOf({ budget: most, messages, count, water });
    const under = await named(cutsUnder(stored, high));
    return viewFrom(reach({ ...endless, cuts: under }, high));
  };
  const shown = await viewUnder(budget);
  const of = { session, messages, count, cuts, aside, listsPast, pastTokens, signal };
  // Where nobody knows what was shown, what is shown under any budget gets less if it can.
  const befores = askedBudget === undefined && shown.from < least.from ? [least, shown] : [shown];
  const smaller = (before: ShownView) =>
    smallerView(store, { ...of, before, limit, isOverflow, water });
  let after: CutView | "no-gain" | undefined;
  for (const before of befores) {
    if (typeof after === "object") break;
    after = (await smaller(before)) ?? after;
  }
  let { view: was } = shown;
  if (typeof after !== "object" && (newestBudget ?? 0) > MUCH_MORE * budget) {
    // A look at little room in between is no reason to leave what is shown as large as it is.
    const newest = await viewUnder(newestBudget!);
    after = (await smaller(newest)) ?? after;
    was = newest.view;
  }
  if (after === undefined)
    return nothingDone("nothing-to-compact", "only the newest messages are shown as they are");
  if (after === "no-gain")
    return nothingDone("no-gain", "what would stand for the older messages is hardly shorter");
  try {
    await after.keep!();
  } catch (error) {
    if (!ContextEngineError.is(error, "STORAGE_FAILED")) throw error;
    // A view that nobody can find again is no compaction.
    return { ok: false, compacted: false, code: "not-written", reason: error.message };
  }
  return {
    ok: true,
    compacted: true,
    result: {
      summary: after.view.record?.record ?? "",
      tokensBefore: was.tokens.estimate,
      tokensAfter: after.view.tokens.estimate,
    },
  };
}

/** Times the budget: of two that are nearer a host may show each view under both. */
const MUCH_MORE = 4;

interface ShownView {
  readonly view: View;
  /** Where it begins in the history, behind its record. */
  readonly from: number;
}

/** A view that shows less than `before`. "no-gain": there was a way, and it led to no less. */
async function smallerView(
  store: Store,
  {
    before,
    limit,
    isOverflow,
    water,
    ...rest
  }: Omit<CutRequest, "cut" | "budget" | "limit" | "earlier"> & {
    before: ShownView;
    limit: number;
    isOverflow: boolean;
    water: CompactRequest["water"];
  },
): Promise<CutView | "no-gain" | undefined> {
  const { messages, count } = rest;
  const budget = Math.min(limit, Math.max(1, before.view.tokens.estimate));
  const { low } = marksOf({ budget, messages, count, water });
  const past = rest.listsPast === true ? pastRoomOf(budget, rest.pastTokens) : undefined;
  const to = { messages, count, budget, past, ceiling: Infinity };
  const of = { ...rest, budget, earlier: earlierRecord(before.view, limit) };
  const cut = [low, ...(isOverflow ? [low / 2] : [])]
    .map((mark) => planCut({ ...to, low: mark }))
    .find(({ from }) => from > before.from);
  const ways = [
    ...(cut === undefined ? [] : [{ ...of, cut, limit }]),
    ...(isOverflow ? halfOfNewest({ ...of, budget: limit }, planCut({ ...to, low: 0 })) : []),
  ];
  if (ways.length === 0) return undefined;
  const [shown, beside] = [before.view.tokens.estimate, besideRecord(before.view)];
  const isInNeed = before.view.tokens.high > NEED * limit;
  const [most, named] = [MOST_OF_BEFORE * shown, namedIn(before.view)];
  const isPaidByMessages = (view: View) => besideRecord(view) + shown - beside <= most;
  const isWorthIt = (view: View) =>
    namedIn(view) >= LEAST_OF_RECORD * named &&
    (besideRecord(view) < beside || view.tokens.estimate <= most);
  const isSmaller = (view: View) =>
    view.tokens.estimate < shown && (isInNeed || isPaidByMessages(view) || isWorthIt(view));
  const after = await firstOf(ways, async (way) => {
    const made = await makeCut(store, way);
    return made.keep !== null && isSmaller(made.view) ? made : undefined;
  });
  return after ?? "no-gain";
}

/** Of the room: a view that takes less does not lose its record to be hardly smaller. */
const NEED = 0.5;

/** Tokens of all that a view shows but its record. */
const besideRecord = ({ items, tokens }: View): number =>
  items
    .filter(({ why }) => why === "record")
    .reduce((rest, { message }) => rest - estimateMessage(message).estimate, tokens.estimate);

/** Tokens of a record beyond the sentence that something is hidden. */
const namedIn = (view: View): number => {
  if (view.record === null) return 0;
  const all = view.tokens.estimate - besideRecord(view);
  return Math.max(0, all - leastRecord(view.record.covered).estimate);
};

/** Of what a record names: half of the room of a short one holds a heading, or nothing. */
const LEAST_OF_RECORD = 0.5;

/** Of a view: it is made smaller by that much at least where its record stays as long as it is. */
const MOST_OF_BEFORE = 0.75;

/** Without it a view that is compacted again and again would soon have no record. */
function earlierRecord({ items, tokens }: View, limit: number): EarlierRecord | undefined {
  const record = items.find(({ why }) => why === "record");
  if (record === undefined || tokens.high > limit) return undefined;
  const most = Math.floor(MOST_OF_BEFORE * tokens.estimate);
  return { record: estimateMessage(record.message), most };
}

/** As if they had been asked for: they hold under every budget. */
const asAsked = (cuts: ReadonlyMap<string, StoredCut>): ReadonlyMap<string, StoredCut> =>
  new Map([...cuts].map(([name, cut]) => [name, { ...cut, ceiling: Infinity }]));

/** Of a budget: newest messages that take less are not why a request did not fit. */
const SMALL = 0.25;

/** Less of each of the newest messages is shown, once; not where they are small. */
function halfOfNewest(of: Omit<CutRequest, "cut">, cut: NewCut): CutRequest[] {
  const { high } = sum(of.messages.slice(cut.from), of.count);
  if (high < SMALL * of.budget) return [];
  return [{ ...of, cut, budget: Math.floor(Math.min(of.budget, high) / 2) }];
}

async function firstOf<Way, Found>(
  ways: readonly Way[],
  find: (way: Way) => Promise<Found | undefined>,
): Promise<Found | undefined> {
  for (const way of ways) {
    const found = await find(way);
    if (found !== undefined) return found;
  }
  return undefined;
}

const nothingDone = (code: NonNullable<CompactResult["code"]>, reason: string): CompactResult => ({
  ok: true,
  compacted: false,
  code,
  reason,
});

/** What would be shown if there were room for everything from there on. */
async function viewAsItIs(
  store: Store,
  {
    messages,
    at: { from, cut },
    count,
    signal,
  }: Pick<CompactRequest, "messages" | "signal"> & { at: Reached<StoredCut>; count: Count },
): Promise<ShownView> {
  if (cut === undefined) return { view: show(messages, { from: 0, record: null, count }), from: 0 };
  const record = await patiently(() => recordOf(store, cut), signal);
  return { view: show(messages, { from, record: { ...cut, record }, count }), from };
}

/** Pure. `focus`: what a person wanted a summary to be about; a record quotes and lists. */
export function tellFocus(result: CompactResult, focus: string | undefined): CompactResult {
  if (!result.compacted || (focus ?? "").trim() === "") return result;
  const told = "without the focus: this engine asks no model for a summary";
  return { ...result, reason: result.reason === undefined ? told : `${result.reason}; ${told}` };
}
