// When the index of sessions is read anew.
import { mkdirSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { readIndex } from "./index-file.ts";
import { agentPaths } from "./paths.ts";

/** As another process writes it, `at` a time in ms. */
function write(home: string, sessionId: string, at: number): void {
  const { index } = agentPaths(home, "main");
  mkdirSync(dirname(index), { recursive: true });
  writeFileSync(`${index}.draft`, JSON.stringify({ "agent:main:main": { sessionId } }));
  utimesSync(`${index}.draft`, at / 1000, at / 1000);
  renameSync(`${index}.draft`, index);
}

const idIn = async (home: string) =>
  (await readIndex(home, "main"))?.["agent:main:main"]?.sessionId;

it("the index is parsed once, however often it is asked", async () => {
  const home = await temporaryHome();
  write(home, "s1", Date.now() - 5_000);
  const first = await readIndex(home, "main");
  expect(first).not.toBeNull();
  expect(await readIndex(home, "main")).toBe(first);
});

it("what another process wrote is seen at once, also within one tick of the clock", async () => {
  const home = await temporaryHome();
  const now = Date.now();
  for (const at of [now - 5_000, now - 4_000, now, now, now]) {
    const sessionId = `s${at}-${Math.random().toString(36).slice(2, 8).padEnd(6, "x")}`;
    write(home, sessionId, at);
    expect(await idIn(home)).toBe(sessionId);
  }
});

it("an index that is gone or damaged is none, whatever was read before", async () => {
  const home = await temporaryHome();
  write(home, "s1", Date.now() - 5_000);
  expect(await idIn(home)).toBe("s1");
  writeFileSync(agentPaths(home, "main").index, "{");
  expect(await readIndex(home, "main")).toBeNull();
});
