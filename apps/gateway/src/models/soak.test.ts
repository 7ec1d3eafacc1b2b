import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { createEmulator, type EmulatorAnswer, type EmulatorFault } from "@clew/providers/testing";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { startTestGateway, type TestGateway } from "../testing/gateway.ts";

/** Models that think, and one that is not streamed where it may call tools. */
const ROUTES = [
  ["anthropic", "anthropic-messages", "claude-opus-5-5"],
  ["amazon-bedrock", "bedrock-converse-stream", "us.anthropic.claude-opus-5-5-v1:0"],
  ["amazon-bedrock", "bedrock-converse-stream", "us.meta.llama3-3-70b-instruct-v1:0"],
  ["google", "google-generative-ai", "gemini-3-pro-preview"],
  ["google-gemini-cli", "google-gemini-cli", "gemini-3-pro-preview"],
  ["mistral", "mistral-conversations", "magistral-medium-latest"],
  ["openai", "openai-responses", "gpt-5.6"],
  ["openai", "openai-chatgpt-responses", "gpt-5.6-codex"],
  ["deepseek", "openai-completions", "deepseek-reasoner"],
] as const;

/** CLEW_FUZZ=8000 makes it 500. */
const TURNS = Math.floor(fc.readConfigureGlobal().numRuns! / 16);
const HALF = "Half of ";

const FAULTS: readonly EmulatorFault[] = [
  { fault: "status", status: 500 },
  { fault: "rate-limit", retryAfterMs: 20 },
  { fault: "overloaded" },
  { fault: "refusal", message: "something is odd" },
  { fault: "html" },
  { fault: "html", status: 200 },
  { fault: "redirect" },
  { fault: "error", text: HALF },
  { fault: "cut", text: HALF },
  { fault: "unfinished", text: HALF },
  { fault: "truncated", text: HALF },
  { fault: "malformed", text: HALF },
  { fault: "hang", text: HALF },
  { fault: "hang" },
  { fault: "empty" },
  { fault: "bomb", bytes: 2 ** 20 },
];

const turns = fc.record({
  steps: fc.integer({ min: 0, max: 2 }),
  thinks: fc.boolean(),
  /** One in three turns meets one, in any of its calls. */
  fault: fc.oneof(
    { weight: 2, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(...FAULTS) },
  ),
  faultAt: fc.nat(2),
});

/** Ends the turn as a person would, however often that takes. */
async function cancelUntil(ended: Promise<unknown>, gateway: TestGateway): Promise<void> {
  let isOver = false;
  const over = ended.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    gateway.gateway.cancel("main");
    await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 20))]);
  }
}

async function storedIn({ home }: TestGateway): Promise<AgentMessage[]> {
  const names = await readdir(home, { recursive: true });
  const file = names.find((name) => /sessions.*\.jsonl$/.test(name))!;
  return (await readFile(join(home, file), "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; message: AgentMessage })
    .flatMap(({ type, message }) => (type === "message" ? [message] : []));
}

const count = (text: string, part: string) => text.split(part).length - 1;

describe.each(ROUTES)("a long session with %s over %s and %s", (provider, api, id) => {
  it("loses nothing and doubles nothing, whatever goes wrong", { timeout: 3_600_000 }, async () => {
    const script: EmulatorAnswer[] = [];
    let hangs = () => {};
    const server = await createEmulator(api, {
      answers() {
        const answer = script.shift() ?? { text: "Nobody asked." };
        if ("fault" in answer && answer.fault === "hang") hangs();
        return answer;
      },
      tolerant: api === "mistral-conversations",
      ...(provider === "deepseek" && { flavor: provider }),
    });
    onTestFinished(() => server.close());
    const gateway = await startTestGateway({
      agents: { defaults: { model: `${provider}/${id}` } },
      models: {
        providers: {
          [provider]: {
            ...{ api, baseUrl: server.baseUrl, apiKey: "key-for-tests" },
            models: [{ id, contextWindow: 1_000_000 }],
          },
        },
      },
    });
    const told: string[] = [];
    let failed = 0;
    for (const [at, { steps, thinks, fault, faultAt }] of fc.sample(turns, TURNS).entries()) {
      const thinking = thinks ? `So it is, number ${at}.` : "";
      const call = { name: "read_file", arguments: { path: `${at}` } };
      const answers: EmulatorAnswer[] = Array.from({ length: steps }, () => ({
        thinking,
        toolCalls: [call],
      }));
      answers.push({ thinking, text: `Answer ${at}.` });
      if (fault !== null && at > 0) {
        const whole = "text" in fault ? { ...fault, text: `${HALF}${at}.` } : fault;
        answers.splice(Math.min(faultAt, steps), 0, whole);
      }
      script.splice(0, script.length, ...answers);
      const hung = new Promise<void>((resolve) => {
        hangs = resolve;
      });
      const said = gateway.say(`Question ${at}.`);
      await Promise.race([said, hung.then(() => cancelUntil(said, gateway))]);
      const { text, events } = await said;
      const { outcome } = events.at(-1) as { outcome?: string };
      told.push(text);
      if (outcome === "completed") expect(text).toContain(`Answer ${at}.`);
      else failed++;
    }
    expect(server.violations.filter(({ rule }) => rule !== "assistant.both")).toEqual([]);
    expect(failed).toBeLessThan(TURNS > 100 ? TURNS / 2 : TURNS);

    const stored = await storedIn(gateway);
    const texts = (role: string) =>
      stored.flatMap((message) =>
        message.role !== role || !("content" in message)
          ? []
          : typeof message.content === "string"
            ? [message.content]
            : message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])),
      );
    expect(texts("user")).toEqual(told.map((_, at) => `Question ${at}.`));
    expect(texts("assistant").join("")).toBe(told.join(""));
    const calls = stored.flatMap((message) =>
      message.role === "assistant" && message.stopReason !== "error"
        ? message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
        : [],
    );
    const results = stored.flatMap((message) =>
      message.role === "toolResult" ? [message.toolCallId] : [],
    );
    expect(results).toEqual(calls);

    script.splice(0, script.length, { text: "Bye." });
    await gateway.say("Bye");
    const last = server.requests.at(-1)!.text;
    for (const [at, text] of told.entries()) {
      expect(count(last, `Question ${at}.`)).toBe(1);
      if (text.includes("Answer")) expect(count(last, `Answer ${at}.`)).toBe(1);
    }
    if (process.env.CLEW_FUZZ !== undefined)
      process.stderr.write(
        `${api} ${id}: ${told.length} turns, ${failed} of them failed, ${server.requests.length} calls, ${calls.length} calls of tools; nothing lost or doubled\n`,
      );
  });
});
