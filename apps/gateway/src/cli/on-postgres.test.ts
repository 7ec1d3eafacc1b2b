// Runs commands in a home whose sessions are in PostgreSQL.
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../packages/store-postgres/src/testing/shared.ts";
import { clew, runClew } from "../testing/command.ts";
import { post, startTestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { freePort } from "../testing/killed-gateways.ts";
import { NEED_FILES } from "./needs-files.ts";

describe.skipIf(whyNoPostgres() !== null)(
  `commands of a home whose sessions are in PostgreSQL ${UNLESS_THERE}`,
  () => {
    let home: string;
    let config: Record<string, unknown>;
    let prepared: Promise<void> | undefined;
    const prepare = async () => {
      home = await temporaryHome({ keep: true });
      const port = await freePort();
      const storage = { driver: "postgres", url: await testDatabase() };
      config = { gateway: { port }, storage };
      await writeFile(join(home, "clew.json"), JSON.stringify(config));
      const gateway = await startTestGateway(config, home, {}, { port });
      for (const text of ["My cat is called Minka.", "And my dog is Rex."]) await gateway.say(text);
      await gateway.say("Something else.", { session: "other" });
      await gateway.stop();
    };
    /** Once; in a test, as what starts a gateway ends it with one. */
    const ready = () => {
      prepared ??= prepare();
      return prepared;
    };
    async function told(...args: string[]): Promise<string> {
      const { code, output, errors } = await clew(home, args);
      expect([args.join(" "), code, errors.includes("clew: error")]).toEqual([
        ...[args.join(" "), 0, false],
      ]);
      return output;
    }
    const json = async (...args: string[]) => JSON.parse(await told(...args, "--json"));
    const keys = async () =>
      (await json("sessions", "list")).sessions.map(({ key }: { key: string }) => key).sort();

    it("show, find and write down what was said", async () => {
      await ready();
      expect(await keys()).toEqual(["agent:main:main", "agent:main:other"]);
      expect(await told("sessions", "show", "main")).toContain("Minka");
      expect(await told("sessions", "tail", "main", "--lines", "2")).toContain("Rex");
      expect(await told("sessions", "search", "Minka")).toContain("main");
      const file = join(home, "written.md");
      await told("sessions", "export", "main", "--out", file);
      expect(await readFile(file, "utf8")).toContain("And my dog is Rex.");
      expect(await told("inspect", "main")).toContain("2");
    });

    it("list sizes as files have them, and name no file", async () => {
      await ready();
      const { sessions } = await json("sessions", "list");
      for (const { key, bytes, file } of sessions) {
        const shown = await json("sessions", "show", key);
        expect([bytes, file]).toEqual([(await stat(shown.file)).size, undefined]);
      }
    });

    it("tell what calls cost, those of a home that has no gateway, too", async () => {
      await ready();
      const elsewhere = await temporaryHome();
      await writeFile(join(elsewhere, "clew.json"), JSON.stringify(config));
      for (const place of [home, elsewhere]) {
        const { code, output } = await clew(place, ["usage", "--json"]);
        expect(code).toBe(0);
        expect(JSON.parse(output).total.modelCalls).toBe(3);
      }
      expect((await json("sessions", "usage", "main")).total.modelCalls).toBe(2);
      expect((await clew(home, ["usage", "nobody"])).errors).toContain("SESSION_NOT_FOUND");
    });

    it("say which engine answers, and play sessions again", async () => {
      await ready();
      expect(await told("engine", "status", "main")).toContain("legacy");
      expect(await told("engine", "retry", "main")).not.toBe("");
      expect(await told("replay", "main")).toContain("2");
      expect(await told("whatif", "main", "--engine", "lossless")).toContain("2 calls");
      expect(await told("compare", "main", "--engines", "legacy,lossless")).toContain("lossless");
    });

    it("end when they are done, as programs", async () => {
      await ready();
      for (const args of [
        ["sessions", "tail", "main"],
        ["usage"],
        ["whatif", "main", "--engine", "legacy"],
        ["sessions", "rename", "other", "Others"],
      ])
        expect((await runClew(home, args)).code, args.join(" ")).toBe(0);
    });

    it("let a page play a session, too", async () => {
      await ready();
      const port = await freePort();
      const gateway = await startTestGateway(config, home, {}, { port });
      const asked = post({ engine: "lossless", contextWindow: 32_000 });
      const answer = await (await gateway.get("/api/sessions/main/whatif", asked)).text();
      expect(answer).toContain('"type":"done"');
      await gateway.stop();
    });

    it("leave shadow engines what they are to play, at each gateway", async () => {
      await ready();
      const port = await freePort();
      const shadowed = { agents: { defaults: { shadowEngine: "lossless" } } };
      const gateway = await startTestGateway({ ...config, ...shadowed }, home, {}, { port });
      await gateway.say("And a bird.", { session: "shadowed" });
      await gateway.gateway.shadows.settled();
      const shadow = await (await gateway.get("/api/sessions/shadowed/shadow")).json();
      expect(shadow.calls).toHaveLength(1);
      await gateway.stop();
      const elsewhere = await startTestGateway(
        { ...config, ...shadowed },
        undefined,
        {},
        {
          port: await freePort(),
        },
      );
      await elsewhere.say("And a fish.", { session: "shadowed" });
      await elsewhere.gateway.shadows.settled();
      const both = await (await elsewhere.get("/api/sessions/shadowed/shadow")).json();
      expect(both.calls).toHaveLength(2);
      await elsewhere.stop();
      await told("sessions", "delete", "shadowed", "--yes");
    });

    it("fork, name and delete sessions, also where no gateway runs", async () => {
      await ready();
      await told("sessions", "fork", "main", "copy");
      expect(await told("sessions", "show", "copy")).toContain("Rex");
      await told("sessions", "rename", "copy", "Pets");
      expect(await told("sessions", "show", "Pets")).toContain("Minka");
      const taken = await clew(home, ["sessions", "rename", "other", "Pets"]);
      expect([taken.code, taken.errors]).toEqual([2, expect.stringContaining("already")]);
      const port = (config.gateway as { port: number }).port;
      const gateway = await startTestGateway(config, home, {}, { port });
      await gateway.say("And a bird.", { session: "copy" });
      await gateway.stop();
      expect(await told("sessions", "show", "copy")).toContain("And a bird.");
      await told("sessions", "delete", "Pets", "--yes");
      expect(await keys()).toEqual(["agent:main:main", "agent:main:other"]);
      expect((await clew(home, ["sessions", "delete", "copy"])).errors).toContain("NOT_FOUND");
    });

    it.each([...NEED_FILES])("%s says what to do instead", async (name, instead) => {
      await ready();
      const words = name.split(" ").slice(1);
      const given = ["import", "rollback", "migrate", "repair"].includes(words.at(-1)!)
        ? ["something"]
        : [];
      const { code, errors } = await clew(home, [...words, ...given]);
      expect(code).not.toBe(0);
      expect(errors).toContain("HOST_CAPABILITY_MISSING");
      expect(errors).toContain(instead);
    });
  },
);
