import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { openSession } from "./open.ts";
import { transcriptFile } from "./paths.ts";

const MESSAGES = 300;

/** A session of 20 MB that was never compacted. */
async function writeLargeSession() {
  const home = await temporaryHome();
  const sessionFile = transcriptFile(home, "main", "large");
  const timestamp = new Date(0).toISOString();
  const entries = Array.from({ length: MESSAGES }, (_, index) => {
    const text = `Output ${index}. ${"The tide at the rock was high. ".repeat(2300)}`;
    const message =
      index % 3 === 0
        ? { role: "user", content: `Request ${index}` }
        : index % 3 === 1
          ? {
              role: "assistant",
              content: [{ type: "toolCall", id: `c${index}`, name: "read", arguments: { index } }],
              stopReason: "toolUse",
            }
          : {
              ...{ role: "toolResult", toolCallId: `c${index - 1}`, toolName: "read" },
              content: [{ type: "text", text: text + text + text }],
            };
    const parentId = index === 0 ? null : `m${index - 1}`;
    return { type: "message", id: `m${index}`, parentId, timestamp, message };
  });
  const header = { type: "session", version: 3, id: "large", timestamp, cwd: home };
  await mkdir(dirname(sessionFile), { recursive: true });
  const lines = [header, ...entries].map((line) => `${JSON.stringify(line)}\n`);
  await writeFile(sessionFile, lines.join(""));
  const names = { agentId: "main", sessionKey: "agent:main:large", sessionId: "large" };
  const session = { ...names, sessionFile };
  return { entries, home, sessionFile, open: () => openSession({ session, cwd: home }) };
}

const saysTheSame = (branch: readonly TranscriptEntry[], entries: readonly object[]) =>
  branch.length === entries.length &&
  branch.every((entry, index) => {
    const { message, ...around } = entries[index] as { id: string; message: object };
    const expected = { ...around, message: { ...message, __openclaw: { id: around.id } } };
    return JSON.stringify({ ...entry }) === JSON.stringify(expected);
  });

it("a large session that was never compacted says what its file says, at every opening", async () => {
  const { entries, open: openIt } = await writeLargeSession();
  for (const opening of ["read whole", "by its checkpoint"]) {
    const opened = await openIt();
    expect(saysTheSame(opened.branch(), entries), opening).toBe(true);
    expect(opened.heldBytes(), opening).toBeLessThan(2 ** 20);
    await opened.close();
  }
});

it("a large session that another program changes is refused, not misread", async () => {
  const { sessionFile, open: openIt } = await writeLargeSession();
  const opened = await openIt();
  const bytes = await readFile(sessionFile);
  const at = bytes.indexOf('"id":"m2"');
  const handle = await open(sessionFile, "r+");
  await handle.write('"id":"m9"', at);
  await handle.close();
  expect(() => JSON.stringify(opened.branch())).toThrow(
    expect.objectContaining({ code: "TRANSCRIPT_MOVED" }),
  );
  await opened.close();
});
