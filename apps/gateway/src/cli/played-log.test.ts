// What commands that play recordings write into the log of the home.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { calls, reply, result, user, writeRecording } from "../testing/recording.ts";

const RECORDING = Array.from({ length: 12 }, (_, at) => [
  user(`question ${at}`),
  calls(`c${at}`),
  result(`c${at}`, "tide and time ".repeat(900)),
  reply(`answer ${at}`),
]).flat();

const logOf = (home: string) => readFile(join(home, "logs/gateway.log"), "utf8").catch(() => "");

it("a session that is only played leaves no line in the home's log", async () => {
  const home = await temporaryHome();
  const file = await writeRecording(home, RECORDING);
  const window = ["--context-window", "16000"];
  for (const args of [
    ["compare", file, "--engines", "legacy,lossless", ...window],
    ["replay", file, ...window],
    ["replay", file, "--engine", "lossless", ...window],
  ]) {
    const { code, errors } = await clew(home, args);
    expect([code, errors]).toEqual([0, expect.any(String)]);
  }
  expect(await logOf(home)).toBe("");
});

it("a recording that is played into a home is told in the log of that home", async () => {
  const [home, into] = [await temporaryHome(), await temporaryHome()];
  const file = await writeRecording(home, RECORDING);
  const args = ["--context-window", "16000", "--into", into];
  expect((await clew(home, ["replay", file, ...args])).code).toBe(0);
  expect(await logOf(home)).toBe("");
  expect(await logOf(into)).toContain("agent:main:");
});
