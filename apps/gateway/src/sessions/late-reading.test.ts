import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { transcriptFile } from "./paths.ts";

/** A compacted session of more than a mebibyte, of which the last two messages were kept. */
async function writeLongSession(home: string): Promise<string> {
  const file = transcriptFile(home, "main", "long");
  const timestamp = new Date(0).toISOString();
  const header = {
    type: "session",
    version: 3,
    id: "long",
    timestamp,
    cwd: home,
    sessionKey: "agent:main:long",
  };
  const messages = Array.from({ length: 400 }, (_, index) => {
    const text = `Message ${index}. ${"The tide at the rock was high. ".repeat(100)}`;
    const message =
      index % 2 === 0
        ? { role: "user", content: text }
        : { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" };
    const parentId = index === 0 ? null : `m${index - 1}`;
    return { type: "message", id: `m${index}`, parentId, timestamp, message };
  });
  const compaction = {
    ...{ type: "compaction", id: "c", parentId: "m399", timestamp },
    ...{ summary: "All about tides.", firstKeptEntryId: "m398", tokensBefore: 300_000 },
  };
  await mkdir(dirname(file), { recursive: true });
  const lines = [header, ...messages, compaction].map((line) => `${JSON.stringify(line)}\n`);
  await writeFile(file, lines.join(""));
  return file;
}

it("what lies before the context of an open session is read by no turn", async () => {
  const home = await temporaryHome();
  const file = await writeLongSession(home);
  const { say, get } = await startTestGateway({}, home);
  const session = "long";
  expect((await say("Are you there?", { session })).events.at(-1)).toMatchObject({
    outcome: "completed",
  });

  // Whoever read a message from here would say so.
  const bytes = await readFile(file);
  const from = bytes.indexOf("Message 0.");
  const to = bytes.indexOf("Message 300.");
  const handle = await open(file, "r+");
  await handle.write(Buffer.alloc(to - from, "x"), 0, to - from, from);
  await handle.close();

  expect((await say("And now?", { session })).events.at(-1)).toMatchObject({
    outcome: "completed",
  });
  // The edit was noticed: from now on the file is read as it is.
  const page = (await (await get("/api/sessions/long?limit=1000")).json()) as {
    entries: unknown[];
  };
  expect(page.entries.length).toBeGreaterThan(100);
});
