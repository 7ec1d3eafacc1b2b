// Writes the record of a new cut, shows what is left, and keeps the cut.
import { createHash } from "node:crypto";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { pause, stepsInSlices } from "@clew/plugin-sdk/host";
import type { TokenEstimate } from "@clew/plugin-sdk/tokens";
import { saveLedger } from "@clew/plugin-sdk/transcript";
import { named, nameOf } from "../messages/name.ts";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { hasLetGo, type StoredCut, storeCut } from "../store/cuts.ts";
import { timeOf } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import { pastBefore } from "../summaries/past.ts";
import { type Count, sum } from "./count.ts";
import { planFit } from "./fit.ts";
import { knownBefore, withSaid } from "./ledger.ts";
import type { NewCut } from "./plan.ts";
import { type Standing, show, shownBy, type View } from "./show.ts";
import { leastRecord, writeRecord } from "./write-record.ts";

/** Where to cut what. */
export interface CutRequest {
  readonly session: OwnedSession;
  readonly messages: readonly AgentMessage[];
  /** Tokens. */
  readonly budget: number;
  /** See `FitInput`. */
  readonly limit?: number | undefined;
  readonly count: Count;
  /** The record that a smaller view shall follow. Absent: none. */
  readonly earlier?: EarlierRecord | undefined;
  /** Those that were made before, by the names of their first messages. */
  readonly cuts: ReadonlyMap<string, StoredCut>;
  readonly cut: NewCut;
  /** See `Talk`. */
  readonly aside: ReadonlySet<AgentMessage>;
  /** See `ViewRequest`. */
  readonly listsPast?: boolean | undefined;
  /** See `ViewRequest`. */
  readonly pastTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A record whose room the next one may take as far as that leaves the view small. */
export interface EarlierRecord {
  /** What it takes. */
  readonly record: Pick<TokenEstimate, "estimate" | "high">;
  /** What the next view may take with as much, tokens. */
  readonly most: number;
}

/** Of a record the next one has, however little else got smaller. */
const LEAST_SHARE = 0.5;

/** Pure. Of a record beside what is kept; nothing where it is not to follow another. */
function roomAsBefore(earlier: EarlierRecord | undefined, kept: TokenEstimate) {
  if (earlier === undefined) return { estimate: 0, high: 0 };
  const { record, most } = earlier;
  const share = Math.min(1, Math.max(LEAST_SHARE, (most - kept.estimate) / record.estimate));
  return { estimate: share * record.estimate, high: share * record.high };
}

/** A view behind a new cut. */
export interface CutView {
  readonly view: View;
  /** Stores the cut, so that later views stand on it. Null: nothing was hidden or shortened. */
  readonly keep: (() => Promise<void>) | null;
}

/** Messages of each end by which a successor of a known transcript is recognised. */
const SAMPLE = 16;

/** Messages on either side of a cut, of which one is stored. */
const MOST_NAMES = 64;

/** Nothing is stored yet. */
export async function makeCut(store: Store, request: CutRequest): Promise<CutView> {
  const { session, messages, count, cut, signal } = request;
  const { from, ceiling } = cut;
  const { record, ledger } = await standingFor(store, request);
  if (record.record === "" && record.parts.size === 0)
    return { view: show(messages, { from, record: null, count }), keep: null };
  const view = show(messages, { from, record, count });
  const kept = sum(messages.slice(from).map(shownBy(record.parts)), count);
  const tokens = {
    estimate: view.tokens.estimate - kept.estimate,
    high: view.tokens.high - kept.high,
  };
  const first = nameOf(messages[from]!);
  const sample = [...messages.slice(0, SAMPLE), ...messages.slice(-SAMPLE)].map(named);
  const stored = { ...record, first, ceiling, tokens, ledger };
  return {
    view,
    keep: () =>
      patiently(() => storeCut(store, { session, messages: sample, cut: stored }), signal),
  };
}

async function standingFor(
  store: Store,
  request: CutRequest,
): Promise<{ record: Standing; ledger: string }> {
  const { session, messages, budget, limit, count, cuts, aside, signal } = request;
  const { listsPast, pastTokens, earlier } = request;
  const { from } = request.cut;
  const { state, covered } = await knownBefore(store, {
    ...{ messages, end: from, cuts, aside, signal },
  });
  const fitting = planFit({
    ...{ messages, from, budget, limit, count },
    leastRecord: covered === 0 ? 0 : leastRecord(covered).high,
  });
  const fit = await stepsInSlices(fitting, { signal });
  const asked = messages[fit.request];
  const parts = new Map([...fit.parts].map(([index, part]) => [nameOf(messages[index]!), part]));
  const kept = [...(asked === undefined ? [] : [asked]), ...messages.slice(from)];
  const shown = kept.map(shownBy(parts));
  // What is shown in part names more than that part; the next record hears of it as of all else.
  const cutShort = messages.slice(from).filter((message) => parts.has(nameOf(message)));
  const known = await withSaid(state, cutShort, { aside, signal });
  const leastRoom = roomAsBefore(earlier, sum(shown, count));
  const isListed = listsPast === true && covered > 0;
  const border = {
    behind: messages.slice(from, from + MOST_NAMES).map(nameOf),
    before: messages
      .slice(Math.max(0, from - MOST_NAMES), from)
      .map(nameOf)
      .reverse(),
  };
  const past = isListed ? await pastBefore(store, { session, border, signal }) : [];
  const written =
    covered === 0
      ? ""
      : await stepsInSlices(
          writeRecord({
            state: known,
            covered,
            hasLetGo: await patiently(() => hasLetGo(store, session), signal),
            budget,
            kept: shown,
            left: Math.max(fit.left, leastRoom.high),
            leastRoom: leastRoom.estimate,
            past,
            pastTokens,
          }),
          { signal },
        );
  // As a database gives it back: without half a surrogate pair that a quote ends with.
  const record = written.toWellFormed();
  const first = nameOf(messages[from]!);
  const whole = [first, record, ...(parts.size === 0 ? [] : [JSON.stringify([...parts])])];
  const name = createHash("sha256").update(whole.join("\n")).digest("hex").slice(0, 16);
  await pause(signal);
  return {
    record: {
      ...{ name, record, covered, parts },
      time: from > 0 ? timeOf(messages[from - 1]!) : (cuts.get(first)?.time ?? null),
      request: asked === undefined ? null : nameOf(asked),
    },
    ledger: JSON.stringify(saveLedger(state)),
  };
}
