// Memory flushes in real sessions, with the example memory.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { EmulatorAnswer } from "@clew/providers/testing";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../../../testing/home.ts";
import { isFlush, memoryModel, notesPlugins, storing } from "../../../testing/memory.ts";
import { type PluginGateway, startPluginGateway } from "../../../testing/plugins.ts";
import { markIn } from "./flush-marks.ts";

/** About 1,300 tokens. */
const note = (number: number) =>
  `Note ${number}. ${`The tide at rock ${number} was high and the boat waited. `.repeat(100)}`;

async function session({
  engine = "legacy",
  contextWindow = 24_000,
  compaction = {},
  answers = storing,
  workspace: kind = "a folder",
}: {
  engine?: string;
  contextWindow?: number;
  compaction?: object;
  workspace?: "a folder" | "a file";
  answers?: (request: { body: unknown }, index: number) => EmulatorAnswer;
} = {}) {
  const home = await temporaryHome();
  const model = await memoryModel({ answers, contextWindow });
  const file = join(home, "file");
  if (kind === "a file") writeFileSync(file, "");
  const own = kind === "a file" ? { workspace: file } : {};
  const agents = { defaults: { model: "emulated/emulated", compaction, ...own } };
  const settings = {
    ...{ ...model.config, agents },
    plugins: notesPlugins({ contextEngine: engine }),
  };
  const started = await startPluginGateway(settings, home);
  const branch = () => branchOf(started);
  const settled = () => settledOf(started);
  const workspace = join(home, "agents/main/workspace");
  const stored = () => {
    const folder = join(workspace, "memory");
    return readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .join("");
  };
  return { ...started, ...model, home, settings, workspace, branch, settled, stored };
}

const branchOf = async ({ gateway }: PluginGateway): Promise<readonly TranscriptEntry[]> =>
  (await gateway.session("main"))?.branch ?? [];

/** When nothing runs in the background any more. */
async function settledOf(started: PluginGateway) {
  for (;;) {
    const states = (await branchOf(started)).flatMap((entry) => markIn(entry)?.state ?? []);
    const count = (...of: string[]) => states.filter((state) => of.includes(state)).length;
    if (count("begun") <= count("done", "nothing", "failed", "aborted")) return states;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const compactionsIn = (branch: readonly TranscriptEntry[]) =>
  branch.filter(({ type }) => type === "compaction").length;

describe("a memory flush beside the built-in compaction", () => {
  it("comes once before each compaction, is never shown, and stores", async () => {
    const { say, branch, settled, flushes, stored, server } = await session();
    for (let turn = 1; turn <= 60; turn++) {
      const { outcome } = await say(note(turn));
      expect([turn, outcome]).toEqual([turn, "completed"]);
      await settled();
    }
    const states = await settled();
    const compactions = compactionsIn(await branch());
    expect(compactions).toBeGreaterThan(2);
    const done = states.filter((state) => state === "done").length;
    // One may have been made for the compaction that comes next.
    expect([compactions, compactions + 1]).toContain(done);
    expect(flushes()).toHaveLength(done);
    expect(stored().split("- stored by a flush")).toHaveLength(done + 1);
    for (const entry of await branch())
      if (entry.type === "message") expect(JSON.stringify(entry)).not.toContain("NO_REPLY");
    expect(server.violations).toEqual([]);
  });

  it("comes before one that somebody asks for, and before no second one", async () => {
    const { say, gateway, settled, flushes } = await session({ contextWindow: 100_000 });
    for (let turn = 1; turn <= 12; turn++) await say(note(turn));
    const compact = () => gateway.command("main", { kind: "command", name: "compact", args: "" });
    expect((await compact()).text).toContain("ompact");
    expect(await settled()).toEqual(["begun", "done"]);
    expect(flushes()).toHaveLength(1);
  });

  it("does not bring about a compaction, which would bring about a flush (thread 66058)", async () => {
    const { say, settled, branch, flushes } = await session({
      // A flush whose own messages fill the window ten times over.
      answers: (request) =>
        isFlush(request) ? { text: `${note(1)}${note(2)}`.repeat(4) } : { text: "ok" },
    });
    for (let turn = 1; turn <= 30; turn++) {
      await say(note(turn));
      await settled();
    }
    const compactions = compactionsIn(await branch());
    expect(compactions).toBeGreaterThan(0);
    expect(flushes().length).toBeLessThanOrEqual(compactions + 1);
  });

  it("is gone to without it when it fails, and the session goes on", async () => {
    const { say, settled, branch, log } = await session({
      answers: (request) => (isFlush(request) ? { fault: "status", status: 400 } : { text: "ok" }),
    });
    for (let turn = 1; turn <= 30; turn++) {
      expect((await say(note(turn))).outcome).toBe("completed");
      await settled();
    }
    expect(compactionsIn(await branch())).toBeGreaterThan(0);
    const states = await settled();
    expect(states).toContain("failed");
    expect(states.filter((state) => state === "begun").length).toBeLessThanOrEqual(
      2 * (compactionsIn(await branch()) + 1),
    );
    expect(log.lines.join("\n")).toContain("failed; the compaction went on without");
  });

  it("that never ends is stopped at its bound, and the compaction comes", async () => {
    const { say, settled, branch } = await session({
      compaction: { memoryFlush: { timeoutSeconds: 0.3 } },
      answers: (request) =>
        isFlush(request) ? { text: "slow", chunkChars: 1, pauseMs: 60_000 } : { text: "ok" },
    });
    for (let turn = 1; turn <= 30; turn++) {
      expect((await say(note(turn))).outcome).toBe("completed");
      await settled();
    }
    expect(compactionsIn(await branch())).toBeGreaterThan(0);
    expect(await settled()).toContain("failed");
  });

  it("is switched off by its setting", async () => {
    const { say, settled, flushes } = await session({
      compaction: { memoryFlush: { enabled: false } },
    });
    for (let turn = 1; turn <= 30; turn++) await say(note(turn));
    expect(await settled()).toEqual([]);
    expect(flushes()).toEqual([]);
  });

  it("is left alone where the workspace cannot be written", async () => {
    const { say, settled, log } = await session({ workspace: "a file" });
    for (let turn = 1; turn <= 30; turn++)
      expect((await say(note(turn))).outcome).toBe("completed");
    expect(await settled()).toEqual([]);
    expect(log.lines.join("\n")).toMatch(
      /memory is not flushed: the workspace .* cannot be written/,
    );
  });

  it("writes no other file than its own", async () => {
    const { say, settled, gateway, workspace } = await session({
      contextWindow: 100_000,
      answers: (request, index) =>
        isFlush(request) && !JSON.stringify(request.body).includes("can be written now")
          ? { text: `NO_REPLY ${index}` }
          : isFlush(request)
            ? !JSON.stringify(request.body).includes("Only memory/")
              ? {
                  toolCalls: [
                    { name: "write_file", arguments: { path: "AGENTS.md", content: "x" } },
                  ],
                }
              : { text: "NO_REPLY" }
            : { text: "ok" },
    });
    for (let turn = 1; turn <= 12; turn++) await say(note(turn));
    await gateway.command("main", { kind: "command", name: "compact", args: "" });
    expect(await settled()).toEqual(["begun", "failed"]);
    expect(readdirSync(workspace)).not.toContain("AGENTS.md");
  });
});

describe("a memory flush and a gateway that ends", () => {
  it("is stopped, and made again by the next one", async () => {
    let slow = true;
    const { say, stop, home, settings, branch, stored, flushes } = await session({
      answers: (request) => {
        if (!isFlush(request) || !slow) return storing(request);
        return { text: "slow", chunkChars: 1, pauseMs: 60_000 };
      },
    });
    // Past a compaction, which did not wait for it.
    for (let turn = 1; compactionsIn(await branch()) === 0; turn++) await say(note(turn));
    await stop();
    slow = false;
    const second = await startPluginGateway(settings, home);
    await second.say("hello");
    await settledOf(second);
    await second.stop();
    expect(stored()).toBe("- stored by a flush\n");
    expect(JSON.stringify(flushes().at(-1)!.body)).toContain("Note 1.");
  });
});

describe("what leaves the view of a session", () => {
  const numbersIn = (requests: readonly { body: unknown }[]) =>
    new Set(
      requests.flatMap(({ body }) =>
        [...JSON.stringify(body).matchAll(/Note (\d+)\./g)].map(([, number]) => Number(number)),
      ),
    );
  const unseen = (seen: ReadonlySet<number>, upTo: number) =>
    Array.from({ length: upTo }, (_, at) => at + 1).filter((number) => !seen.has(number));

  it.each([
    ["lossless", 16_000, 0],
    ["lossless", 32_000, 2],
    ["legacy", 16_000, 0],
    ["legacy", 24_000, 2],
  ])(
    "was seen by a flush beside %s at %i tokens, though the first %i failed",
    async (engine, contextWindow, failures) => {
      let failed = 0;
      const { say, settled, flushes, server } = await session({
        ...{ engine, contextWindow },
        answers: (request) => {
          if (!isFlush(request) || failed >= failures) return storing(request);
          failed++;
          return { fault: "status", status: 400 };
        },
      });
      for (let turn = 1; turn <= 50; turn++) {
        expect((await say(note(turn))).outcome).toBe("completed");
        await settled();
      }
      const worked = flushes().slice(failures);
      const shown = numbersIn(server.requests.filter((request) => !isFlush(request)).slice(-1));
      const oldest = Math.min(...shown);
      expect(oldest).toBeGreaterThan(25);
      // What came last before the newest compaction is for the flush before the next one.
      const late = engine === "legacy" ? 10 : 0;
      expect(unseen(numbersIn(worked), oldest - 1 - late)).toEqual([]);
    },
  );

  it("is seen also where somebody asked for a compaction that had nothing to do (thread 15930)", async () => {
    const { say, settled, flushes, gateway, branch } = await session({ contextWindow: 24_000 });
    const compact = () => gateway.command("main", { kind: "command", name: "compact", args: "" });
    await compact();
    expect(await settled()).toEqual([]);
    let turn = 1;
    const go = async () => {
      await say(note(turn++));
      await settled();
    };
    while (compactionsIn(await branch()) === 0) await go();
    expect(flushes()).toHaveLength(1);
    const taken = (await branch()).findIndex(({ type }) => type === "compaction");
    const entry = (await branch())[taken] as { firstKeptEntryId?: string };
    const kept = (await branch()).findIndex(({ id }) => id === entry.firstKeptEntryId);
    const gone = numbersIn([{ body: (await branch()).slice(0, kept) }]);
    expect(gone.size).toBeGreaterThan(2);
    expect(unseen(numbersIn(flushes()), Math.max(...gone)).length).toBeLessThanOrEqual(2);
    while (flushes().length === 1) await go();
    expect(unseen(numbersIn(flushes()), Math.max(...gone))).toEqual([]);
  });
});

it("beside the lossless engine what grows is flushed, and each part once", async () => {
  const { say, settled, flushes } = await session({ engine: "lossless" });
  for (let turn = 1; turn <= 60; turn++) {
    expect((await say(note(turn))).outcome).toBe("completed");
    await settled();
  }
  expect(flushes().length).toBeGreaterThan(2);
  const seen = flushes().flatMap(({ body }) => [
    ...new Set([...JSON.stringify(body).matchAll(/Note (\d+)\./g)].map(([, number]) => number)),
  ]);
  expect(new Set(seen).size).toBe(seen.length);
});
