import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "@clew/example-minimal-engine";
import { createLegacyEngine } from "@clew/legacy-engine";
import { type AgentMessage, type ContextEngine, messageId } from "@clew/plugin-sdk/core";
import { parseTranscript, textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { createHost } from "./host.ts";

const newFile = () => join(mkdtempSync(join(tmpdir(), "minimal-host-")), "demo.jsonl");
const legacy = (overrides: Partial<ContextEngine> = {}): ContextEngine => ({
  ...createLegacyEngine(),
  info: { id: "mine", name: "Mine" },
  ...overrides,
});
const sea = "the tide is out at the old pier. ";

describe("the minimal host", () => {
  it("answers from what was said before, with an engine of its choice", async () => {
    const { ask } = createHost({ factory: createEngine, sessionFile: newFile() });
    await ask("The parcel for Mr Ito is in locker 17.");
    await ask("Lunch is at noon.");
    const { reply, report, error } = await ask("Where is the parcel for Mr Ito?");
    expect(error).toBeNull();
    expect(textOf(reply!)).toContain("locker 17");
    expect(report.engine).toMatchObject({ ran: "mine", degraded: null });
  });

  it("still answers, and says so, when the engine breaks", async () => {
    const factory = () => legacy({ assemble: () => Promise.reject(new Error("no disk")) });
    const { reply, report } = await createHost({ factory, sessionFile: newFile() }).ask("hello");
    expect(reply).not.toBeNull();
    expect(report.engine.degraded).toMatchObject({ operation: "assemble", reason: "no disk" });
  });

  it("runs tools, and stores each result", async () => {
    const sessionFile = newFile();
    const { ask } = createHost({ factory: createEngine, sessionFile });
    const { report } = await ask('call repeat {"text":"ha","times":3}');
    expect(report.toolCalls).toMatchObject([{ name: "repeat", isError: false }]);
    const { entries, badLines } = parseTranscript(readFileSync(sessionFile, "utf8"));
    expect(badLines).toEqual([]);
    const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
    expect(messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "assistant",
    ]);
    expect(textOf(messages[2]!)).toBe("hahaha");
  });

  it("goes on when the window is full, because it offers built-in compaction", async () => {
    const { ask } = createHost({ factory: () => legacy(), sessionFile: newFile() });
    const results = [];
    for (let turn = 0; turn < 6; turn++)
      results.push(await ask(`Note ${turn}: ${sea.repeat(1_000)}`));
    results.push(await ask(`Note 6: ${sea.repeat(2_200)}`));
    expect(results.map(({ outcome }) => outcome)).toEqual(Array(7).fill("completed"));
    const compactions = results.flatMap(({ report }) => report.compactions);
    expect(compactions).toContainEqual(expect.objectContaining({ compacted: true }));
  });

  it("remembers after a restart, a line that was cut off included", async () => {
    const sessionFile = newFile();
    const first = createHost({ factory: createEngine, sessionFile });
    await first.ask("The parcel for Mr Ito is in locker 17.");
    await first.stop();
    writeFileSync(sessionFile, '{"type":"message","id":"cut', { flag: "a" });
    const second = createHost({ factory: createEngine, sessionFile });
    await second.ask("Lunch is at noon.");
    const { reply } = await createHost({ factory: createEngine, sessionFile }).ask(
      "Where is the parcel for Mr Ito?",
    );
    expect(textOf(reply!)).toContain("locker 17");
  });

  it("gives an engine each message once, also those it missed before a restart", async () => {
    const sessionFile = newFile();
    const stored: AgentMessage[] = [];
    let isBroken = true;
    const factory = () =>
      legacy({
        afterTurn({ messages, prePromptMessageCount }) {
          if (isBroken) throw new Error("no disk");
          stored.push(...messages.slice(prePromptMessageCount));
        },
      });
    await createHost({ factory, sessionFile }).ask("a");
    isBroken = false;
    await createHost({ factory, sessionFile }).ask("b");
    await createHost({ factory, sessionFile }).ask("c");
    const users = stored.filter(({ role }) => role === "user");
    expect(users.map((message) => textOf(message))).toEqual(["a", "b", "c"]);
    expect(new Set(stored.map(messageId)).size).toBe(stored.length);
  });

  it("stops in the middle of a turn, and the message stays", async () => {
    const sessionFile = newFile();
    const factory = () =>
      legacy({
        assemble: ({ messages }) =>
          new Promise((done) => setTimeout(done, 60_000, { messages, estimatedTokens: 0 }).unref()),
      });
    const host = createHost({ factory, sessionFile });
    const result = host.ask("hello");
    await new Promise((done) => setTimeout(done, 50));
    await host.stop();
    expect((await result).outcome).toBe("aborted");
    expect(readFileSync(sessionFile, "utf8")).toContain("hello");
  });

  it("stops while the engine is being made, and the message stays", async () => {
    const sessionFile = newFile();
    let made = () => {};
    const factory = () =>
      new Promise<ContextEngine>((resolve) => {
        made = () => resolve(legacy());
      });
    const host = createHost({ factory, sessionFile });
    const result = host.ask("hello");
    await new Promise((done) => setTimeout(done, 20));
    const stopped = host.stop();
    made();
    await stopped;
    expect((await result).outcome).toBe("aborted");
    expect(readFileSync(sessionFile, "utf8")).toContain("hello");
  });

  it("leaves a file that is no session as it is", () => {
    const sessionFile = newFile();
    writeFileSync(sessionFile, "a diary\n");
    expect(() => createHost({ factory: createEngine, sessionFile })).toThrow("is no session");
  });
});
