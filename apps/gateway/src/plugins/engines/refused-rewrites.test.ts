// Rewrites of a session file that an engine of a plugin asks for and does not get.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { engineCode, startPluginGateway, writePlugin } from "../../testing/plugins.ts";

/** A gateway whose engine does this after each turn; `rewrite` tells what became of it. */
async function startWithEngine(afterTurn: string) {
  const home = await temporaryHome();
  const answers = join(home, "answers");
  const code = engineCode(
    "rewriter",
    `afterTurn: async ({ sessionFile, runtimeContext }) => {
      const bytes = () => readFileSync(sessionFile, "utf8");
      const rewrite = async (message) => {
        const [entry] = bytes().trim().split("\\n").map((line) => JSON.parse(line)).filter(({ type }) => type === "message");
        const before = bytes();
        const answer = await Promise.resolve({ replacements: [{ entryId: entry.id, message }] })
          .then(runtimeContext.rewriteTranscriptEntries)
          .catch((error) => error.message);
        appendFileSync(${JSON.stringify(answers)}, JSON.stringify({ answer, same: bytes() === before }) + "\\n");
        return answer;
      };
      ${afterTurn}
    },`,
  );
  const folder = writePlugin(join(home, "sources/rewriter"), {
    id: "rewriter",
    code: `import { appendFileSync, readFileSync } from "node:fs";\n${code}`,
  });
  const plugins = {
    load: { paths: [folder] },
    slots: { contextEngine: "rewriter" },
    entries: { rewriter: { timeoutSeconds: 0.3 } },
  };
  const { gateway, say, stop, log } = await startPluginGateway({ plugins }, home);
  const file = async () => readFileSync((await gateway.session("main"))!.file);
  const answered = () => {
    const lines = readFileSync(answers, { encoding: "utf8", flag: "a+" }).split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  };
  return { home, say, stop, log, file, answered };
}

describe("a rewrite by a call that is over", () => {
  it("is refused, and the session file stays as it was, byte for byte", async () => {
    const { say, file, answered } = await startWithEngine(`
      await new Promise((resolve) => setTimeout(resolve, 900));
      await rewrite({ role: "user", content: "REWRITTEN" });
    `);
    const { report } = await say("hello");
    expect(report.engine.degraded).toMatchObject({ operation: "afterTurn" });
    const before = await file();
    const calls = report.engineCalls.filter(
      ({ method, outcome }) => method === "afterTurn" && outcome !== "fallback",
    ).length;
    expect(calls).toBeGreaterThan(0);
    await expect.poll(() => answered().length).toBe(calls);
    expect(answered()).toEqual(
      Array(calls).fill({
        answer:
          "runtimeContext.rewriteTranscriptEntries was lent to a call of afterTurn() that is over; nothing was done.",
        same: true,
      }),
    );
    expect((await file()).equals(before)).toBe(true);
    expect((await say("again")).outcome).toBe("completed");
    expect((await file()).subarray(0, before.length).equals(before)).toBe(true);
    expect((await file()).includes("REWRITTEN")).toBe(false);
  });
});

describe("a rewrite to what is no message", () => {
  it.each([
    [`{ role: "banana" }`, /replacements\[0\]\.message\.role is "banana"; expected one of/],
    [`{ role: "user", content: null }`, /replacements\[0\]\.message\.content is null; expected/],
    [`{ role: "user" }`, /replacements\[0\]\.message\.content/],
    ["null", /replacements\[0\]\.message is null/],
  ])("is refused in words, and nothing is written: %s", async (message, sentence) => {
    const { home, say, stop, answered } = await startWithEngine(`await rewrite(${message});`);
    const { report } = await say("hello");
    expect(report.engine.degraded).toBeNull();
    expect(answered()).toEqual([{ answer: expect.stringMatching(sentence), same: true }]);
    expect(answered()[0].answer).toMatch(/^Nothing was rewritten: /);
    await stop();
    const { output } = await clew(home, ["doctor", "--json"]);
    const codes = JSON.parse(output).findings.map(({ code }: { code: string }) => code);
    expect(codes).not.toContain("session-unreadable-lines");
    expect((await clew(home, ["sessions", "show", "main"])).output).toContain("hello");
  });

  it("is a failure of the engine that lets it pass, and named", async () => {
    const { say } = await startWithEngine(`throw new Error(await rewrite({ role: "banana" }));`);
    const { report } = await say("hello");
    expect(report.engine.degraded).toMatchObject({
      operation: "afterTurn",
      reason: expect.stringContaining('replacements[0].message.role is "banana"'),
    });
  });
});
