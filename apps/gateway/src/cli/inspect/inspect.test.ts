import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { CallPage } from "../../inspect/shapes/calls.ts";
import type { FoundText } from "../../inspect/shapes/found-text.ts";
import type { RebuiltRequest } from "../../inspect/shapes/one-call.ts";
import { createSessionStore } from "../../sessions/store.ts";
import { clew, runClew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { reply, user, writeRecording } from "../../testing/recording.ts";
import { contentHash } from "../../text/content-hash.ts";
import { formatCalls, formatFound } from "./format.ts";

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
  it("says of how many model calls the cost is not known", async () => {
    const { inspect } = await compactedHome();
    const page = JSON.parse((await inspect("--json")).output) as CallPage;
    const nothing = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, summariser: 0, total: 0 };
    const calls = page.calls.map((call, at) => ({ ...call, cost: at < 3 ? null : nothing }));
    expect(formatCalls({ ...page, calls })).toMatch(/^Cost: .*; of 3 model calls it is not known/m);
  });

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
    // The one key that the notes name is in the record, or said to be missing.
    expect(call.output).toMatch(
      /Of \d+ exact names? (?:and|or) numbers? said in what it covers its text holds \d+, \d+ % \(/,
    );
    const diff = await inspect("--diff", "11.1", "--call", "12.1");
    expect(diff.output).toMatch(/^From call 11\.1 .* to call 12\.1/);
    expect(diff.output).toMatch(/\n\+ {2}messages \d+/);
    const request = JSON.parse((await inspect("--call", "12.1", "--request", "--json")).output);
    expect(request).toMatchObject({ isSame: true, rebuiltHash: request.requestHash });
  });

  it("hands out a request whose hash comes out by the script of the guide, without Clew", async () => {
    const { home, inspect } = await compactedHome();
    const guide = new URL("../../../../../docs/operator-guide.md", import.meta.url);
    const [, script] =
      /```js\n([^`]*createHash(?:[^`]|`(?!``))*)```/.exec(await readFile(guide, "utf8")) ?? [];
    const [program, file] = [join(home, "request-hash.mjs"), join(home, "request.json")];
    await writeFile(program, script!);
    await writeFile(file, (await inspect("--call", "12.1", "--request")).output);
    const { stdout } = await promisify(execFile)(process.execPath, [program, file]);
    const [row] = (JSON.parse((await inspect("--json")).output) as CallPage).calls.slice(-1);
    expect(stdout.trim()).toBe(row!.requestHash);
  });

  it("hands out a request alone, with all that its recorded hash was made of", async () => {
    const { inspect } = await compactedHome();
    const { requestHash } = JSON.parse(
      (await inspect("--call", "12.1", "--request", "--json")).output,
    ) as RebuiltRequest;
    const sent = JSON.parse((await inspect("--call", "12.1", "--request")).output) as Record<
      string,
      unknown[]
    >;
    expect(Object.keys(sent)).toEqual(["model", "system", "tools", "messages"]);
    const textsOf = (part: string) => sent[part]!.map((each) => JSON.stringify(each));
    const chain = textsOf("messages").reduce(
      (before, text) => contentHash(`${before}\n${contentHash(text)}`),
      "",
    );
    const heads = [...(sent.system as string[]), ...textsOf("tools")].map(contentHash);
    expect(contentHash([sent.model, ...heads, chain].join("\n"))).toBe(requestHash);
  });

  it("pages through what says a text, with the place to go on from", async () => {
    const { inspect } = await compactedHome();
    const find = async (...args: string[]) =>
      JSON.parse((await inspect("--find", "Note", ...args, "--json")).output) as FoundText;
    const all = await find();
    expect([all.entries.length, all.next]).toEqual([all.matching, null]);
    const numbers: number[] = [];
    let after: string[] = [];
    for (let next: number | null = 0; next !== null; after = ["--after", `${next}`]) {
      const page: FoundText = await find("--limit", "5", ...after);
      expect(page.matching).toBe(all.matching);
      numbers.push(...page.entries.map((entry) => entry.number));
      next = page.next;
    }
    expect(numbers).toEqual(all.entries.map((entry) => entry.number));
    expect((await inspect("--find", "Note", "--limit", "2")).output).toMatch(
      /entries: \d+, \d+, and more behind \d+ \(--after \d+\)\./,
    );
    expect((await inspect("--after", "3")).errors).toContain("page through what --find finds");
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

  it("names the first entries of a text that many say, and how to read on", () => {
    const row = { entryId: "e", role: "user", at: null, preview: "", chars: 0, tokens: 0 };
    const text = formatFound({
      entries: [3, 5].map((number) => ({ ...row, number })),
      ...{
        text: "tide",
        matching: 53_304,
        ...{ letGoTurns: 0, left: [], unseenIn: [] },
        next: 5,
        shownIn: [],
        lost: [],
        summaries: [],
        calls: 1,
      },
    });
    expect(text).toMatch(
      /^"tide" is said in 53,304 entries: 3, 5, and more behind 5 \(--after 5\)\.$/m,
    );
  });

  it("leads to the fullest call, names it in the list, and lists the calls of one turn", async () => {
    const { inspect } = await compactedHome();
    const page = JSON.parse((await inspect("--json")).output) as CallPage;
    const { id, tokens, promptBudget } = page.peaks.fullest!;
    const row = page.calls.find((each) => each.id === id)!;
    expect([row.tokens.total, row.promptBudget]).toEqual([tokens, promptBudget]);
    const { output } = await inspect();
    expect(output).toContain(`The fullest call is ${id}: `);
    expect(output).toMatch(new RegExp(`^ *${id.replace(".", "\\.")} .*fullest of all`, "m"));
    expect((await inspect("--fullest")).output).toBe((await inspect("--call", id)).output);
    expect((await inspect("--diff", "2.1", "--fullest")).output).toContain(`to call ${id} `);
    const turn = await inspect("--turn", "3");
    expect(turn.output).toMatch(/^call [^\n]*\n[^\n]*\n? *3\.1 .*\n\nTurn 3: 1 call, /s);
    expect((await inspect("--turn", "99")).errors).toContain("the newest one is 12.1");
    // The model of a replay has no price.
    const dearest = await inspect("--dearest");
    expect([dearest.code, page.peaks.dearest]).toEqual([1, null]);
    expect(dearest.errors).toContain("is the dearest cannot be told");
  });

  it("refuses flags that ask for different things, whichever it would have answered", async () => {
    const { inspect } = await compactedHome();
    const { code, errors } = await inspect("--call", "3.1", "--find", "Note");
    expect([code, errors]).toEqual([2, expect.stringMatching(/--call and --find ask for/)]);
  });

  it("says in one sentence what is not there", async () => {
    const { home, inspect } = await compactedHome();
    const answers = await Promise.all([
      inspect("--call", "99.1"),
      inspect("--entry", "999"),
      inspect("--turn", "999"),
      inspect("--bisect", "nobody said this"),
      clew(home, ["inspect", "nobody"]),
      clew(home, ["inspect", "nowhere/x.jsonl"]),
    ]);
    expect(answers.map(({ code }) => code)).toEqual([2, 2, 2, 1, 1, 1]);
    for (const { errors } of answers) expect(errors).toMatch(/^[^\n]+$/);
    const { file } = (await createSessionStore({ home }).find("replay-recorded"))!;
    expect((await clew(home, ["inspect", file])).code).toBe(0);
    await rm(join(home, "agents/main/reports"), { recursive: true });
    expect((await clew(home, ["inspect", file])).errors).toContain("has no reports beside it");
    expect((await inspect()).errors).toContain("No model call of session");
  });

  it("says in one sentence that a folder stands where reports are, and that no page is empty", async () => {
    const { home, inspect } = await compactedHome();
    const none = await inspect("--find", "Note", "--limit", "0");
    expect([none.code, none.errors]).toEqual([2, expect.stringMatching(/--limit .* at least 1/)]);
    const folder = join(home, "agents/main/reports");
    const { sessionId } = (await createSessionStore({ home }).find("replay-recorded"))!;
    await rm(join(folder, `${sessionId}.jsonl`));
    await mkdir(join(folder, `${sessionId}.jsonl`));
    const { code, errors } = await inspect();
    expect([code, errors]).toEqual([1, expect.stringMatching(/it is a folder; move it away/)]);
    expect(errors).not.toContain("This is a bug");
  });

  it("runs as a command of its own", async () => {
    const { home } = await compactedHome();
    const { code, output } = await runClew(home, ["inspect", "replay-recorded"]);
    expect([code, output.split("\n").length]).toEqual([0, 18]);
  });
});
