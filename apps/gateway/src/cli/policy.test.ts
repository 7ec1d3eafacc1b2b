import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { policyApply, policyCheck } from "./policy.ts";
import { repairSession } from "./repair.ts";

const folder = mkdtempSync(join(tmpdir(), "clew-policy-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

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

/** What a command printed. */
function captured() {
  const out: string[] = [];
  const err: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => out.push(String(text)) > 0);
  vi.spyOn(process.stderr, "write").mockImplementation((text) => err.push(String(text)) > 0);
  return { out: () => out.join(""), err: () => err.join("") };
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
    const printed = captured();
    expect(await policyCheck(file, CLAUDE)).toBe(0);
    expect(printed.out()).toContain("would accept them as they are");
  });

  it("names the rule and the message of a history that would be rejected, and exits 1", async () => {
    const file = write("orphan.jsonl", [user, orphan]);
    const printed = captured();
    expect(await policyCheck(file, { ...CLAUDE, json: true })).toBe(1);
    expect(JSON.parse(printed.out()).faults[0]).toMatchObject({
      index: 1,
      rule: expect.stringContaining("orphan"),
    });
  });

  it("prints the history that would be sent instead, and every change with its reason", async () => {
    const file = write("apply.jsonl", [user, orphan]);
    const printed = captured();
    expect(await policyApply(file, CLAUDE)).toBe(0);
    const sent = printed
      .out()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(sent).toEqual([expect.objectContaining({ role: "user" })]);
    expect(printed.err()).toMatch(/dropped message 1 \(.*\): /);
  });
});

describe("clew sessions repair", () => {
  it("shows what it would do, then does it, and finds nothing the second time", async () => {
    const file = write("broken.jsonl", [user], "{ not json\n");
    const before = readFileSync(file, "utf8");
    const printed = captured();
    expect(await repairSession(file, { dryRun: true })).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(await repairSession(file, {})).toBe(0);
    expect(readFileSync(file, "utf8")).not.toContain("not json");
    expect(await repairSession(file, {})).toBe(0);
    expect(printed.out()).toMatch(
      /Would repair:\n {2}1 lines that are no entries[\s\S]*Repaired:[\s\S]*in order/,
    );
  });

  it("says so when there is no such file", async () => {
    await expect(repairSession(join(folder, "none.jsonl"), {})).rejects.toMatchObject({
      code: "FILE_NOT_FOUND",
    });
  });
});
