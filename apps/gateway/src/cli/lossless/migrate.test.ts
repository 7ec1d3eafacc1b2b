import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { clew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { losslessRows } from "../../testing/lossless-rows.ts";
import { startServedGateway } from "../../testing/plugins.ts";

const LOSSLESS = { plugins: { slots: { contextEngine: "lossless" } } };

/** A database with the tables that are read first, and messages of two agents. */
function writeClaw(path: string): void {
  const db = new DatabaseSync(path);
  db.exec(`
    CREATE TABLE conversations (
      conversation_id INTEGER PRIMARY KEY, session_id TEXT, session_key TEXT, active INTEGER
    );
    CREATE TABLE messages (
      message_id INTEGER PRIMARY KEY, conversation_id INTEGER, seq INTEGER, role TEXT, content TEXT,
      created_at TEXT
    );
    INSERT INTO conversations VALUES (1, 'old', 'agent:main:main', 1), (2, 'w', 'agent:writer:main', 1);
    INSERT INTO messages VALUES
      (1, 1, 1, 'user', 'The word is marigold.', '2026-01-01 00:00:00'),
      (2, 1, 2, 'assistant', 'Noted.', '2026-01-01 00:00:01'),
      (3, 2, 1, 'user', 'Of another agent.', '2026-01-01 00:00:02');
  `);
  db.close();
}

async function homeWithClaw() {
  const home = await temporaryHome();
  const file = join(home, "lcm.db");
  writeClaw(file);
  return { home, file };
}

describe("clew lossless migrate", () => {
  it("carries sessions to their agents, and says what stays behind", async () => {
    const { home, file } = await homeWithClaw();
    await writeFile(
      join(home, "openclaw.json"),
      `{ plugins: { entries: { "lossless-claw": { config: { ignoreSessionPatterns: ["x:**"], freshTailCount: 64 } } } } }`,
    );
    const args = ["lossless", "migrate", file, "--config", join(home, "openclaw.json")];
    const told = await clew(home, args);
    expect(told).toMatchObject({ code: 0 });
    expect(told.output).toContain("Carried 2 messages and 0 summaries of 1 conversation in ");
    expect(told.output).toContain(
      "  the session agent:writer:main is of an agent that is not configured here.",
    );
    expect(told.output).toContain(
      `clew config set plugins.entries.lossless.config.ignoreSessionPatterns '["x:**"]'`,
    );
    expect(told.output).toContain("Setting freshTailCount has no counterpart: ");
    expect(losslessRows(home).map(({ id }) => id)).toEqual([
      ...["lossless-claw:1:1", "lossless-claw:1:2"],
    ]);
    const again = JSON.parse((await clew(home, [...args, "--json"])).output);
    expect(again).toMatchObject({ messages: 2, added: 0 });

    const { say, stop } = await startServedGateway(LOSSLESS, home);
    await say("What was the word?");
    const { text } = await say("/lossless status");
    expect(text).toMatch(/^This session: \d+ messages of 2 conversations\.$/m);
    await stop();
  });

  it("makes all of it one agent's where that is asked for, and only tells with --dry-run", async () => {
    const { home, file } = await homeWithClaw();
    const args = ["lossless", "migrate", file, "--agent", "main"];
    const told = await clew(home, [...args, "--dry-run"]);
    expect(told.output).toContain("Would carry 3 messages and 0 summaries of 2 conversations in ");
    expect(existsSync(join(home, "agents", "main", "clew-lossless"))).toBe(false);
    expect(await clew(home, args)).toMatchObject({ code: 0 });
    expect(losslessRows(home)).toHaveLength(3);
  });

  it("says what is wrong with what was typed", async () => {
    const { home, file } = await homeWithClaw();
    await writeFile(join(home, "some.txt"), "no database ".repeat(900));
    await writeFile(join(home, "bad.json"), "{ plugins: ");
    for (const [args, code, said] of [
      [[join(home, "none.db")], 1, "There is no file "],
      [[join(home, "some.txt")], 2, "it is no SQLite database"],
      [[file, "--agent", "nobody"], 2, 'There is no agent "nobody"'],
      [[file, "--config", join(home, "bad.json")], 2, "is no JSON5"],
      [[file, "--config", join(home, "none.json")], 1, "There is nothing at "],
    ] as const) {
      const told = await clew(home, ["lossless", "migrate", ...args]);
      expect([told.code, told.errors]).toEqual([code, expect.stringContaining(said)]);
    }
  });
});
