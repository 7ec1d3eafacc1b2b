// Conformance cases about histories that are odd, or an engine's own view.
import type { AgentMessage } from "../../contract/message.ts";
import { estimateMessages } from "../../tokens/message.ts";
import type { ConformanceCase } from "../case.ts";
import type { CaseContext } from "../case-context.ts";
import { AMPLE_BUDGET, type CaseSession } from "../case-session.ts";
import { check } from "../engine-call.ts";
import { assistant, toolCall, toolResult, user } from "../messages.ts";
import { viewShapeFault } from "../sessions/result-shape.ts";
import { positionsIn, talk } from "./observe.ts";

/** Shares of a session's size that a view has room for. */
const ROOMS = [0.75, 0.4, 0.15];

export const strangeHistoryCases: readonly ConformanceCase[] = [
  {
    id: "assemble/own-view",
    group: "assemble",
    title: "takes a view of its own for a history, in another session and over an empty store",
    rule: "Any of its own views may come back as the history, of another session too.",
    async run(context) {
      const session = context.session();
      await session.deliver(
        context.engine,
        talk("a", { turns: 30, tools: 1, toolResultChars: 1_200 }),
      );
      const whole = estimateMessages(session.history()).high;
      for (const room of ROOMS)
        await expectTaken(
          context,
          (await session.assemble(context.engine, { tokenBudget: Math.floor(whole * room) }))
            .messages,
        );
      await session.compact(context.engine);
      await expectTaken(context, (await session.assemble(context.engine)).messages);
    },
  },
  {
    id: "assemble/odd-contents",
    group: "assemble",
    title:
      "takes histories with empty, blank and very large messages, and calls that nothing answered",
    rule: "If it throws, the given messages are used.",
    async run(context) {
      const session = context.session();
      await session.deliver(context.engine, oddTalk());
      await expectViews(context, session, session.history());
      // Some hosts begin a history anywhere.
      const given = session.history();
      for (const start of [1, 2, given.length - 1])
        await expectViews(context, session, given.slice(start));
    },
  },
];

/** As another session's history, there and by an engine that knows nothing. */
async function expectTaken(context: CaseContext, view: readonly AgentMessage[]): Promise<void> {
  const history = [...view, ...talk("b", { turns: 1 })];
  const given = () => structuredClone(history);
  await expectViews(context, context.session("fork"), given());
  await context.beside((fresh) => expectViews(fresh, fresh.session(), given()));
}

async function expectViews(
  context: CaseContext,
  session: CaseSession,
  history: readonly AgentMessage[],
): Promise<void> {
  const size = estimateMessages(history).high;
  for (const tokenBudget of [AMPLE_BUDGET, Math.floor(size / 2), 50]) {
    const messages = structuredClone([...history]);
    const result = await session.assemble(context.engine, { messages, tokenBudget });
    const fault = viewShapeFault(result);
    check(fault === undefined, `assemble() gave a result that no host takes: ${fault}.`);
    if (tokenBudget !== AMPLE_BUDGET) continue;
    check(
      positionsIn(history, result.messages.slice(-1)).includes(history.length - 1),
      "The newest message of a history is not the last one of an assembly with room for all of it.",
    );
  }
}

/** Characters of what is very large. */
const LARGE = 150_000;

function oddTalk(): AgentMessage[] {
  const [answered, open] = [toolCall("read", {}, "odd-1"), toolCall("read", {}, "odd-2")];
  const text = (length: number) =>
    "lorem 漢字 👩‍👩‍👧 ".repeat(Math.ceil(length / 20)).slice(0, length);
  return [
    assistant("An answer to nothing."),
    user(""),
    assistant([]),
    user(" \n\t "),
    user([]),
    assistant([{ type: "text", text: "" }]),
    user(text(LARGE)),
    assistant([answered]),
    toolResult(answered, text(LARGE)),
    assistant([open], { stopReason: "aborted" }),
    user("What came of it?"),
    assistant("", { stopReason: "error", errorMessage: "overloaded" }),
    user("And now?"),
    assistant("It is done."),
  ];
}
