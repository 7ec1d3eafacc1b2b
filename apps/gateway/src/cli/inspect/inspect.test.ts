import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSessionStore } from "../../sessions/store.ts";
import { clew, runClew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { reply, user, writeRecording } from "../../testing/recording.ts";

const BOAT = "the boat waited for the tide. ";

/** A session that a replay had to compact: the first note names a key. */
async function compactedHome() {
  const home = await temporaryHome();
  const notes = Array.from({ length: 12 }, (_, index) => [
    user(`Note ${index + 1}${index === 0 ? ", KEY-4711" : ""}: ${BOAT.repeat(250)}`),
    reply(`Noted ${index + 1}.`),
  ]).flat();
  const file = await writeRecording(home, notes);
  const replay = await clew(home, [
    ...["replay", file, "--into", home, "--context-window", "16000", "--json"],
  ]);
  expect(replay.code).toBe(0);
  const inspect = (...args: string[]) => clew(home, ["inspect", "replay-recorded", ...args]);
  return { home, inspect };
}

describe("clew inspect", () => {
  it("lists every call with what became of the entries", async () => {
    const { inspect } = await compactedHome();
    const { code, output } = await inspect();
    expect(code).toBe(0);
    expect(output).toMatch(/^call +sent +of budget +shown +in summaries/);
    expect(output).toMatch(/compaction: [\d,]+ entries → [\d,]+ tokens/);
    expect(output).toContain("12 calls in 12 turns");
    const { calls } = JSON.parse((await inspect("--json")).output);
    expect(calls).toHaveLength(12);
    for (const { fates } of calls)
      expect(fates.shown + fates.summary + fates.cleared + fates.leftOut).toBe(fates.all);
  });

  it("tells of one call, of two, and of the request itself", async () => {
    const { inspect } = await compactedHome();
    const call = await inspect("--call", "12.1");
    expect(call.output).toMatch(
      /Summary [0-9a-f]+ by compaction, [\d,]+ tokens, covers \d+ entries/,
    );
    expect(call.output).toContain("can be made again to the byte");
    const diff = await inspect("--diff", "11.1", "--call", "12.1");
    expect(diff.output).toMatch(/^From call 11\.1 .* to call 12\.1/);
    expect(diff.output).toMatch(/\n\+ {2}messages \d+/);
    const request = JSON.parse((await inspect("--call", "12.1", "--request")).output);
    expect(request).toMatchObject({ isSame: true, rebuiltHash: request.requestHash });
  });

  it("finds what a model could read, the call in which it was lost, and what took it", async () => {
    const { inspect } = await compactedHome();
    const found = await inspect("--find", "KEY-4711");
    expect(found.output).toMatch(/^"KEY-4711" is said in 1 entry: 1\./);
    expect(found.output).toMatch(/The model could read it in calls 1\.1 to \d+\.1/);
    const trace = await inspect("--entry", "1");
    expect(trace.output).toMatch(/calls 1\.1 to \d+\.1 \(\d+\): shown as it is stored/);
    expect(trace.output).toMatch(/: in summary [0-9a-f]+$/m);
    const lost = await inspect("--bisect", BOAT);
    expect(lost.output).toContain("can still be read");
    const bisect = await inspect("--bisect", `Note 1, KEY-4711: ${BOAT.repeat(9)}`);
    expect(bisect.output).toMatch(
      /was last shown in call \d+\.1 and is gone in calls \d+\.1 to 12\.1 \(\d+\): compaction: .*entry 1: in summary/,
    );
  });

  it("says in one sentence what is not there", async () => {
    const { home, inspect } = await compactedHome();
    const answers = await Promise.all([
      inspect("--call", "99.1"),
      inspect("--entry", "999"),
      inspect("--bisect", "nobody said this"),
      clew(home, ["inspect", "nobody"]),
      clew(home, ["inspect", "nowhere/x.jsonl"]),
    ]);
    expect(answers.map(({ code }) => code)).toEqual([1, 1, 1, 1, 1]);
    for (const { errors } of answers) expect(errors).toMatch(/^[^\n]+$/);
    const { file } = (await createSessionStore({ home }).find("replay-recorded"))!;
    expect((await clew(home, ["inspect", file])).code).toBe(0);
    await rm(join(home, "agents/main/reports"), { recursive: true });
    expect((await clew(home, ["inspect", file])).errors).toContain("has no reports beside it");
    expect((await inspect()).errors).toContain("No model call of session");
  });

  it("runs as a command of its own", async () => {
    const { home } = await compactedHome();
    const { code, output } = await runClew(home, ["inspect", "replay-recorded"]);
    expect([code, output.split("\n").length]).toEqual([0, 16]);
  });
});
