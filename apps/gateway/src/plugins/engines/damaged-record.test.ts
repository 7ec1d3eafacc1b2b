// What becomes of an engine's messages when the record of what it took is damaged.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync } from "node:fs";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { engineCode, startPluginGateway, writePlugin } from "../../testing/plugins.ts";

/** A home whose engine writes down every message that it takes, and two turns in it. */
async function homeWithTwoTurns() {
  const home = await temporaryHome();
  const taken = join(home, "taken");
  const code = engineCode(
    "notes",
    `afterTurn: async ({ messages, prePromptMessageCount }) => {
      for (const { role, content, __openclaw } of messages.slice(prePromptMessageCount))
        appendFileSync(${JSON.stringify(taken)}, JSON.stringify([__openclaw.id, role, content]) + "\\n");
    },`,
  );
  const folder = writePlugin(join(home, "sources/notes"), {
    id: "notes",
    code: `import { appendFileSync } from "node:fs";\n${code}`,
  });
  const config = {
    gateway: { port: 0 },
    plugins: { load: { paths: [folder] }, slots: { contextEngine: "notes" } },
  };
  await writeFile(join(home, "clew.json"), JSON.stringify(config));
  /** A gateway's life; its log. */
  const say = async (...texts: string[]) => {
    const { say, stop, log } = await startPluginGateway(config, home);
    for (const text of texts) expect((await say(text)).outcome).toBe("completed");
    await stop();
    return log.lines.join("\n");
  };
  await say("one", "two");
  const outbox = join(home, "agents/main/outbox");
  const record = join(outbox, readdirSync(outbox)[0]!);
  const doctor = async (...args: string[]) => {
    const { code, output } = await clew(home, ["doctor", "--json", ...args]);
    type Found = { code: string; text: string }[];
    const { findings, repaired = [] } = JSON.parse(output) as { findings: Found; repaired?: Found };
    const ofRecords = (all: Found) => all.filter((each) => each.code.startsWith("deliveries-"));
    return { code, found: ofRecords(findings), repaired: ofRecords(repaired) };
  };
  return { home, say, doctor, outbox, record, taken: () => takenIn(taken) };
}

/** The persons' messages by id, each as often as it was handed over. */
function takenIn(file: string): { texts: string[]; again: string[] } {
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  const parsed = lines.map((line) => JSON.parse(line) as [string, string, unknown]);
  const byId = new Map(parsed.map(([id, role, content]) => [id, { role, content }]));
  const ids = parsed.map(([id]) => id);
  return {
    texts: [...byId.values()].flatMap(({ role, content }) =>
      role === "user" ? [JSON.stringify(content)] : [],
    ),
    again: ids.filter((id, index) => ids.indexOf(id) !== index),
  };
}

const inOrder = (...texts: string[]) => texts.map((text) => expect.stringContaining(text));

/** Makes the line about the first turn unreadable, and tears off the last one. */
async function damage(record: string) {
  const lines = (await readFile(record, "utf8")).split("\n");
  const first = lines.findIndex((line) => line.includes('"acknowledged"'));
  await writeFile(record, lines.with(first, "\u0000\u0000garbage").join("\n"));
  await appendFile(record, '{"v":1,"engineId":"no');
  return first + 1;
}

describe("a damaged record of what an engine took", () => {
  it("is mended by the gateway, which says so and loses nothing: it hands over again under the same ids", async () => {
    const { say, record, outbox, taken, doctor } = await homeWithTwoTurns();
    expect(taken()).toEqual({ texts: inOrder("one", "two"), again: [] });
    await damage(record);
    expect(await say("three", "four")).toMatch(
      /warn session agent:main:main: 2 damaged lines of the record of what engines took were taken out and kept in .*\.removed-.*; what engines may have missed is handed over again, under the same ids\./,
    );
    const { texts, again } = taken();
    expect(texts).toEqual(inOrder("one", "two", "three", "four"));
    // The first turn: the message, and its reply.
    expect(again).toHaveLength(2);
    expect(readdirSync(outbox).filter((name) => name.includes(".removed-"))).toHaveLength(1);
    expect(await doctor()).toEqual({ code: 0, found: [], repaired: [] });
    expect(await say("five")).not.toContain("damaged");
    expect(taken().again).toEqual(again);
  });

  it("is found by the doctor, who mends it on request", async () => {
    const { doctor, record, outbox } = await homeWithTwoTurns();
    expect((await doctor()).found).toEqual([]);
    const whole = await readFile(record, "utf8");
    const line = await damage(record);
    const last = whole.split("\n").length;
    expect((await doctor()).found).toMatchObject([
      {
        level: "warning",
        code: "deliveries-damaged",
        text: `lines ${line}, ${last} of ${record}, the record of what engines took, cannot be read, so engines may be handed messages again, under the same ids; run "clew doctor --fix"`,
      },
    ]);
    const { found, repaired } = await doctor("--fix");
    expect(found).toEqual([]);
    expect(repaired).toMatchObject([{ level: "note", code: "deliveries-repaired" }]);
    const kept = readdirSync(outbox).find((name) => name.includes(".removed-"))!;
    expect(repaired[0]!.text).toContain(kept);
    expect(await readFile(join(outbox, kept), "utf8")).toContain("garbage");
    expect((await doctor()).found).toEqual([]);
  });

  it("that cannot be read at all keeps nobody from an answer, and is left as it is", async () => {
    const { say, record, taken, doctor } = await homeWithTwoTurns();
    renameSync(record, `${record}.elsewhere`);
    mkdirSync(record);
    expect(await say("three")).toMatch(
      /warn session agent:main:main: the record of what engines took, .*\.jsonl, cannot be read \(it is a folder\)/,
    );
    expect((await doctor()).found).toMatchObject([
      { level: "warning", code: "deliveries-unreadable", text: expect.stringContaining(record) },
    ]);
    expect((await doctor("--fix")).found).toMatchObject([{ code: "deliveries-unreadable" }]);
    rmdirSync(record);
    renameSync(`${record}.elsewhere`, record);
    await say("four");
    expect(taken().texts).toEqual(inOrder("one", "two", "three", "four"));
    expect(taken().again).toHaveLength(2);
  });
});
