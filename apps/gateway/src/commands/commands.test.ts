import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { emulatedModel, post, startTestGateway, type TestGateway } from "../testing/gateway.ts";
import { describeUndo, parseCompact } from "./compact.ts";
import { parseLine } from "./parse.ts";

const notes = (number: number) =>
  `Note ${number}: the lighthouse at Skerry ${number} is kept by Ada-${number}. ${`The tide at rock ${number} was high and the boat waited. `.repeat(100)}`;

async function answer({ say }: TestGateway, line: string, session = "main") {
  const { events } = await say(line, { session });
  expect(events[0]).toEqual({ type: "queued" });
  expect(events.at(-1)).toEqual({
    type: "done",
    outcome: "completed",
    error: null,
    turnId: null,
    replyEntryId: null,
  });
  const { ok, text, data } = events.find(({ type }) => type === "command")!;
  return { ok: ok === true, text: String(text), data, kinds: events.map(({ type }) => type) };
}

async function fileOf({ gateway }: TestGateway, session = "main") {
  return readFile((await gateway.session(session))!.file, "utf8");
}

const smallWindow = {
  agents: { defaults: { contextTokens: 32_000, compaction: { keepRecentTokens: 4000 } } },
};

describe("a line", () => {
  it("is a command, a message, or a message that begins with a slash", () => {
    expect(parseLine("/status")).toEqual({ kind: "command", name: "status", args: "" });
    expect(parseLine("  /Compact keep the names\nand dates ")).toEqual({
      kind: "command",
      name: "compact",
      args: "keep the names\nand dates",
    });
    expect(parseLine("//status is a command")).toEqual({
      kind: "message",
      text: "/status is a command",
    });
    expect(parseLine("/etc/hosts is gone")).toEqual({
      kind: "message",
      text: "/etc/hosts is gone",
    });
    expect(parseLine("1/2")).toEqual({ kind: "message", text: "1/2" });
    expect(parseLine("/")).toEqual({ kind: "command", name: "", args: "" });
  });

  it("of /compact says what is meant", () => {
    expect(parseCompact("")).toEqual({ kind: "compact", focus: undefined });
    expect(parseCompact("the boats")).toEqual({ kind: "compact", focus: "the boats" });
    expect(parseCompact("undo")).toEqual({ kind: "undo" });
    expect(parseCompact("--dry-run the boats")).toEqual({ kind: "preview", focus: "the boats" });
    expect(parseCompact("dry facts about the boats")).toEqual({
      kind: "compact",
      focus: "dry facts about the boats",
    });
    expect(parseCompact("-- undo now")).toEqual({ kind: "compact", focus: "undo now" });
  });

  it("says whose compaction was undone where an engine compacts for itself", () => {
    const target = {
      ...{ entryId: "c1", timestamp: "2026-11-27T10:03:00.000Z", messages: 118 },
      ...{ clearedResults: 0, tokensBefore: 33_684 },
    };
    const undone = {
      ...{ ok: true as const, undone: ["c1"], remapped: new Map<string, string>() },
      ...{ target, next: null },
    };
    expect(describeUndo(undone, null)).toBe(
      "Undone: the compaction of 2026-11-27 10:03 UTC (118 messages in a summary; 33,684 tokens before it); nothing was said since. There is no other to undo.",
    );
    expect(describeUndo({ ...undone, next: target }, null)).toContain(
      'The next "/compact undo" would take back the compaction of 2026-11-27 10:03 UTC',
    );
    expect(describeUndo(undone, "lossless")).toContain(
      'which the host made, not engine "lossless"',
    );
  });

  it.each([
    ["--dry", "/compact --dry-run"],
    ["--dryrun", "/compact --dry-run"],
    ["—dry-run the boats", "/compact --dry-run"],
    ["dry-run", "/compact --dry-run"],
    ["undo now", "/compact undo"],
    ["undo --only", "/compact undo"],
    ["--undo", "/compact undo"],
    ["undoo", "/compact undo"],
    ["--force", null],
    ["-x the boats", null],
  ])("%s is no focus of a compaction, but a slip", (args, meant) => {
    expect(parseCompact(args)).toMatchObject({ kind: "unclear", meant, focus: args });
  });
});

describe("/status", () => {
  it("says in seven lines which model and engine answer, where, how full the context is, and what it cost", async () => {
    const host = await startTestGateway({ plugins: { slots: { contextEngine: "legacy" } } });
    const empty = await answer(host, "/status");
    expect(empty.text.split("\n")).toHaveLength(6);
    await host.say("My cat is called Minka.");
    const { text, data } = await answer(host, "/status");
    expect(text.split("\n")).toEqual([
      "Model: offline/offline, window 200,000 tokens",
      "Engine: legacy, chosen by plugins.slots.contextEngine",
      "Runs in: the gateway (embedded)",
      "Lifecycle: eager; the host compacts",
      expect.stringMatching(/^Context: about \d+ of 180,000 tokens \(0 %\), 2 messages/),
      "Compactions: 0; the next above 126,522 tokens of messages, down to 28,970 (now 25)",
      "Cost: $0 for 1 model call of this session, 0 % of the prompts from a cache",
    ]);
    expect(data).toMatchObject({ key: "agent:main:main", context: { messages: 25 } });
  });
});

describe("/status of a gateway that compacts only when it must", () => {
  it("names the setting instead of a mark", async () => {
    const host = await startTestGateway({
      agents: { defaults: { compaction: { enabled: false } } },
    });
    expect((await answer(host, "/status")).text).toMatch(
      /Compactions: 0; off \(agents\.defaults\.compaction\.enabled\): only an overflow and \/compact compact$/,
    );
  });
});

describe("/context", () => {
  it("lists what the next call then sends, asks no model and stores nothing", async () => {
    const server = await createOpenAIEmulator({ answers: [{ text: "one" }, { text: "two" }] });
    onTestFinished(() => server.close());
    const host = await startTestGateway(emulatedModel(server.baseUrl));
    await host.say("hello");
    const before = await fileOf(host);
    const { text, data, kinds } = await answer(host, "/context");
    expect(kinds).toEqual(["queued", "command", "done"]);
    expect([await fileOf(host), server.requests.length]).toEqual([before, 1]);
    await host.say("again");
    const sent = (await host.gateway.context("main"))!;
    const told = data as unknown as {
      tokens: number;
      sources: { source: string; items: number; tokens: number }[];
    };
    // The emulator counts its own way, and what a provider counts is what decides.
    expect(told.tokens).not.toBe(sent.tokens.total);
    expect(told.sources.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(told.tokens);
    expect(told.sources.reduce((sum, { items }) => sum + items, 0)).toBe(
      sent.system.length + sent.tools.length + sent.messages.length - 1,
    );
    expect(text).toMatch(/your messages +1 +\d+\nreplies +1 +\d+\ntotal/);
  });

  it("says when the next call does not fit, and compacts nothing", async () => {
    const host = await startTestGateway({ agents: { defaults: { contextTokens: 200_000 } } });
    for (let number = 1; number <= 12; number++) await host.say(notes(number));
    await host.stop();
    const smaller = await startTestGateway(
      { agents: { defaults: { contextTokens: 8000 } } },
      host.home,
    );
    const before = await fileOf(smaller);
    const { text, kinds, data } = await answer(smaller, "/context");
    expect(text).toMatch(/too many, so the turn will compact first/);
    expect(data).toMatchObject({ shrinks: { when: "before", by: "host" } });
    expect(kinds).toEqual(["queued", "command", "done"]);
    expect(await fileOf(smaller)).toBe(before);
  });
});

describe("/compact", () => {
  it("compacts, tells the sizes, keeps a report, and takes it back", async () => {
    const host = await startTestGateway(smallWindow);
    for (let number = 1; number <= 8; number++) await host.say(notes(number));
    const context = async () => (await answer(host, "/context")).data as { tokens: number };
    const before = await context();
    expect((await answer(host, "/compact --dry-run the boats")).text).toMatch(
      /^Would summarise \d+ messages/,
    );
    expect(await context()).toEqual(before);
    const { ok, text, kinds } = await answer(host, "/compact the boats");
    expect([ok, kinds]).toEqual([true, ["queued", "notice", "command", "done"]]);
    expect(text).toMatch(/^Compacted: [\d,]+ → [\d,]+ tokens/);
    expect(await context()).not.toEqual(before);
    expect((await answer(host, "/status")).text).toMatch(
      /Compactions: 1; the last at .* \(manual\)/,
    );
    expect((await answer(host, "/engine")).text).toContain(
      "1 compaction, of which 0 without effect",
    );
    const first = await answer(host, "/compact undo --dry-run");
    expect(first.text).toMatch(
      /^Would undo the compaction of \d{4}-\d\d-\d\d \d\d:\d\d UTC \(\d+ messages in a summary; [\d,]+ tokens before it\)\. /,
    );
    expect((await answer(host, "/compact undo --only another")).text).toMatch(
      /^Nothing was undone: the newest compaction is not the one that was meant\./,
    );
    const { entryId } = first.data as { entryId: string };
    expect((await answer(host, `/compact undo --only ${entryId}`)).text).toMatch(
      /^Undone: the compaction of .*; nothing was said since\. There is no other to undo\.$/,
    );
    expect((await answer(host, "/compact undo --dry-run")).text).toBe(
      "There is no compaction to undo.",
    );
    // What the provider counted is not known any more: the size is an estimate again.
    const estimated = { tokens: expect.any(Number), sources: expect.any(Array) };
    expect(await context()).toEqual({ ...before, ...estimated });
    expect(await answer(host, "/compact undo")).toMatchObject({
      ok: false,
      text: expect.stringContaining("no compaction to undo"),
    });
  });

  it("tells the sizes that /status and /context tell, as the provider counts", async () => {
    // It counts two and a half times what is estimated.
    const prompt = (number: number) => 800 + 2500 * number;
    const server = await createOpenAIEmulator({
      answers: [1, 2, 3, 4, 5, 6].map((number) => ({
        text: "Noted.",
        usage: { prompt: prompt(number), completion: 5 },
      })),
    });
    onTestFinished(() => server.close());
    const host = await startTestGateway(emulatedModel(server.baseUrl));
    for (let number = 1; number <= 6; number++) await host.say(notes(number));
    const status = (await answer(host, "/status")).data as {
      context: { tokens: number; messages: number };
    };
    expect(status.context.tokens).toBe(prompt(6) + 5);
    const { data } = await answer(host, "/context");
    const { tokens } = data as { tokens: number };
    expect(tokens).toBe(status.context.tokens);
    const dry = (await answer(host, "/compact --dry-run")).data as { tokensBefore: number };
    expect(dry.tokensBefore).toBe(status.context.messages);
    const { text } = await answer(host, "/compact");
    const [, before] = /^Compacted: ([\d,]+) →/.exec(text)!;
    expect(Number(before!.replaceAll(",", ""))).toBe(status.context.messages);
    const after = await answer(host, "/status");
    expect(after.text).toContain(`of ${before} tokens of messages`);
  });

  it("tells one size in /status and /context, also in a session that was opened again", async () => {
    const server = await createOpenAIEmulator({
      answers: [1, 2, 3].map((number) => ({
        text: "Noted.",
        usage: { prompt: 1000 + 2500 * number, completion: 5 },
      })),
    });
    onTestFinished(() => server.close());
    const first = await startTestGateway(emulatedModel(server.baseUrl));
    const sizes = async (host: TestGateway) => {
      const status = (await answer(host, "/status")).data as { context: { tokens: number } };
      const context = (await answer(host, "/context")).data as { tokens: number };
      return [status.context.tokens, context.tokens];
    };
    const [empty, next] = await sizes(first);
    expect(next).toBe(empty);
    for (let number = 1; number <= 3; number++) await first.say(notes(number));
    expect(await sizes(first)).toEqual([8505, 8505]);
    await first.stop();
    const second = await startTestGateway(emulatedModel(server.baseUrl), first.home);
    expect(await sizes(second)).toEqual([8505, 8505]);
    await answer(second, "/compact");
    const [status, context] = await sizes(second);
    expect(context).toBe(status);
    await second.stop();
    const third = await startTestGateway(emulatedModel(server.baseUrl), first.home);
    expect(await sizes(third)).toEqual([status, status]);
  });

  it("with an option that there is not does nothing, and says what there is", async () => {
    const host = await startTestGateway(smallWindow);
    for (let number = 1; number <= 8; number++) await host.say(notes(number));
    const before = await fileOf(host);
    expect(await answer(host, "/compact --dry")).toMatchObject({
      ok: false,
      text: 'Nothing was done: "--dry" looks like "/compact --dry-run". To compact with this focus: "/compact -- --dry".',
    });
    expect((await answer(host, "/compact --force")).text).toContain("is no option");
    expect(await fileOf(host)).toBe(before);
  });

  it("of an empty session is told, not failed", async () => {
    const host = await startTestGateway();
    expect((await answer(host, "/compact")).text).toMatch(
      /^(Nothing was compacted|Not compacted): .+\.$/,
    );
  });

  it("and what else changes a session is refused while a reply is being written; /status answers", async () => {
    const server = await createOpenAIEmulator({
      answers: [{ fault: "hang", text: "slow" }, { text: "after" }],
    });
    onTestFinished(() => server.close());
    const host = await startTestGateway(emulatedModel(server.baseUrl));
    const running = host.say("hello");
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    for (const command of ["/compact", "/new", "/reset", "/context", "/engine retry"])
      expect(await answer(host, command)).toMatchObject({
        ok: false,
        text: expect.stringContaining(`then try ${command} again`),
      });
    const retried = await host.get("/api/sessions/main/engine/retry", { method: "POST" });
    expect([retried.status, await retried.json()]).toMatchObject([
      409,
      { error: { code: "SESSION_LOCKED" } },
    ]);
    for (const command of ["/status", "/engine"])
      expect((await answer(host, command)).ok).toBe(true);
    await host.get("/api/sessions/main/abort", post({}));
    await running;
    expect((await host.say("again")).text).toBe("after");
  });
});

describe("a session that is only asked about", () => {
  it("is not kept from others who write it, as the terminal does", async () => {
    const host = await startTestGateway();
    const isHeld = async (key: string) => {
      const { file } = (await host.gateway.store.find(`agent:main:${key}`))!;
      return existsSync(`${file}.lock`);
    };
    const asking = ["/context", "/compact --dry-run", "/compact", "/compact undo", "/status"];
    for (const command of ["/think high", "/reset", ...asking, "/engine retry"]) {
      await answer(host, command, "asked");
      expect([command, await isHeld("asked")]).toEqual([command, false]);
    }
    await host.get("/api/sessions/asked/engine/retry", { method: "POST" });
    await host.get("/api/sessions/asked/inspect");
    expect(await isHeld("asked")).toBe(false);

    await host.say("hello", { session: "said" });
    await answer(host, "/context", "said");
    expect(await isHeld("said")).toBe(true);
  });
});

describe("/new and /reset", () => {
  it("begin anew: /new in another transcript, which leaves the old one listed", async () => {
    const host = await startTestGateway();
    await host.say("My cat is called Minka.");
    const { text } = await answer(host, "/new");
    const [, name] = /The old one is session "(main\.\d{8}-\d{6})"/.exec(text) ?? [];
    expect((await host.say("What is my cat called?")).text).not.toContain("Minka");
    expect((await host.say("What is my cat called?", { session: name! })).text).toContain("Minka");
    expect((await host.gateway.sessions()).map(({ key }) => key).sort()).toEqual([
      "agent:main:main",
      `agent:main:${name}`,
    ]);
    expect((await answer(host, "/new", "empty")).text).toContain("The old one was empty.");
  });

  it("begin anew: /reset in the same one, where everything stays", async () => {
    const host = await startTestGateway();
    await host.say("My cat is called Minka.");
    await answer(host, "/reset");
    expect((await host.say("What is my cat called?")).text).not.toContain("Minka");
    const [first, ...rest] = (await host.gateway.context("main"))!.messages;
    expect(first!.preview).toBe("What is my cat called?");
    expect(JSON.stringify(rest)).not.toContain("Minka");
    expect(await fileOf(host)).toContain("Minka");
  });
});

describe("an unknown command", () => {
  it("is answered with the nearest one, and not sent to the model", async () => {
    const host = await startTestGateway();
    expect(await answer(host, "/statsu")).toMatchObject({
      ok: false,
      text: expect.stringContaining("did you mean /status?"),
    });
    expect((await answer(host, "/")).ok).toBe(false);
    expect(await host.gateway.session("main")).toBeNull();
    const { text } = await answer(host, "/help");
    for (const command of [
      "/status",
      "/context",
      "/compact",
      "/new",
      "/reset",
      "/engine",
      "//text",
    ])
      expect(text).toContain(command);
  });

  it("can be said to the model with two slashes", async () => {
    const host = await startTestGateway();
    await host.say("//new is a command");
    expect(await fileOf(host)).toContain('"content":"/new is a command"');
  });
});
