// Chooses what a model is shown of a history, and says so in the terms of the contract.

import { type AgentMessage, type AssembleResult, messageId } from "@clew/plugin-sdk/core";
import type { WaterSettings } from "@clew/plugin-sdk/host";
import { nameOf, withoutNamesakes } from "../messages/name.ts";
import { isOwn, isThinned } from "../messages/own.ts";
import { asFarAsPossible, patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { cutsOf, recordOf, type StoredCut } from "../store/cuts.ts";
import { heartbeatNames, messageNamed } from "../store/messages.ts";
import type { Store } from "../store/store.ts";
import { type Count, countAhead, counter } from "./count.ts";
import { countedBy } from "./counted.ts";
import { cutsAmong } from "./cuts-among.ts";
import { cutsUnder } from "./cuts-under.ts";
import { standingFor, withHandedBack } from "./handed-back.ts";
import { isHeartbeatPrompt, talkOf } from "./heartbeats.ts";
import { makeCut } from "./make-cut.ts";
import { type KeptView, marksOf, type PlanInput, partsOf, planFromCut, planView } from "./plan.ts";
import {
  isMerged,
  placeOfRequest,
  type Standing,
  show,
  shownBy,
  type View,
  type ViewItem,
  type Why,
} from "./show.ts";
import { pastRoomOf } from "./write-record.ts";

/** A history to be shown. */
export interface ViewRequest {
  readonly session: OwnedSession;
  /** Oldest first. */
  readonly messages: readonly AgentMessage[];
  /** Tokens. Absent: no limit is known. */
  readonly tokenBudget?: number | undefined;
  /** The model's, in tokens; long tool results are counted as hosts shorten them. Absent: whole. */
  readonly contextWindow?: number | undefined;
  /** The model's tokens that one of the budget stands for. Absent: 1. */
  readonly tokenRatio?: number | undefined;
  /** True: a new record lists all that it stands for, by lines of summaries. Absent: false. */
  readonly listsPast?: boolean | undefined;
  /** Most tokens of those lines. Absent: 3,700. */
  readonly pastTokens?: number | undefined;
  /** What an operator says of when a view is cut, and how far. Absent: nothing. */
  readonly water?: WaterSettings | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Deterministic: the same history, budget and earlier cuts give the same view. */
export async function viewOf(store: Store, request: ViewRequest): Promise<View> {
  const { session, signal } = request;
  const budget = budgetOf(request.tokenBudget);
  const heartbeats = await heartbeatsOf(store, session, signal);
  const stored = await patiently(() => cutsOf(store, session), signal);
  const ahead = { contextWindow: request.contextWindow, most: budget, signal };
  const estimates = counter(request.contextWindow);
  const showKept = async (
    all: readonly AgentMessage[],
    { cut, from, high }: KeptView<StoredCut>,
    count: Count,
  ) => {
    const record = cut.handedBack ?? (await patiently(() => recordOf(store, cut), signal));
    const merged = await mergedRequest(store, { session, messages: all, cut, from, signal });
    return atMost(high, show(all, { from, record: { ...cut, record }, count, merged }));
  };
  const { listsPast, pastTokens, water } = request;
  /** Those that count under the mark of the budget. */
  const cutsFor = (messages: readonly AgentMessage[]) =>
    stored.length === 0
      ? new Map<string, StoredCut>()
      : cutsUnder(stored, marksOf({ budget, messages, count: estimates, water }).high);
  if (stored.length > 0) {
    const newest = cutsUnder(stored);
    const isFirst = (message: AgentMessage) => newest.has(nameOf(message));
    const shownOf = shownBy(partsOf(newest));
    await countAhead({ ...ahead, messages: request.messages, by: "high", isFirst, shownOf });
    const inFull = { messages: request.messages, budget, count: estimates, water };
    const same = keptAsGiven({ ...inFull, cuts: cutsFor(request.messages), heartbeats });
    if (same !== undefined) return showKept(request.messages, same, estimates);
  }
  // A host may hand back the view it was given.
  const given = withoutNamesakes(request.messages.filter((message) => !isOwn(message)));
  const { messages, aside } = talkOf(given, heartbeats);
  const own = request.messages.findLast(isOwn);
  if (own !== undefined && messages.length === 0)
    return show([], { from: 0, record: standingFor(own), count: estimates });
  const among = await cutsAmong(store, { session, messages, cuts: cutsFor(messages), signal });
  const cuts = own === undefined ? among : withHandedBack(among, { own, messages, stored });
  const past = listsPast === true ? pastRoomOf(budget, pastTokens) : undefined;
  const { plan, count } = await planCounted({ ...request, messages, budget, cuts, past });
  switch (plan.kind) {
    case "whole":
      return atMost(plan.high, show(messages, { from: 0, record: null, count }));
    case "kept":
      return showKept(messages, plan, count);
    case "cut": {
      const to = { budget, cut: plan, listsPast, pastTokens };
      const of = { session, messages, count, cuts, aside, signal, ...to };
      const { view, keep } = await makeCut(store, of);
      if (keep !== null) await asFarAsPossible(keep);
      return view;
    }
  }
}

/**
 * The request that a cut shows, as it was told, where the host has made one message of it and the
 * one before: the beginning of the view stays the same.
 */
async function mergedRequest(
  store: Store,
  {
    session,
    messages,
    cut: { request },
    from,
    signal,
  }: Pick<ViewRequest, "session" | "messages" | "signal"> & { cut: StoredCut; from: number },
): Promise<AgentMessage | undefined> {
  if (request === null || placeOfRequest(messages, from, request) >= 0) return undefined;
  const asked = await patiently(() => messageNamed(store, session, request), signal);
  return asked !== undefined && isMerged(messages, from, asked) ? asked : undefined;
}

/** A cut that is due by estimates alone is not due where a provider counted less. */
async function planCounted({
  contextWindow,
  tokenRatio = 1,
  signal,
  ...of
}: Omit<PlanInput<StoredCut>, "count"> &
  Pick<ViewRequest, "contextWindow" | "tokenRatio" | "signal">) {
  const estimates = counter(contextWindow);
  const ahead = { messages: of.messages, contextWindow, most: of.budget, signal };
  await countAhead({ ...ahead, by: "high", shownOf: shownBy(partsOf(of.cuts)) });
  const plan = planView({ ...of, count: estimates });
  if (plan.kind !== "cut") return { plan, count: estimates };
  await countAhead({ ...ahead, by: "low" });
  const { high: most } = marksOf({ ...of, count: estimates });
  const counted = countedBy({ ...of, count: estimates, ratio: tokenRatio, most });
  return { plan: planView({ ...of, ...counted }), count: counted.count };
}

const atMost = (high: number, view: View): View => ({
  ...view,
  tokens: { ...view.tokens, high: Math.min(high, view.tokens.high) },
});

/**
 * The view that goes on from the newest cut, where every message behind it is shown as the host
 * gave it: then nothing before the cut has to be looked at, however long the history is.
 */
function keptAsGiven({
  heartbeats,
  ...input
}: PlanInput<StoredCut> & { heartbeats: ReadonlySet<string> }): KeptView<StoredCut> | undefined {
  const isAsGiven = (message: AgentMessage | undefined) =>
    message !== undefined && !isOwn(message) && messageId(message) !== undefined;
  if (!isAsGiven(input.messages.at(-1))) return undefined;
  const plan = planFromCut(input);
  if (plan === undefined) return undefined;
  const behind = input.messages.slice(plan.from);
  const isSame =
    behind.every(isAsGiven) && !behind.some((message) => isHeartbeatPrompt(message, heartbeats));
  return isSame ? plan : undefined;
}

/** Names of the messages that were told as those of runs that the host began by itself. */
export const heartbeatsOf = (
  store: Store,
  session: OwnedSession,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> => patiently(() => heartbeatNames(store, session), signal);

/** What `assemble` answers for a view of `messages`. */
export function assemblyOf(
  { items, tokens, record, hidden }: View,
  { messages, tokenBudget }: Pick<ViewRequest, "messages" | "tokenBudget">,
): AssembleResult {
  const isWhole = items.length === messages.length && hidden === 0 && record === null;
  const fits = tokens.high <= budgetOf(tokenBudget) && (hidden === 0 || record !== null);
  return {
    // The very list, where nothing had to be done.
    messages: isWhole ? [...messages] : items.map(({ message }) => message),
    estimatedTokens: tokens.estimate,
    ...(record !== null && { reasons: reasonsOf(items, record) }),
    ...(record !== null && summariesOf(items, record)),
    ...(!fits && { promptAuthority: "preassembly_may_overflow" as const }),
    contextProjection: {
      mode: "thread_bootstrap",
      epoch: `lossless-1:${record === null ? "whole" : record.name}`,
    },
  };
}

/** The record stands for all before the first message shown behind it; that alone is read. */
function summariesOf(
  items: readonly ViewItem[],
  { name }: Standing,
): Pick<AssembleResult, "summaries"> {
  const at = items.findIndex(({ why }) => why === "record");
  const behind = items.find(({ why }) => why === "kept" || why === "shortened");
  const until = behind && messageId(behind.message);
  if (at < 0 || until === undefined) return {};
  return { summaries: [{ at, id: `lossless:${name}`, covers: [{ until }] }] };
}

/** For people; messages that are shown for the same reason share it. */
function reasonsOf(
  items: readonly ViewItem[],
  { record, covered }: Standing,
): NonNullable<AssembleResult["reasons"]> {
  const says: Record<Why, string> = {
    record: `stands for ${covered} earlier messages, ${isThinned(record) ? "as far as they are still kept" : "all of them kept"}`,
    request: "the request that what follows belongs to",
    kept: "came after what the record stands for",
    shortened: "came after it too, and all of it would not fit",
  };
  return items.flatMap(({ why }, from) =>
    from > 0 && items[from - 1]!.why === why ? [] : [{ from, reason: says[why] }],
  );
}

/** A budget that is no number leaves nothing. */
export const budgetOf = (tokenBudget = Infinity): number =>
  Number.isNaN(tokenBudget) ? 0 : Math.max(0, tokenBudget);
