import { existsSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { losslessRows } from "../../testing/lossless-rows.ts";
import { startPluginGateway, startServedGateway } from "../../testing/plugins.ts";

const LOSSLESS = { plugins: { slots: { contextEngine: "lossless" } } };

async function homeWithSessions() {
  const home = await temporaryHome();
  await writeFile(join(home, "clew.json"), JSON.stringify(LOSSLESS));
  const { say, stop } = await startPluginGateway(LOSSLESS, home);
  for (const session of ["main", "other"])
    for (const text of ["Remember marigold.", "And 17."]) await say(text, { session });
  await stop();
  return home;
}

const filesIn = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );

describe("clew lossless export and import", () => {
  it("take sessions to another home and back, to the byte", async () => {
    const home = await homeWithSessions();
    const out = join(home, "out");
    const told = await clew(home, ["lossless", "export", "--to", out]);
    expect(told).toMatchObject({ code: 0 });
    expect(told.output).toMatch(/^Exported \d+ messages of .* into 2 session files in /);

    const other = await temporaryHome();
    await writeFile(join(other, "clew.json"), JSON.stringify(LOSSLESS));
    const imported = await clew(other, ["lossless", "import", out, "--json"]);
    expect(imported.code).toBe(0);
    const { files } = JSON.parse(imported.output);
    expect(files).toHaveLength(2);
    expect(losslessRows(other).map(({ message }) => message)).toHaveLength(
      losslessRows(home).length,
    );
    expect(await clew(other, ["lossless", "verify"])).toMatchObject({ code: 0 });
    const back = join(other, "back");
    expect(await clew(other, ["lossless", "export", "--to", back])).toMatchObject({ code: 0 });
    expect(filesIn(back)).toEqual(filesIn(out));

    const { say, stop } = await startServedGateway(LOSSLESS, other);
    const { text } = await say("/lossless status");
    expect(text).toMatch(/^This session: [1-9]\d* messages of 1 conversation\.$/m);
    await stop();
  });

  it("make no database of what is typed wrong", async () => {
    const home = await temporaryHome();
    await writeFile(join(home, "some.txt"), "no session");
    for (const [file, code, said] of [
      [join(home, "nothing"), 1, "There is nothing at "],
      [join(home, "some.txt"), 2, "is no session file"],
    ] as const) {
      const told = await clew(home, ["lossless", "import", file]);
      expect([told.code, told.errors]).toEqual([code, expect.stringContaining(said)]);
    }
    expect(existsSync(join(home, "agents", "main", "clew-lossless"))).toBe(false);
  });

  it("reads a session's own transcript, of which nothing is new", async () => {
    const home = await homeWithSessions();
    const sessions = join(home, "agents", "main", "sessions");
    const told = await clew(home, ["lossless", "import", sessions]);
    expect(told.output).toMatch(/^Imported 0 messages from 2 session files into /);
    expect(told.code).toBe(0);
  });

  it("writes one session, by its short name, its key or its id", async () => {
    const home = await homeWithSessions();
    for (const name of ["other", "agent:main:other"]) {
      const out = join(home, name.replaceAll(":", "-"));
      const told = await clew(home, [
        ...["lossless", "export", "--to", out, "--session", name, "--json"],
      ]);
      const [{ files }] = JSON.parse(told.output).databases;
      expect(files).toMatchObject([{ sessionKey: "agent:main:other" }]);
      const [id] = readdirSync(out);
      const again = await clew(home, [
        ...["lossless", "export", "--to", `${out}-id`, "--session", id!.replace(".jsonl", "")],
      ]);
      expect(again.code).toBe(0);
    }
    const none = await clew(home, [
      ...["lossless", "export", "--to", join(home, "none"), "--session", "nobody"],
    ]);
    expect(none).toMatchObject({ code: 1 });
    expect(none.output).toContain('Nothing of a session "agent:main:nobody" is stored in ');
  });

  it("stores files under a session's name, and names lines that cannot be read", async () => {
    const home = await temporaryHome();
    const timestamp = "2026-01-01T00:00:00.000Z";
    const lines = [
      JSON.stringify({ type: "session", version: 3, id: "pi", timestamp, cwd: "" }),
      JSON.stringify({
        ...{ type: "message", id: "a", parentId: null, timestamp },
        message: { role: "user", content: "hello" },
      }),
      '{"type":"mess',
    ];
    await writeFile(join(home, "pi.jsonl"), lines.join("\n"));
    const told = await clew(home, [
      ...["lossless", "import", join(home, "pi.jsonl"), "--session", "from pi"],
    ]);
    expect(told.code).toBe(1);
    expect(told.output).toContain("its last line is half written.");
    const out = join(home, "out");
    await clew(home, ["lossless", "export", "--to", out, "--session", "from pi"]);
    expect(readFileSync(join(out, "pi.jsonl"), "utf8")).toContain("hello");
  });

  it("say what is wrong with what was typed", async () => {
    const home = await temporaryHome();
    await writeFile(join(home, "no.jsonl"), "hello\n");
    for (const [args, code, said] of [
      [["export"], 2, "--to <folder> is missing"],
      [["export", "--to", "x", "--agent", "nobody"], 2, 'There is no agent "nobody"'],
      [["import", join(home, "none.jsonl")], 1, "There is nothing at "],
      [["import", join(home, "no.jsonl")], 2, "is no session file: "],
    ] as const) {
      const told = await clew(home, ["lossless", ...args]);
      expect([told.code, told.errors]).toEqual([code, expect.stringContaining(said)]);
    }
    const agents = { list: [{ id: "main" }, { id: "writer" }] };
    const plugins = { entries: { lossless: { config: { databasePath: join(home, "all.db") } } } };
    await writeFile(join(home, "clew.json"), JSON.stringify({ agents, plugins }));
    expect(await clew(home, ["lossless", "import", join(home, "no.jsonl")])).toMatchObject({
      ...{ code: 2, errors: expect.stringContaining("say by --agent whose these are") },
    });
  });
});
