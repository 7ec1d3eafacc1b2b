import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { transcriptFile } from "./paths.ts";

const DEEP = `${'{"a":['.repeat(20_000)}1${"]}".repeat(20_000)}`;

it.each([
  ["before the context", "c"],
  ["in the context", "deep"],
])(
  "an entry nested 40,000 levels deep %s ends no session, and its line stays",
  async (_where, kept) => {
    const home = await temporaryHome();
    const file = transcriptFile(home, "main", "odd");
    const timestamp = new Date(0).toISOString();
    const entry = (id: string, parentId: string | null, more: object) =>
      JSON.stringify({ type: "message", id, parentId, timestamp, ...more });
    const text = (id: string, parentId: string | null, said: string) =>
      entry(id, parentId, { message: { role: "user", content: said } });
    const deep = entry("deep", "q", {
      message: { role: "user", content: "Look inside.", details: 0 },
    }).replace('"details":0', `"details":${DEEP}`);
    const lines = [
      JSON.stringify({
        ...{ type: "session", version: 3, id: "odd", timestamp, cwd: home },
        sessionKey: "agent:main:odd",
      }),
      text("q", null, "Hello."),
      deep,
      text("c", "deep", "The latest."),
      entry("s", "c", {
        ...{ type: "compaction", summary: "A greeting.", firstKeptEntryId: kept },
        tokensBefore: 100,
      }),
    ];
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${lines.join("\n")}\n`);

    const { say, get } = await startTestGateway({}, home);
    for (const said of ["Are you there?", "And now?"])
      expect((await say(said, { session: "odd" })).events.at(-1)).toMatchObject({
        outcome: "completed",
      });
    const page = await (await get("/api/sessions/odd?limit=100")).text();
    expect(page).toContain("Look inside.");
    expect((await readFile(file, "utf8")).split("\n")).toContain(deep);
  },
);
