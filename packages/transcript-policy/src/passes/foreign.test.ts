import type { AgentMessage } from "@clew/plugin-sdk/core";
import { modelProfile } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import {
  asking,
  assistant,
  call,
  reasoning,
  result,
  SIGNATURE,
  text,
  thinking,
  user,
} from "../__fixtures__/messages.ts";
import { explainInvalid } from "../explain.ts";
import { sanitizeSessionHistory } from "../history.ts";
import { prepareOutboundMessages } from "../outbound.ts";
import { readerOf } from "../readers.ts";
import type { Route } from "../route.ts";
import { storedBlocks } from "../stored.ts";
import { TEXTS } from "../texts.ts";
import { wireRules } from "../wires.ts";
import { dropForeignBlocks, dropForeignProofs } from "./foreign.ts";

const FABLE: Route = {
  provider: "anthropic",
  modelApi: "anthropic-messages",
  modelId: "claude-fable-5-1",
};
const by = (provider: string, model: string, account?: string) => ({
  provider,
  model,
  ...(account !== undefined && { account }),
});
const signed = (producer: object, id = "toolu_1") => [
  asking([thinking(SIGNATURE), call(id)], { ...producer, api: "anthropic-messages" }),
  result(id),
];
const send = (route: Route, ...messages: AgentMessage[]) =>
  prepareOutboundMessages({ ...route, messages: [user("q"), ...messages] });
const thoughts = ({ messages }: { messages: readonly unknown[] }) =>
  JSON.stringify(messages).split(SIGNATURE).length - 1;

describe("what another model signed", () => {
  it.each([
    ["of another model", by("anthropic", "claude-opus-4-8")],
    ["of a compatible server", by("minimax", "MiniMax-M3")],
    ["of the same model elsewhere", by("amazon-bedrock", "claude-fable-5-1")],
    ["of another account", by("anthropic", "claude-fable-5-1", "bbbbbbbbbbbb")],
  ])("does not go to a model that could not read it: %s", (_name, producer) => {
    const route = { ...FABLE, account: "aaaaaaaaaaaa" };
    const history = signed(producer);
    expect(explainInvalid({ ...route, messages: history }).map(({ rule }) => rule)).toContain(
      "signature.foreign",
    );
    const sent = send(route, ...history);
    expect(thoughts(sent)).toBe(0);
    expect(sent.changes.map(({ rule }) => rule)).toEqual(["foreign-proofs"]);
    expect(explainInvalid({ ...route, messages: sent.messages })).toEqual([]);
  });

  it("stays where the producer is the reader, or told nothing", () => {
    const route = { ...FABLE, account: "aaaaaaaaaaaa" };
    for (const producer of [by("Anthropic", "claude-fable-5-1", "aaaaaaaaaaaa"), {}])
      expect(thoughts(send(route, ...signed(producer)))).toBe(1);
    expect(thoughts(send(FABLE, ...signed(by("anthropic", "claude-fable-5-1", "b"))))).toBe(1);
  });

  it("stays where the profile says that the model reads it", () => {
    const reads = { providers: ["amazon-bedrock"], models: "^claude-", sameAccount: false };
    const profile = modelProfile({
      ...{ provider: "anthropic", api: FABLE.modelApi, id: FABLE.modelId },
      changes: { reasoning: { reads } },
    });
    const history = signed(by("amazon-bedrock", "claude-opus-4-8", "b"));
    expect(thoughts(send({ ...FABLE, profile, account: "a" }, ...history))).toBe(1);
  });

  it("goes for good: a switch back and forth sends the same messages again", async () => {
    const switched = [
      ...signed(by("anthropic", "claude-fable-5-1"), "toolu_1"),
      ...signed(by("anthropic", "claude-opus-4-8"), "toolu_2"),
      ...signed(by("anthropic", "claude-fable-5-1"), "toolu_3"),
    ];
    const before = send(FABLE, ...switched).messages;
    const after = send(FABLE, ...switched, assistant([text("done")]), user("n")).messages;
    expect(thoughts({ messages: before })).toBe(2);
    expect(after.slice(0, before.length)).toEqual(before);
    const replay = await sanitizeSessionHistory({ ...FABLE, messages: [user("q"), ...switched] });
    expect(prepareOutboundMessages({ ...FABLE, messages: replay.messages }).messages).toEqual(
      before,
    );
  });

  it("leaves no encrypted item, item id or call signature of another account or model", () => {
    const openai = { provider: "openai", modelApi: "openai-responses", modelId: "gpt-5.5" };
    const signature = JSON.stringify({ v: 1, id: "msg_1", phase: "final_answer" });
    const reply = assistant(
      [reasoning("rs_1"), text("a", { textSignature: signature })],
      by("openai", "gpt-5.5", "bbbbbbbbbbbb"),
    );
    const sent = send({ ...openai, account: "aaaaaaaaaaaa" }, reply, user("n"));
    expect(storedBlocks(sent.messages[1] as never)).toEqual([
      text("a", { textSignature: JSON.stringify({ v: 1, phase: "final_answer" }) }),
    ]);
    const gemini = {
      provider: "google",
      modelApi: "google-generative-ai",
      modelId: "gemini-3-pro",
    };
    const asked = asking([call("a", { thoughtSignature: "QUJD" })], by("google", "gemini-2.5-pro"));
    expect(JSON.stringify(send(gemini, asked, result("a")).messages)).not.toContain("QUJD");
    expect(
      JSON.stringify(
        send(gemini, { ...asked, ...by("google", "gemini-3-pro") } as never, result("a")).messages,
      ),
    ).toContain("QUJD");
  });

  it("leaves no signature of a text to a model that signs texts, too, and did not sign it", () => {
    const gemini = {
      provider: "google",
      modelApi: "google-generative-ai",
      modelId: "gemini-3-pro",
    };
    const sentBy = (provider: string, model: string) => {
      const reply = assistant([text("a", { textSignature: "QUJD" })], by(provider, model));
      return storedBlocks(send(gemini, reply, user("n")).messages[1] as never);
    };
    expect(sentBy("openai", "gpt-5.5")).toEqual([text("a")]);
    expect(sentBy("google", "gemini-3-pro")).toEqual([text("a", { textSignature: "QUJD" })]);
  });

  it("does not go to a server that reads plain text, which is nobody's", () => {
    const deepseek = {
      provider: "deepseek",
      modelApi: "openai-completions",
      modelId: "deepseek-reasoner",
    };
    const [message] = send(deepseek, ...signed(by("anthropic", "claude-opus-4-8"))).messages.slice(
      1,
    );
    expect(storedBlocks(message as never)[0]).toMatchObject({ type: "thinking", thinking: "hm" });
  });
});

describe("what only one provider understands", () => {
  const block = {
    type: "provider",
    api: FABLE.modelApi,
    ...by("anthropic", FABLE.modelId),
    kind: "server_tool_use",
    data: { type: "server_tool_use", id: "srvtoolu_1", input: { b: 1, a: 2 } },
  };
  const reply = assistant([block, text("found")], by("anthropic", FABLE.modelId));

  it("goes back as it came to the route it came from", () => {
    const sent = send(FABLE, reply, user("n"));
    expect(sent.changes).toEqual([]);
    expect(storedBlocks(sent.messages[1] as never)[0]).toBe(block);
    expect(explainInvalid({ ...FABLE, messages: sent.messages })).toEqual([]);
  });

  it("goes nowhere else, and its leaving is told by its kind", () => {
    const route = { ...FABLE, modelId: "claude-opus-5-5" };
    expect(
      explainInvalid({ ...route, messages: [user("q"), reply, user("n")] }).map(({ rule }) => rule),
    ).toEqual(["block.type"]);
    const sent = send(route, reply, user("n"));
    expect(storedBlocks(sent.messages[1] as never)).toEqual([text("found")]);
    expect(sent.changes).toEqual([
      {
        rule: "provider-blocks",
        action: "changed",
        index: 1,
        reason: "a part only another route understands (server_tool_use)",
      },
    ]);
  });

  it("leaves a text where it was all there was", () => {
    const sent = send({ ...FABLE, provider: "acme" }, assistant([block]), user("n"));
    expect(sent.messages).toHaveLength(3);
  });
});

describe("each of the two passes", () => {
  const options = { wire: wireRules(FABLE), reader: readerOf(FABLE) };

  it("gives back the very list when all of it is the reader's own", () => {
    const messages = signed(by("anthropic", FABLE.modelId));
    expect(dropForeignProofs({ ...options, messages }).messages).toBe(messages);
    expect(dropForeignBlocks({ ...options, messages }).messages).toBe(messages);
  });

  it("leaves a text where nothing else was said", () => {
    const messages = [assistant([thinking(SIGNATURE)], by("acme", "x"))];
    const [message] = dropForeignProofs({ ...options, messages }).messages;
    expect(storedBlocks(message as never)).toEqual([text(TEXTS.omittedReasoning)]);
  });
});

describe("a reply that reached its limit before it said anything", () => {
  const history = [user("q"), assistant([], { stopReason: "length" }), user("again")];

  it("stays in the history, and is sent as a text", async () => {
    const replay = await sanitizeSessionHistory({ ...FABLE, messages: history });
    expect(replay.messages).toBe(history);
    const sent = prepareOutboundMessages({ ...FABLE, messages: replay.messages });
    expect(sent.messages).toHaveLength(3);
    expect(sent.changes.map(({ reason }) => reason)).toEqual([
      "an empty reply, which no provider takes back",
    ]);
  });
});
