import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseLine } from "../commands/parse.ts";
import { temporaryHome } from "../testing/home.ts";
import { engineCode, startPluginGateway, writePlugin } from "../testing/plugins.ts";

/**
 * An engine that compacts by beginning a new transcript with one summary, in
 * `folderOf(sessionFile)`.
 */
function rotatingEngine(folder: string): string {
  return `import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
${engineCode(
  "rotating",
  `compact: async ({ sessionFile }) => {
      const sessionId = randomUUID();
      const timestamp = new Date().toISOString();
      const file = join(${folder}, sessionId + ".jsonl");
      const header = { type: "session", version: 3, id: sessionId, timestamp, cwd: "/" };
      const message = { role: "user", content: "Carried over: the cat is called Minka." };
      const entry = { type: "message", id: "aaaaaaaa", parentId: null, timestamp, message };
      writeFileSync(file, JSON.stringify(header) + "\\n" + JSON.stringify(entry) + "\\n");
      return { ok: true, compacted: true, result: { summary: "", firstKeptEntryId: "aaaaaaaa", tokensBefore: 100, tokensAfter: 10, sessionId, sessionFile: file } };
    },`,
)}`;
}

async function gatewayWith(folder: string) {
  const home = await temporaryHome();
  mkdirSync(join(home, "elsewhere"));
  const plugin = writePlugin(join(home, "sources/rotating"), {
    id: "rotating",
    code: rotatingEngine(folder.replace("HOME", home)),
  });
  const started = await startPluginGateway(
    { plugins: { load: { paths: [plugin] }, slots: { contextEngine: "rotating" } } },
    home,
  );
  const command = (line: string) => {
    const parsed = parseLine(line);
    if (parsed.kind === "message") throw new Error(`${line} is no command`);
    return started.gateway.command("main", parsed);
  };
  return { ...started, command };
}

describe("the successor an engine made", () => {
  it("is where the session goes on, at once and after a restart; the old transcript is kept and listed", async () => {
    const { say, command, gateway } = await gatewayWith("dirname(sessionFile)");
    await say("hello");
    const before = (await gateway.session("main"))!;
    expect(await command("/compact")).toMatchObject({
      ok: true,
      text: expect.stringContaining("100 → 10 tokens"),
    });
    expect((await say("What is the cat called?")).reply).toMatchObject({
      content: [{ text: expect.stringContaining("Minka") }],
    });
    const after = (await gateway.session("main"))!;
    expect(after.sessionId).not.toBe(before.sessionId);
    expect(after.branch.filter(({ type }) => type === "message")).toHaveLength(3);
    expect((await gateway.context("main"))!.messages.map(({ preview }) => preview)).toHaveLength(2);
    const listed = await gateway.sessions();
    expect(listed.map(({ sessionId }) => sessionId).sort()).toEqual(
      [before.sessionId, after.sessionId].sort(),
    );
    expect(readFileSync(before.file, "utf8")).not.toContain("Minka");
  });

  it("outside the agent's folder is refused, told in the log, and costs nothing", async () => {
    const { say, command, gateway, log } = await gatewayWith('"HOME/elsewhere"');
    await say("My cat is called Minka.");
    const before = (await gateway.session("main"))!;
    expect((await command("/compact")).ok).toBe(true);
    expect(log.lines.join("\n")).toMatch(
      /warn The session cannot move to the engine's transcript .*stays where it is/,
    );
    expect((await say("What is my cat called?")).reply).toMatchObject({
      content: [{ text: expect.stringContaining("Minka") }],
    });
    expect((await gateway.session("main"))!.sessionId).toBe(before.sessionId);
  });
});
