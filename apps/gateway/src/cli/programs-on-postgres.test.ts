// Runs what shells, agents and operators start in homes whose sessions are in PostgreSQL.
import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../packages/store-postgres/src/testing/shared.ts";
import { clew, runClew, startClew } from "../testing/command.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { keptByLossless } from "../testing/kept-by-lossless.ts";
import { freePort } from "../testing/killed-gateways.ts";

const lossless = { plugins: { slots: { contextEngine: "lossless" } } };

/** Two gateways of one database, of which each has said something in a session of its own. */
async function twoHomes(engine: Record<string, unknown> = {}) {
  const storage = { driver: "postgres", url: await testDatabase() };
  const make = async () => {
    const [home, port] = [await temporaryHome(), await freePort()];
    const config = { ...engine, storage, gateway: { port } };
    await writeFile(join(home, "clew.json"), JSON.stringify(config));
    const say = async (session: string, ...texts: string[]) => {
      const gateway = await startTestGateway(config, home, {}, { port, withPlugins: true });
      for (const text of texts) await gateway.say(text, { session });
      await gateway.stop();
    };
    return { home, say };
  };
  const [one, two] = [await make(), await make()];
  await one.say("main", "My cat is called Minka.");
  await two.say("harbour", "The harbour is closed.");
  return { one, two };
}

describe.skipIf(whyNoPostgres() !== null)(
  `programs in a home whose sessions are in PostgreSQL ${UNLESS_THERE}`,
  () => {
    it("clew mcp finds and reads sessions of all gateways, and ends with its input", async () => {
      const { one } = await twoHomes();
      const child = startClew(one.home, ["mcp"]);
      let id = 0;
      const ask = async (method: string, params: object) => {
        const request = { jsonrpc: "2.0", id: ++id, method, params };
        child.process.stdin!.write(`${JSON.stringify(request)}\n`);
        return JSON.stringify(JSON.parse(await child.nextLine()).result);
      };
      const call = (name: string, args: object) => ask("tools/call", { name, arguments: args });
      const client = { name: "test", version: "1" };
      await ask("initialize", {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: client,
      });
      expect(await call("describe_sessions", {})).toMatch(/harbour.*main|main.*harbour/s);
      expect(await call("search_sessions", { query: "harbour" })).toContain("is closed");
      expect(await call("read_session", { session: "main" })).toContain("Minka");
      child.process.stdin!.end();
      expect(await child.exit).toBe(0);
    });

    it("the Tab key offers sessions of all gateways, and jobs", async () => {
      const { one, two } = await twoHomes();
      expect(
        (await clew(two.home, ["cron", "add", "every 30m", "hello", "--id", "news"])).code,
      ).toBe(0);
      const words = async (...typed: string[]) =>
        (await runClew(one.home, ["complete-words", "--", ...typed])).output.split("\n");
      expect(await words("sessions", "show", "ha")).toEqual(["harbour"]);
      expect(await words("cron", "run", "")).toEqual(["news"]);
    });

    it("clew lossless says that a store has what was opened at its home", async () => {
      const { one, two } = await twoHomes(lossless);
      const told = /has those that its gateway has opened; .*"clew storage copy --to FOLDER"/;
      for (const command of ["status", "doctor", "backup", "backups"]) {
        const { code, errors } = await clew(one.home, ["lossless", command]);
        expect([command, code]).toEqual([command, 0]);
        expect(errors).toMatch(told);
      }
      const folder = join(await temporaryHome(), "exported");
      const harbour = await clew(one.home, [
        "lossless",
        "export",
        "--to",
        folder,
        "--session",
        "harbour",
      ]);
      expect(harbour.code).toBe(1);
      expect(harbour.errors).toMatch(told);
      expect((await clew(two.home, ["lossless", "export", "--to", folder])).code).toBe(0);
      expect(await readdir(folder)).toHaveLength(1);
    });

    it("a store that was restored goes on under the numbers that the database has", async () => {
      const { one } = await twoHomes(lossless);
      await clew(one.home, ["lossless", "backup"]);
      const { output } = await clew(one.home, ["lossless", "backups", "--json"]);
      const copy: string = JSON.parse(output).databases[0].backups[0].file;
      await one.say("main", "And my dog is Rex.");
      const numbers = () =>
        new Map(keptByLossless(one.home).messages.map(({ id, seq }) => [id, Number(seq)]));
      const before = numbers();
      const restored = await clew(one.home, ["lossless", "restore", copy]);
      expect(restored.code, restored.errors).toBe(0);
      expect(numbers().size).toBeLessThan(before.size);
      await one.say("main", "And a bird.");
      const after = numbers();
      for (const [id, seq] of before) expect([id, after.get(id)]).toEqual([id, seq]);
    });
  },
);

it("the Tab key does not wait for a database that says nothing", async () => {
  let left = 0;
  const server = createServer((socket) => void socket.once("close", () => left++));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const home = await temporaryHome();
  const storage = { driver: "postgres", url: `postgres://nobody@127.0.0.1:${port}/none` };
  await writeFile(join(home, "clew.json"), JSON.stringify({ storage }));
  const { output } = await clew(home, ["complete-words", "--", "replay", ""]);
  expect([output, left]).toEqual([":files", 0]);
});
