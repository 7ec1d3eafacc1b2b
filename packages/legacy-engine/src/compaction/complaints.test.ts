// The failures of compactions that people report most.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import { PRUNE_PLACEHOLDER, splitRecord } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { prose } from "../__fixtures__/histories.ts";
import {
  memorySession,
  now,
  obedient,
  obedientSummary,
  patientSleep,
  promptOf,
  scripted,
} from "../__fixtures__/session.ts";
import type { CompactTranscriptRequest } from "./compact-request.ts";
import { compactTranscript } from "./run.ts";
import { undoCompaction } from "./undo.ts";

const turns = (count: number, words = 400): AgentMessage[] =>
  Array.from({ length: count }, (_, turn) => [
    user(`Request ${turn} ${prose(words, turn)}`),
    assistant(`Done ${turn} ${prose(words, turn)}`),
  ]).flat();

const step = (index: number, words: number) => {
  const call = toolCall("exec", { command: `make part-${index}` }, `step_${index}`);
  return [assistant([call]), toolResult(call, `part ${index} made. ${prose(words, index)}`)];
};

function setup(messages: readonly AgentMessage[], extras: Partial<CompactTranscriptRequest> = {}) {
  const session = memorySession(messages);
  const request: CompactTranscriptRequest = {
    transcript: session,
    model: obedient(),
    trigger: "threshold",
    now,
    sleep: patientSleep(),
    random: () => 0.5,
    ...extras,
  };
  return { session, request, compact: () => compactTranscript(request) };
}

const dead = () => scripted([{ kind: "unavailable", message: "503" }]);

describe("4: standing rules lost", () => {
  it("rules a person states survive a summary made without a model", async () => {
    const { session, compact } = setup(
      [user("Never push to main. Always run the linter."), assistant("Understood."), ...turns(60)],
      {
        model: dead(),
      },
    );
    await compact();
    expect(JSON.stringify(session.context()[0])).toContain("Never push to main");
  });
});

describe("5: latest request lost, finished work redone", () => {
  it("the open request stands word for word in the context through fifty compactions of its own turn", {
    timeout: 120_000,
  }, async () => {
    const request = 'Rename "a  b" to\n\n`c` — in every file; then stop.';
    const { session, compact } = setup([...turns(3), user(request)], {
      trigger: "overflow",
      options: { prune: false },
    });
    let compactions = 0;
    for (let index = 0; compactions < 50; index++) {
      session.say(...step(index, 9000), ...step(1000 + index, 9000), ...step(2000 + index, 9000));
      if ((await compact()).compacted) compactions++;
      const [head, ...rest] = session.context();
      const stands =
        rest.some((message) => message.role === "user" && message.content === request) ||
        (head?.role === "compactionSummary" && head.summary.includes(request));
      expect(stands).toBe(true);
    }
  });

  it("an answered request is not carried on as open", async () => {
    const { session, compact } = setup(turns(60));
    await compact();
    expect(JSON.stringify(session.context()[0])).not.toContain("## Open request");
  });
});

describe("6: working knowledge lost", () => {
  it("failures, changed files and identifiers are named in the summary even when the model forgets them", async () => {
    const failing = toolCall("exec", { command: "pnpm test" });
    const edit = toolCall("edit", { path: "src/billing/tax.ts" });
    const work = [
      assistant([failing]),
      toolResult(failing, "FAIL tax.test.ts: expected 7 got 8", {
        isError: true,
        details: { exitCode: 1 },
      }),
      assistant([edit]),
      toolResult(edit, "ok"),
      assistant("The order is 4711-0815-77 at https://shop.example/orders/9."),
    ];
    const forgetful = scripted((call) =>
      obedientSummary(promptOf(call)).replace(/^- (?!\(none\)).*$/gm, "- (none)"),
    );
    const { session, compact } = setup(
      [user("mend the tax"), ...work, ...turns(2), ...turns(60, 500).slice(4)],
      {
        model: forgetful,
        trigger: "manual",
        options: { keepRecentTokens: 60_000 },
      },
    );
    await compact();
    const summary = JSON.stringify(session.context()[0]);
    expect(summary).toContain("- exec: FAIL tax.test.ts: expected 7 got 8");
    expect(summary).toMatch(/src\/billing\/: tax\.ts \(edited @/);
  });

  it("identifiers of the newest summarised messages are there, by code if need be", async () => {
    const messages = [
      ...turns(40),
      user("Deploy commit 0f3a9c1e to 10.0.0.7:8443"),
      assistant("Deployed /srv/releases/2026-11-20."),
      ...turns(12, 2000).slice(0, 24),
    ];
    const forgetful = scripted((call) =>
      obedientSummary(promptOf(call)).replace(/^- (?!\(none\)).*$/gm, "- (none)"),
    );
    const { session, compact } = setup(messages, {
      model: forgetful,
      options: { lowWaterTokens: 68_750, recentTurnsPreserve: 0 },
      trigger: "threshold",
    });
    const result = await compact();
    expect(result.compacted).toBe(true);
    const summary = JSON.stringify(session.context()[0]);
    for (const identifier of ["0f3a9c1e", "10.0.0.7:8443", "/srv/releases/2026-11-20"])
      expect(summary).toContain(identifier);
  });
});

describe("6: working knowledge lost, for good", () => {
  it("names that were worked with stand in the ledger through fifty compactions by a model that forgets everything", {
    timeout: 120_000,
  }, async () => {
    const forgetful = scripted((call) =>
      obedientSummary(promptOf(call)).replace(/^- (?!\(none\)).*$/gm, "- (none)"),
    );
    const edit = toolCall("edit", { path: "src/billing/tax.ts" });
    const { session, compact } = setup(
      [
        user("Mend roundHalfEven in src/billing/tax.ts for ORDER-4711."),
        assistant([edit]),
        toolResult(edit, "ok"),
        assistant("Mended."),
      ],
      { model: forgetful, trigger: "overflow", options: { prune: false } },
    );
    const names = ["tax.ts", "roundHalfEven", "ORDER-4711"];
    let compactions = 0;
    for (let index = 0; compactions < 50; index++) {
      session.say(
        user(`go on with part ${index}`),
        ...step(index, 9000),
        ...step(1000 + index, 9000),
        assistant("done"),
      );
      if (!(await compact()).compacted) continue;
      compactions++;
      const [head] = session.context();
      const { ledger } = splitRecord(head?.role === "compactionSummary" ? head.summary : "");
      expect(names.filter((name) => !ledger.includes(name))).toEqual([]);
      expect(ledger).toMatch(/tax\.ts \(edited @/);
    }
  });
});

describe("7: compaction loops and thrash", () => {
  it("a second compaction of the same context does nothing and asks no model", async () => {
    const { session, request, compact } = setup(turns(60));
    expect((await compact()).compacted).toBe(true);
    const branch = session.branch();
    const again = obedient();
    expect(await compactTranscript({ ...request, model: again })).toMatchObject({
      ok: true,
      compacted: false,
      code: "nothing-to-compact",
    });
    expect([again.calls.length, session.branch()]).toEqual([0, branch]);
  });

  it("does not compact by threshold for a few messages before a tail that fills the window", async () => {
    const model = obedient();
    const { compact } = setup(
      [user("small"), assistant("talk ".repeat(300)), user(`read it ${prose(80_000)}`)],
      {
        model,
        options: { prune: false },
      },
    );
    expect(await compact()).toMatchObject({
      compacted: false,
      reason: expect.stringContaining("would not pay"),
    });
    expect(model.calls).toHaveLength(0);
  });

  it.each([8_000, 32_000, 128_000])(
    "leaves room for more than one turn in a window of %i",
    async (contextWindow) => {
      const { session, compact } = setup(turns(Math.ceil(contextWindow / 800)), {
        model: obedient({ contextWindow }),
      });
      expect((await compact()).compacted).toBe(true);
      expect(estimateMessages(session.context()).high).toBeLessThan(
        contextWindow * 0.75 - contextWindow * 0.1,
      );
    },
  );
});

describe("8: compaction impossible exactly when needed", () => {
  it("works on a history ten times the window, no request larger than the window", async () => {
    const sizes: number[] = [];
    const model = scripted(
      (call: ModelCall) => {
        sizes.push(estimateMessages(call.messages).high + (call.maxOutputTokens ?? 0));
        return obedientSummary(promptOf(call));
      },
      { contextWindow: 32_000 },
    );
    const { session, compact } = setup(turns(400), { model, trigger: "overflow" });
    expect(estimateMessages(session.context()).estimate).toBeGreaterThan(320_000);
    expect(await compact()).toMatchObject({ compacted: true });
    expect(Math.max(...sizes)).toBeLessThan(32_000);
    expect(estimateMessages(session.context()).high).toBeLessThan(24_000);
  });

  it("works when the newest reply alone fills the window: it is summarised, and its request stands word for word", async () => {
    const write = toolCall("write", { path: "src/big.ts", content: prose(24_000) });
    const { session, compact } = setup(
      [
        ...turns(10),
        user("Write src/big.ts, all of it."),
        assistant([write]),
        toolResult(write, "ok"),
      ],
      {
        model: obedient({ contextWindow: 32_000 }),
        trigger: "budget",
      },
    );
    const before = JSON.stringify(session.context());
    const { compacted, result } = await compact();
    expect(compacted).toBe(true);
    expect(session.branch().map(({ id }) => id)).toContain(result!.firstKeptEntryId);
    expect(estimateMessages(session.context()).high).toBeLessThan(24_000);
    expect(session.context()).toHaveLength(1);
    expect(JSON.stringify(session.context())).toContain("Write src/big.ts, all of it.");
    session.say(assistant("Written."));
    expect(session.context()).toHaveLength(2);
    await undoCompaction({ transcript: session, nextId: session.nextId, now });
    expect(JSON.stringify(session.context().slice(0, -1))).toBe(before);
  });

  it("works when the provider counts four times our estimate", async () => {
    const { session, compact } = setup(turns(20), {
      trigger: "overflow",
      currentTokenCount: 129_000,
    });
    expect(await compact()).toMatchObject({ compacted: true });
    expect(estimateMessages(session.context()).estimate).toBeLessThan(12_000);
  });
});

describe("9: the summarising service fails and kills the session", () => {
  it("a dead service costs the model's wording, nothing else", async () => {
    const { session, compact } = setup(turns(60), { model: dead() });
    expect(await compact()).toMatchObject({
      ok: true,
      compacted: true,
      reason: expect.stringContaining("unavailable"),
    });
    expect(session.context().length).toBeGreaterThan(2);
    session.say(user("go on"), assistant("gladly"));
    expect(session.context().at(-1)).toMatchObject({ role: "assistant" });
  });
});

describe("10: compression that grows or barely shrinks", () => {
  it("is never written: a summary longer than its history gives way to a shorter one", async () => {
    const { compact } = setup(turns(60), {
      model: scripted((call) => `${obedientSummary(promptOf(call))}\n\n${prose(80_000)}`),
    });
    const { result } = await compact();
    expect(result!.tokensAfter!).toBeLessThan(result!.tokensBefore * 0.6);
  });
});

describe("11: silent clearing", () => {
  it("clearing is told, can be read in the transcript, switched off and undone", async () => {
    const big = toolCall("read", { path: "log" });
    const messages = [
      user("a"),
      assistant([big]),
      toolResult(big, prose(90_000)),
      assistant("read"),
      ...turns(3),
    ];
    const { session, compact } = setup(messages, { trigger: "manual" });
    const before = JSON.stringify(session.context());
    expect(await compact()).toMatchObject({
      compacted: true,
      reason: "pruned only; /compact <focus> summarises",
      result: { details: { pruneOnly: true, prunedCount: 1 } },
    });
    expect(session.context()[2]).toMatchObject({
      content: [{ text: PRUNE_PLACEHOLDER }],
      toolCallId: big.id,
    });
    expect(session.branch().at(-1)).toMatchObject({ type: "custom", customType: "clew.prune" });
    await undoCompaction({ transcript: session, nextId: session.nextId, now });
    expect(JSON.stringify(session.context())).toBe(before);

    const off = setup(messages, { trigger: "manual", options: { prune: false } });
    await off.compact();
    expect(JSON.stringify(off.session.context())).not.toContain(PRUNE_PLACEHOLDER);
  });
});

describe("12: the prompt cache destroyed", () => {
  const stable = (session: ReturnType<typeof memorySession>) =>
    session.context().map((message) => JSON.stringify(message));

  it("between compactions the context only grows at its end", async () => {
    const { session, compact } = setup(turns(60));
    await compact();
    const before = stable(session);
    session.say(...turns(4));
    await compact();
    expect(stable(session).slice(0, before.length)).toEqual(before);
  });

  it("a prune keeps every byte before the first cleared result, and its placeholder never changes", async () => {
    const big = toolCall("read", { path: "log" });
    const { session, compact } = setup(
      [
        ...turns(4),
        user("a"),
        assistant([big]),
        toolResult(big, prose(90_000)),
        assistant("read"),
        ...turns(3),
      ],
      { trigger: "manual" },
    );
    const before = stable(session);
    await compact();
    const after = stable(session);
    expect(after.slice(0, 10)).toEqual(before.slice(0, 10));
    session.say(...turns(2));
    expect(stable(session).slice(0, after.length)).toEqual(after);
  });
});
