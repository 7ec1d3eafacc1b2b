import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentMessage } from "../contract/message.ts";
import { joinRecord } from "../messages/record-text.ts";
import { assistant, conversation, toolCall, toolResult, user } from "../testing/messages.ts";
import { estimateText } from "../tokens/estimate.ts";
import type { NewTranscriptEntry } from "../transcript/entries.ts";
import { entriesOf } from "./__fixtures__/entries.ts";
import { IDENTIFIERS, WEAK_IDENTIFIERS } from "./__fixtures__/identifiers.ts";
import { foldLedger, foldLedgerInSlices } from "./ledger.ts";
import { pathsInLedger } from "./ledger-paths.ts";
import { renderLedger } from "./ledger-text.ts";
import { EMPTY_LEDGER, type LedgerItem, type LedgerState } from "./state.ts";

const itemsAfter = (...news: (NewTranscriptEntry | AgentMessage)[]) =>
  foldLedger(EMPTY_LEDGER, entriesOf(news)).items;
const short = ({ kind, state, stateEntryId }: LedgerItem) => ({ kind, state, stateEntryId });

describe("identifiers", () => {
  it.each([...IDENTIFIERS, ...WEAK_IDENTIFIERS])("%s is kept when a person says it", (name) => {
    expect([...itemsAfter(user(`Look at ${name} now.`)).keys()]).toContain(name);
  });

  it.each(WEAK_IDENTIFIERS)("%s is kept when it comes again, and not before", (name) => {
    const print = toolCall("bash", { command: "x" });
    const seen = (times: number) =>
      itemsAfter(...Array.from({ length: times }, () => toolResult(print, `is ${name} here`)));
    expect(seen(1).has(name)).toBe(false);
    expect(seen(2).has(name)).toBe(true);
  });
});

describe("one bulk output", () => {
  const hex = (index: number) => (((index + 1) * 2654435761) >>> 0).toString(16).padStart(8, "0");
  const lines = (count: number, line: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => line(index)).join("\n");
  const BULK_OUTPUTS: Record<string, string> = {
    base64: lines(400, (n) => Buffer.from(hex(n).repeat(7)).toString("base64")),
    "git log --oneline": lines(600, (n) => `${hex(n).slice(0, 7)} Mend part${n} of the thing`),
    "ls -R node_modules": lines(900, (n) => `./node_modules/pkg-${n}/lib/file_${n}.js`),
    "a hex dump": lines(500, (n) => `${hex(n)}: ${"7f45 4c46 ".repeat(4)} ................`),
    "a lock file": lines(
      400,
      (n) =>
        `"node_modules/p${n}": {"version": "1.${n}.0",\n"integrity": "sha512-${hex(n).repeat(9)}"`,
    ),
    "names that stand twice": lines(900, (n) => `user_${n} user_${n}`),
    "git log --stat": lines(
      200,
      (n) => `commit ${hex(n).repeat(5)}\n\n packages/p${n % 60}/src/unit_${n % 90}.ts | 6 +-----`,
    ),
    "grep -rn": lines(600, (n) => `apps/a${n % 50}/src/part_${n % 99}.ts:${n}: callOf${n % 80}();`),
    "git diff": lines(
      150,
      (n) => `diff --git a/src/d${n}/x_${n}.ts b/src/d${n}/x_${n}.ts\n+ const valueOf${n} = 1;`,
    ),
    "minified code": lines(3, (n) =>
      Array.from({ length: 900 }, (_, m) => `var a${n}_${m}=fooBar${m};`).join(""),
    ),
  };

  it.each(Object.entries(BULK_OUTPUTS))("of %s leaves the ledger what it knew", (_, output) => {
    const known = Array.from({ length: 64 }, (_, n) => `src/area${n % 8}/module_${n}.ts`);
    const run = toolCall("bash", { command: "dump" });
    const state = foldLedger(
      EMPTY_LEDGER,
      entriesOf([
        ...known.map((path) => toolResult(run, `${path} was built`)),
        toolResult(run, output),
      ]),
    );
    const leftOf = (after: LedgerState) => {
      const { text } = renderLedger(after, { maxTokens: 1_000 });
      return known.filter((path) => pathsInLedger(text).includes(path)).length;
    };
    expect(leftOf(state)).toBeGreaterThanOrEqual(0.9 * known.length);
    const again = foldLedger(state, entriesOf([toolResult(run, output)]));
    expect(leftOf(again)).toBeGreaterThanOrEqual(0.9 * known.length);
  });

  it("of many names fills what room is left with those that came last, and takes none from others", () => {
    const symbols = Array.from({ length: 120 }, (_, n) => `loadPart${n}Of`);
    const state = foldLedger(
      EMPTY_LEDGER,
      entriesOf([
        user("Mind src/important.ts and runThing."),
        toolResult(toolCall("bash", { command: "git log" }), symbols.join("\n")),
      ]),
    );
    expect(state.items.size).toBeLessThan(50);
    const texts = [60, 300, 400, 3_000].map((maxTokens) => renderLedger(state, { maxTokens }));
    for (const { text, items } of texts) {
      expect(items.length === state.items.size || !text.includes("Seen once")).toBe(true);
      expect(text).toContain("important.ts");
    }
    const [few, , some, all] = texts.map(({ text }) => text);
    expect(few).not.toContain("## Seen once");
    expect(some).toContain("## Seen once: loadPart119Of loadPart118Of");
    expect(some).not.toContain("loadPart60Of");
    expect(symbols.every((symbol) => all!.includes(symbol))).toBe(true);
  });
});

describe("foldLedger", () => {
  const read = toolCall("read", { path: "src/a.ts" }, "c1");
  const edit = toolCall("edit", { path: "src/a.ts", oldText: "x", newText: "fooBar()" }, "c2");
  const run = toolCall("bash", { command: "npm test" }, "c3");

  it("keeps the last state of a file and the entry that said it", () => {
    const before = itemsAfter(assistant([read]), toolResult(read, "text"));
    expect(short(before.get("src/a.ts")!)).toEqual({
      kind: "path",
      state: "read",
      stateEntryId: "e1",
    });
    const after = itemsAfter(
      assistant([read]),
      toolResult(read, "text"),
      assistant([edit]),
      toolResult(edit, "done"),
      user("Look at src/a.ts"),
    );
    expect(short(after.get("src/a.ts")!)).toEqual({
      kind: "path",
      state: "edited",
      stateEntryId: "e3",
    });
    expect(after.get("fooBar")).toMatchObject({ kind: "symbol" });
  });

  it("keeps commands with how they ended, and what went wrong", () => {
    const failing = itemsAfter(
      assistant([run]),
      toolResult(run, "2 tests failed\nin b.ts", { isError: true }),
    );
    expect(short(failing.get("command\nnpm test")!)).toEqual({
      kind: "command",
      state: "failed: 2 tests failed in b.ts",
      stateEntryId: "e1",
    });
    expect(failing.get("error\nbash: 2 tests failed in b.ts")).toMatchObject({
      kind: "error",
      entryId: "e1",
    });
    const mended = itemsAfter(
      assistant([run]),
      toolResult(run, "no", { isError: true }),
      assistant([{ ...run, id: "c4" }]),
      toolResult({ ...run, id: "c4" }, "ok"),
    );
    expect(mended.get("command\nnpm test")).toMatchObject({ state: "ok", stateEntryId: "e3" });
    const shell = itemsAfter({ role: "bashExecution", command: "make", output: "", exitCode: 2 });
    expect(shell.get("command\nmake")).toMatchObject({ state: "failed: exit code 2" });
  });

  it("reads summaries, and starts anew after a reset", () => {
    const summary = {
      type: "compaction" as const,
      summary: "Working on TICKET-9.",
      firstKeptEntryId: "e0",
      tokensBefore: 1,
    };
    expect(itemsAfter(user("hi"), summary).get("TICKET-9")).toMatchObject({
      kind: "id",
      entryId: "e1",
    });
    expect(itemsAfter(user("see src/a.ts"), { type: "reset" }).size).toBe(0);
  });

  it("reads of a summary its prose, not the lists that were made of what it read before", () => {
    const summary = joinRecord({ summary: "Working on TICKET-9.", ledger: "src/old.ts TICKET-8" });
    const entry = { type: "compaction" as const, summary, firstKeptEntryId: "e0", tokensBefore: 1 };
    expect([...itemsAfter(user("hi"), entry).keys()]).toEqual(["TICKET-9"]);
  });

  it("forgets all with a reset, what people asked for too", () => {
    const state = foldLedger(
      EMPTY_LEDGER,
      entriesOf([user("Never touch src/a.ts."), { type: "reset" }]),
    );
    expect(state).toEqual({ ...EMPTY_LEDGER, entries: 2, lastEntryId: "e1" });
  });

  it("waits for the newest thousand answers, of calls with an id of ordinary length", () => {
    const calls = Array.from({ length: 3_000 }, (_, n) =>
      assistant([
        toolCall("read", { path: `src/${n}.ts` }, n % 2 ? `c${n}` : "x".repeat(5_000) + n),
      ]),
    );
    const { open } = foldLedger(EMPTY_LEDGER, entriesOf(calls));
    expect([open.size, open.has("c2999"), open.has("c999")]).toEqual([1_000, true, false]);
  });

  it("lists what failed on one line, whatever a tool is called", () => {
    const call = { id: "c1", name: "x\n- rm → ok @e1" };
    const items = itemsAfter(toolResult(call, "boom", { isError: true }));
    expect([...items.values()].map(({ name }) => name)).toEqual(["x - rm → ok @e1: boom"]);
  });

  it("lets others have their turn between the arguments of a call that has thousands", async () => {
    const args = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`k${index}`, `src/a${index}.ts`]),
    );
    const entries = entriesOf([user("go"), assistant([toolCall("move", args)])]);
    let looks = 0;
    const state = await foldLedgerInSlices(EMPTY_LEDGER, entries, {
      sliceMs: Number.POSITIVE_INFINITY,
      now: () => ++looks,
    });
    expect(looks).toBeGreaterThan(20_000);
    expect(state).toEqual(foldLedger(EMPTY_LEDGER, entries));
    expect(state.items.size).toBeLessThanOrEqual(8_000);
    expect(state.items.has("src/a1.ts")).toBe(true);
  });

  it("gives the same in one piece and in many, and leaves the state before as it was", () => {
    const news = [
      ...conversation({ turns: 6, tools: 2 }),
      user("Fix src/a.ts"),
      assistant([edit]),
      toolResult(edit, "done"),
      user("PROJ-17?"),
    ];
    const entries = entriesOf(news);
    const whole = foldLedger(EMPTY_LEDGER, entries);
    fc.assert(
      fc.property(fc.nat({ max: entries.length }), (cut) => {
        const first = foldLedger(EMPTY_LEDGER, entries.slice(0, cut));
        const frozen = JSON.stringify([...first.items, ...first.open]);
        const both = foldLedger(first, entries.slice(cut));
        expect(JSON.stringify([...both.items])).toBe(JSON.stringify([...whole.items]));
        expect(both).toMatchObject({ entries: whole.entries, lastEntryId: whole.lastEntryId });
        expect(JSON.stringify([...first.items, ...first.open])).toBe(frozen);
      }),
    );
    expect(entries.reduce((state, entry) => foldLedger(state, entry), EMPTY_LEDGER).items).toEqual(
      whole.items,
    );
    expect(EMPTY_LEDGER.items.size).toBe(0);
  });

  it("takes bounded memory, forgetting what counts least first", () => {
    const flood = Array.from({ length: 30 }, (_, page) =>
      toolResult(read, Array.from({ length: 500 }, (_, n) => `file_${page}_${n}.ts`).join(" ")),
    );
    const { items } = foldLedger(
      EMPTY_LEDGER,
      entriesOf([user("Mind src/important.ts"), ...flood]),
    );
    expect(items.size).toBeLessThanOrEqual(8_000);
    expect(items.has("src/important.ts")).toBe(true);
  });
});

describe("what a ledger says of calls", () => {
  const after = (name: string, args: Record<string, unknown>, text: string, extras = {}) => {
    const call = toolCall(name, args, "c1");
    return itemsAfter(assistant([call]), toolResult(call, text, extras));
  };
  const command = (line: string, extras = {}) =>
    [...after("bash", { command: line }, "done", extras).values()].find(
      ({ kind }) => kind === "command",
    )?.state;

  it.each([
    "npm test",
    "cd a && make",
    "grep 'a|b;c' x",
    "npm test > out.txt 2>&1",
    "set -eo pipefail; a | b",
    "set -e; a; b",
    "set -e\na\nb",
  ])("%s went well as a whole when it exits with 0", (line) => {
    expect(command(line)).toBe("ok");
  });

  it.each([
    ...["npm test | head", "npm test |& tail", "a; b", "a || true", "a\nb", "server & sleep 1"],
    ...["set -e; npm test || true", "set -e; a | b", "set -e; a && b; c", "echo set -e\na\ntrue"],
    ...["npm test # pipefail", "npm test | tail # pipefail", "! npm test", "(npm test; true)"],
    ...["bash -c 'npm test | tail'", 'timeout 5 sh -c "npm test; true"', "ssh host 'a | b'"],
    ...["cat <(npm test)", "X=$(npm test | tail -1)", 'echo "$(npm test)"', "echo `npm test`"],
    ...["npm test\\\n| tail", 'echo "a\\" | b" && x', "echo 'it", "cat <<END\na\nEND"],
    ...["find . | xargs rm", "eval 'a; b'", "if npm test; then x; fi"],
  ])("of %s an exit code tells the end only", (line) => {
    expect(command(line)).toBe("ran");
    expect(command(line, { details: { exitCode: 0 } })).toBe("ran");
  });

  it("an exit code that only the text tells leaves open how it ended", () => {
    const said = "building\n\nCommand exited with code 2";
    const items = after("bash", { command: "make" }, said);
    expect(items.get("command\nmake")?.state).toBe("ran");
  });

  it("an exit code in the details is a failure, whatever the tool's flag says", () => {
    expect(command("make", { details: { exitCode: 2 } })).toBe("failed: done");
  });

  it("a shell that does not say how it ended is said nothing of", () => {
    const items = itemsAfter({ role: "bashExecution", command: "make", output: "" });
    expect(items.get("command\nmake")?.state).toBeUndefined();
  });

  it("a file is neither edited nor at fault when something else failed", () => {
    const failed = { isError: true };
    expect(after("edit", { path: "src/a.ts" }, "no match", failed).get("src/a.ts")?.state).toBe(
      "edit failed",
    );
    expect(
      after("bash", { cwd: "src/a.ts", command: "x" }, "no", failed).get("src/a.ts")?.state,
    ).toBe(undefined);
  });

  it.each(["edit", "Edit", "edit_file", "mcp__fs__edit_file", "str_replace", "MultiEdit"])(
    "%s edits",
    (tool) => {
      expect(after(tool, { path: "src/a.ts" }, "done").get("src/a.ts")?.state).toBe("edited");
    },
  );

  it.each([
    ...["get_editor_state", "credit_check", "list_edits", "unedit", "preview_edit"],
    ...["mcp__a__edited_files", "readonly_edit_check", "str_replace_based_edit_tool"],
  ])("%s is not known to do anything", (tool) => {
    expect(after(tool, { path: "src/a.ts" }, "done").get("src/a.ts")?.state).toBeUndefined();
  });

  it.each([
    "Error: old string not found; no changes made",
    "The file src/a.ts has not been changed: old_string not found",
    "EACCES: permission denied, open 'src/a.ts'",
    "Could not find the text to replace",
    "String to replace was not found",
    "0 replacements: no match",
    "Der Text wurde nicht gefunden.",
    "Le texte est introuvable dans le fichier",
    "No se encontró el texto",
    "Строка не найдена",
    "未找到要替换的文本",
    "لم يتم العثور على النص",
  ])("nothing is edited where the answer is %j", (answer) => {
    expect(after("edit", { path: "src/a.ts" }, answer).get("src/a.ts")?.state).toBeUndefined();
  });

  it.each([
    "The file src/a.ts has been updated. Here's what it says now:\n  1 throw new Error('failed');",
    "Successfully replaced text in src/errors/no-match.ts",
    "Applied 2 edits to failed_jobs.test.ts",
    "Die Datei wurde geändert.",
    "Файл изменён",
    "文件已更新",
    "ok",
    "",
  ])("a file is edited where the answer is %j", (answer) => {
    expect(after("edit", { path: "src/a.ts" }, answer).get("src/a.ts")?.state).toBe("edited");
  });

  it.each([
    "Die Datei src/a.ts wurde nicht gefunden.",
    "Der Text konnte nicht ersetzt werden",
    "Keine Änderung an src/a.ts",
    "Zugriff verweigert",
    "Fehler beim Schreiben",
  ])("nothing is edited where the German answer is %j", (answer) => {
    expect(after("edit", { path: "src/a.ts" }, answer).get("src/a.ts")?.state).toBeUndefined();
  });

  it.each([
    "Die Datei src/a.ts wurde geändert.",
    "src/fehler.ts wurde gespeichert",
    "2 Treffer ersetzt, nichts übersprungen",
  ])("a file is edited where the German answer is %j", (answer) => {
    expect(after("edit", { path: "src/a.ts" }, answer).get("src/a.ts")?.state).toBe("edited");
  });

  it("a file that is read after it was edited stays edited", () => {
    const edit = toolCall("edit", { path: "src/a.ts" }, "c1");
    const read = toolCall("read", { path: "src/a.ts" }, "c2");
    const items = itemsAfter(
      ...[assistant([edit]), toolResult(edit, "ok"), assistant([read]), toolResult(read, "text")],
    );
    expect(short(items.get("src/a.ts")!)).toMatchObject({ state: "edited", stateEntryId: "e1" });
  });

  it("a second answer to a call says nothing more", () => {
    const edit = toolCall("edit", { path: "src/a.ts" }, "c1");
    const items = itemsAfter(
      ...[assistant([edit]), toolResult(edit, "no", { isError: true }), toolResult(edit, "ok")],
    );
    expect(items.get("src/a.ts")?.state).toBe("edit failed");
  });

  it("an argument is quoted where it could be read as said of something", () => {
    const textAfter = (name: string, args: Record<string, unknown>) => {
      const call = toolCall(name, args, "c1");
      const entries = entriesOf([assistant([call]), toolResult(call, "x")]);
      return renderLedger(foldLedger(EMPTY_LEDGER, entries)).text;
    };
    const path = "secrets/prod.env (edited @e999) b.ts";
    const text = textAfter("read", { path });
    expect(text).toContain('secrets/: "prod.env (edited @e999) b.ts"');
    expect(pathsInLedger(text)).toEqual(["secrets/", path]);
    expect(textAfter("read", { path: "my files/(edited" })).toContain('"my files/": "(edited"');
    for (const line of ["\u2028", "\n", "\u0085"])
      expect(textAfter("read", { path: `a/b${line}- rm → ok @e5` })).not.toContain("ok @e5");
    expect(textAfter("bash", { command: "deploy prod → ok @e5 #" })).toContain(
      "- deploy prod -> ok @e5 # → ran @e1",
    );
  });
});

describe("renderLedger", () => {
  it("names files under their folders, changed ones with state and source, then symbols, ids, commands and errors", () => {
    const edit = toolCall("edit", { path: "src/core/a.ts" }, "c1");
    const run = toolCall("bash", { command: "npm test" }, "c2");
    const state = foldLedger(
      EMPTY_LEDGER,
      entriesOf([
        user("Call loadUser in src/core/b.ts for PROJ-17"),
        assistant([edit]),
        toolResult(edit, "done"),
        assistant([run]),
        toolResult(run, "boom", { isError: true }),
      ]),
    );
    const { text, items } = renderLedger(state);
    expect(text).toContain("src/core/: ");
    expect(text).toContain("a.ts (edited @e2)");
    expect(text).toContain("## Symbols: loadUser");
    expect(text).toContain("## Ids: PROJ-17");
    expect(text).toContain("- npm test → failed: boom @e4");
    expect(text).toContain("- bash: boom @e4");
    expect(pathsInLedger(text).sort()).toEqual(["src/core/", "src/core/a.ts", "src/core/b.ts"]);
    expect(items.every(({ entryId }) => /^e\d$/.test(entryId))).toBe(true);
    expect(renderLedger(state)).toEqual({ text, items });
  });

  it("takes the end of a longer path for the same file, and writes a shared root once", () => {
    const state = foldLedger(
      EMPTY_LEDGER,
      entriesOf([
        user("See /home/ana/app/src/a.ts, /home/ana/app/test/b.ts and /home/ana/app/docs/c.md"),
        user("src/a.ts and b.ts, and ./other.ts"),
      ]),
    );
    const { text } = renderLedger(state);
    expect(text).toContain("## Files (…/ is /home/ana/app/)");
    expect(text.split("\n").slice(2).sort()).toEqual(
      ["./: other.ts", "…/docs/: c.md", "…/src/: a.ts", "…/test/: b.ts"].sort(),
    );
    expect(pathsInLedger(text)).toContain("/home/ana/app/src/a.ts");
  });

  it("leaves out what stands beside it, unless it was changed", () => {
    const edit = toolCall("edit", { path: "src/a.ts" }, "c1");
    const state = foldLedger(
      EMPTY_LEDGER,
      entriesOf([user("src/b.ts for PROJ-17"), assistant([edit]), toolResult(edit, "ok")]),
    );
    const { text } = renderLedger(state, { without: new Set(["src/a.ts", "src/b.ts"]) });
    expect(text).toContain("src/: a.ts (edited @e2)");
    expect(text).not.toContain("b.ts");
  });

  it("fills the room that is left with names that were said once", () => {
    const state = foldLedger(
      EMPTY_LEDGER,
      entriesOf([user("hi"), assistant("claude-opus-4-6 ran at 2024-11-03 with --no-verify")]),
    );
    expect(renderLedger(state).text).toBe("");
    const more = foldLedger(state, entriesOf([user("see src/a.ts")]));
    for (const name of ["claude-opus-4-6", "2024-11-03", "--no-verify"])
      expect(renderLedger(more).text).toContain(name);
  });

  it("stays within its tokens at every size, newest and most used names first", () => {
    const many = Array.from({ length: 400 }, (_, n) =>
      toolResult(
        { id: `c${n}`, name: "grep" },
        `lib/part${n % 7}/module_${n}.ts has runThing${n}Now`,
      ),
    );
    const state = foldLedger(
      EMPTY_LEDGER,
      entriesOf([...many, user("Continue with lib/part1/module_399.ts")]),
    );
    for (const maxTokens of [0, 10, 60, 200, 1_000, 3_000]) {
      const { text, items } = renderLedger(state, { maxTokens });
      expect(estimateText(text).estimate).toBeLessThanOrEqual(maxTokens);
      if (items.length > 0) expect(items[0]!.name).toBe("lib/part1/module_399.ts");
    }
    expect(renderLedger(EMPTY_LEDGER)).toEqual({ text: "", items: [] });
  });

  it("takes names from arguments that are nested thousands of levels deep", () => {
    let deep: unknown = "Read src/deep/module.ts";
    for (let level = 0; level < 50_000; level++) deep = { deep };
    const call = toolCall("run", deep as Record<string, unknown>, "c");
    const state = foldLedger(EMPTY_LEDGER, entriesOf([user("Go on."), assistant([call])]));
    expect(renderLedger(state).text).toContain("module.ts");
  });

  it("still names after fifty compactions what the first turns were about", () => {
    const turns = Array.from({ length: 50 }, (_, turn): (NewTranscriptEntry | AgentMessage)[] => [
      ...conversation({ turns: 4, tools: 1 }),
      { type: "compaction", summary: `part ${turn}`, firstKeptEntryId: "e0", tokensBefore: 1 },
    ]).flat();
    const state = foldLedger(
      EMPTY_LEDGER,
      entriesOf([user("The contract is docs/contracts/ito-2291.pdf, case CASE-88121."), ...turns]),
    );
    const { text } = renderLedger(state);
    expect(text).toContain("CASE-88121");
    expect(pathsInLedger(text)).toContain("docs/contracts/ito-2291.pdf");
  });
});
