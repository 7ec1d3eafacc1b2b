import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { collectOutput } from "../testing/command.ts";
import { policyApply, policyCheck } from "./policy.ts";
import { repairSession } from "./repair.ts";

const folder = mkdtempSync(join(tmpdir(), "clew-policy-"));
afterAll(() => rmSync(folder, { recursive: true }));

const HEADER = {
  type: "session",
  version: 3,
  id: "s",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/",
};

function write(name: string, messages: object[], broken = ""): string {
  const lines = messages.map((message, index) => ({
    type: "message",
    id: `m${index}`,
    parentId: index === 0 ? null : `m${index - 1}`,
    timestamp: "2026-01-01T00:00:00.000Z",
    message,
  }));
  const file = join(folder, name);
  writeFileSync(
    file,
    `${[HEADER, ...lines].map((line) => JSON.stringify(line)).join("\n")}\n${broken}`,
  );
  return file;
}

const user = { role: "user", content: "hi", timestamp: 1 };
const orphan = {
  role: "toolResult",
  toolCallId: "lost",
  toolName: "t",
  content: [{ type: "text", text: "?" }],
  isError: false,
  timestamp: 2,
};
const CLAUDE = { provider: "anthropic", model: "claude-opus-4-6" };

describe("clew policy", () => {
  it("says that a sound history would be accepted", async () => {
    const file = write("sound.jsonl", [user]);
    const output = collectOutput();
    expect(await policyCheck(file, CLAUDE, { output })).toBe(0);
    expect(output.out()).toContain("would accept the history as it is");
  });

  it.each([
    [{ provider: "antropic", model: "claude-opus-5-5" }, 'Did you mean "anthropic"?'],
    [{ ...CLAUDE, api: "anthropic-mesages" }, 'Did you mean "anthropic-messages"?'],
    [{ provider: "nobody-at-all", model: "m" }, "Known: offline"],
  ])("refuses names that nobody knows: %j", async (options, words) => {
    const file = write("names.jsonl", [user]);
    await expect(policyCheck(file, options, { output: collectOutput() })).rejects.toMatchObject({
      code: "REQUEST_INVALID",
      message: expect.stringContaining(words),
    });
  });

  it("says what it took for granted of a model that nobody recorded", async () => {
    const file = write("unrecorded.jsonl", [user]);
    const output = collectOutput();
    const options = { provider: "groq", model: "brand-new" };
    expect(await policyCheck(file, options, { output })).toBe(0);
    expect(output.errors()).toContain('Nobody recorded the model "brand-new"');
  });

  it("names the rule and the message of a history that would be rejected, and exits 1", async () => {
    const file = write("orphan.jsonl", [user, orphan]);
    const output = collectOutput();
    expect(await policyCheck(file, { ...CLAUDE, json: true }, { output })).toBe(1);
    expect(JSON.parse(output.out()).faults[0]).toMatchObject({
      index: 1,
      rule: expect.stringContaining("orphan"),
    });
  });

  it("prints the history that would be sent instead, and every change with its reason", async () => {
    const file = write("apply.jsonl", [user, orphan]);
    const output = collectOutput();
    expect(await policyApply(file, CLAUDE, { output })).toBe(0);
    const sent = output
      .out()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    // As it would be sent: without the id, which is the host's.
    expect(sent).toEqual([user]);
    expect(output.errors()).toMatch(/dropped message 1 \(.*\): /);
  });
});

describe("clew sessions repair", () => {
  it("shows what it would do, then does it, and finds nothing the second time", async () => {
    const file = write("broken.jsonl", [user], "{ not json\n");
    const before = readFileSync(file, "utf8");
    const output = collectOutput();
    expect(await repairSession(file, { dryRun: true }, { output })).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(await repairSession(file, {}, { output })).toBe(0);
    expect(readFileSync(file, "utf8")).not.toContain("not json");
    expect(await repairSession(file, {}, { output })).toBe(0);
    expect(output.out()).toMatch(
      /Would repair:\n {2}1 line that is not an entry[\s\S]*Repaired:[\s\S]*in order/,
    );
  });

  it("says so when there is no such file", async () => {
    await expect(
      repairSession(join(folder, "none.jsonl"), {}, { output: collectOutput() }),
    ).rejects.toMatchObject({
      code: "FILE_NOT_FOUND",
    });
  });
});
