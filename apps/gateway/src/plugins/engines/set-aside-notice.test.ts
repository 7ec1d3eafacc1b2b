// Where a person sees that an engine is set aside, when it happens and afterwards.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { engineCode, startServedGateway, writePlugin } from "../../testing/plugins.ts";

/** A home whose engine "frail" is made of this code. */
async function homeWith(code: string) {
  const home = await temporaryHome();
  const folder = writePlugin(join(home, "sources/frail"), { id: "frail", code });
  const config = {
    gateway: { port: 0 },
    plugins: { load: { paths: [folder] }, slots: { contextEngine: "frail" } },
  };
  writeFileSync(join(home, "clew.json"), JSON.stringify(config));
  return { home, config };
}

const failingIn = (method: string) =>
  homeWith(engineCode("frail", `${method}: async () => { throw new Error("no disk"); },`));

/** In the line of the engine's code where it comes up. */
const NO_DISK = "no disk, at index.js:6";

const noticeOf = (operation: string, reason = NO_DISK) => ({
  type: "notice",
  text: `Engine "frail" failed (${operation}: ${reason}); another one answers.`,
});

describe("the reply in which an engine is set aside", () => {
  it.each([
    ["assemble", "text"],
    ["afterTurn", "done"],
  ])("says so before what comes after %s", async (operation, next) => {
    const { home, config } = await failingIn(operation);
    const { say, get } = await startServedGateway(config, home);
    const { events } = await say("hello");
    const position = events.findIndex(({ type }) => type === "notice");
    expect(events[position]).toEqual(noticeOf(operation));
    expect(events.slice(position + 1).map(({ type }) => type)).toContain(next);
    if (operation === "afterTurn") expect(events[position - 1]?.type).toBe("message");
    expect((await say("again")).events.map(({ type }) => type)).not.toContain("notice");
    expect((await clew(home, ["doctor"])).output).toMatch(/"frail" has been set aside .* no disk/);
    expect(await get("/api/sessions/main/context")).toMatchObject({
      engine: { ran: "legacy", configured: "frail", degraded: { operation, reason: NO_DISK } },
    });
  });

  it("says so while it has not ended yet, when the engine cannot even be made", async () => {
    const { home, config } = await homeWith(
      "export default { register(api) { api.registerContextEngine('frail', () => { throw new Error('no disk'); }); } };",
    );
    const { say } = await startServedGateway(config, home);
    const notice = noticeOf("factory", "no disk, at index.js:1");
    expect((await say("hello")).events.slice(0, 2)).toEqual([{ type: "queued" }, notice]);
    expect((await say("hello")).events).not.toContainEqual(notice);
  });

  it("is not the only one: every session that another one answers is told, once", async () => {
    const { home, config } = await failingIn("assemble");
    const { gateway } = await startServedGateway(config, home);
    const noticesIn = async (session: string) => {
      const notices: string[] = [];
      const onEvent = (event: { type: string; text?: string }) => {
        if (event.type === "notice") notices.push(event.text ?? "");
      };
      await gateway.send({ key: session, content: "hello", onEvent });
      return notices;
    };
    const { text } = noticeOf("assemble");
    expect(await noticesIn("one")).toEqual([text]);
    expect(await noticesIn("two")).toEqual([text]);
    expect([await noticesIn("one"), await noticesIn("two")]).toEqual([[], []]);
    await gateway.reloadPlugins();
    expect([await noticesIn("one"), await noticesIn("one")]).toEqual([[text], []]);
    const index = join(home, "sources/frail/index.js");
    const reloadWith = async (code: string) => {
      writeFileSync(index, code);
      await gateway.reloadPlugins();
    };
    await reloadWith(engineCode("frail"));
    expect(await noticesIn("one")).toEqual([]);
    await reloadWith("throw new Error('no disk');");
    const why = 'not registered: Plugin "frail" cannot be loaded: no disk, at index.js:1';
    for (const session of ["one", "three"])
      expect([await noticesIn(session), await noticesIn(session)]).toEqual([
        [noticeOf("resolve", why).text],
        [],
      ]);
    await reloadWith(engineCode("frail"));
    expect(await noticesIn("one")).toEqual([]);
  });

  it("may be the answer to a command", async () => {
    const { home, config } = await failingIn("compact");
    const { say } = await startServedGateway(config, home);
    await say("hello");
    const { events } = await say("/compact");
    expect(events).toContainEqual(noticeOf("compact"));
  });
});

describe("the terminal", () => {
  it("shows it beside the reply, and the doctor tells it afterwards", async () => {
    const { home } = await failingIn("assemble");
    const said = await clew(home, ["chat", "hello"]);
    expect(said).toMatchObject({
      code: 0,
      errors: expect.stringContaining(noticeOf("assemble").text),
    });
    expect(said.output).not.toContain("no disk");
    const { output } = await clew(home, ["chat", "--json", "hello"]);
    const events = output.split("\n").map((line) => JSON.parse(line));
    expect(events).toContainEqual(noticeOf("assemble"));
    expect((await clew(home, ["doctor"])).output).toMatch(
      /2 of the last 2 turns were answered by another engine; last on .*: assemble: no disk/,
    );
  });
});
