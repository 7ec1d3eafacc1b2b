import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "../sessions/open.ts";
import { transcriptFile } from "../sessions/paths.ts";
import { checkSessions } from "./check-sessions.ts";

const agentId = "main";

async function sessionWith(home: string, sessionId: string, texts: readonly string[]) {
  const sessionKey = `agent:${agentId}:${sessionId}`;
  const sessionFile = transcriptFile(home, agentId, sessionId);
  const session = await openSession({
    session: { agentId, sessionId, sessionKey, sessionFile },
    cwd: "",
  });
  await session.append(
    texts.map((content) => ({ type: "message", message: { role: "user", content } })),
  );
  return session;
}

const countIn = async (home: string) =>
  (await checkSessions({ home, fix: false })).find(({ code }) => code === "sessions")?.text;

describe("the doctor's count of sessions", () => {
  it("leaves out those that are open, and says so", async () => {
    const home = mkdtempSync(join(tmpdir(), "check-sessions-"));
    const open = await sessionWith(home, "one", ["a", "b"]);
    expect(await countIn(home)).toBe("1 transcript, open and not looked at");
    await (await sessionWith(home, "two", ["c"])).close();
    expect(await countIn(home)).toBe(
      "2 transcripts: 1 open and not looked at, 1 entry in the others",
    );
    await open.close();
    expect(await countIn(home)).toBe("2 transcripts, 3 entries");
  });
});
