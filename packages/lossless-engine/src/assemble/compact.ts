// Makes the context smaller when a person or the host asks for it.
import type { CompactResult } from "@clew/plugin-sdk/core";
import { patiently } from "../patiently.ts";
import { cutsOf, recordOf } from "../store/cuts.ts";
import type { Store } from "../store/store.ts";
import { budgetOf, byFirst, type ViewRequest } from "./assemble.ts";
import { makeCut } from "./make-cut.ts";
import { marksOf, planCut, planView } from "./plan.ts";
import { counter, show, type View } from "./show.ts";

/** A history whose view shall get smaller. */
export interface CompactRequest extends ViewRequest {
  /** True: what is shown does not fit, whatever its estimate says. Absent: false. */
  readonly isOverflow?: boolean | undefined;
}

/** Cuts down to the low mark; a second time, because that was not enough, to half of it. */
export async function compactView(store: Store, request: CompactRequest): Promise<CompactResult> {
  const { session, messages, signal, isOverflow = false } = request;
  signal?.throwIfAborted();
  if (messages.length === 0)
    return nothingDone("no-conversation", "nothing was said in this session yet");
  const count = counter(request.contextWindow);
  const cuts = byFirst(await patiently(() => cutsOf(store, session), signal));
  const before = await viewAsItIs(store, { ...request, cuts, count });
  const budget = Math.min(budgetOf(request.tokenBudget), Math.max(1, before.view.tokens.estimate));
  const { low } = marksOf({ budget, messages, count });
  const to = { messages, count, budget, ceiling: Infinity };
  const cut = [low, ...(isOverflow ? [low / 2] : [])]
    .map((mark) => planCut({ ...to, low: mark }))
    .find(({ from }) => from > before.from);
  if (cut === undefined)
    return nothingDone("nothing-to-compact", "only the newest messages are shown as they are");
  const isSmaller = (view: View) => view.tokens.estimate < before.view.tokens.estimate;
  const of = { session, messages, budget, count, cuts, cut, signal, isWanted: isSmaller };
  const after = await makeCut(store, of);
  if (after.record === null || !isSmaller(after))
    return nothingDone("no-gain", "what would stand for the older messages is not shorter");
  return {
    ok: true,
    compacted: true,
    result: {
      summary: after.record.record,
      tokensBefore: before.view.tokens.estimate,
      tokensAfter: after.tokens.estimate,
    },
  };
}

const nothingDone = (code: NonNullable<CompactResult["code"]>, reason: string): CompactResult => ({
  ok: true,
  compacted: false,
  code,
  reason,
});

/** What would be shown if there were room for everything: what was asked to be cut stays cut. */
async function viewAsItIs(
  store: Store,
  {
    messages,
    cuts,
    count,
    signal,
  }: CompactRequest & { cuts: ReturnType<typeof byFirst>; count: ReturnType<typeof counter> },
): Promise<{ view: View; from: number }> {
  const plan = planView({ messages, budget: Infinity, cuts, count });
  if (plan.kind !== "kept")
    return { view: show(messages, { from: 0, record: null, count }), from: 0 };
  const record = await patiently(() => recordOf(store, plan.cut.id), signal);
  const standing = { ...plan.cut, record };
  return { view: show(messages, { from: plan.from, record: standing, count }), from: plan.from };
}
