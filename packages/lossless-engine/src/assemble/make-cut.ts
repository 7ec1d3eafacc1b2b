// Writes the record of a new cut, keeps it, and shows what is left.
import { createHash } from "node:crypto";
import type { AgentMessage, SessionRef, UserMessage } from "@clew/plugin-sdk/core";
import { saveLedger } from "@clew/plugin-sdk/transcript";
import { named, nameOf } from "../messages/name.ts";
import { asFarAsPossible, patiently } from "../patiently.ts";
import { type StoredCut, storeCut } from "../store/cuts.ts";
import { timeOf } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import { knownBefore } from "./ledger.ts";
import { type NewCut, requestBefore, sum } from "./plan.ts";
import { type Count, type Standing, show, type View } from "./show.ts";
import { writeRecord } from "./write-record.ts";

/** Where to cut what. */
export interface CutRequest {
  readonly session: SessionRef;
  readonly messages: readonly AgentMessage[];
  /** Tokens. */
  readonly budget: number;
  readonly count: Count;
  /** Those that were made before, by the names of their first messages. */
  readonly cuts: ReadonlyMap<string, StoredCut>;
  readonly cut: NewCut;
  readonly signal?: AbortSignal | undefined;
  /** Whether a view is worth being kept. Absent: any is. */
  readonly isWanted?: (view: View) => boolean;
}

/** Messages of each end by which a successor of a known transcript is recognised. */
const SAMPLE = 16;

/** A cut for whose record there is no room is not kept. */
export async function makeCut(store: Store, request: CutRequest): Promise<View> {
  const { session, messages, count, cut, signal, isWanted = () => true } = request;
  const { from, ceiling } = cut;
  const { record, ledger } = await standingFor(store, request);
  const view = show(messages, { from, record, count });
  if (record === null || !isWanted(view)) return view;
  const kept = sum(messages.slice(from), count);
  const tokens = {
    estimate: view.tokens.estimate - kept.estimate,
    high: view.tokens.high - kept.high,
  };
  const first = nameOf(messages[from]!);
  const sample = [...messages.slice(0, SAMPLE), ...messages.slice(-SAMPLE)].map(named);
  const stored = { ...record, first, ceiling, tokens, ledger };
  await asFarAsPossible(() =>
    patiently(() => storeCut(store, { session, messages: sample, cut: stored }), signal),
  );
  return view;
}

async function standingFor(
  store: Store,
  { messages, budget, count, cuts, cut: { from }, signal }: CutRequest,
): Promise<{ record: Standing | null; ledger: string }> {
  const room = budget - sum(messages.slice(from), count).high;
  const asked = messages[requestBefore(messages, from)] as UserMessage | undefined;
  const cost = asked === undefined ? 0 : count(asked).high;
  const isShown = asked !== undefined && cost <= room / 2;
  const { state, covered } = await knownBefore(store, { messages, end: from, cuts, signal });
  const record = writeRecord({
    ...{ state, covered, budget },
    kept: [...(isShown ? [asked] : []), ...messages.slice(from)],
    request: isShown ? undefined : asked,
    left: isShown ? room - cost : room,
  });
  if (record === undefined) return { record: null, ledger: "" };
  const first = nameOf(messages[from]!);
  const name = createHash("sha256").update(`${first}\n${record}`).digest("hex").slice(0, 16);
  return {
    record: {
      ...{ name, record, covered },
      time: from > 0 ? timeOf(messages[from - 1]!) : (cuts.get(first)?.time ?? null),
      request: isShown ? nameOf(asked) : null,
    },
    ledger: JSON.stringify(saveLedger(state)),
  };
}
