import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../packages/store-postgres/src/testing/shared.ts";
import { clew } from "../testing/command.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";

describe.skipIf(whyNoPostgres() !== null)(
  `commands on sessions in PostgreSQL ${UNLESS_THERE}`,
  () => {
    async function world() {
      const home = await temporaryHome();
      const url = await testDatabase();
      const storage = { driver: "postgres", url, address: "http://127.0.0.1:1" };
      const config = { storage, door: { enabled: false } };
      await writeFile(join(home, "clew.json"), JSON.stringify(config));
      const gateway = await startTestGateway(config, home);
      await gateway.say("My cat is called Minka.");
      return { home, gateway };
    }

    it("list, show, export and inspect them, whether a gateway runs or not", async () => {
      const { home, gateway } = await world();
      const told = async () => {
        const outputs: string[] = [];
        for (const args of [
          ...[
            ["sessions", "list"],
            ["sessions", "show", "main"],
            ["sessions", "export", "main"],
          ],
          ["inspect", "main"],
        ]) {
          const { output, code } = await clew(home, args);
          expect([args, code]).toEqual([args, 0]);
          outputs.push(output);
        }
        return outputs;
      };
      const [list, show, markdown, calls] = await told();
      expect(list).toMatch(/^main /m);
      for (const text of [show, markdown]) expect(text).toContain("My cat is called Minka.");
      expect(calls).toMatch(/1 call/);
      await gateway.stop();
      expect((await told()).slice(1, 3)).toEqual([show, markdown]);
    });

    it("search them, whether a gateway runs or not", async () => {
      const { home, gateway } = await world();
      await gateway.say("Its dog is at src/dog.ts:12.", { session: "other" });
      const found = async (...args: string[]) => {
        const { output } = await clew(home, ["sessions", "search", ...args, "--json"]);
        return JSON.parse(output).found.map(({ session }: { session: string }) => session);
      };
      for (const isRunning of [true, false]) {
        if (!isRunning) await gateway.stop();
        expect(await found("called MINKA")).toContain("agent:main:main");
        expect(await found("cat minka", "--words")).toContain("agent:main:main");
        expect(await found("src/\\w+\\.ts:\\d+", "--regex")).toContain("agent:main:other");
        expect(await found("src/dog", "--session", "main")).toEqual([]);
      }
      expect((await clew(home, ["sessions", "search", "lighthouse"])).code).toBe(1);
    });

    it.each([
      ["sessions", "import", "file.jsonl"],
      ["lossless", "verify"],
    ])("that work on files are refused: %s %s", async (...args) => {
      const { home } = await world();
      const { code, errors } = await clew(home, args);
      expect(code).not.toBe(0);
      expect(errors).toMatch(/storage\.driver is "postgres"/);
    });

    it("that would write them without a gateway are refused", async () => {
      const { home, gateway } = await world();
      await gateway.stop();
      for (const args of [
        ["chat", "hello"],
        ["sessions", "compact", "main"],
      ]) {
        const { code, errors } = await clew(home, args);
        expect([args.join(" "), code]).not.toEqual([args.join(" "), 0]);
        expect(errors).toMatch(/clew start/);
      }
    });

    it("start no gateway where the database is not there, or nobody could find the gateway", async () => {
      const { home, gateway } = await world();
      await gateway.stop();
      const start = async (storage: object, ...more: string[]) => {
        const config = { storage: { driver: "postgres", ...storage }, door: { enabled: false } };
        await writeFile(join(home, "clew.json"), JSON.stringify(config));
        return clew(home, ["start", ...more]);
      };
      const away = await start({ url: "postgres://ann:hush-hush@127.0.0.1:1/clew" });
      expect([away.code, away.errors]).toEqual([1, expect.stringContaining("Nobody answers as")]);
      expect(away.errors).not.toContain("hush");
      const unnamed = await start({});
      expect([unnamed.code, unnamed.errors]).toEqual([1, expect.stringContaining("storage.url")]);
      const nowhere = await start({ url: await testDatabase() }, "--port", "0");
      expect([nowhere.code, nowhere.errors]).toEqual([
        1,
        expect.stringContaining("storage.address"),
      ]);
    });
  },
);
