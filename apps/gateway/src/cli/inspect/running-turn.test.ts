import { describe, expect, it } from "vitest";
import { clew } from "../../testing/command.ts";
import { startTestGateway } from "../../testing/gateway.ts";
import { heldModel } from "../../testing/held-model.ts";

/** A gateway in whose second turn a model was called once, and is asked again. */
async function midTurn() {
  const { config, asked } = await heldModel();
  const { home, say, get } = await startTestGateway(config);
  const first = say("My cat is called Minka.");
  const noted = await asked();
  noted.say("Noted.");
  noted.finish();
  await first;
  const turn = say("What is my cat called, KEY-4711?");
  (await asked()).callTool("session_search", { query: "cat" });
  const answer = await asked();
  const end = async () => {
    answer.say("Minka.");
    answer.finish();
    await turn;
  };
  const inspect = (...args: string[]) => clew(home, ["inspect", "main", ...args]);
  const read = async (...args: string[]) => JSON.parse((await inspect(...args, "--json")).output);
  const turnNow = async () => (await get("/api/sessions/main/turn")).json();
  const page = async (path: string) => (await get(`/api/sessions/main/${path}`)).json();
  return { inspect, read, page, turnNow, end };
}

describe("clew inspect while a reply is written", () => {
  it("lists and opens the calls of the turn, as the page does", async () => {
    const { inspect, read, page, turnNow, end } = await midTurn();
    expect(await turnNow()).toMatchObject({ underWay: { turn: 2, isAnswering: true } });
    expect(await read()).toEqual(await page("calls"));
    expect(await read("--call", "2.2")).toEqual(await page("calls/2.2"));
    expect(await read("--diff", "2.1")).toEqual(await page("calls/2.1/diff/2.2"));
    expect((await inspect()).output).toMatch(/\n *2\.2 .*is being answered/);
    expect((await inspect("--call", "2.1")).output).toContain("is of a turn that goes on");
    await end();
    const { calls } = await read();
    expect(calls.map(({ running }: { running: unknown }) => running)).toEqual([null, null, null]);
  });

  it("finds texts and follows entries into the turn, as the page does", async () => {
    const { read, page, end } = await midTurn();
    const found = await read("--find", "KEY-4711");
    expect(found).toEqual(await page("find?text=KEY-4711"));
    expect(found).toMatchObject({ calls: 3, shownIn: [{ from: "2.1", to: "2.2", calls: 2 }] });
    const trace = await read("--entry", "1");
    expect(trace).toEqual(await page("entries/1/calls"));
    expect(trace.ranges).toMatchObject([{ from: "1.1", to: "2.2", calls: 3 }]);
    await end();
    expect(await read("--find", "KEY-4711")).toEqual(found);
    expect(await read("--entry", "1")).toEqual(trace);
  });
});
