import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { assistant, user } from "@clew/plugin-sdk/testing";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { type Machine, startMachine } from "../testing/machine.ts";
import { type SharedSessions, shareSessions } from "../testing/shared-sessions.ts";
import { bringOthers, describeLacking } from "./others.ts";

const refOf = (sessionId: string) => ({ sessionId, sessionKey: `agent:main:${sessionId}` });

/** Machines that have sessions of one agent, each its own. */
function machines(count: number) {
  const shared = shareSessions({ gaps: true });
  const homes = Array.from({ length: count }, () => {
    const rows = shared.machine();
    return { rows, machine: startMachine(rows) };
  });
  return { shared, homes };
}

/** Says something in a session that the machine has open. */
async function say(
  { engine }: Machine,
  { shared, id, texts }: { shared: SharedSessions; id: string; texts: string[] },
): Promise<void> {
  const before = shared.saidIn(id);
  const added = [...texts.map((text) => user(text)), assistant("Noted.")].map(
    (message, at): AgentMessage =>
      withMessageId(
        { ...message, timestamp: 1e12 + before.length + at },
        `${id}${before.length + at}`,
      ),
  );
  const last = before.at(-1);
  shared.append(id, added, last && messageId(last));
  const messages = [...before, ...added];
  const seen = messages.slice(0, before.length + 1);
  await engine.assemble({ ...refOf(id), messages: seen, tokenBudget: 12_000 });
  await engine.afterTurn?.({
    ...{ ...refOf(id), messages, prePromptMessageCount: before.length },
  } as never);
}

const grep = ({ call }: Machine, id: string, more: object = {}) =>
  call("lcm_grep", { pattern: "lantern", allConversations: true, ...more }, refOf(id));

describe("what sessions of an agent said at other machines", () => {
  it("is found over all conversations at each, under the same numbers, as it grows", async () => {
    const { shared, homes } = machines(2);
    const [one, two] = homes as [(typeof homes)[0], (typeof homes)[0]];
    for (const [home, id] of [
      [one, "a"],
      [two, "b"],
      [one, "c"],
      [two, "d"],
    ] as const) {
      home.rows.open(id);
      await say(home.machine, { shared, id, texts: [`The lantern of ${id} is dark.`] });
    }
    const found = await grep(one.machine, "a");
    for (const id of ["a", "b", "c", "d"]) expect(found).toContain(`The lantern of ${id}`);
    expect(await grep(two.machine, "b")).toBe(found);
    await say(two.machine, { shared, id: "b", texts: ["A second lantern burns."] });
    const later = await grep(one.machine, "a");
    expect(later).toContain("A second lantern burns.");
    expect(await grep(two.machine, "d")).toBe(later);
    const [, number] = /#(\d+)[^#]*A second lantern/.exec(later)!;
    const shown = { id: `#${number}`, allConversations: true };
    expect(await one.machine.call("lcm_describe", shown, refOf("a"))).toContain("A second lantern");
    // The session may come here afterwards, and go on.
    two.rows.close("b");
    one.rows.open("b");
    await say(one.machine, { shared, id: "b", texts: ["A third lantern is lit."] });
    expect(await grep(two.machine, "d")).toBe(await grep(one.machine, "a"));
  });

  it("is not asked for by a search in the session alone", async () => {
    const { shared, homes } = machines(2);
    const [one, two] = homes as [(typeof homes)[0], (typeof homes)[0]];
    one.rows.open("a");
    two.rows.open("b");
    await say(one.machine, { shared, id: "a", texts: ["A lantern."] });
    await say(two.machine, { shared, id: "b", texts: ["Another lantern."] });
    const calls: string[] = [];
    shared.pause = async (call) => void calls.push(call);
    expect(await grep(one.machine, "a", { allConversations: false })).not.toContain("Another");
    expect(calls).toEqual([]);
  });

  it("is said to be missing where nothing is shared, nobody can be asked, or time is short", async () => {
    const { shared, homes } = machines(2);
    const [one, two] = homes as [(typeof homes)[0], (typeof homes)[0]];
    one.rows.open("a");
    await say(one.machine, { shared, id: "a", texts: ["A lantern."] });
    shared.append("b", [user("A lantern that no engine was told of.")]);
    expect(await grep(one.machine, "a")).toContain(
      "Not looked at: 1 other session of which nothing is stored here.",
    );
    two.rows.open("c");
    await say(two.machine, { shared, id: "c", texts: ["A lantern of c."] });
    shared.fateOf = () => "failed";
    const alone = await grep(one.machine, "a");
    expect(alone).toContain(
      "Not looked at: 2 other sessions, as it could not be read. load: failed",
    );
    expect(alone).not.toContain("A lantern of c.");
    // One that nobody can read keeps no other one from being found.
    shared.fateOf = (_call, of) => (of === "b" ? "failed" : "done");
    const without = await grep(one.machine, "a");
    expect(without).toContain("A lantern of c.");
    expect(without).toContain("Not looked at: 1 other session, as it could not be read.");
    shared.fateOf = undefined;
    await say(two.machine, { shared, id: "c", texts: ["The newest lantern."] });
    const { stores } = one.machine;
    const lacking = await bringOthers(
      stores.ofAgent(),
      { ...refOf("a"), owner: stores.owner },
      { places: { rows: one.rows, keeps: stores.keeps }, boundMs: 0 },
    );
    expect(describeLacking(lacking)).toContain("as reading what they said takes longer");
    expect(await grep(one.machine, "a")).toContain("The newest lantern.");
  });
});
