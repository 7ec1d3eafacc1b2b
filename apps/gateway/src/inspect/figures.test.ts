import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator, type EmulatorOptions } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { dollarsText } from "../costs/describe.ts";
import { clew } from "../testing/command.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { sentTokens } from "./sent-tokens.ts";
import { CallPageSchema, type CallRow, type Cost } from "./shapes/calls.ts";
import type { EntryPage } from "./shapes/entries.ts";
import type { CallDiff, CallView } from "./shapes/one-call.ts";
import { noTokens, planSources } from "./sources.ts";

const API = "anthropic-messages";
const COST = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const TIDE = "The tide was high and the harbour full of boats. ";

/** Before a server that bills what it reads, and tells by request what that was. */
async function billedGateway(answers: NonNullable<EmulatorOptions["answers"]>) {
  const server = await createEmulator(API, {
    ...{ answers, cacheMinimumTokens: 16, tolerant: true },
    prices: { fresh: 3, read: 0.3, written: 3.75, writtenLong: 6, output: 15 },
  });
  onTestFinished(() => server.close());
  const model = {
    ...{ id: "m", contextWindow: 200_000, cost: COST },
    profile: { cache: { how: "marks", marks: 4, minTokens: 16 } },
  };
  const lab = { api: API, baseUrl: server.baseUrl, apiKey: "key-for-tests", models: [model] };
  const defaults = { model: "lab/m", compaction: { keepRecentTokens: 400 } };
  const config = { agents: { defaults }, models: { providers: { lab } } };
  const host = await startTestGateway(config);
  await writeFile(join(host.home, "clew.json"), JSON.stringify(config));
  const read = async (path: string) => (await host.get(`/api/sessions/main/${path}`)).json();
  const rows = async () => CallPageSchema.parse(await read("calls")).calls;
  const bills = () => server.requests.map(({ bill }) => bill!);
  return { ...host, read, rows, bills };
}

type Bill = Awaited<ReturnType<Awaited<ReturnType<typeof billedGateway>>["bills"]>>[number];

const dollarsOf = ({ fresh, read, written, output }: Bill): Omit<Cost, "summariser" | "total"> => ({
  input: (fresh * 3) / 1e6,
  cacheRead: (read * 0.3) / 1e6,
  cacheWrite: (written * 3.75) / 1e6,
  output: (output * 15) / 1e6,
});
const totalOf = (bill: Bill): number =>
  Object.values(dollarsOf(bill)).reduce((sum, part) => sum + part, 0);

/** Three turns, a compaction by a model, and two more. */
async function compactedSession() {
  const host = await billedGateway(() => ({ text: "Fine, as the tide is high." }));
  for (const turn of [1, 2, 3]) await host.say(`${turn} ${TIDE.repeat(60)}`);
  await host.gateway.command("main", { kind: "command", name: "compact", args: "" });
  for (const turn of [4, 5]) await host.say(`${turn} ${TIDE.repeat(60)}`);
  const rows = await host.rows();
  const bills = host.bills();
  const sides = bills.length - rows.length;
  const own = [...bills.slice(0, 3), ...bills.slice(3 + sides)];
  return { ...host, rows, own, sides: bills.slice(3, 3 + sides) };
}

describe("the figures of calls", () => {
  it("are what the provider billed, by kind, and the summary's cost is told apart", async () => {
    const { rows, own, sides, home } = await compactedSession();
    expect(sides.length).toBeGreaterThan(0);
    expect(own.some(({ read }) => read > 0) && own.some(({ written }) => written > 0)).toBe(true);
    for (const [at, row] of rows.entries()) {
      const bill = own[at]!;
      const { fresh, read, written, output } = bill;
      expect(row).toMatchObject({ isCounted: true, outputTokens: output });
      expect(row.tokens.total).toBe(fresh + read + written);
      expect(row.cache).toMatchObject({ read, written });
      for (const [kind, dollars] of Object.entries(dollarsOf(bill)))
        expect(row.cost![kind as keyof Cost], kind).toBeCloseTo(dollars, 10);
      // The first call behind the compaction pays for it.
      const paidFor = row.id === rows[3]!.id ? sides : [];
      const summariser = paidFor.reduce((sum, side) => sum + totalOf(side), 0);
      expect(row.cost!.summariser).toBeCloseTo(summariser, 10);
      expect(row.cost!.total).toBeCloseTo(totalOf(bill) + summariser, 10);
      const told = (await clew(home, ["inspect", "main", "--call", row.id])).output;
      const of = summariser === 0 ? "" : `, and ${dollarsText(summariser)} for side calls`;
      expect(told).toContain(`It cost ${dollarsText(totalOf(bill))}${of}`);
    }
  });

  it("of what two calls share are of the first one", async () => {
    const { rows, read } = await compactedSession();
    const total = ({ tokens }: CallRow) => tokens.total;
    const [, second, third, , fifth] = rows as [CallRow, CallRow, CallRow, CallRow, CallRow];
    const grown = (await read(`calls/${second.id}/diff/${third.id}`)) as CallDiff;
    const view = (await read(`calls/${second.id}`)) as CallView;
    expect(grown.prefix).toEqual({
      ...{ items: view.items.length, tokens: total(second), share: 1 },
    });
    const cut = (await read(`calls/${third.id}/diff/${fifth.id}`)) as CallDiff;
    const { system, tools } = third.tokens;
    expect(cut.prefix.tokens).toBe(system + tools);
    expect(cut.prefix.share).toBeCloseTo((system + tools) / total(third), 10);
    expect(cut.prefix.items).toBe(view.parts.system + view.parts.tools);
  });

  it("of a summary tell the first, the last and the number of the entries it stands for", async () => {
    const { rows, read, gateway } = await compactedSession();
    const { branch } = (await gateway.store.read("agent:main:main"))!;
    const compaction = branch.find((entry) => entry.type === "compaction")!;
    const said = branch.filter(({ type }) => type === "message");
    const kept = said.findIndex(({ id }) => id === compaction.firstKeptEntryId);
    expect(kept).toBeGreaterThan(1);
    const call = rows.at(-1)!.id;
    const { summaries } = (await read(`calls/${call}`)) as CallView;
    expect(summaries.map(({ covers }) => covers)).toEqual([{ from: 1, to: kept, entries: kept }]);
    const hidden = (await read(`entries?call=${call}&fate=summary`)) as EntryPage;
    expect(hidden.entries.map(({ entryId }) => entryId)).toEqual(
      said.slice(0, kept).map(({ id }) => id),
    );
  });

  it("of items add up to those of their sources, and as many came from the cache as were read", async () => {
    const { rows, read } = await compactedSession();
    for (const { id, tokens, cache } of rows) {
      const { items } = (await read(`calls/${id}`)) as CallView;
      const sum = (all: typeof items) => all.reduce((total, each) => total + each.tokens, 0);
      expect(sum(items)).toBe(tokens.total);
      expect(sum(items.filter(({ part }) => part === "system"))).toBe(tokens.system);
      expect(sum(items.filter(({ summaryId }) => summaryId !== null))).toBe(tokens.summaries);
      const cached = items.filter(({ isFromCache }) => isFromCache);
      expect(sum(cached)).toBeLessThanOrEqual(cache!.read!);
      expect(sum(items.slice(0, cached.length + 1))).toBeGreaterThan(cache!.read!);
    }
  });

  it("of a call stand on one scale: its entries as its items, its summary as the mark says", async () => {
    const { rows, read, home } = await compactedSession();
    let summaries = 0;
    for (const row of rows) {
      expect(row.estimatedTokens).not.toBe(row.tokens.total);
      const { items, summaries: stood } = (await read(`calls/${row.id}`)) as CallView;
      const { entries } = (await read(`entries?call=${row.id}`)) as EntryPage;
      for (const { entryId, fate, marks, tokens } of entries) {
        const own = items.filter((item) => item.entryId === entryId);
        if (fate.kind !== "shown" || marks.length > 0) continue;
        expect(own.map((item) => item.tokens)).toEqual([tokens]);
      }
      const told = row.happened.find((what) => what.startsWith("compaction"));
      if (told === undefined) continue;
      summaries++;
      expect(told).toContain(`→ ${stood[0]!.tokens.toLocaleString("en-US")} tokens`);
    }
    expect(summaries).toBe(1);
    const newest = (await read("entries?limit=1000")) as EntryPage;
    for (const { number, tokens } of newest.entries.filter(({ number }) => number % 3 === 1)) {
      const { output } = await clew(home, ["inspect", "main", "--entry", String(number), "--json"]);
      expect(JSON.parse(output).entry.tokens).toBe(tokens);
    }
  });

  it("of what changed add up to the difference, with what is counted again told apart", async () => {
    const { rows, read, home } = await compactedSession();
    let recounts = 0;
    for (const [at, row] of rows.entries()) {
      if (at === 0) continue;
      const diff = (await read(`calls/${rows[at - 1]!.id}/diff/${row.id}`)) as CallDiff;
      const sum = (all: readonly { tokens: number }[]) =>
        all.reduce((total, { tokens }) => total + tokens, 0);
      const came =
        sum(diff.added) -
        sum(diff.removed.map(({ item }) => item)) +
        sum(diff.changed.map(({ after }) => after)) -
        sum(diff.changed.map(({ before }) => before));
      expect(came + diff.recounted).toBe(row.tokens.total - diff.from.tokens.total);
      if (diff.recounted === 0) continue;
      recounts++;
      const { output } = await clew(home, [
        ...["inspect", "main", "--diff", diff.from.id, "--call", row.id],
      ]);
      expect(output).toContain("by counting again what both have");
    }
    expect(recounts).toBeGreaterThan(0);
  });

  it("of a call that was sent again hold both tries, and what the first was for nothing", async () => {
    let asked = 0;
    const { say, rows, bills } = await billedGateway(() =>
      ++asked === 2 ? { fault: "cut" } : { text: "Fine." },
    );
    await say(TIDE.repeat(60));
    await say("And now?");
    const [first, second] = (await rows()) as [CallRow, CallRow];
    expect(asked).toBe(3);
    expect(first.waste).toEqual([]);
    expect(second.waste).toMatchObject([{ cause: "re-sent", tokens: second.tokens.total }]);
    const again = second.waste[0]!.dollars!;
    expect(again).toBeGreaterThan(0);
    expect(second.cost!.total).toBeCloseTo(totalOf(bills().at(-1)!) + again, 10);
  });

  it("count as sent what was answered, and of the rest only what its provider counted", () => {
    const tokens = planSources({ ...noTokens(), system: 60, messages: 40 }, null);
    expect(tokens).toMatchObject({ system: 60, messages: 40, total: 100 });
    const counted = planSources({ ...noTokens(), system: 60, messages: 40 }, 200);
    expect(counted).toMatchObject({ system: 120, messages: 80, total: 200 });
    const row = { tokens, isCounted: false, error: null };
    expect(sentTokens(row)).toBe(100);
    expect(sentTokens({ ...row, error: "refused" })).toBe(0);
    expect(sentTokens({ ...row, error: "cut off", isCounted: true })).toBe(100);
  });
});
