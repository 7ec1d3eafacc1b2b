// Conformance cases about compaction, delegated or owned.
import { sleep } from "../../abort.ts";
import type { ContextEngine } from "../../contract/engine.ts";
import type { CompactResult } from "../../contract/lifecycle.ts";
import type { AgentMessage } from "../../contract/message.ts";
import { estimateMessages } from "../../tokens/message.ts";
import { textOf } from "../../transcript/text.ts";
import { asOwner, type ConformanceCase, NotApplicable } from "../case.ts";
import type { CaseContext } from "../case-context.ts";
import { quickModel } from "../case-session.ts";
import { call, check } from "../engine-call.ts";
import { recordOf } from "../sessions/record.ts";
import { fitsWithout, positionsIn, talk, turnOf } from "./observe.ts";

export const compactCases: readonly ConformanceCase[] = [
  {
    id: "compact/delegates",
    group: "compact",
    title:
      "hands compaction to the host's built-in one: doing nothing leaves no way out of an overflow",
    rule: "one that does not should return `delegateCompactionToRuntime(params)`",
    async run(context) {
      const before = await longSession(context);
      asOwner(context.engine, false);
      const { tokenBudget = 0 } = context.session().compactParams();
      const result = await context.session().compact(context.engine);
      check(
        context.compactions.length > 0,
        "compact() of an engine that owns no compaction did not reach the host's built-in one.",
      );
      check(
        result?.compacted === true,
        "compact() does not answer what the built-in compaction did.",
      );
      const after = await sizeOf(context);
      // Who shows little of a session shows as little afterwards.
      check(
        after < before || before <= tokenBudget,
        "After the built-in compaction the assembly is not smaller.",
      );
    },
  },
  {
    id: "compact/no-built-in",
    group: "compact",
    title: "says so, and does not throw, where the host offers no built-in compaction",
    rule: '"no-built-in" this host has none',
    async run(context) {
      await longSession(context);
      asOwner(context.engine, false);
      const result = await context.withoutCompaction(() =>
        context.session().compact(context.engine),
      );
      check(
        result?.compacted === false,
        "compact() answered that it compacted on a host that offers no compaction.",
      );
      check(
        typeof result.reason === "string",
        "compact() gives no reason on a host that offers no compaction.",
      );
    },
  },
  {
    id: "compact/smaller",
    group: "compact",
    title:
      "compacts a context four times its budget, or fits without; and compacted means a smaller next assembly",
    rule: "`{ ok: true, compacted: true }` promises a smaller next assembly",
    async run(context) {
      const before = await longSession(context);
      asOwner(context.engine, true);
      const { tokenBudget = 0 } = context.session().compactParams();
      const result = await context.session().compact(context.engine);
      if (!result.compacted && context.engine.info.turnMaintenanceMode === "background")
        await context.session().maintain(context.engine);
      const after = await sizeOf(context);
      if (result.compacted)
        check(
          after < before,
          `compact() answered that it compacted, but the assembly went from ${before} to ${after}.`,
        );
      else
        check(
          after <= tokenBudget || (await fitsWithout(context, result, tokenBudget)),
          `compact() did nothing about ${before} tokens for a budget of ${tokenBudget}.`,
        );
    },
  },
  {
    id: "compact/deferred",
    group: "compact",
    title: "does what it put off to its maintenance when it is let to",
    rule: "The view is smaller once maintenance may do what was put off.",
    async run(context) {
      const before = await longSession(context);
      asOwner(context.engine, true);
      const session = context.session();
      const { force: _force, ...unforced } = session.compactParams();
      const { tokenBudget = 0 } = unforced;
      const result = await call(context.engine, "compact", unforced);
      if (!isPutOff(context.engine, result))
        throw new NotApplicable("engines that put off a compaction that nobody forces");
      await session.maintain(context.engine);
      const after = await sizeOf(context);
      check(
        after < before || after <= tokenBudget || (await fitsWithout(context, result, tokenBudget)),
        `compact() put it off (${JSON.stringify(result.reason ?? "")}), and maintain() with leave to do it left the assembly at ${after} tokens.`,
      );
    },
  },
  {
    id: "compact/reported-numbers",
    group: "compact",
    title: "reports fewer tokens after than before when it compacted",
    rule: "True promises that the next assembly is smaller.",
    async run(context) {
      await longSession(context);
      asOwner(context.engine, true);
      const { compacted, result } = await context.session().compact(context.engine);
      if (!compacted || result?.tokensAfter === undefined) return;
      const { tokensBefore, tokensAfter } = result;
      check(
        tokensAfter < tokensBefore,
        `compact() compacted from ${tokensBefore} to ${tokensAfter} tokens by its own count.`,
      );
    },
  },
  {
    id: "compact/keeps-request",
    group: "compact",
    title: "keeps the newest request as it was said",
    rule: "The newest request stays as it was said.",
    async run(context) {
      const session = context.session();
      await longSession(context);
      asOwner(context.engine, true);
      await session.compact(context.engine);
      const newest = session.history().findLastIndex(({ role }) => role === "user");
      const { messages } = await session.assemble(context.engine);
      check(
        positionsIn(session.history(), messages).includes(newest),
        "After compact() the newest request is not in the assembly.",
      );
    },
  },
  {
    id: "compact/again",
    group: "compact",
    title: "can be asked again and again, and never grows the assembly",
    rule: "If it made nothing smaller, `code` tells the host why",
    async run(context) {
      let size = await longSession(context);
      asOwner(context.engine, true);
      for (let time = 1; time <= 3; time++) {
        await context.session().compact(context.engine);
        const after = await sizeOf(context);
        check(
          after <= size,
          `The ${time}. compact() in a row grew the assembly from ${size} to ${after} tokens.`,
        );
        size = after;
      }
    },
  },
  {
    id: "compact/any-model",
    group: "compact",
    title: "makes the context smaller, or says that it did not, whatever the model answers",
    rule: "`{ ok: true, compacted: true }` promises a smaller next assembly",
    async run(context) {
      let size = await longSession(context);
      asOwner(context.engine, true);
      const session = context.session();
      const { usage, audit, ...other } = await quickModel.complete({ messages: [] });
      for (const text of ["", " \n ", "All that was said is of note. ".repeat(5_000)]) {
        const complete = async () => ({ usage, audit, ...other, text });
        const runtimeContext = { llm: { complete } };
        const { compacted } = await session.compact(context.engine, { runtimeContext });
        const { messages } = await session.assemble(context.engine);
        const after = estimateMessages(messages).estimate;
        const what = text.trim() === "" ? "nothing" : "far too much";
        check(
          compacted ? after < size : after <= size,
          `With a model that answered ${what} compact() took the assembly from ${size} to ${after} tokens.`,
        );
        const isEmpty = (message: AgentMessage) =>
          message.role === "compactionSummary" && textOf(message).trim() === "";
        check(
          !messages.some(isEmpty),
          `With a model that answered ${what} the assembly has an empty summary.`,
        );
        size = after;
        await session.deliver(
          context.engine,
          turnOf("a", 17, { tools: 1, toolResultChars: 4_000 }),
        );
        size = await sizeOf(context);
      }
    },
  },
  {
    id: "compact/model-fails",
    group: "compact",
    title: "compacts all the same, or answers why it did not, when the model fails that it asks",
    rule: "If it made nothing smaller, `code` tells the host why and `reason` tells people.",
    async run(context) {
      let size = await longSession(context);
      asOwner(context.engine, true);
      const session = context.session();
      for (const [when, complete] of FAILING_MODELS) {
        const runtimeContext = { llm: { complete } };
        const { compacted, reason } = await session.compact(context.engine, { runtimeContext });
        check(
          compacted || (typeof reason === "string" && reason.trim() !== ""),
          `With a model that fails ${when} compact() made nothing smaller, and does not say why.`,
        );
        await session.maintain(context.engine, runtimeContext);
        const after = await sizeOf(context);
        check(
          compacted ? after < size : after <= size,
          `With a model that fails ${when} compact() took the assembly from ${size} to ${after} tokens.`,
        );
        await session.deliver(
          context.engine,
          turnOf("a", 17, { tools: 1, toolResultChars: 4_000 }),
        );
        size = await sizeOf(context);
      }
    },
  },
  {
    id: "compact/at-once",
    group: "compact",
    title: "loses nothing of a turn that it is told of while it compacts",
    rule: "Records the new messages of a turn",
    async run(context) {
      await longSession(context);
      // Of a host's own compaction the messages before a turn are others afterwards.
      asOwner(context.engine, true);
      const session = context.session();
      const { sessionId, sessionKey } = session.ref;
      const had = async () => {
        const record = await recordOf(context.engine, { sessionId, sessionKey });
        return positionsIn(session.history(), record).includes(session.history().length - 1);
      };
      const keeps = await had();
      const start = session.history().length;
      await session.write(turnOf("b", 1, { tools: 1 }));
      await Promise.all([
        session.compact(context.engine),
        session.tell(context.engine, start),
        session.assemble(context.engine),
      ]);
      const { messages } = await session.assemble(context.engine);
      const last = positionsIn(session.history(), messages.slice(-1))[0];
      check(
        last === session.history().length - 1 && (!keeps || (await had())),
        "A turn that it was told of while it compacted is gone.",
      );
    },
  },
];

/**
 * Of a context far above its budget: nothing failed, nothing was done, and no code says why not.
 * Only maintenance in the background is ever given leave to do it later.
 */
const isPutOff = ({ info, maintain }: ContextEngine, { ok, compacted, code }: CompactResult) =>
  info.turnMaintenanceMode === "background" &&
  maintain !== undefined &&
  ok &&
  !compacted &&
  code === undefined;

/** By when they do. */
const FAILING_MODELS = [
  ["at once", () => Promise.reject(new Error("the account is out of credit"))],
  ["after a while", () => sleep(5).then(() => Promise.reject(new Error("the model refuses")))],
] as const;

/** Tokens of its assembly. */
async function longSession(context: CaseContext): Promise<number> {
  await context
    .session()
    .deliver(context.engine, talk("a", { turns: 16, tools: 2, toolResultChars: 1_200 }));
  return sizeOf(context);
}

async function sizeOf(context: CaseContext): Promise<number> {
  return estimateMessages((await context.session().assemble(context.engine)).messages).estimate;
}
