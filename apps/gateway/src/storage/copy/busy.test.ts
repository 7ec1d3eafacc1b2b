import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { runClew } from "../../testing/command.ts";
import { startTestGateway, type TestGateway } from "../../testing/gateway.ts";
import { temporaryHome } from "../../testing/home.ts";
import { keptByLossless } from "../../testing/kept-by-lossless.ts";
import type { CopyResult } from "./result.ts";

/** Numbers of messages, by their ids. */
const numbersIn = (home: string) =>
  keptByLossless(home).messages.map(({ seq, conversation, id }) => [seq, conversation, id]);

const SESSIONS = 12;
const COPIES = 3;
/** Its file is read beside others, and nobody opens it. */
const QUIET = 7;

describe.skipIf(whyNoPostgres() !== null)(
  `a copy beside a gateway that writes all the time ${UNLESS_THERE}`,
  () => {
    async function copy(home: string, args: readonly string[]) {
      const { code, output, errors } = await runClew(home, ["storage", "copy", ...args, "--json"]);
      expect(errors).not.toMatch(/\n\s+at /);
      expect([output, errors]).not.toEqual(["", errors]);
      return { code, ...(JSON.parse(output) as CopyResult) };
    }
    /** Says one message after the other, each in any session but a quiet one; all told. */
    function talk(gateway: TestGateway, said: string[][], quiet: number) {
      let isOver = false;
      const talking = Promise.all(
        [0, 1].map(async (client) => {
          // No two write one session, so that the order is known.
          for (let number = 0; !isOver; number++, await after(5)) {
            const session = randomInt(SESSIONS / 2) * 2 + client;
            if (session === quiet) continue;
            const text = `${client}.${number}`;
            const { events } = await gateway.say(text, { session: `s${session}` });
            expect(events.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
            said[session]!.push(text);
          }
        }),
      );
      return {
        async stop() {
          isOver = true;
          await talking;
        },
      };
    }
    async function heldBy(gateway: TestGateway): Promise<string[][]> {
      return Promise.all(
        Array.from({ length: SESSIONS }, async (_, session) => {
          const response = await gateway.get(`/api/sessions/s${session}?limit=100000`);
          const { entries = [] } = (await response.json()) as {
            entries?: { message?: { role: string } }[];
          };
          return entries.flatMap(({ message }) =>
            message?.role === "user" ? [textOf(message as never)] : [],
          );
        }),
      );
    }
    const engine = { plugins: { slots: { contextEngine: "lossless" } }, door: { enabled: false } };
    const onFiles = (home: string) => startTestGateway(engine, home, {}, { withPlugins: true });
    const onPostgres = (home: string, url: string) => {
      const storage = { driver: "postgres", url, address: "http://127.0.0.1:1" };
      return startTestGateway({ ...engine, storage }, home, {}, { withPlugins: true });
    };
    /** Copies some times while it writes, then without it. */
    async function copyBeside(
      gateway: TestGateway,
      said: string[][],
      { home, args, quiet }: { home: string; args: readonly string[]; quiet: number },
    ) {
      const talking = talk(gateway, said, quiet);
      await after(200);
      for (let number = 0; number < COPIES; number++) {
        const { code, left, copied, same } = await copy(home, args);
        // What it has open is named, each of it, and nothing else is missing.
        expect([code, left.length > 0]).toEqual([1, true]);
        for (const { what, why } of left) expect([what, why]).toEqual([what, expect.any(String)]);
        expect(left.length + copied.length + same).toBeGreaterThanOrEqual(1);
      }
      await talking.stop();
      await gateway.stop();
      const last = await copy(home, args);
      expect(last).toMatchObject({ code: 0, left: [] });
      expect(await copy(home, args)).toMatchObject({ code: 0, copied: [], left: [] });
    }

    it("loses nothing into the database and back, and names what is left for the next run", {
      timeout: 180_000,
    }, async () => {
      const url = await testDatabase();
      const [home, other, third] = await Promise.all([0, 1, 2].map(() => temporaryHome()));
      const said = Array.from({ length: SESSIONS }, (): string[] => []);
      const first = await onFiles(home!);
      for (const [session, texts] of said.entries()) {
        await first.say("begun", { session: `s${session}` });
        texts.push("begun");
      }
      await first.stop();
      const intoDatabase = ["--from", "files", "--to", url];
      await copyBeside(await onFiles(home!), said, { home: home!, args: intoDatabase, quiet: -1 });

      const here = await onPostgres(other!, url);
      expect(await heldBy(here)).toEqual(said);
      const backToFiles = ["--from", url, "--to", "files"];
      await copyBeside(here, said, { home: third!, args: backToFiles, quiet: QUIET });
      // What the engine knows of messages came along, under the same numbers.
      expect(numbersIn(third!)).toEqual(numbersIn(other!));
      const again = await onFiles(third!);
      expect(await heldBy(again)).toEqual(said);
      await again.stop();
      expect(numbersIn(third!)).toEqual(numbersIn(other!));

      // The home where all began is brought up to what was said since, byte for byte.
      expect(await copy(home!, backToFiles)).toMatchObject({ code: 0, left: [] });
      const sessions = (folder: string) => join(folder, "agents/main/sessions");
      const args = ["-r", "-x", "*.lock", sessions(home!), sessions(third!)];
      expect(spawnSync("diff", args, { encoding: "utf8" }).stdout).toBe("");
    });
  },
);
