import { describe, expect, it } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";
import { heldModel } from "../testing/held-model.ts";
import { CallPageSchema } from "./shapes/calls.ts";
import { EntryPageSchema } from "./shapes/entries.ts";
import {
  CallDiffSchema,
  CallViewSchema,
  ItemTextSchema,
  RebuiltRequestSchema,
} from "./shapes/one-call.ts";

async function heldInspector() {
  const { config, asked } = await heldModel();
  const { say, get } = await startTestGateway(config);
  const read = async (path: string) => {
    const response = await get(`/api/sessions/main/${path}`);
    expect(`${response.status} ${path}`).toBe(`200 ${path}`);
    return response.json();
  };
  const first = say("My cat is called Minka.");
  const reply = await asked();
  reply.say("Noted.");
  reply.finish();
  await first;
  return { say, asked, get, read };
}

describe("a turn under way", () => {
  it("has its calls listed and opened before any of it is reported, by the ids they keep", async () => {
    const { say, asked, read } = await heldInspector();
    const turn = say("What is my cat called?");
    (await asked()).callTool("session_search", { query: "cat" });
    const answer = await asked();

    const { calls, total } = CallPageSchema.parse(await read("calls"));
    expect(total).toBe(3);
    expect(calls.map(({ id, running }) => [id, running])).toEqual([
      ["1.1", null],
      ["2.1", "turn"],
      ["2.2", "call"],
    ]);
    expect(calls[2]).toMatchObject({ stopReason: null, error: null, lost: null, cost: null });
    for (const { fates } of calls)
      expect(fates.shown + fates.summary + fates.cleared + fates.leftOut).toBe(fates.all);
    const views = [];
    for (const id of ["2.1", "2.2"]) {
      const view = CallViewSchema.parse(await read(`calls/${id}`));
      expect(view.rebuilt).toEqual({ isSame: true, why: null });
      const page = EntryPageSchema.parse(await read(`entries?call=${id}`));
      expect(page.fates).toEqual(view.row.fates);
      expect(page.entries).toHaveLength(view.row.fates.all);
      views.push({ view, page });
    }
    const request = RebuiltRequestSchema.parse(await read("calls/2.2/request"));
    expect(request).toMatchObject({ isSame: true, requestHash: calls[2]!.requestHash });
    const system = ItemTextSchema.parse(await read("calls/2.2/items/system/0"));
    expect(system.text.length).toBeGreaterThan(10);
    const diff = CallDiffSchema.parse(await read("calls/2.1/diff/2.2"));
    expect(diff.added.map(({ role }) => role)).toEqual(["assistant", "toolResult"]);

    answer.say("Minka.");
    answer.finish();
    await turn;
    const after = CallPageSchema.parse(await read("calls"));
    expect(after.calls.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
    for (const [index, { view, page }] of views.entries()) {
      const { id, requestHash, tokens, fates, marks, happened } = view.row;
      const now = CallViewSchema.parse(await read(`calls/${id}`));
      expect(now.row).toEqual(after.calls[index + 1]);
      expect(now.row).toMatchObject({ running: null, requestHash, tokens, fates, marks, happened });
      expect(now.items).toEqual(view.items);
      expect(EntryPageSchema.parse(await read(`entries?call=${id}`))).toEqual(page);
    }
  });

  it("begins no call that was not made, and ends with what was", async () => {
    const { say, asked, read, get } = await heldInspector();
    const turn = say("Are you there?");
    const answer = await asked();
    expect((await get("/api/sessions/main/calls/2.1")).status).toBe(200);
    expect((await get("/api/sessions/main/calls/2.2")).status).toBe(404);
    answer.say("Yes.");
    answer.finish();
    await turn;
    const { calls } = CallPageSchema.parse(await read("calls?before=newest"));
    expect(calls.map(({ id, running }) => [id, running])).toEqual([
      ["1.1", null],
      ["2.1", null],
    ]);
  });
});
