// Judges the requests of one session, one after the other, by nothing but what was sent.
import type { ModelRef } from "@clew/plugin-sdk/host";
import { explainInvalid } from "@clew/transcript-policy";
import { type Frame, namesIn, type SentRequest, tokensOf } from "./frame.ts";
import { orderFaults } from "./judge-order.ts";
import {
  bytesBack,
  countConstraints,
  findRequest,
  holdsText,
  placesToFetch,
} from "./judge-texts.ts";
import { emptyTally, type MeasureId, type Tally } from "./measures.ts";
import { commonLength, costOf, PRICE } from "./prices.ts";
import type { Recall } from "./recall.ts";
import type { Shown } from "./shown.ts";

/** One request, and what came with it. */
export interface JudgedRequest extends SentRequest {
  /** Undefined: there is nothing to ask. */
  recall: Recall | undefined;
  /** True: a rewrite was reported since the request before. Absent: none was. */
  isReported?: boolean;
}

/** What one session came to under one prompt budget. */
export interface SessionScore {
  session: string;
  tally: Tally;
  /** Largest request, as a share of the prompt budget. */
  largest: number;
  /** The first fault of an invalid request. Absent: there was none. */
  fault?: string;
}

/** What is not in the requests. */
export interface Besides {
  /** What summaries cost, in units of one uncached input token. */
  summaries: number;
  /** Summed over the session. */
  engineMs: number;
  hostMs: number;
}

export interface Judge {
  /** Requests in the order they are sent; each call once. */
  see(request: JudgedRequest): Promise<void>;
  /** Once, at the end. */
  score(besides?: Besides): SessionScore;
}

/** Tokens that looking up one name adds. */
const RECALL_TOKENS = 300;
/** Requests that only append to the one before are checked for validity one in so many. */
const CHECKED_OF_APPENDED = 8;

/** `route`: where the requests went, whose own signatures are no fault. */
export function createJudge(frame: Frame, route: Pick<ModelRef, "provider" | "api" | "id">): Judge {
  const { script, table } = frame;
  const tally = emptyTally();
  const fetchAt = placesToFetch(frame);
  const nameJudge = createNameJudge(frame);
  const changes = createChangeWatch();
  let before: readonly Shown[] = [];
  let seen = 0;
  let largest = 0;
  let fault: string | undefined;

  const add = (id: MeasureId, { part, whole }: { part: number; whole: number }) => {
    tally[id].part += part;
    tally[id].whole += whole;
  };
  const count = (id: MeasureId, part: number) => add(id, { part, whole: 1 });

  const weigh = ({ shown, call }: SentRequest, misses: number) => {
    const { all, fixedTokens } = frame.calls[call]!;
    const total = tokensOf(shown);
    const hit = tokensOf(shown.slice(0, commonLength(before, shown)));
    const cost = costOf(hit, total);
    const recall = misses * (PRICE.read * total + PRICE.write * RECALL_TOKENS);
    add("hit", { part: hit, whole: total });
    add("cost", { part: cost, whole: all });
    add("costSummaries", { part: cost, whole: all });
    add("costRecall", { part: cost + recall, whole: all });
    const size = total + fixedTokens;
    largest = Math.max(largest, size / frame.promptBudget);
    count("over", size > frame.promptBudget ? 1 : 0);
  };

  const check = ({ shown }: SentRequest) => {
    const appends = before.length > 0 && commonLength(before, shown) === before.length;
    if (appends && seen % CHECKED_OF_APPENDED !== 0) return;
    const { provider, api: modelApi, id: modelId } = route;
    const messages = shown.map(({ message }) => message);
    const [first] = explainInvalid({ messages, provider, modelApi, modelId });
    fault ??= first && `${first.rule}: ${first.message}`;
    count("invalid", first === undefined ? 0 : 1);
  };

  return {
    async see(request) {
      const { shown, call, recall } = request;
      const { misses, ...names } = await nameJudge(request);
      for (const [id, one] of Object.entries(names)) add(id as MeasureId, one);
      weigh(request, misses);
      count("hidden", changes(request));
      const found = findRequest(shown, script.messages[script.calls[call]!.request]);
      count("missing", found === "missing" ? 1 : 0);
      count("cutShort", found === "shortened" ? 1 : 0);
      const faults = orderFaults(frame.calls[call]!.full, shown);
      count("disordered", faults.isDisordered ? 1 : 0);
      count("unpaired", faults.isUnpaired ? 1 : 0);
      count("newest", faults.lacksNewest ? 1 : 0);
      count("unmarked", faults.isUnmarked ? 1 : 0);
      add("constraints", countConstraints(frame, request));
      check(request);
      if (fetchAt.has(call)) {
        const back = await bytesBack(frame, request, { recall, count: table.count });
        for (const [id, one] of Object.entries(back)) add(id as MeasureId, one);
      }
      before = shown;
      seen++;
    },
    score({ summaries, engineMs, hostMs } = { summaries: 0, engineMs: 0, hostMs: 0 }) {
      tally.costSummaries.part += summaries;
      tally.costRecall.part += summaries;
      add("engineMs", { part: engineMs, whole: seen });
      add("hostMs", { part: hostMs, whole: seen });
      const expected = frame.calls.filter((one) => one !== undefined).length;
      add("notMade", { part: expected - seen, whole: expected });
      const session = script.source.name;
      return { session, tally, largest, ...(fault !== undefined && { fault }) };
    },
  };
}

type NameCounts = Record<
  "names" | "oldNames" | "grounded" | "oldGrounded" | "groundedOne" | "findTokens",
  { part: number; whole: number }
>;

/** Judges names where the whole history no longer fits; misses are counted everywhere. */
function createNameJudge(frame: Frame) {
  const { script, table } = frame;
  const found = new Set<number>();

  const isFound = async (
    name: number,
    request: JudgedRequest,
    { named, spent }: { named: ReadonlySet<number>; spent: { part: number; whole: number } },
  ) => {
    if (found.has(name)) return true;
    if (request.recall === undefined) return false;
    const { history } = script.calls[request.call]!;
    const { texts, answer } = await request.recall.find(name, { named, history });
    spent.part += table.count(answer);
    spent.whole++;
    const content = texts.map((text) => ({ type: "text" as const, text }));
    const isGrounded =
      table.of({ role: "user", content }, history).grounded.includes(name) ||
      holdsMessage(texts, name, history);
    if (isGrounded) found.add(name);
    return isGrounded;
  };

  /** A message that came back whole, however short. */
  const holdsMessage = (texts: readonly string[], name: number, history: number) => {
    const answer = texts.join("\n");
    for (let at = 0; at < history; at++) {
      const { named, texts: said } = table.recorded(at);
      if (named.includes(name) && said.every((text) => holdsText(answer, text.trim()))) return true;
    }
    return false;
  };

  return async (request: JudgedRequest): Promise<NameCounts & { misses: number }> => {
    const { needed, used } = script.calls[request.call]!;
    const { isJudged, old } = frame.calls[request.call]!;
    const named = namesIn(request.shown);
    const grounded = new Set(request.shown.flatMap((shown) => shown.grounded));
    const share = (names: readonly number[], has: ReadonlySet<number>) => ({
      part: isJudged ? names.filter((name) => has.has(name)).length : 0,
      whole: isJudged ? names.length : 0,
    });
    const groundedOne = share(needed, grounded);
    const findTokens = { part: 0, whole: 0 };
    if (isJudged)
      for (const name of needed)
        if (!grounded.has(name) && (await isFound(name, request, { named, spent: findTokens })))
          groundedOne.part++;
    return {
      names: share(needed, named),
      oldNames: share(old, named),
      grounded: share(needed, grounded),
      oldGrounded: share(old, grounded),
      ...{ groundedOne, findTokens },
      misses: used.filter((name) => !named.has(name)).length,
    };
  };
}

/** Counts results that read otherwise than when they were sent before, and nobody said so. */
function createChangeWatch(): (request: JudgedRequest) => number {
  const known = new Map<string, string>();
  return ({ shown, isReported }) => {
    let changed = 0;
    for (const { id, message, texts } of shown) {
      if (message.role !== "toolResult" || id === undefined) continue;
      const text = texts.join("\n");
      const before = known.get(id);
      if (before !== undefined && before !== text && !isReported) changed++;
      known.set(id, text);
    }
    return changed;
  };
}
