import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import { SUMMARY_HEADINGS, splitRecord, textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { prose } from "../__fixtures__/histories.ts";
import {
  hastySleep,
  memorySession,
  now,
  obedient,
  obedientSummary,
  patientSleep,
  promptOf,
  reply,
  scripted,
} from "../__fixtures__/session.ts";
import type { CompactTranscriptRequest } from "./compact-request.ts";
import type { CompactionDetails } from "./details.ts";
import { compactTranscript, previewCompaction } from "./run.ts";
import { createSummariserRest } from "./summariser-rest.ts";

const turns = (count: number, words = 300): AgentMessage[] =>
  Array.from({ length: count }, (_, turn) => [
    user(`Request ${turn}: mend part ${turn} of /srv/app/part-${turn}.ts. ${prose(words, turn)}`),
    assistant(`Part ${turn} is mended. ${prose(words, turn + 1)}`),
  ]).flat();

function setup(messages: readonly AgentMessage[], extras: Partial<CompactTranscriptRequest> = {}) {
  const session = memorySession(messages);
  const model = obedient();
  const request: CompactTranscriptRequest = {
    transcript: session,
    model,
    trigger: "overflow",
    now,
    sleep: patientSleep(),
    random: () => 0.5,
    ...extras,
  };
  return { session, model, request };
}

const details = (result: Awaited<ReturnType<typeof compactTranscript>>) =>
  result.result?.details as CompactionDetails;

describe("a compaction", () => {
  it("replaces older history by a summary, keeps the newest messages as they are, and is smaller afterwards", async () => {
    const { session, request } = setup(turns(60), { trigger: "threshold" });
    const before = session.context();
    const result = await compactTranscript(request);
    const after = session.context();
    expect(result).toMatchObject({ ok: true, compacted: true });
    expect(result.result!.tokensBefore).toBe(estimateMessages(before).estimate);
    expect(result.result!.tokensAfter).toBe(estimateMessages(after).estimate);
    expect(result.result!.tokensAfter!).toBeLessThan(result.result!.tokensBefore);
    expect(after[0]).toMatchObject({ role: "compactionSummary", summary: result.result!.summary });
    expect(before.slice(1 - after.length)).toEqual(after.slice(1));
    const record = splitRecord(result.result!.summary!);
    expect(record.summary).toContain("## Pending user asks\n- Request");
    // What a model says nothing under is no heading of a summary.
    expect(record.summary).not.toContain("(none)");
    for (const part of [record.pins, record.ledger]) expect(part).not.toBe("");
    expect(details(result)).toMatchObject({
      v: 1,
      trigger: "threshold",
      tier: "full",
      withPrune: false,
      summariser: { requests: expect.any(Number) },
    });
  });

  it("without a model that writes keeps a record made by code, and an earlier model's prose", async () => {
    const { session, request, model } = setup(turns(60));
    const byModel = splitRecord((await compactTranscript(request)).result!.summary!);
    session.say(...turns(60));
    const { ref } = model;
    const bare = { ...request, model: { ref } };
    expect(await previewCompaction(bare)).toMatchObject({ requests: 0, inputTokens: 0 });
    const result = await compactTranscript(bare);
    expect(result).toMatchObject({ ok: true, compacted: true });
    expect(result).not.toHaveProperty("code");
    expect(details(result)).toMatchObject({ tier: "extract", summariser: { requests: 0 } });
    const record = splitRecord(result.result!.summary!);
    expect(record.summary).not.toBe("");
    expect(byModel.summary).toContain(record.summary);
    expect(record.ledger).toContain("part-40.ts");
  });

  it("appends one entry whose first kept entry is on the branch, and touches nothing before it", async () => {
    const { session, request } = setup(turns(60));
    const before = session.branch();
    const written = JSON.stringify(session.written);
    const result = await compactTranscript(request);
    const branch = session.branch();
    expect(branch.slice(0, before.length)).toEqual(before);
    expect(branch).toHaveLength(before.length + 1);
    expect(branch.at(-1)).toMatchObject({
      type: "compaction",
      firstKeptEntryId: result.result!.firstKeptEntryId,
    });
    expect(before.some(({ id }) => id === result.result!.firstKeptEntryId)).toBe(true);
    expect(JSON.stringify(session.written.slice(0, before.length))).toBe(written);
  });

  it("brings the earlier summary up to date the next time, and carries file lists on", async () => {
    const read = toolCall("read", { path: "src/first.ts" });
    const { session, model, request } = setup([
      user("read it"),
      assistant([read]),
      toolResult(read, "x"),
      assistant("read"),
      ...turns(40),
    ]);
    await compactTranscript(request);
    const calls = model.calls.length;
    session.say(...turns(40));
    const second = await compactTranscript(request);
    expect(promptOf(model.calls[calls]!)).not.toContain("src/first.ts");
    expect(
      model.calls.slice(calls).some((call) => promptOf(call).includes("<previous-summary>")),
    ).toBe(true);
    expect(details(second).readFiles).toEqual(["src/first.ts"]);
    expect(session.context().filter(({ role }) => role === "compactionSummary")).toHaveLength(1);
  });

  it("summarises the beginning of a turn whose end is kept in the same words, and repeats its request", async () => {
    const steps = Array.from({ length: 150 }, (_, index) => {
      const call = toolCall("exec", { command: `make step-${index}` }, `step_${index}`);
      return [assistant([call]), toolResult(call, prose(400, index))];
    }).flat();
    const { model, request } = setup([...turns(4), user("Now run all the steps"), ...steps], {
      options: { prune: false },
    });
    const result = await compactTranscript(request);
    const { openRequest, summary } = splitRecord(result.result!.summary!);
    expect(openRequest).toBe("Now run all the steps");
    expect(summary).not.toMatch(/Turn Context|Original Request/);
    expect(model.calls.map(promptOf).join("")).toContain("make step-9");
    for (const call of model.calls) expect(promptOf(call)).not.toContain("# Ledger");
  });

  it("escapes focus text, and asks for it in every request", async () => {
    const { model, request } = setup(turns(40), { trigger: "manual", focus: "the <port> numbers" });
    await compactTranscript(request);
    for (const call of model.calls) expect(promptOf(call)).toContain("the &lt;port&gt; numbers");
  });

  it("in safeguard mode summarises an oversized history in two steps, the older part first", async () => {
    const { model, request } = setup(turns(150), {
      options: { mode: "safeguard", maxHistoryShare: 0.3 },
    });
    expect(await compactTranscript(request)).toMatchObject({ compacted: true });
    const withPrevious = model.calls.filter((call) =>
      promptOf(call).includes("<previous-summary>"),
    );
    expect(withPrevious.length).toBeGreaterThan(0);
    expect(model.calls.findIndex((call) => promptOf(call).includes("Request 0:"))).toBe(0);

    const inOneStep = setup(turns(150), { options: { mode: "safeguard", maxHistoryShare: 1 } });
    await compactTranscript(inOneStep.request);
    expect(model.calls.map(promptOf)).not.toEqual(inOneStep.model.calls.map(promptOf));
  });

  it("asks the model of the session for nothing that the summarising model does not hold", async () => {
    const small = obedient({ contextWindow: 16_000 });
    const { request } = setup(turns(100), {
      model: small,
      session: { contextWindow: 200_000, maxOutputTokens: 8_000 },
    });
    expect(await compactTranscript(request)).toMatchObject({ compacted: true });
    for (const call of small.calls)
      expect(estimateMessages(call.messages).high).toBeLessThan(16_000);
  });
});

describe("the check of a summary in a compaction", () => {
  const incomplete = "## Decisions\n- something";

  it("gives the model one more try, with what was wrong", async () => {
    const model = scripted((call, index) =>
      index === 0 ? incomplete : obedientSummary(promptOf(call)),
    );
    const { request } = setup(turns(20), { model });
    const result = await compactTranscript(request);
    expect(details(result)).toMatchObject({ tier: "full", summariser: { requests: 2 } });
    expect(promptOf(model.calls[1]!)).toContain('The heading "## Open TODOs" is missing.');
  });

  it("falls to a summary by code when the second try is no better, and says so", async () => {
    const { request } = setup(turns(20), { model: scripted([incomplete]) });
    const result = await compactTranscript(request);
    expect(result).toMatchObject({
      ok: true,
      compacted: true,
      reason: expect.stringContaining("failed the check (heading"),
    });
    expect(details(result)).toMatchObject({ tier: "extract", summariser: { requests: 2 } });
    expect(splitRecord(result.result!.summary!)).toMatchObject({
      summary: "",
      ledger: expect.stringMatching(/^\/srv\/app\/: .*part-1\.ts/m),
    });
  });

  it("asks for no identifier again that stands beside the model's text", async () => {
    const model = scripted([SUMMARY_HEADINGS.map((heading) => `${heading}\n- (none)`).join("\n")]);
    const { request } = setup(turns(20), { model, options: { recentTurnsPreserve: 0 } });
    const result = await compactTranscript(request);
    expect(details(result).tier).toBe("full");
    expect(model.calls).toHaveLength(1);
    expect(result.result!.summary).toMatch(/^\/srv\/app\/: .*part-\d+\.ts/m);
  });

  it("adds what the model forgot, and asks nobody again for it", async () => {
    const model = scripted([SUMMARY_HEADINGS.map((heading) => `${heading}\n- Little`).join("\n")]);
    const call = toolCall("read", { path: "/srv/deep/gate.ts" });
    const seen = [assistant([call]), toolResult(call, "gate"), assistant("read")];
    const { request } = setup([...turns(20), ...seen, user("next"), assistant("ok")], {
      model,
      options: { recentTurnsPreserve: 0, keepRecentTokens: 1 },
    });
    const result = await compactTranscript(request);
    expect(model.calls).toHaveLength(1);
    expect(details(result)).toMatchObject({ tier: "full", amended: true });
    expect(splitRecord(result.result!.summary!).summary).toContain("- /srv/deep/gate.ts");
  });

  it("asks as often as configured, three times more at most, and not at all when switched off", async () => {
    for (const [qualityGuard, requests] of [
      [{ enabled: true, maxRetries: 0 }, 1],
      [{ enabled: true, maxRetries: 9 }, 4],
      [{ enabled: false, maxRetries: 1 }, 1],
    ] as const) {
      const model = scripted([incomplete]);
      await compactTranscript(setup(turns(20), { model, options: { qualityGuard } }).request);
      expect(model.calls).toHaveLength(requests);
    }
  });
});

describe("a bad summariser", () => {
  it.each([
    ["nothing", reply("")],
    ["white space", reply("  \n ")],
    ["only thinking", { ...reply(""), content: [{ type: "thinking" as const, thinking: "…" }] }],
    ["something longer than what it replaces", prose(60_000)],
    ["a refusal", "I'm sorry, but I can't help with summarizing this."],
    ["an error of its provider", { kind: "unavailable", message: "503" } as const],
    ["a refused sign-in", { kind: "auth", message: "401" } as const],
    ["an overflow however small the request", { kind: "overflow", message: "too long" } as const],
    ["an exception", new Error("socket hang up")],
  ])("that returns %s is replaced by a summary made by code", async (_, answer) => {
    const { session, request } = setup(turns(12), { model: scripted([answer]) });
    const result = await compactTranscript(request);
    expect(result).toMatchObject({ ok: true, compacted: true });
    expect(details(result).tier).toBe("extract");
    expect(result.reason).toEqual(expect.any(String));
    const { summary } = result.result!;
    expect(summary).not.toMatch(/summary unavailable/i);
    expect(summary).toContain("Request");
    expect(result.result!.tokensAfter!).toBeLessThan(result.result!.tokensBefore);
    expect(session.context()[0]).toMatchObject({ role: "compactionSummary" });
  });

  it("that never answers is given its time once, and then replaced", async () => {
    const model = scripted(["never"]);
    const { request } = setup(turns(20), {
      model,
      sleep: hastySleep,
      options: { timeoutSeconds: 30 },
    });
    const result = await compactTranscript(request);
    expect(result).toMatchObject({
      compacted: true,
      reason: "the summarising model did not answer within 30 s",
    });
    expect([details(result).tier, model.calls.length]).toEqual(["extract", 1]);
  });

  it("keeps the host's bound alive as long as requests make progress", async () => {
    let progress = 0;
    await compactTranscript(setup(turns(60), { onProgress: () => progress++ }).request);
    expect(progress).toBeGreaterThanOrEqual(2);
  });
});

describe("bad input", () => {
  const untouched = async (
    request: CompactTranscriptRequest,
    act: () => Promise<unknown> = () => compactTranscript(request),
  ) => {
    const before = JSON.stringify(request.transcript.branch());
    const result = await act();
    expect(JSON.stringify(request.transcript.branch())).toBe(before);
    return result;
  };

  it("an empty session has no conversation to compact", async () => {
    expect(await untouched(setup([]).request)).toEqual({
      ok: true,
      compacted: false,
      code: "no-conversation",
      reason: "no real conversation messages",
    });
  });

  it("a history of tool results only has none either", async () => {
    const orphans = Array.from({ length: 30 }, (_, index) =>
      toolResult({ id: `x${index}`, name: "read" }, prose(2000)),
    );
    expect(await untouched(setup(orphans).request)).toEqual({
      ok: true,
      compacted: false,
      code: "no-conversation",
      reason: "no real conversation messages",
    });
  });

  it("a window smaller than the system prompt is told with the way out", async () => {
    const { request } = setup(turns(20), {
      model: obedient({ contextWindow: 8_000 }),
      fixedTokens: 9_000,
    });
    expect(await untouched(request)).toMatchObject({
      ok: false,
      compacted: false,
      code: "no-room",
      reason: expect.stringContaining("choose a model with a larger window"),
    });
  });

  it("one message larger than the window, and nothing else, leaves nothing to cut", async () => {
    const { request } = setup([user(prose(200_000))]);
    expect(await untouched(request)).toMatchObject({
      compacted: false,
      code: "nothing-to-compact",
    });
  });

  it("one message larger than the window among others is summarised without it being sent whole", async () => {
    const { model, request } = setup([
      ...turns(5),
      user(`Read this: ${prose(200_000)}`),
      assistant("Read."),
      ...turns(5),
    ]);
    const result = await compactTranscript(request);
    expect(result).toMatchObject({ ok: true, compacted: true });
    expect(result.result!.tokensAfter!).toBeLessThan(60_000);
    expect(model.calls.length).toBeGreaterThan(0);
  });

  it("an abort half way leaves history untouched and is nobody's failure", async () => {
    const controller = new AbortController();
    const model = scripted((call, index) => {
      if (index === 1) controller.abort(new DOMException("stopped", "AbortError"));
      return obedientSummary(promptOf(call));
    });
    const { request } = setup(turns(200), { model, signal: controller.signal });
    await untouched(request, () => expect(compactTranscript(request)).rejects.toThrow("stopped"));
    const before = setup(turns(20), { signal: controller.signal });
    await untouched(before.request, () =>
      expect(compactTranscript(before.request)).rejects.toThrow("stopped"),
    );
    expect(before.model.calls).toHaveLength(0);
  });

  it("of two compactions at once the second is refused, and the next one works again", async () => {
    const { session, request } = setup(turns(60));
    const [first, second] = await Promise.all([
      compactTranscript(request),
      compactTranscript(request),
    ]);
    expect(first).toMatchObject({ compacted: true });
    expect(second).toEqual({
      ok: false,
      compacted: false,
      code: "busy",
      reason: "another compaction of this session is running; wait for it",
    });
    session.say(...turns(60));
    expect(await compactTranscript(request)).toMatchObject({ compacted: true });
  });

  it("a full disk loses nothing, is told, and the session goes on", async () => {
    const { session, request } = setup(turns(60));
    session.failNextAppend();
    expect(await untouched(request)).toEqual({
      ok: false,
      compacted: false,
      code: "not-written",
      reason:
        "the compaction could not be written (ENOSPC: no space left on device); history is untouched",
    });
    expect(await compactTranscript(request)).toMatchObject({ compacted: true });
  });

  it("what was said meanwhile is kept, and a session that moved to another branch is left alone", async () => {
    const late = memorySession(turns(60));
    const model = scripted((call) => {
      late.say(user("said meanwhile"));
      return obedientSummary(promptOf(call));
    });
    expect(await compactTranscript(setup([], { transcript: late, model }).request)).toMatchObject({
      compacted: true,
    });
    expect(late.context()).toContainEqual(expect.objectContaining({ content: "said meanwhile" }));

    const moved = memorySession(turns(60));
    const mover = scripted((call) => {
      void moved.graft({ keep: 2, leafId: moved.branch().at(-1)!.id, entries: [] });
      return obedientSummary(promptOf(call));
    });
    expect(
      await compactTranscript(setup([], { transcript: moved, model: mover }).request),
    ).toMatchObject({
      ok: false,
      compacted: false,
      code: "session-moved",
      reason: expect.stringContaining("another branch"),
    });
    expect(moved.branch()).toHaveLength(2);
  });

  it("a session that was reset meanwhile is not compacted back into its old history", async () => {
    const session = memorySession(turns(60));
    const model = scripted((call) => {
      if (session.branch().at(-1)!.type !== "reset") void session.append([{ type: "reset" }]);
      return obedientSummary(promptOf(call));
    });
    const result = await compactTranscript(setup([], { transcript: session, model }).request);
    expect(result).toMatchObject({
      ok: false,
      compacted: false,
      code: "session-moved",
      reason: expect.stringContaining("reset in the meantime"),
    });
    expect(session.context()).toEqual([]);
  });

  it("a session too small to be shortened stays as it is", async () => {
    const { request } = setup([user("hi"), assistant("hello"), user("bye"), assistant("see you")], {
      trigger: "manual",
    });
    expect(await untouched(request)).toMatchObject({
      ok: true,
      compacted: false,
      code: "nothing-to-compact",
    });
  });
});

describe("what a compaction clears", () => {
  it("says by which tool it is read again, where there is one", async () => {
    const output = Array.from({ length: 12 }, (_, index) => {
      const call = toolCall("read", { path: `f${index}` }, `c${index}`);
      return [assistant([call]), toolResult(call, prose(6_000, index))];
    }).flat();
    const { session, request } = setup([user("go"), ...output, user("and?"), user("on")], {
      options: { pruneProtectTokens: 0, prune: true },
      reader: "session_read",
    });
    expect(await compactTranscript(request)).toMatchObject({ code: "pruned-only" });
    const cleared = session.context().filter(({ role }) => role === "toolResult");
    const ids = new Set(session.branch().map(({ id }) => id));
    for (const message of cleared) {
      const [, id] = /^\[output pruned .* session_read with id "(\w+)" shows it\]$/.exec(
        textOf(message),
      )!;
      expect(ids).toContain(id);
    }
  });
});

describe("a dry run", () => {
  it("tells what would be kept, dropped and asked, and does none of it", async () => {
    const { session, model, request } = setup(turns(60), {
      options: { qualityGuard: { enabled: false, maxRetries: 0 } },
    });
    const before = JSON.stringify(session.branch());
    const preview = await previewCompaction(request);
    expect(preview.kind).toBe("summarise");
    if (preview.kind !== "summarise") return;
    expect([model.calls.length, JSON.stringify(session.branch())]).toEqual([0, before]);
    const result = await compactTranscript(request);
    expect(result.result).toMatchObject({
      tokensBefore: preview.tokensBefore,
      firstKeptEntryId: preview.firstKeptEntryId,
    });
    expect(result.result!.tokensAfter!).toBeLessThanOrEqual(preview.tokensAfterAtMost);
    expect(preview.keptMessages + preview.summarisedMessages).toBe(120);
    expect(model.calls.length).toBe(preview.requests);
  });

  it("counts requests as the model does, and announces none of a model that is left alone", async () => {
    const options = { qualityGuard: { enabled: false, maxRetries: 0 } };
    const asked = async (more: object) => {
      const { model, request } = setup(turns(60), { options });
      const preview = await previewCompaction({ ...request, ...more });
      if (preview.kind !== "summarise") throw new Error(preview.kind);
      await compactTranscript({ ...request, ...more });
      return { preview, calls: model.calls.length };
    };
    const plain = await asked({});
    const counted = await asked({ tokenRatio: 1.5 });
    expect(counted.calls).toBe(counted.preview.requests);
    expect(counted.preview.inputTokens).toBeGreaterThan(1.4 * plain.preview.inputTokens);
    const rest = createSummariserRest();
    const { ref } = setup(turns(1)).model;
    rest.begin(ref, { reason: "it is away", restMs: 60_000, now: Date.now() });
    const { preview, calls } = await asked({ rest });
    expect([preview.requests, preview.inputTokens, calls]).toEqual([0, 0, 0]);
    expect(preview.notAsked).toContain("it is away");
  });

  it("names what leaves the view, and holds when the model it would ask is down", async () => {
    const file = { id: "c1", name: "read", arguments: { path: "/srv/app/gate.ts" } };
    const seen = [assistant([toolCall("read", file.arguments, file.id)]), toolResult(file, "gate")];
    const { session, request } = setup([...turns(1), ...seen, ...turns(60)]);
    const down = scripted([{ kind: "auth", message: "401" }]);
    const preview = await previewCompaction({ ...request, model: down });
    expect(preview).toMatchObject({ kind: "summarise", files: ["/srv/app/gate.ts"] });
    if (preview.kind !== "summarise") return;
    expect(preview.requests).toBeGreaterThan(0);
    expect(down.calls).toEqual([]);
    const result = await compactTranscript({ ...request, model: down });
    expect(down.calls).toHaveLength(1);
    expect(result.result!.firstKeptEntryId).toBe(preview.firstKeptEntryId);
    expect(result.result!.tokensAfter!).toBeLessThanOrEqual(preview.tokensAfterAtMost);
    // Nobody is announced who cannot be asked.
    expect(await previewCompaction({ ...request, model: { ref: down.ref } })).toMatchObject({
      requests: 0,
      outputTokensAtMost: 0,
    });
    expect(session.context()).toHaveLength(preview.keptMessages + 1);
  });

  it("says why there is nothing to do", async () => {
    expect(await previewCompaction(setup([user("hi")]).request)).toMatchObject({
      kind: "nothing",
      reason: expect.any(String),
    });
  });
});
