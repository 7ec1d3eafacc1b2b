import type { ModelRef } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import {
  asking,
  assistant,
  call,
  clock,
  reasoning,
  result,
  SIGNATURE,
  text,
  thinking,
  user,
} from "./__fixtures__/messages.ts";
import { sanitizeSessionHistory } from "./history.ts";
import { prepareOutboundMessages, repairToolPairing } from "./outbound.ts";
import { createTranscriptPolicy, readSideRecords } from "./port.ts";
import { TEXTS } from "./texts.ts";

const CLAUDE = {
  provider: "anthropic",
  modelApi: "anthropic-messages",
  modelId: "claude-opus-4-6",
};
const GEMINI = { provider: "google", modelApi: "google-generative-ai", modelId: "gemini-3-pro" };
const GPT = { provider: "openai", modelApi: "openai-responses", modelId: "gpt-5.5" };
const snapshotOf = (route: object) => ({
  customType: "model-snapshot",
  data: { timestamp: 1000, ...route },
});

describe("sanitizing a session's history", () => {
  const clean = [
    user("q"),
    asking([thinking(SIGNATURE), call("toolu_1")]),
    result("toolu_1"),
    assistant([text("a")]),
    user("n"),
  ];

  it("gives a clean history back as the same array", async () => {
    const { messages, changes } = await sanitizeSessionHistory({
      ...CLAUDE,
      messages: clean,
      clock,
    });
    expect(messages).toBe(clean);
    expect(changes).toEqual([]);
  });

  it("asks the host to remember the route, once and whenever it changes", async () => {
    const recordsFor = async (priorModelSnapshot?: object) =>
      (
        await sanitizeSessionHistory({
          ...GPT,
          messages: [],
          clock,
          ...(priorModelSnapshot && { priorModelSnapshot }),
        })
      ).sideRecords;
    expect(await recordsFor()).toEqual([snapshotOf(GPT)]);
    expect(await recordsFor(GPT)).toEqual([]);
    expect(await recordsFor({ ...GPT, modelId: undefined })).toEqual([snapshotOf(GPT)]);
  });

  it("drops another model's reasoning only when the route is known to have changed", async () => {
    const messages = [user("q"), assistant([reasoning("rs_1"), text("a")]), user("n")];
    const after = async (priorModelSnapshot?: object) =>
      (
        await sanitizeSessionHistory({
          ...GPT,
          messages,
          clock,
          ...(priorModelSnapshot && { priorModelSnapshot }),
        })
      ).messages;
    expect(await after()).toBe(messages);
    expect(await after(GPT)).toBe(messages);
    expect(await after(CLAUDE)).toEqual([user("q"), assistant([text("a")]), user("n")]);
  });

  it("notes the bootstrap turn once per session, for the providers that want it noted", async () => {
    const messages = [assistant([text("a")]), user("q")];
    const run = (route: typeof GEMINI, googleBootstrapMarked = false) =>
      sanitizeSessionHistory({
        ...route,
        messages,
        clock,
        priorModelSnapshot: route,
        sessionState: { googleBootstrapMarked },
      });
    expect(await run(GEMINI)).toMatchObject({
      sideRecords: [{ customType: "google-turn-ordering-bootstrap", data: { timestamp: 1000 } }],
      messages: [{ role: "user", content: TEXTS.googleBootstrap }, ...messages],
    });
    expect((await run(GEMINI, true)).sideRecords).toEqual([]);
    for (const modelApi of ["openai-completions", "google-generative-ai"]) {
      const { messages: replay, sideRecords } = await run({
        provider: "proxy-x",
        modelApi,
        modelId: "x",
      });
      expect(replay).toHaveLength(3);
      expect(sideRecords).toEqual([]);
    }
  });

  it("keeps a canonical pair of ids on every Responses route", async () => {
    const messages = [
      user("q"),
      asking([reasoning("rs_1"), call("call_1|fc_1")]),
      result("call_1|fc_1"),
    ];
    expect(
      (await sanitizeSessionHistory({ ...GPT, provider: "proxy-x", messages, clock })).messages,
    ).toBe(messages);
  });
});

describe("preparing one model call", () => {
  it("keeps the stored copy of an answer at the end and sends the list without it", async () => {
    const messages = [user("q"), assistant([text("a")])];
    const { messages: replay } = await sanitizeSessionHistory({ ...CLAUDE, messages, clock });
    expect(replay).toBe(messages);
    expect(prepareOutboundMessages({ ...CLAUDE, messages: replay }).messages).toEqual([user("q")]);
    expect(prepareOutboundMessages({ ...GPT, messages }).messages).toBe(messages);
  });

  it("writes every spelling of a call the contract's way, with the id where drivers look for it", () => {
    const messages = [
      user("q"),
      asking([{ type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" } }]),
      { ...result("x"), toolCallId: undefined, toolUseId: "toolu_1" },
    ] as never;
    expect(prepareOutboundMessages({ ...CLAUDE, messages }).messages).toMatchObject([
      user("q"),
      { content: [{ type: "toolCall", id: "toolu_1", arguments: { path: "a" } }] },
      { toolCallId: "toolu_1", isError: false },
    ]);
  });

  it("starts with a user where the wire wants one, gives tool names it takes and mends half characters", () => {
    const messages = [
      asking([call("a", { name: "files.read" })]),
      result("a", { toolName: "files.read" }),
      user("half \ud800"),
    ];
    expect(prepareOutboundMessages({ ...CLAUDE, messages, clock }).messages).toMatchObject([
      { role: "user", content: TEXTS.googleBootstrap },
      { content: [{ name: "files_read" }] },
      { toolName: "files_read" },
      { content: "half \ufffd" },
    ]);
  });

  it("pairs again after a cut, in the words of the wire", () => {
    const cut = [result("old"), asking([call("call_1")])];
    const textOf = (route: typeof GPT) =>
      JSON.stringify(repairToolPairing({ ...route, messages: cut, clock }).messages.at(-1));
    expect(textOf(GPT)).toContain('"text":"aborted"');
    expect(textOf(CLAUDE)).toContain(TEXTS.missingToolResult);
  });
});

describe("the policy as a port of the host", () => {
  const model: ModelRef = {
    provider: "openai",
    api: "openai-responses",
    id: "gpt-5.5",
    contextWindow: 1000,
    maxOutputTokens: 100,
  };
  const custom = (id: string, customType: string, data: unknown): TranscriptEntry => ({
    type: "custom",
    id,
    parentId: null,
    timestamp: "2026-05-01T00:00:00Z",
    customType,
    data,
  });

  it("reads what it asked the host to remember from the branch, the newest first", async () => {
    const branch = [
      custom("1", "model-snapshot", GPT),
      custom("2", "google-turn-ordering-bootstrap", {}),
      custom("3", "model-snapshot", CLAUDE),
    ];
    expect(readSideRecords(branch)).toEqual({
      priorModelSnapshot: CLAUDE,
      sessionState: { googleBootstrapMarked: true },
    });
    expect(readSideRecords([])).toEqual({
      priorModelSnapshot: null,
      sessionState: { googleBootstrapMarked: false },
    });
    const policy = createTranscriptPolicy({ clock });
    const messages = [user("q"), assistant([reasoning("rs_1"), text("a")]), user("n")];
    expect((await policy.sanitizeHistory({ messages, model, branch })).messages[1]).toEqual(
      assistant([text("a")]),
    );
    expect(
      (await policy.sanitizeHistory({ messages, model, branch: branch.slice(0, 1) })).messages,
    ).toBe(messages);
  });

  it("filters calls by the tools there are before a run, and never in the running turn", async () => {
    const policy = createTranscriptPolicy({ clock });
    const messages = [user("q"), asking([call("call_1")]), result("call_1")];
    const input = { messages, model, allowedToolNames: ["write"] };
    expect((await policy.sanitizeHistory({ ...input, branch: [] })).messages).toEqual([user("q")]);
    expect(policy.prepareOutbound(input).messages).toBe(messages);
    expect(policy.repairPairing(input).messages).toBe(messages);
  });
});
