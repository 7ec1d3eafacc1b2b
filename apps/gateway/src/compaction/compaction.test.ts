import { createSessionState, type RequestPreview } from "@clew/engine-core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { composeHost } from "../compose.ts";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { createSessionStore } from "../sessions/store.ts";
import { temporaryHome } from "../testing/home.ts";
import { undoLastCompaction } from "./undo.ts";

const WINDOW = 32_000;

async function host(config: Record<string, unknown> = {}) {
  const home = await temporaryHome();
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const loaded = checkConfigText(JSON.stringify(config), "clew.json");
  const composed = composeHost({
    environment: readEnvironment({ CLEW_HOME: home }),
    loaded,
    log: { info: write, warn: write, error: write },
  });
  const session = await createSessionStore({ home }).open({ key: "main", cwd: home });
  onTestFinished(async () => {
    await session.close();
    await composed.close();
  });
  const state = createSessionState();
  const setup = { transcript: session, state };
  return {
    host: composed,
    home,
    lines,
    session,
    setup,
    say: (text: string) => composed.answer({ ...setup, prompt: { content: text } }),
    undo: () => undoLastCompaction({ session, state }),
    preview: () => composed.preview({ ...setup, state: createSessionState() }),
  };
}

const settings = (compaction: Record<string, unknown> = {}) => ({
  agents: { defaults: { contextTokens: WINDOW, compaction } },
});

/** About 1,300 tokens of a person's notes. */
const notes = (number: number) =>
  `Note ${number}: the lighthouse at Skerry ${number} is kept by Ada-${number}. ${`The tide at rock ${number} was high and the boat waited. `.repeat(100)}`;
const hashOf = (preview: RequestPreview) => preview.call?.requestHash;

describe("the built-in compaction, joined", () => {
  it("keeps a session answering that overflows its window many times over", async () => {
    const { say, session } = await host(settings());
    let compactions = 0;
    for (let number = 1; number <= 60; number++) {
      const { outcome, report } = await say(notes(number));
      expect([number, outcome]).toEqual([number, "completed"]);
      expect(report.budget!.assembled!.estimate).toBeLessThan(WINDOW);
      compactions += report.compactions.filter(({ compacted }) => compacted).length;
    }
    expect(compactions).toBeGreaterThan(1);
    expect(session.branch().filter(({ type }) => type === "compaction")).toHaveLength(compactions);
    const { reply } = await say("Who keeps the lighthouse at Skerry 60?");
    expect(JSON.stringify(reply)).toContain("Ada-60");
  });

  it("is taken back byte for byte: the next request is the one from before", async () => {
    const {
      host: composed,
      say,
      setup,
      preview,
      undo,
    } = await host(settings({ keepRecentTokens: 4000 }));
    for (let number = 1; number <= 8; number++) await say(notes(number));
    const before = await preview();
    const { result } = await composed.compact({ ...setup, focus: "lighthouses" });
    expect(result).toMatchObject({ ok: true, compacted: true });
    expect(result.result!.tokensAfter!).toBeLessThan(result.result!.tokensBefore);
    expect(hashOf(await preview())).not.toBe(hashOf(before));
    expect(await undo()).toMatchObject({ ok: true });
    expect(hashOf(await preview())).toBe(hashOf(before));
    expect(await undo()).toEqual({
      ok: false,
      code: "no-compaction",
      reason: "there is no compaction to undo",
    });
    expect((await say("Who keeps the lighthouse at Skerry 2?")).outcome).toBe("completed");
  });

  it("taken back after more was said keeps all of that", async () => {
    const { host: composed, say, setup, undo } = await host(settings({ keepRecentTokens: 4000 }));
    for (let number = 1; number <= 8; number++) await say(notes(number));
    await composed.compact({ ...setup, focus: "lighthouses" });
    const { report } = await say("Who keeps the lighthouse at Skerry 8?");
    const undone = await undo();
    const moved = undone.ok ? undone.remapped : new Map<string, string>();
    expect(moved.has(report.replyEntryId!)).toBe(true);
    expect(JSON.stringify((await say("And at Skerry 1?")).reply)).toContain("Ada-1");
  });

  it("tells beforehand what it would do, and does nothing", async () => {
    const {
      host: composed,
      say,
      session,
      setup,
    } = await host(settings({ keepRecentTokens: 4000 }));
    for (let number = 1; number <= 8; number++) await say(notes(number));
    const entries = session.branch().length;
    const preview = await composed.previewCompaction(setup, "boats");
    // The offline model is asked for nothing that code does better.
    expect(preview).toMatchObject({ kind: "summarise", requests: 0, inputTokens: 0 });
    const asked = await host(settings({ keepRecentTokens: 4000, model: "offline/offline" }));
    for (let number = 1; number <= 8; number++) await asked.say(notes(number));
    expect(await asked.host.previewCompaction(asked.setup, "boats")).toMatchObject({ requests: 1 });
    expect(session.branch()).toHaveLength(entries);
  });

  it("of the offline model asks nobody, and its record is no weaker summary", async () => {
    const { say, session } = await host(settings({ keepRecentTokens: 4000 }));
    const codes: unknown[] = [];
    for (let number = 1; number <= 60; number++) {
      const { report } = await say(notes(number));
      codes.push(...report.compactions.map(({ compacted, code }) => [compacted, code ?? null]));
    }
    expect(codes).toContainEqual([true, null]);
    const summaries = session.branch().filter(({ type }) => type === "compaction");
    expect(summaries.length).toBeGreaterThan(0);
    for (const summary of summaries)
      expect(summary).toMatchObject({ details: { summariser: { requests: 0 } } });
  });

  it("runs for nobody's sake when switched off, and an overflow still gets out", async () => {
    const { say } = await host(settings({ enabled: false }));
    const triggers: string[] = [];
    for (let number = 1; number <= 40; number++) {
      const { outcome, report } = await say(notes(number));
      expect(outcome).toBe("completed");
      triggers.push(...report.compactions.map(({ trigger }) => trigger));
    }
    expect(triggers.length).toBeGreaterThan(0);
    expect(triggers).not.toContain("threshold");
  });

  it("falls back to the session's model when the configured one cannot be used, and says so", async () => {
    const {
      host: composed,
      say,
      setup,
      lines,
    } = await host(settings({ keepRecentTokens: 4000, model: "nobody/nothing" }));
    for (let number = 1; number <= 8; number++) await say(notes(number));
    expect((await composed.compact({ ...setup, focus: "lighthouses" })).result.compacted).toBe(
      true,
    );
    expect(lines.join("\n")).toContain(
      '"nobody/nothing", which cannot be used; offline summarises instead',
    );
  });
});

describe("session pruning", () => {
  it("shortens old tool results in the view where it is switched on, and nowhere else", async () => {
    for (const [contextPruning, shortened] of [
      [{ mode: "cache-ttl", ttl: "5m" }, true],
      [{ mode: "off" }, false],
      [undefined, false],
    ] as const) {
      const { session, say } = await host({
        agents: { defaults: { contextTokens: WINDOW, ...(contextPruning && { contextPruning }) } },
      });
      for (let number = 1; number <= 10; number++) {
        const call = toolCall("read_file", { path: `${number}.md` }, `c${number}`);
        await session.append([
          { type: "message", message: { ...user(`Read ${number}.md.`), timestamp: number } },
          {
            type: "message",
            message: { ...assistant([call]), stopReason: "toolUse", timestamp: number },
          },
          {
            type: "message",
            message: { ...toolResult(call, `line ${number} `.repeat(700)), timestamp: number },
          },
          { type: "message", message: { ...assistant("Done."), timestamp: number } },
        ]);
      }
      const { report } = await say("Thanks.");
      const changed = report.modelCalls[0]!.messages.items.filter(
        (item) => item.role === "toolResult" && item.changed,
      );
      expect([contextPruning?.mode, changed.length > 0]).toEqual([contextPruning?.mode, shortened]);
    }
  });
});

describe("a message larger than the window", () => {
  it("ends its turn with a sentence that helps, and the next turn goes on", async () => {
    const { say } = await host({ agents: { defaults: { contextTokens: 4000 } } });
    await say("My cat is called Minka.");
    const { outcome, error } = await say("word ".repeat(20_000));
    expect([outcome, error?.kind]).toEqual(["failed", "overflow"]);
    expect(error?.message).toMatch(
      /your message has about [\d,]+ tokens, .* at most 3,000 \(window 4,000\)\..* larger window\.$/,
    );
    const next = await say("And now?");
    expect(next.outcome).toBe("completed");
    expect(next.report.compactions).toMatchObject([{ trigger: "budget", compacted: true }]);
  });
});
