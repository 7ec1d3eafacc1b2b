// What is forgotten stands nowhere in a database, nor in the home whose command forgot it.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { runSql } from "../../../../../packages/store-postgres/src/testing/server.ts";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { unpackPart } from "../../reports/packed-part.ts";
import { plainLines } from "../../reports/report-lines.ts";
import { clew, startClew } from "../../testing/command.ts";
import { emulatedModel, startTestGateway } from "../../testing/gateway.ts";
import { temporaryHome } from "../../testing/home.ts";
import { scratchRecordFile } from "../scratch-place.ts";

const SECRET = "Zanzibar-4711";
/** Of any case, as the index spells what was said. */
const TRACE = /anzibar\W?4711/i;

async function settings(url: string | undefined) {
  const server = await createOpenAIEmulator({
    answers: ({ body }) => {
      const newest = JSON.stringify((body as { messages: unknown[] }).messages.at(-1));
      return { text: newest.includes("secret") ? `The secret is ${SECRET}.` : "noted" };
    },
  });
  onTestFinished(() => server.close());
  return {
    ...emulatedModel(server.baseUrl, { contextWindow: 24_000 }),
    plugins: {
      slots: { contextEngine: "lossless" },
      entries: { lossless: { config: { summaries: "code" } } },
    },
    ...(url !== undefined && { storage: { driver: "postgres", url } }),
  };
}

/** Tables with a text, or bytes, that hold it. */
async function tablesHolding(url: string): Promise<string[]> {
  const columns = (await runSql(
    url,
    `select table_schema as s, table_name as t, column_name as c, data_type as k
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
       and data_type in ('text', 'jsonb', 'bytea')`,
  )) as { s: string; t: string; c: string; k: string }[];
  const found: string[] = [];
  for (const { s, t, c, k } of columns) {
    const value = k === "bytea" ? `encode("${c}", 'escape')` : `"${c}"::text`;
    const rows = (await runSql(url, `select ${value} as v from "${s}"."${t}"`)) as { v: string }[];
    if (rows.some(({ v }) => v !== null && TRACE.test(plainLines(v)))) found.push(`${t}.${c}`);
  }
  return [...new Set(found)].sort();
}

/** Files below it that hold it, packed or not. */
async function filesHolding(home: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of readdirSync(home, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const bytes = readFileSync(file);
    const text = await unpackPart(bytes).catch(() => plainLines(bytes.toString("latin1")));
    if (TRACE.test(text) || TRACE.test(bytes.toString("latin1")))
      found.push(file.slice(home.length + 1));
  }
  return found;
}

describe.skipIf(whyNoPostgres() !== null)(`forgetting in PostgreSQL ${UNLESS_THERE}`, () => {
  const open = (home: string, config: object) =>
    startTestGateway(config as Record<string, unknown>, home, {}, { withPlugins: true });
  const write = (home: string, config: object) =>
    writeFileSync(join(home, "clew.json"), JSON.stringify(config));
  const long = (at: number) => `Log entry ${at}. ${`Wind ${at} from the west. `.repeat(80)}`;

  /** Said in files, copied over, and gone on with in the database; one session said none of it. */
  async function movedHome() {
    const url = await testDatabase();
    const home = await temporaryHome();
    const onFiles = await settings(undefined);
    write(home, onFiles);
    const before = await open(home, onFiles);
    await before.say(`Remember: ${SECRET}.`);
    await before.say("What is the secret?");
    await before.say("Nothing of it here.", { session: "other" });
    await before.stop();
    const folder = join(home, "agents/main/sessions");
    for (const name of readdirSync(folder).filter((each) => each.endsWith(".jsonl")))
      copyFileSync(join(folder, name), join(folder, `${name}.reset.2026-01-01`));
    expect((await clew(home, ["storage", "copy", "--to", url])).code).toBe(0);
    const config = await settings(url);
    write(home, config);
    const gateway = await open(home, config);
    for (let at = 0; at < 6; at++) await gateway.say(long(at));
    await gateway.say(`And again the secret, ${SECRET}?`);
    await gateway.say(`Somebody quotes ${SECRET}.`, { session: "side" });
    await gateway.say("/compact");
    await gateway.stop();
    return { url, home, config };
  }
  const forget = (home: string, ...args: string[]) => clew(home, ["lossless", "forget", ...args]);

  it("leaves no word of it in any table, and none in the home", async () => {
    const { url, home, config } = await movedHome();
    const held = ["engine_row.body", "entry.body", "kept_file.body", "search.text"];
    expect(await tablesHolding(url)).toEqual(expect.arrayContaining(held));
    const dry = await forget(home, "--text", SECRET);
    expect(dry).toMatchObject({ code: 0 });
    expect(dry.output).toContain("PostgreSQL at");
    expect(await tablesHolding(url)).toEqual(expect.arrayContaining(held));
    const untouched = await runSql(
      url,
      "select e.body from entry e join session s on s.id = e.session_id where s.key like '%other'",
    );
    const done = await forget(home, "--text", SECRET, "--yes");
    expect([done.code, done.errors]).toEqual([0, expect.not.stringContaining("clew:")]);
    expect(await tablesHolding(url)).toEqual([]);
    expect(await filesHolding(home)).toEqual([]);
    expect(readdirSync(home)).not.toContain("forgetting");
    expect(
      await runSql(
        url,
        "select e.body from entry e join session s on s.id = e.session_id where s.key like '%other'",
      ),
    ).toEqual(untouched);
    expect((await forget(home, "--text", SECRET)).code).toBe(1);
    expect((await clew(home, ["sessions", "search", "Wind 3"])).output).toContain("main");
    expect((await clew(home, ["sessions", "search", SECRET])).output).not.toContain("main");

    const gateway = await open(home, config);
    expect((await gateway.say("Go on.")).events.at(-1)).toMatchObject({ outcome: "completed" });
    await gateway.stop();
    expect(await tablesHolding(url)).toEqual([]);
    expect((await clew(home, ["sessions", "show", "main"])).output).toContain("Wind 3");
    expect((await clew(home, ["doctor"])).output).not.toContain("forgetting");
  });

  it("takes a session whole, and what was left of one that was deleted", async () => {
    const { url, home } = await movedHome();
    expect((await clew(home, ["sessions", "delete", "side", "--yes"])).code).toBe(0);
    expect((await forget(home, "--session", "side", "--yes")).code).toBe(0);
    const naming = "select day from cost_line where body like '%agent:main:main%'";
    expect(await runSql(url, naming)).toHaveLength(1);
    expect((await forget(home, "--session", "main", "--yes")).code).toBe(0);
    expect(await runSql(url, naming)).toEqual([]);
    expect(await tablesHolding(url)).toEqual([]);
    expect(await filesHolding(home)).toEqual([]);
    const { output } = await clew(home, ["sessions", "list", "--json"]);
    expect(JSON.parse(output).sessions.map(({ key }: { key: string }) => key)).toEqual([
      "agent:main:other",
    ]);
    expect((await forget(home, "--session", "main", "--yes")).errors).toContain("NOT_FOUND");
  });

  it("is not needed for what sessions said that were deleted, also such as came from files", async () => {
    const { url, home } = await movedHome();
    // Copies of session files that were put away before are of no session.
    await runSql(url, "delete from kept_file where place like '%.reset.%'");
    const parts = async () => (await runSql(url, "select 1 from part")).length;
    const before = await parts();
    expect((await clew(home, ["sessions", "delete", "main", "side", "--yes"])).code).toBe(0);
    expect(await tablesHolding(url)).toEqual([]);
    // The kept reports of the other session name all of them: it was sent the same tools.
    expect([before > 0, await parts()]).toEqual([true, before]);
    const shown = await clew(home, ["sessions", "show", "other"]);
    expect(shown.output).toContain("Nothing of it here.");
    expect((await clew(home, ["sessions", "delete", "other", "--yes"])).code).toBe(0);
    expect(await parts()).toBe(0);
  });

  it("waits for all gateways of the database, and lets another home clean what it has", async () => {
    const { url, home, config } = await movedHome();
    const elsewhere = await temporaryHome();
    write(elsewhere, config);
    const gateway = await open(elsewhere, config);
    await gateway.say("Go on here.");
    const refused = await forget(home, "--text", SECRET, "--yes");
    expect([refused.code, refused.errors]).toEqual([
      expect.any(Number),
      expect.stringContaining("GATEWAY_RUNNING"),
    ]);
    expect(refused.code).not.toBe(0);
    expect((await forget(home, "--text", SECRET)).code).toBe(0);
    await gateway.stop();
    expect((await forget(home, "--text", SECRET, "--yes")).code).toBe(0);
    expect(await tablesHolding(url)).toEqual([]);
    expect((await filesHolding(elsewhere)).length).toBeGreaterThan(0);
    expect((await forget(elsewhere, "--text", SECRET, "--yes")).code).toBe(0);
    expect(await filesHolding(elsewhere)).toEqual([]);
    const again = await open(elsewhere, config);
    await again.say("And on.");
    await again.stop();
    expect(await filesHolding(elsewhere)).toEqual([]);
    expect(await tablesHolding(url)).toEqual([]);
  });

  it("takes messages that wait, and what jobs said", async () => {
    const url = await testDatabase();
    const home = await temporaryHome();
    const config = await settings(url);
    write(home, config);
    mkdirSync(join(home, "agents"), { recursive: true });
    const gateway = await open(home, config);
    await gateway.say("Hello.");
    await gateway.stop();
    const body = JSON.stringify({
      ...{ id: "w1", idempotencyKey: "k1", content: `Say ${SECRET}.`, whenBusy: "follow" },
      at: new Date(0).toISOString(),
    });
    await runSql(
      url,
      `insert into inbox (agent_id, key, id, place, node, message_id, body)
       values ('main', 'agent:main:main', 'k1', 1, gen_random_uuid(), 'w1', '${body}')`,
    );
    await runSql(
      url,
      `insert into cron_job (id, created_at, body) values ('j', 1, '${JSON.stringify({
        ...{ v: 1, id: "j", session: "agent:main:main", message: "m", schedule: "every 1h" },
        ...{ timeZone: "UTC", kind: "cron", enabled: false, createdAt: 1, enabledAt: 1 },
        ...{ maxLateMinutes: 1, askedAt: 0 },
      })}')`,
    );
    await runSql(
      url,
      `insert into cron_run (id, started_at, due, body) values ('j', 5, 5, '${JSON.stringify({
        ...{ due: 5, startedAt: 5, endedAt: 6, outcome: "completed", missed: 0 },
        answer: `I said ${SECRET}.`,
      })}'), ('j', 7, 7, '${JSON.stringify({
        ...{ due: 7, startedAt: 7, endedAt: 8, outcome: "completed", missed: 0 },
      })}')`,
    );
    expect((await tablesHolding(url)).sort()).toEqual(["cron_run.body", "inbox_row.body"]);
    expect((await forget(home, "--text", SECRET, "--yes")).code).toBe(0);
    expect(await tablesHolding(url)).toEqual([]);
    expect(await runSql(url, "select started_at::float8 as at from cron_run")).toEqual([{ at: 7 }]);
  });

  it("ends what a killed process was forgetting", async () => {
    const { url, home, config } = await movedHome();
    const child = startClew(home, ["lossless", "forget", "--text", SECRET, "--yes"]);
    await vi.waitFor(() => expect(existsSync(scratchRecordFile(home))).toBe(true), {
      ...{ timeout: 60_000, interval: 1 },
    });
    child.process.kill("SIGKILL");
    await child.exit;
    if (existsSync(scratchRecordFile(home))) {
      expect((await clew(home, ["doctor"])).output).toContain("put-back.json");
      expect((await forget(home, "--text", SECRET)).errors).toContain("--resume");
      expect((await forget(home, "--resume")).code).toBe(0);
    }
    expect(await tablesHolding(url)).toEqual([]);
    expect(await filesHolding(home)).toEqual([]);
    const gateway = await open(home, config);
    expect((await gateway.say("Go on.")).events.at(-1)).toMatchObject({ outcome: "completed" });
    await gateway.stop();
  });
});
