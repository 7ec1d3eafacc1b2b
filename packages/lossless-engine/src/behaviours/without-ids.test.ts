import type { AgentMessage, CommitTurnParams } from "@clew/plugin-sdk/core";
import { assistant, conversation, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import { describe, expect, it } from "vitest";
import { SESSION, startLife } from "../testing/life.ts";
import { sessionFile } from "../testing/session-file.ts";
import { withIds } from "../testing/stored.ts";

/** As a host hands it over that says neither which message it is nor when it was made. */
function bare<Message extends AgentMessage>(message: Message): Message {
  const { __openclaw: _, timestamp: __, ...rest } = message;
  return rest as Message;
}
const nameless = ({ __openclaw: _, ...rest }: AgentMessage) => rest as AgentMessage;

/** As hosts show a stored message: shorter, without what people only see, calls under other ids. */
function shown(message: AgentMessage): AgentMessage {
  if (message.role === "assistant")
    return {
      ...message,
      content: message.content.map((block) =>
        block.type === "toolCall" ? { ...block, id: block.id.replace("_", "") } : block,
      ),
    };
  if (message.role !== "toolResult") return message;
  const { details: _, ...rest } = message;
  const content = message.content.map((block) =>
    block.type === "text" ? { ...block, text: block.text.slice(0, 1_000) } : block,
  );
  return { ...rest, toolCallId: message.toolCallId.replace("_", ""), content };
}

function turnOf(number: number): AgentMessage[] {
  const call = toolCall("exec", { command: `ls ${number}` }, `call_${number}`);
  return withIds(
    [
      user(`request ${number}`),
      assistant([call]),
      toolResult(call, `T${number} ${"data line\n".repeat(400)}`, { details: { all: number } }),
      assistant(`done ${number}`),
    ],
    `t${number}-`,
  ).map((message, index) => ({ ...message, timestamp: 1_000_000 + number * 10 + index }));
}

const commitOf = (number: number, messages: AgentMessage[], start: number): CommitTurnParams => {
  const anchor = (index: number) => ({
    ...SESSION,
    ...{ agentId: "main", generation: 1, rawSeq: start + index, effectiveParentId: null },
    ...{ entryId: `t${number}-${index}`, activeMessagePosition: start + index },
  });
  return {
    ...SESSION,
    ...{ advancementKey: `k${number}`, messages, terminal: anchor(messages.length - 1) },
    admission: { ...anchor(0), logicalTurnId: `k${number}`, role: "user" },
  };
};

describe("a host that gives no ids and no times", () => {
  it("has ten equal short turns kept, however it tells of them", async () => {
    const [ok, done] = [bare(user("ok")), bare(assistant("done"))];
    const ways: ((life: ReturnType<typeof startLife>, history: AgentMessage[]) => unknown)[] = [
      async ({ tell }) => [await tell([{ ...ok }]), await tell([{ ...done }])],
      ({ tell }) => tell([{ ...ok }, { ...done }]),
      ({ engine }, history) =>
        engine.afterTurn!({
          ...{ ...SESSION, sessionFile: "none" },
          ...{ messages: history, prePromptMessageCount: history.length - 2 },
        }),
    ];
    for (const way of ways) {
      const life = startLife();
      const history: AgentMessage[] = [];
      for (let turn = 0; turn < 10; turn++) {
        history.push({ ...ok }, { ...done });
        await way(life, [...history]);
      }
      expect(life.stored()).toHaveLength(20);
    }
  });

  it("may tell a turn again, and all of the history after a restart", async () => {
    const life = startLife();
    const history = [user("ok"), assistant("done"), user("ok"), assistant("done")].map(bare);
    const afterTurn = (messages: AgentMessage[], prePromptMessageCount: number) =>
      life.engine.afterTurn!({
        ...SESSION,
        ...{ sessionFile: "none", messages, prePromptMessageCount },
      });
    await afterTurn(history.slice(0, 2), 0);
    await afterTurn(history, 2);
    await afterTurn(history, 2);
    await afterTurn(history, 0);
    expect(life.stored()).toHaveLength(4);
    const more = [...history, bare(user("more"))];
    expect(await (await life.again()).tell(more)).toBe(1);
    await afterTurn(
      [bare(user("a shorter history")), bare(user("ok")), bare(assistant("done"))],
      1,
    );
    expect(life.stored()).toHaveLength(7);
  });

  it("has a compaction hide what its record stands for, where the same words recur", async () => {
    const { engine, tell } = startLife();
    const turns = Array.from({ length: 60 }, () => [user("ok"), assistant("word ".repeat(200))]);
    const messages = turns.flat().map((message) => ({ ...bare(message) }));
    await tell(messages);
    const view = async () => await engine.assemble({ ...SESSION, messages, tokenBudget: 90_000 });
    expect((await view()).messages).toEqual(messages);
    const { result } = await engine.compact({ ...SESSION, tokenBudget: 16_000, force: true });
    const after = await view();
    expect(after.estimatedTokens).toBe(result!.tokensAfter);
    expect(after.messages.length).toBeGreaterThan(4);
  });
});

describe("a host that gives times and no ids", () => {
  it("has equal messages of one moment kept, and each once however often it tells of them", async () => {
    const { tell, stored } = startLife();
    const same = { ...bare(user("ok")), timestamp: 5 };
    expect(await tell([same, { ...same }, { ...same }])).toBe(3);
    expect(await tell([{ ...same }, { ...same }, { ...same }])).toBe(0);
    expect(await tell([{ ...same, timestamp: 6 }])).toBe(1);
    const call = toolCall("read");
    const long = (end: string) => nameless(toolResult(call, `${"x".repeat(900)}${end}`));
    expect(await tell([{ ...long("a"), timestamp: 7 } as AgentMessage])).toBe(1);
    expect(await tell([{ ...long("b"), timestamp: 7 } as AgentMessage])).toBe(1);
    expect(stored()).toHaveLength(6);
  });
});

describe("a host that gives ids in some calls only", () => {
  it.each([
    ["nowhere", false, false],
    ["in views", true, false],
    ["in committed turns", false, true],
    ["everywhere", true, true],
  ])(
    "has every message stored once, also of turns that it never commits: ids %s",
    async (_, inViews, inTurns) => {
      const life = startLife({ durableTurns: true });
      const history: AgentMessage[] = [];
      const asShown = (message: AgentMessage) => shown(inViews ? message : nameless(message));
      const view = (messages: AgentMessage[]) =>
        life.engine.assemble({ ...SESSION, messages: messages.map(asShown), tokenBudget: 100_000 });
      for (let number = 0; number < 12; number++) {
        const turn = turnOf(number);
        await view(history);
        // Its own view again, and the running turn, as some hosts hand them over.
        if (number % 3 === 0) await view([...history, ...turn.slice(0, 3)]);
        if (number % 4 !== 3)
          await life.engine.commitTurn!(
            commitOf(number, inTurns ? turn : turn.map(nameless), history.length),
          );
        history.push(...turn);
      }
      await view(history);
      const texts = life.stored().map(({ message }) => JSON.stringify(message));
      expect(texts).toHaveLength(48);
      for (let number = 0; number < 12; number++)
        expect(texts.filter((text) => text.includes(`"request ${number}"`))).toHaveLength(1);
      // Told whole, wherever it was told.
      expect(texts.filter((text) => text.includes('"details"')).length).toBe(9);
      const { compacted, result } = await life.engine.compact({ ...SESSION, tokenBudget: 6_000 });
      const { messages } = await view(history);
      expect(compacted).toBe(true);
      expect(messages.length).toBeLessThan(30);
      expect(estimateMessages(messages).estimate).toBeLessThan(result!.tokensBefore);
    },
  );

  it("goes on with the messages it told before it gave ids", async () => {
    const { tell, stored } = startLife();
    const history = conversation({ turns: 20, tools: 1 });
    expect(await tell(history.map(nameless))).toBe(history.length);
    expect(await tell(withIds(history))).toBe(0);
    expect(await tell([...withIds(history), ...withIds([user("new")], "new")])).toBe(1);
    expect(stored()).toHaveLength(history.length + 1);
  });
});

describe("ids of any kind", () => {
  it("are told apart, and so are sessions, also by half a surrogate pair", async () => {
    const { engine, tell, stored } = startLife();
    const ids = [
      "\ud800",
      "\ud801",
      "\ufffd",
      'json"\\ud800"',
      "json:a",
      "key:user:a",
      "a\0b",
      "a",
    ];
    for (const id of ids)
      expect(await tell([{ ...user(`words of ${JSON.stringify(id)}`), __openclaw: { id } }])).toBe(
        1,
      );
    for (const id of ids) expect(await tell([{ ...user("again"), __openclaw: { id } }])).toBe(0);
    expect(stored().map(({ message }) => message.__openclaw?.id)).toEqual(ids);
    const said = withIds([user("said here")]);
    for (const id of ids)
      expect(await tell(said, { sessionId: id, sessionKey: `agent:main:${id}` })).toBe(1);
    for (const sessionId of ids)
      expect(
        await engine.compact({ sessionId, sessionKey: `agent:main:${sessionId}`, force: true }),
      ).toMatchObject({ code: expect.not.stringContaining("no-conversation") });
  });
});

describe("a message that cannot be written", () => {
  const nested = (levels: number) => {
    let value: unknown = "inside";
    for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
    return value;
  };

  it("nested thousands of levels deep is stored exactly, with its long texts", async () => {
    const { engine, tell, stored } = startLife();
    const call = toolCall("run", { deep: nested(3_000), text: "long ".repeat(2_000) });
    const messages = withIds([
      { ...user("deep"), deep: nested(3_000), long: "x".repeat(9_000) } as AgentMessage,
      assistant([call]),
    ]);
    expect(await tell(messages)).toBe(2);
    expect(stored().map(({ message }) => JSON.stringify(message))).toEqual(
      messages.map((message) => JSON.stringify(message)),
    );
    await engine.maintain!({ ...SESSION, sessionFile: "none" });
    const { messages: view } = await engine.assemble({ ...SESSION, messages, tokenBudget: 9_000 });
    expect(view).toHaveLength(2);
  });

  it("is refused by name, and all others of its call are stored", async () => {
    const { tell, stored } = startLife();
    const round: Record<string, unknown> = { ...user("round") };
    round.self = round;
    const big = { ...user("big"), number: 10n } as unknown as AgentMessage;
    const messages = withIds([user("before"), round as never, big, user("behind")]);
    await expect(tell(messages)).rejects.toMatchObject({
      code: "REQUEST_INVALID",
      message: expect.stringMatching(/no JSON can be written of e1, e2 /),
    });
    expect(stored().map(({ message }) => message.__openclaw?.id)).toEqual(["e0", "e3"]);
  });

  it("is refused with a sentence where it is no message, or where no session is named", async () => {
    const { engine, tell, stored } = startLife();
    const none = {} as AgentMessage;
    await expect(engine.ingest({ ...SESSION, message: none })).rejects.toMatchObject({
      code: "REQUEST_INVALID",
      message: expect.stringContaining("1 of what it was told are no messages with a role"),
    });
    await expect(tell([none, ...withIds([user("kept")]), null as never])).rejects.toThrow("2 of");
    await expect(engine.ingest(null as never)).rejects.toThrow(/was given no session/);
    expect(stored()).toHaveLength(1);
  });
});

describe("a turn whose session file does not hold it yet", () => {
  const said = (from: number, isTimed: boolean) =>
    [user(`ask ${from}`), assistant(`answer ${from}`)].map(({ timestamp: _, ...message }, at) => ({
      ...message,
      ...(isTimed && { timestamp: 1_000 + 2 * from + at }),
    })) as AgentMessage[];

  it.each([
    [true, "imported before"],
    [true, "read for the first time"],
    [false, "imported before"],
    [false, "read for the first time"],
  ])("is stored as it was told (with times: %s, %s)", async (isTimed, how) => {
    const { engine, texts } = startLife();
    const file = sessionFile(SESSION.sessionId);
    const before = [...said(1, isTimed), ...said(2, isTimed)];
    file.say(...before);
    const after = () =>
      engine.afterTurn!({
        ...{ ...SESSION, sessionFile: file.path },
        messages: [...before, ...said(3, isTimed)],
        prePromptMessageCount: before.length,
      });
    if (how === "imported before") await engine.bootstrap!({ ...SESSION, sessionFile: file.path });
    await after();
    expect(texts()).toHaveLength(6);
    // Told again, now that the file holds it.
    file.say(...said(3, isTimed));
    await after();
    expect(texts().filter((text) => JSON.stringify(text).includes(" 3"))).toHaveLength(
      isTimed ? 2 : 4,
    );
  });

  it("keeps what a torn line of it would have told", async () => {
    const { engine, texts } = startLife();
    const file = sessionFile(SESSION.sessionId);
    file.say(...said(1, false), said(2, false)[0]!);
    file.raw('{"type":"message","id":"torn","parentId":"e2","mess');
    const messages = [...said(1, false), ...said(2, false)];
    await engine.afterTurn!({
      ...{ ...SESSION, sessionFile: file.path, messages },
      prePromptMessageCount: 2,
    });
    expect(JSON.stringify(texts())).toContain("answer 2");
    expect(texts()).toHaveLength(4);
  });
});
