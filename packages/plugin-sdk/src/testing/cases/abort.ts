// Conformance cases about aborts, which end the work and are nobody's failure.
import { sleep, within } from "../../abort.ts";
import { isAbort } from "../../errors.ts";
import { estimateMessages } from "../../tokens/message.ts";
import { asOwner, type ConformanceCase } from "../case.ts";
import type { CaseContext } from "../case-context.ts";
import { silentModel } from "../case-session.ts";
import { call, callRaw, check, describe } from "../engine-call.ts";
import { fitsWithout, talk } from "./observe.ts";

/** Longest wait for an aborted call to settle, ms. */
const PATIENCE_MS = 1_000;

export const abortCases: readonly ConformanceCase[] = [
  {
    id: "abort/before-compact",
    group: "abort",
    title: "compacts nothing when its signal is aborted before it starts",
    rule: "Fires when the work must stop: a cancelled run, the time bound.",
    async run(context) {
      const session = await longSession(context);
      const abort = new AbortController();
      abort.abort();
      const outcome = await settle(
        callRaw(context.engine, "compact", session.compactParams({ abortSignal: abort.signal })),
        abort.signal,
      );
      check(
        outcome.compacted !== true,
        "compact() went on although its signal was aborted before the call.",
      );
      await session.assemble(context.engine);
    },
  },
  {
    id: "abort/during-compact",
    group: "abort",
    title:
      "compact settles when its signal is aborted while a model or the host's compaction is silent",
    rule: "Fires when the work must stop: a cancelled run, the time bound.",
    async run(context) {
      const session = await longSession(context);
      context.hangCompaction();
      const abort = new AbortController();
      const params = session.compactParams({
        abortSignal: abort.signal,
        runtimeContext: { llm: silentModel },
      });
      const outcome = settle(callRaw(context.engine, "compact", params), abort.signal);
      // Let it get as far as it does without the answer it waits for.
      await sleep(20);
      abort.abort();
      await within<unknown>(
        {
          boundMs: PATIENCE_MS,
          onTimeout: () => check(false, "compact() did not settle after its signal was aborted."),
        },
        () => outcome,
      );
      await call(context.engine, "assemble", {
        ...session.ref,
        messages: session.history(),
        tokenBudget: 4_000,
      });
    },
  },
  {
    id: "abort/afterwards",
    group: "abort",
    title: "is as it was after a compaction that was aborted, and compacts when asked again",
    rule: "an abort never does",
    async run(context) {
      const session = await longSession(context);
      asOwner(context.engine, true);
      const view = async () => JSON.stringify((await session.assemble(context.engine)).messages);
      const before = await view();
      const abort = new AbortController();
      const first = settle(
        callRaw(
          context.engine,
          "compact",
          session.compactParams({
            abortSignal: abort.signal,
            runtimeContext: { llm: silentModel },
          }),
        ),
        abort.signal,
      );
      await sleep(20);
      abort.abort();
      const { compacted } = await first;
      check(
        compacted || (await view()) === before,
        "After a compact() that was aborted the same history is assembled otherwise.",
      );
      const { tokenBudget = 0 } = session.compactParams();
      const again = await session.compact(context.engine);
      if (!again.compacted && context.engine.info.turnMaintenanceMode === "background")
        await session.maintain(context.engine);
      const { messages } = await session.assemble(context.engine);
      const isDone =
        compacted || again.compacted || estimateMessages(messages).estimate <= tokenBudget;
      check(
        isDone || (await fitsWithout(context, again, tokenBudget)),
        "After a compact() that was aborted another one does nothing.",
      );
    },
  },
];

async function longSession(context: CaseContext) {
  const session = context.session();
  await session.deliver(context.engine, talk("a", { turns: 16, tools: 1, toolResultChars: 1_200 }));
  return session;
}

/** The result, or nothing compacted when it rejected with the abort; another error is a failure. */
async function settle(
  work: Promise<{ compacted: boolean }>,
  signal: AbortSignal,
): Promise<{ compacted: boolean }> {
  try {
    return await work;
  } catch (error) {
    check(
      isAbort(error, signal),
      `compact() answered an abort with another error: ${describe(error)}`,
    );
    return { compacted: false };
  }
}
