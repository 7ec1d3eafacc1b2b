import { existsSync } from "node:fs";
import { appendFile, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { runSql } from "../../../../../packages/store-postgres/src/testing/server.ts";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { sharedMark } from "../../costs/share-costs.ts";
import { clew } from "../../testing/command.ts";
import { emulatedModel, startTestGateway } from "../../testing/gateway.ts";
import { temporaryHome } from "../../testing/home.ts";

const QUIET = { door: { enabled: false } };
const TALK = ["Hello.", "And now?"];

describe.skipIf(whyNoPostgres() !== null)(`copying what calls cost ${UNLESS_THERE}`, () => {
  const copy = async (home: string, ...words: string[]) => {
    const { code, output } = await clew(home, ["storage", "copy", "--json", ...words]);
    return { code, ...JSON.parse(output) };
  };
  /** Of a home whose gateway made some calls, and is gone. */
  async function homeThatSpent(settings: object = {}): Promise<string> {
    const gateway = await startTestGateway({ ...QUIET, ...settings }, await temporaryHome());
    for (const text of TALK) await gateway.say(text);
    await gateway.stop();
    return gateway.home;
  }
  const callsTold = async (home: string) => {
    const { output } = await clew(home, ["usage", "--json"]);
    return JSON.parse(output).total.modelCalls;
  };
  const onDatabase = (url: string) => ({
    ...{ ...QUIET, storage: { driver: "postgres", url, address: "http://127.0.0.1:1" } },
  });
  const linesAt = async (url: string) => {
    const rows = await runSql(url, "select body from cost_line order by home, day, start");
    return (rows as { body: string }[]).map(({ body }) => body).join("");
  };
  const linesOf = async (home: string) => {
    const names = (await readdir(join(home, "costs"))).filter((name) => name.endsWith(".jsonl"));
    const texts = await Promise.all(
      names.sort().map((name) => readFile(join(home, "costs", name), "utf8")),
    );
    return texts.join("");
  };

  it("counts at another gateway what a session cost before, though its old home never starts again", async () => {
    const url = await testDatabase();
    const server = await createEmulator("openai-completions", { answers: [{ text: "Fine." }] });
    onTestFinished(() => server.close());
    const priced = emulatedModel(server.baseUrl, { cost: { input: 3, output: 15 } });
    const old = await homeThatSpent(priced);
    expect(await copy(old, "--to", url, "--check")).toMatchObject({ code: 1, costDays: 1 });
    expect(existsSync(sharedMark(old))).toBe(false);
    expect(await copy(old, "--to", url)).toMatchObject({ code: 0, costDays: 1 });
    const caps = { gateway: { costCaps: { sessionDollars: 1e-9 } } };
    const next = await startTestGateway({ ...onDatabase(url), ...priced, ...caps });
    const { events } = await next.say("And here?");
    expect(events.at(-1)).toMatchObject({
      error: {
        code: "COST_CAP_REACHED",
        message: expect.stringContaining("in the home of the gateway that has the session"),
      },
    });
    expect(await (await next.get("/api/usage")).json()).toMatchObject({
      total: { modelCalls: TALK.length },
    });
    await next.stop();
  });

  it("counts nothing twice where it is copied again, goes on, or the old home's gateway starts", async () => {
    const url = await testDatabase();
    const old = await homeThatSpent();
    await copy(old, "--to", url);
    expect(await linesAt(url)).toBe(await linesOf(old));
    expect(await copy(old, "--to", url)).toMatchObject({ code: 0, costDays: 0 });
    expect(await copy(old, "--to", url, "--check")).toMatchObject({ code: 0, costDays: 0 });
    // As where it was ended before it was known to be there.
    await rm(sharedMark(old));
    expect(await copy(old, "--to", url)).toMatchObject({ code: 0, costDays: 1 });
    expect(await linesAt(url)).toBe(await linesOf(old));
    const again = await startTestGateway(onDatabase(url), old);
    await again.say("Once more.");
    await again.stop();
    expect(await linesAt(url)).toBe(await linesOf(old));
    expect(await callsTold(old)).toBe(TALK.length + 1);
  });

  it("leaves a line that is being written, and brings it when it is whole", async () => {
    const url = await testDatabase();
    const old = await homeThatSpent();
    await copy(old, "--to", url);
    const [day = ""] = (await readdir(join(old, "costs"))).filter((name) =>
      name.endsWith(".jsonl"),
    );
    const file = join(old, "costs", day);
    await appendFile(file, '{"kind":"played","v":1,');
    expect(await copy(old, "--to", url, "--check")).toMatchObject({ code: 0, costDays: 0 });
    await appendFile(file, '"at":"2026-03-04T12:00:00Z","session":"agent:main:main"}\n');
    expect(await copy(old, "--to", url)).toMatchObject({ code: 0, costDays: 1 });
    expect(await linesAt(url)).toBe(await linesOf(old));
  });

  it("says on the way back that what other homes spent stays in the database", async () => {
    const url = await testDatabase();
    const old = await homeThatSpent();
    await copy(old, "--to", url);
    const stays = (home: string) => copy(home, "--from", url, "--to", "files");
    const costs = "What model calls of other homes cost";
    expect((await stays(await temporaryHome())).stays).toMatchObject([{ what: costs }]);
    expect((await stays(old)).stays).toEqual([]);
  });
});
