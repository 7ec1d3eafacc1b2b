// The lossless engine behind a gateway, where its database cannot be used for a while.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TurnResult } from "@clew/engine-core";
import { describe, expect, it } from "vitest";
import { startChild } from "../testing/child.ts";
import { temporaryHome } from "../testing/home.ts";
import { losslessRows } from "../testing/lossless-rows.ts";
import { type PluginGateway, startPluginGateway } from "../testing/plugins.ts";

const SELECTED = { slots: { contextEngine: "lossless" } };

const start = (home: string, plugins: object = SELECTED) => startPluginGateway({ plugins }, home);
const fileIn = (home: string) => join(home, "agents/main/clew-lossless/lossless.db");

async function saidIn({ gateway }: PluginGateway): Promise<string[]> {
  const { branch } = (await gateway.session("main"))!;
  return branch.flatMap(({ type, id }) => (type === "message" ? [id] : []));
}

async function expectComplete(started: PluginGateway, home: string): Promise<void> {
  const stored = losslessRows(home).map(({ id }) => id);
  expect(stored.sort()).toEqual((await saidIn(started)).sort());
}

function expectLegacy({ outcome, report: { engine } }: TurnResult, why: string): void {
  expect(outcome).toBe("completed");
  expect(engine.degraded?.reason).toMatch(
    new RegExp(`^The lossless engine cannot use its database \\S+: ${why}[^.]*\\.$`),
  );
}

describe("a database that another program holds", () => {
  it("is told of in one sentence while legacy answers, and holds everything with the next message", async () => {
    const home = await temporaryHome();
    const started = await start(home);
    const { say } = started;
    await say("one");
    const other = new DatabaseSync(fileIn(home));
    other.exec("BEGIN IMMEDIATE");
    expectLegacy(await say("two"), "another program is writing to it");
    expectLegacy(await say("three"), "another program is writing to it");
    other.exec("COMMIT");
    other.close();
    expect(losslessRows(home)).toHaveLength(2);
    expect((await say("four")).report.engine).toMatchObject({ ran: "lossless", degraded: null });
    await expectComplete(started, home);
  });

  it("is used again with the next message by itself, where failures are to be tried again", async () => {
    const home = await temporaryHome();
    const entries = { lossless: { failurePolicy: "retry-next-turn" } };
    const started = await start(home, { ...SELECTED, entries });
    await started.say("one");
    const other = new DatabaseSync(fileIn(home));
    other.exec("BEGIN IMMEDIATE");
    expectLegacy(await started.say("two"), "another program is writing to it");
    other.exec("COMMIT");
    other.close();
    expect((await started.say("three")).report.engine).toMatchObject({ degraded: null });
    await expectComplete(started, home);
  });
});

describe("a database that cannot be written", () => {
  it("is told of while legacy answers, and holds everything with the first message that can be", async () => {
    const home = await temporaryHome();
    const first = await start(home);
    await first.say("one");
    await first.stop();
    // Where SQLite can make no journal it writes nothing, whoever asks.
    mkdirSync(`${fileIn(home)}-wal`);
    const second = await start(home);
    for (const text of ["two", "three"]) expectLegacy(await second.say(text), "it is read-only");
    rmSync(`${fileIn(home)}-wal`, { recursive: true });
    const { report } = await second.say("four");
    expect(report.engine).toMatchObject({ ran: "lossless", degraded: null });
    await expectComplete(second, home);
  });
});

describe("a database that is none any more", () => {
  it("is told of in one sentence while legacy answers, and a new one holds everything", async () => {
    const home = await temporaryHome();
    const first = await start(home);
    await first.say("one");
    await first.stop();
    for (const suffix of ["-wal", "-shm"]) rmSync(fileIn(home) + suffix, { force: true });
    writeFileSync(fileIn(home), "this is no database ".repeat(100));
    const second = await start(home);
    expectLegacy(await second.say("two"), "it is no database");
    await second.stop();
    rmSync(fileIn(home));
    const third = await start(home);
    expect((await third.say("three")).report.engine).toMatchObject({ degraded: null });
    await expectComplete(third, home);
  });
});

describe("two gateways whose agents share a database", () => {
  it("both keep all that their sessions say", async () => {
    const [one, other] = [await temporaryHome(), await temporaryHome()];
    const databasePath = join(one, "shared.db");
    const plugins = { ...SELECTED, entries: { lossless: { config: { databasePath } } } };
    const child = startChild(new URL("../testing/lossless-turns.ts", import.meta.url), [
      other,
      JSON.stringify({ plugins }),
    ]);
    await child.nextLine();
    const started = await start(one, plugins);
    for (let turn = 0; turn < 15; turn++)
      expect((await started.say(`turn ${turn}`)).report.engine.degraded).toBeNull();
    child.process.kill("SIGKILL");
    await child.exit;
    const db = new DatabaseSync(databasePath);
    const stored = new Set(
      db
        .prepare("SELECT id FROM message")
        .all()
        .map(({ id }) => String(id)),
    );
    db.close();
    expect((await saidIn(started)).filter((id) => !stored.has(id))).toEqual([]);
    expect(stored.size).toBeGreaterThan(30);
    expect(child.lines.length).toBeGreaterThan(1);
  });
});
