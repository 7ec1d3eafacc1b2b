import { appendFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CostShelf } from "@clew/store-postgres";
import fc from "fast-check";
import { expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { costsFolder } from "./ledger.ts";
import { planShare, shareCosts } from "./share-costs.ts";
import { unnameCosts } from "./unname.ts";

/** As a database keeps it, which may be away, also once it has stored what it was given. */
function shelfInMemory() {
  const days = new Map<string, { upto: number; text: string }>();
  let fails: "no" | "before" | "behind" = "no";
  const asked = async <Answer>(work: () => Answer): Promise<Answer> => {
    if (fails === "before") throw new Error("away");
    const answer = work();
    if (fails === "behind") throw new Error("away");
    return answer;
  };
  const shelf: CostShelf = {
    kept: () => asked(() => new Map([...days].map(([day, { upto }]) => [day, upto]))),
    put: ({ day, from, to, text }) =>
      asked(() => {
        const before = days.get(day) ?? { upto: 0, text: "" };
        if (before.upto === from) days.set(day, { upto: to, text: before.text + text });
      }),
    drop: (day) =>
      asked(() => {
        if (day === null) days.clear();
        else days.delete(day);
      }),
  };
  const text = (day: string) => days.get(day)?.text ?? "";
  const fail = (how: typeof fails) => {
    fails = how;
  };
  return { shelf, text, fail };
}

const DAYS = ["2026-03-04", "2026-03-05"] as const;
const never = 2 ** 30;

it("what is written down comes to others whole and once, whatever fails in between", async () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({
        do: fc.constant("append" as const),
        day: fc.constantFrom(...DAYS),
        text: fc.constantFrom("a\n", "bb\n", "torn", "\n", `${"c".repeat(70_000)}\n`),
      }),
      fc.record({
        do: fc.constant("share" as const),
        fails: fc.constantFrom("no" as const, "before" as const, "behind" as const),
      }),
      fc.constant({ do: "restart" as const }),
    ),
    { maxLength: 12 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (done) => {
      const home = await temporaryHome();
      const file = (day: string) => join(costsFolder(home), `${day}.jsonl`);
      await mkdir(costsFolder(home));
      const { shelf, text, fail } = shelfInMemory();
      const start = () => shareCosts({ home, place: "db", shelf, everyMs: never });
      let sharing = start();
      for (const step of done) {
        if (step.do === "append") await appendFile(file(step.day), step.text);
        else if (step.do === "restart") sharing = start();
        else {
          fail(step.fails);
          await sharing.share();
        }
      }
      fail("no");
      await sharing.close();
      for (const day of DAYS) {
        const whole = (await readFile(file(day), "utf8").catch(() => "")).replace(/[^\n]*$/, "");
        expect(text(day)).toBe(whole);
      }
    }),
    { numRuns: fc.readConfigureGlobal().numRuns! / 10 },
  );
});

it("a file that is shorter than what is there is brought anew", () => {
  const files = DAYS.map((day, at) => ({ day, path: day, size: 10 * (at + 1) }));
  expect(
    planShare(
      files,
      new Map([
        [DAYS[0], 10],
        [DAYS[1], 30],
      ]),
    ),
  ).toEqual([{ day: DAYS[1], path: DAYS[1], from: 0, isOther: true }]);
  expect(planShare(files, new Map([[DAYS[1], 5]]))).toEqual([
    { day: DAYS[0], path: DAYS[0], from: 0, isOther: false },
    { day: DAYS[1], path: DAYS[1], from: 5, isOther: false },
  ]);
});

it("what names were taken out of, and what another database has not, is brought anew", async () => {
  const home = await temporaryHome();
  const file = join(costsFolder(home), `${DAYS[0]}.jsonl`);
  await mkdir(dirname(file));
  const line = (session: string) =>
    `${JSON.stringify({ kind: "played", v: 1, at: "2026-03-04T12:00:00Z", session })}\n`;
  await writeFile(file, line("agent:main:secret") + line("agent:main:main"));
  const { shelf, text } = shelfInMemory();
  const shareIn = async (place: string, to = shelf) => {
    await shareCosts({ home, place, shelf: to, everyMs: never }).close();
  };
  await shareIn("db");
  expect(text(DAYS[0])).toContain("secret");
  await unnameCosts(home, new Set(["agent:main:secret"]));
  await shareIn("db");
  expect(text(DAYS[0])).toBe(await readFile(file, "utf8"));
  expect(text(DAYS[0])).not.toContain("secret");
  const other = shelfInMemory();
  await shareIn("other", other.shelf);
  expect(other.text(DAYS[0])).toBe(text(DAYS[0]));
  await rm(costsFolder(home), { recursive: true });
  await shareIn("db");
  expect(text(DAYS[0])).not.toBe("");
});
