import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { plainLines } from "../reports/report-lines.ts";
import { createSessionStore } from "../sessions/store.ts";
import { emulatedModel, startTestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";

const WINDOW = 16_000;

/** The home of a session with few short messages, and before them a summary of `chars`. */
async function summarisedHome(chars: number) {
  const home = await temporaryHome();
  const session = await createSessionStore({ home }).open({ key: "main", cwd: home });
  await session.append([
    { type: "message", message: { role: "user", content: "Never delete anything under /srv." } },
    {
      type: "message",
      message: {
        role: "assistant",
        content: [{ type: "text", text: "Noted." }],
        stopReason: "stop",
      },
    },
  ]);
  const lines = Array.from(
    { length: chars / 50 },
    (_, n) => `- decision ${n}: module m${n} keeps table t${n}`,
  );
  const summary = `## Goal\n- build it\n\n${lines.join("\n")}`;
  const firstKeptEntryId = session.branch().at(-1)!.id;
  await session.append([{ type: "compaction", summary, firstKeptEntryId, tokensBefore: 90_000 }]);
  await session.close();
  return home;
}

async function storedReports(home: string): Promise<string> {
  const files = await readdir(home, { recursive: true, withFileTypes: true });
  const reports = files.filter((file) => file.isFile() && file.parentPath.endsWith("reports"));
  const texts = await Promise.all(
    reports.map(({ parentPath, name }) =>
      readFile(join(parentPath, name), "utf8").then(plainLines),
    ),
  );
  return texts.join("");
}

describe("a session whose summary is longer than its model's window", () => {
  it.each([60_000, 100_000, 400_000])(
    "of %i characters answers the next turn, and says where the whole summary is",
    async (chars) => {
      const answers = Array.from({ length: 9 }, (_, n) => ({ text: `answer ${n}` }));
      const server = await createOpenAIEmulator({ answers });
      onTestFinished(() => server.close());
      const home = await summarisedHome(chars);
      const model = emulatedModel(server.baseUrl, { contextWindow: WINDOW });
      const { say, stop } = await startTestGateway(model, home);
      for (const text of ["go on", "and then?"]) {
        const turn = await say(text);
        expect(turn.text).toMatch(/^answer/);
        expect(turn.events.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
      }
      const sent = JSON.stringify(server.requests.at(-1));
      expect(sent).toContain("decision 0:");
      expect(sent).toMatch(/characters of the summary before are left out here; @\w+ is the whole/);
      expect(sent.length).toBeLessThan(3 * WINDOW);
      await stop();
      expect(await storedReports(home)).toContain("the summary before it is too long");
    },
  );
});
