import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { CallPageSchema } from "../inspect/shapes/calls.ts";
import { EntryPageSchema, EntryTextSchema, EntryTraceSchema } from "../inspect/shapes/entries.ts";
import { type FoundText, FoundTextSchema } from "../inspect/shapes/found-text.ts";
import {
  CallDiffSchema,
  CallViewSchema,
  ItemPageSchema,
  ItemTextSchema,
  ProofSchema,
  RebuiltRequestSchema,
  SummaryRowSchema,
} from "../inspect/shapes/one-call.ts";
import { startTestGateway, type TestGateway } from "../testing/gateway.ts";

const asker =
  (get: TestGateway["get"]) =>
  async <Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.infer<Schema>> => {
    const response = await get(path);
    expect(`${response.status} ${path}`).toBe(`200 ${path}`);
    return schema.parse(await response.json());
  };

describe("the shadow of a session over HTTP", () => {
  it("is refused by a sentence where no shadow engine is set", async () => {
    const { say, get } = await startTestGateway();
    await say("My cat is called Minka.");
    const response = await get("/api/sessions/main/shadow");
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining("agents.defaults.shadowEngine names one") },
    });
  });
});

describe("the file of a session over HTTP", () => {
  it("is handed out as it stands, under the session's name", async () => {
    const { say, get, gateway } = await startTestGateway();
    await say("My cat is called Minka.");
    const response = await get("/api/sessions/main/transcript");
    const { file } = (await gateway.store.find("agent:main:main"))!;
    expect(await response.text()).toBe(await readFile(file, "utf8"));
    expect(response.headers.get("content-disposition")).toContain('filename="main.jsonl"');
  });

  it("is refused by a sentence where there is no such session", async () => {
    const { get } = await startTestGateway();
    const response = await get("/api/sessions/nobody/transcript");
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: "SESSION_NOT_FOUND" } });
  });
});

describe("the calls of a session over HTTP", () => {
  it("are rows, views, requests, entries and differences that agree", async () => {
    const { say, get, gateway } = await startTestGateway({
      agents: { defaults: { contextTokens: 32_000, compaction: { keepRecentTokens: 4000 } } },
    });
    for (let number = 1; number <= 8; number++)
      await say(`My dog no. ${number}: ${"he ran along the shore and back. ".repeat(200)}`);
    await gateway.command("main", { kind: "command", name: "compact", args: "" });
    await say("Thank you.");
    const ask = asker(get);
    const { calls, total, next } = await ask("/api/sessions/main/calls", CallPageSchema);
    // The compaction that was asked for is the ninth.
    expect(calls.map(({ id }) => id)).toEqual([
      ...["1.1", "2.1", "3.1", "4.1", "5.1", "6.1", "7.1", "8.1", "10.1"],
    ]);
    expect([total, next]).toEqual([9, null]);
    for (const { id, fates, requestHash } of calls) {
      expect(fates.shown + fates.summary + fates.cleared + fates.leftOut).toBe(fates.all);
      const page = await ask(`/api/sessions/main/entries?call=${id}`, EntryPageSchema);
      expect(page.fates).toEqual(fates);
      expect(page.entries).toHaveLength(fates.all);
      const request = await ask(`/api/sessions/main/calls/${id}/request`, RebuiltRequestSchema);
      expect(request).toMatchObject({ isSame: true, why: null, rebuiltHash: requestHash });
      const view = await ask(`/api/sessions/main/calls/${id}`, CallViewSchema);
      expect(view.rebuilt?.isSame).toBe(true);
      const { items, parts } = view;
      expect(parts.system + parts.tools + parts.messages).toBe(items.length);
    }
    const newest = await ask("/api/sessions/main/calls/10.1", CallViewSchema);
    expect(newest.row.marks).toContain("compaction");
    expect(newest.row.happened).toEqual([expect.stringMatching(/^compaction: \d+ entr/)]);
    const [summary] = newest.summaries;
    expect(summary!.covers).toMatchObject({ from: 1 });
    expect(summary!.covers!.entries).toBe(newest.row.fates.summary);
    expect(
      await ask(`/api/sessions/main/summaries/${summary!.summaryId}`, SummaryRowSchema),
    ).toEqual(summary);
    const covered = await ask(
      `/api/sessions/main/entries?call=10.1&fate=${summary!.summaryId}`,
      EntryPageSchema,
    );
    expect(covered.entries).toHaveLength(newest.row.fates.summary);
    const diff = await ask("/api/sessions/main/calls/8.1/diff/10.1", CallDiffSchema);
    expect(diff.removed.map(({ why }) => why)).toContain(`in summary ${summary!.summaryId}`);
    const back = await ask("/api/sessions/main/calls/10.1/diff/8.1", CallDiffSchema);
    expect(back.removed.map(({ why }) => why)).toContain("it was not said yet");
    const found = await ask("/api/sessions/main/find?text=dog%20no.%201%3A", FoundTextSchema);
    expect(found.entries.map(({ number }) => number)).toEqual([1]);
    expect(found.shownIn[0]).toMatchObject({ from: "1.1", to: "8.1", calls: 8 });
    expect(found.lost[0]).toMatchObject({
      id: "10.1",
      why: expect.stringContaining(`entry 1: in summary ${summary!.summaryId}`),
    });
    expect((await get("/api/sessions/main/find")).status).toBe(400);
    const trace = await ask("/api/sessions/main/entries/1/calls", EntryTraceSchema);
    expect(trace.ranges.map(({ from, to, why }) => [from, to, why])).toEqual([
      ["1.1", "8.1", "shown as it is stored"],
      ["10.1", "10.1", `in summary ${summary!.summaryId}`],
    ]);
    const item = await ask("/api/sessions/main/calls/1.1/items/messages/0", ItemTextSchema);
    expect(item).toMatchObject({ text: expect.stringContaining("no. 1"), before: null });
  });

  it("come in pages", async () => {
    const { say, get } = await startTestGateway();
    for (const text of ["one", "two", "three"]) await say(text);
    const ask = asker(get);
    const newest = await ask("/api/sessions/main/calls?limit=2&before=newest", CallPageSchema);
    expect([newest.calls.map(({ id }) => id), newest.next]).toEqual([["2.1", "3.1"], "2.1"]);
    const older = await ask("/api/sessions/main/calls?limit=2&before=2.1", CallPageSchema);
    expect([older.calls.map(({ id }) => id), older.next, older.total]).toEqual([["1.1"], null, 3]);
    expect((await get("/api/sessions/main/calls?before=7.1")).status).toBe(404);
    const first = await ask("/api/sessions/main/calls?limit=2", CallPageSchema);
    expect([first.calls.length, first.next]).toEqual([2, "2.1"]);
    const rest = await ask("/api/sessions/main/calls?limit=2&after=2.1", CallPageSchema);
    expect([rest.calls.map(({ id }) => id), rest.next]).toEqual([["3.1"], null]);
    const entries = await ask("/api/sessions/main/entries?limit=2&after=1", EntryPageSchema);
    expect([entries.call, entries.next]).toEqual(["3.1", 3]);
    expect(entries.entries.map(({ number }) => number)).toEqual([2, 3]);
    const path = "/api/sessions/main/entries?fate=shown&limit=2&skip=2";
    const skipped = await ask(path, EntryPageSchema);
    expect(skipped.entries.map(({ number }) => number)).toEqual([3, 4]);
    expect([skipped.matching, skipped.next]).toEqual([5, 4]);
  });

  it("hold texts that many entries say, of which a page is told and all are counted", async () => {
    const { say, get } = await startTestGateway();
    for (let number = 1; number <= 4; number++) await say(`The tide comes in, no. ${number}.`);
    const ask = asker(get);
    const path = "/api/sessions/main/find?text=The%20tide%20comes%20in,%20no.";
    const whole = await ask(path, FoundTextSchema);
    const numbers = whole.entries.map(({ number }) => number);
    expect([whole.matching, whole.next]).toEqual([numbers.length, null]);
    const read: number[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const page: FoundText = await ask(`${path}&limit=3&after=${after}`, FoundTextSchema);
      expect(page).toMatchObject({ matching: whole.matching, shownIn: whole.shownIn });
      expect(page.entries.length).toBeLessThanOrEqual(3);
      read.push(...page.entries.map(({ number }) => number));
      after = page.next;
    }
    expect(read).toEqual(numbers);
  });

  it("hold texts that many entries lost at once, of which the first are named and the rest counted", async () => {
    const { say, get, gateway } = await startTestGateway();
    for (let number = 1; number <= 22; number++) await say(`The tide comes in, no. ${number}.`);
    await gateway.command("main", { kind: "command", name: "reset", args: "" });
    await say("Thank you.");
    const path = "/api/sessions/main/find?text=The%20tide%20comes%20in,%20no.&limit=1";
    const { matching, lost } = await asker(get)(path, FoundTextSchema);
    const why = lost.at(-1)!.why;
    expect(why.match(/entry \d+: left out/g)).toHaveLength(20);
    expect(why).toMatch(new RegExp(`; and so on for ${matching - 20} more entr(y|ies)$`));
  });

  it("refuse by a sentence a limit or a place that is no number", async () => {
    const { say, get } = await startTestGateway();
    await say("one");
    for (const wrong of [
      ...["calls?limit=abc", "calls?limit=-1", "calls?limit=0", "calls?limit=1.5", "calls?limit="],
      ...["calls/1.1?limit=x", "calls/1.1/items?skip=x", "calls/1.1/items?limit=0"],
      ...["entries?after=x", "entries?skip=-5", "entries?limit=1e3"],
      ...["find?text=one&after=x", "find?text=one&limit=-1"],
    ]) {
      const response = await get(`/api/sessions/main/${wrong}`);
      const [, name, given] = /(\w+)=([^=&]*)$/.exec(wrong)!;
      expect([wrong, response.status, await response.json()]).toMatchObject([
        ...[wrong, 400],
        {
          error: {
            code: "REQUEST_INVALID",
            message: expect.stringMatching(`^${name}=${given} is no number to go by; give a whole`),
          },
        },
      ]);
    }
    expect((await get("/api/sessions/main/entries?after=0&skip=0&limit=9999")).status).toBe(200);
  });

  it("tell as much of what they were sent as is asked for", async () => {
    const { say, get } = await startTestGateway();
    for (const text of ["one", "two", "three"]) await say(text);
    const ask = asker(get);
    const whole = await ask("/api/sessions/main/calls/3.1", CallViewSchema);
    const part = await ask("/api/sessions/main/calls/3.1?limit=2", CallViewSchema);
    expect(part).toEqual({ ...whole, items: whole.items.slice(0, 2), rebuilt: null });
    const path = "/api/sessions/main/calls/3.1/items?skip=2&limit=3";
    const page = await ask(path, ItemPageSchema);
    expect(page).toEqual({ items: whole.items.slice(2, 5), total: whole.items.length });
    const proof = await ask("/api/sessions/main/calls/3.1/proof", ProofSchema);
    expect(proof).toEqual(whole.rebuilt);
    for (const gone of ["9.1?limit=2", "9.1/items", "9.1/proof"])
      expect((await get(`/api/sessions/main/calls/${gone}`)).status).toBe(404);
  });

  it("hold entries that can be read in full, as a call had them", async () => {
    const { say, get } = await startTestGateway();
    const long = `The beginning. ${"and on and on ".repeat(200)}the end.`;
    await say(long);
    await say("two");
    const ask = asker(get);
    const { entries } = await ask("/api/sessions/main/entries", EntryPageSchema);
    const [first] = entries;
    const path = `/api/sessions/main/entries/${first!.entryId}`;
    expect(await ask(path, EntryTextSchema)).toEqual({
      ...{ call: "2.1", entry: first, text: long, sentAt: 0 },
    });
    expect((await ask(`${path}?call=1.1`, EntryTextSchema)).call).toBe("1.1");
    const byNumber = await ask("/api/sessions/main/entries/1", EntryTextSchema);
    expect(byNumber).toMatchObject({ entry: first, text: long });
    const later = await get(`/api/sessions/main/entries/${entries[2]!.entryId}?call=1.1`);
    expect([later.status, await later.json()]).toMatchObject([
      404,
      { error: { message: expect.stringContaining("no such entry in this call") } },
    ]);
  });

  it("are not found where there are none", async () => {
    const { say, get } = await startTestGateway();
    await say("one");
    for (const path of [
      ...["calls/7.1", "calls/x", "calls/7.1/request", "calls/1.1/diff/1.2", "entries?call=9.9"],
      ...["calls/1.1/items/messages/9", "calls/1.1/items/words/0", "summaries/x"],
    ])
      expect([path, (await get(`/api/sessions/main/${path}`)).status]).toEqual([path, 404]);
    for (const wrong of ["entries?fate=eaten", "calls/1.1/request?form=foo"])
      expect([wrong, (await get(`/api/sessions/main/${wrong}`)).status]).toEqual([wrong, 400]);
    const byNumber = await get("/api/sessions/main/entries/1");
    expect(await byNumber.json()).toMatchObject({ entry: { number: 1, preview: "one" } });
    const noNumber = await get("/api/sessions/main/entries/999");
    expect([noNumber.status, await noNumber.json()]).toMatchObject([
      404,
      { error: { message: expect.stringContaining("by its id or number") } },
    ]);
    expect((await get("/api/sessions/nobody/calls")).status).toBe(404);
  });
});
