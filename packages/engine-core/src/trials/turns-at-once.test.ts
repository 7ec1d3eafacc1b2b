// Whatever is asked of a session at once is done one thing after the other.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callTool, MODEL, passThrough, testHost, tools } from "../__fixtures__/host.ts";
import { compactSession, previewRequest, resolveContextEngine } from "../index.ts";
import { messageEntries } from "./__fixtures__/disk.ts";

/** What is asked for beside a turn, and from where. */
interface Asked {
  what: "turn" | "compaction" | "preview";
  from: "outside" | "its tool" | "its tool, when it is over";
}

const lists: fc.Arbitrary<Asked[]> = fc.array(
  fc.record({
    what: fc.constantFrom("turn", "compaction", "preview"),
    from: fc.constantFrom("outside", "its tool", "its tool, when it is over"),
  } as const),
  { minLength: 1, maxLength: 5 },
);

/** One turn, and with it all that is asked for: how each ended, and what was not left alone. */
async function askAtOnce(list: readonly Asked[]) {
  const overlaps: string[] = [];
  let inside: string | undefined;
  /** Takes a moment, in which nothing else may go on. */
  const alone = async <Result>(name: string, result: Result): Promise<Result> => {
    if (inside !== undefined) overlaps.push(`${name} in the middle of ${inside}`);
    inside = name;
    await new Promise((resolve) => setTimeout(resolve, 1));
    inside = undefined;
    return result;
  };
  const endings: Promise<string>[] = [];
  const turnIsOver = Promise.withResolvers<void>();
  const host = testHost({
    engine: passThrough({
      info: { id: "test", name: "Test" },
      assemble: ({ messages }) => alone("assemble", { messages, estimatedTokens: 0 }),
      compact: () => alone("compact", { ok: true, compacted: false, reason: "nothing" }),
    }),
    replies: [() => alone("a model call", callTool("ask")), () => alone("a model call", "done")],
    tools: tools({
      async ask() {
        for (const { what, from } of list)
          if (from === "its tool") endings.push(outcomeOf(start(what)));
          else if (from === "its tool, when it is over")
            endings.push(outcomeOf(turnIsOver.promise.then(() => start(what))));
        return alone("a tool", "asked");
      },
    }),
  });
  async function start(what: Asked["what"]): Promise<unknown> {
    if (what === "turn") return host.say("more");
    const engine = await resolveContextEngine({
      registry: host.registry,
      config: { plugins: { slots: { contextEngine: "test" } } },
    });
    const { ports, state } = host;
    const request = { engine, ports, state, model: MODEL };
    return what === "preview"
      ? previewRequest({ ...request, systemPrompt: [] })
      : compactSession(request);
  }
  const turn = host.say("first");
  for (const { what, from } of list) if (from === "outside") endings.push(outcomeOf(start(what)));
  await turn;
  turnIsOver.resolve();
  const outcomes = await Promise.all(endings);
  const roles = messageEntries(host.ports.transcript.branch()).map(({ message }) => message.role);
  return { outcomes, overlaps, roles: roles.join(" ") };
}

const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );

describe("what is asked of a session while one of its turns runs", () => {
  it("waits for it, or is refused where the turn itself would wait for it", async () => {
    await fc.assert(
      fc.asyncProperty(lists, async (list) => {
        const { outcomes, overlaps, roles } = await askAtOnce(list);
        expect(overlaps).toEqual([]);
        const count = (from: Asked["from"]) => list.filter((asked) => asked.from === from).length;
        const refused = outcomes.filter((outcome) => outcome === "SESSION_LOCKED").length;
        expect(refused).toBe(count("its tool"));
        expect(outcomes.filter((outcome) => outcome === "done").length).toBe(
          list.length - count("its tool"),
        );
        const turns = list.filter(({ what, from }) => what === "turn" && from !== "its tool");
        expect(roles).toBe(
          ["user assistant toolResult assistant", ...turns.map(() => "user assistant")].join(" "),
        );
      }),
    );
  });
});
