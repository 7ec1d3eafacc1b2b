import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentMessage } from "../contract/message.ts";
import { assistant, conversation, toolCall, toolResult, user } from "../testing/messages.ts";
import { estimateText } from "../tokens/estimate.ts";
import type { NewTranscriptEntry, TranscriptEntry } from "../transcript/entries.ts";
import { EMPTY_LEDGER, foldLedger, type LedgerItem } from "./ledger.ts";
import { pathsInLedger, renderLedger } from "./ledger-text.ts";
import { namesIn } from "./names.ts";

const entriesOf = (news: readonly (NewTranscriptEntry | AgentMessage)[]): TranscriptEntry[] =>
  news.map((one, index) => ({
    ...("role" in one ? { type: "message" as const, message: one } : one),
    id: `e${index}`,
    parentId: index === 0 ? null : `e${index - 1}`,
    timestamp: "2026-01-01T00:00:00.000Z",
  }));

const itemsAfter = (...news: (NewTranscriptEntry | AgentMessage)[]) =>
  foldLedger(EMPTY_LEDGER, entriesOf(news)).items;
const short = ({ kind, state, stateEntryId }: LedgerItem) => ({ kind, state, stateEntryId });

describe("namesIn", () => {
  it("finds files, symbols and ids as they stand there, each once", () => {
    const names = namesIn(
      "Open `src/store/open.ts:12:3` and package.json, call loadUser() or MAX_RETRIES; see PROJ-17, #42, deadbee1, OWZ4XL and src/store/open.ts.",
    );
    expect(names).toEqual([
      { kind: "path", name: "src/store/open.ts", times: 2 },
      { kind: "path", name: "package.json", times: 1 },
      { kind: "symbol", name: "loadUser", times: 1 },
      { kind: "symbol", name: "MAX_RETRIES", times: 1 },
      { kind: "id", name: "PROJ-17", times: 1 },
      { kind: "id", name: "#42", times: 1 },
      { kind: "id", name: "deadbee1", times: 1 },
      { kind: "id", name: "OWZ4XL", times: 1 },
    ]);
  });

  it("takes no plain words, alternatives or closing tags for names", () => {
    expect(
      namesIn("Read and/or write it; </system> the feedback, 12 times, however short. a/b"),
    ).toEqual([]);
  });

  it("stays linear on words made to be slow", () => {
    const hostile = [
      "aA".repeat(60),
      `${"a/".repeat(70)}!`,
      `${"a_".repeat(60)}-`,
      "a-1".repeat(50),
      `${"A".repeat(150)}-`,
      "x".repeat(50_000),
    ];
    const text = hostile.map((word) => `${word} `.repeat(200)).join("");
    expect(namesIn(text).length).toBeLessThan(50);
  });
});

/** Of ten scripts and shapes; each stands in a sentence, and must be kept whole. */
const IDENTIFIERS = [
  ...[
    "src/组件/登录页面.tsx",
    "docs/отчёт_2024.txt",
    "src/café/menü.ts",
    "リソース/画像.png",
    "데이터/사용자.json",
  ],
  ...[
    "εργασία/σχέδιο.md",
    "ملفات/تقرير.pdf",
    "מסמכים/חוזה.docx",
    "फ़ाइल/सूची.csv",
    "เอกสาร/แผน.xlsx",
  ],
  ...["C:\\Users\\ana\\report.xlsx", "D:\\build\\out", "\\\\nas\\share\\plan.docx"],
  ...[
    "report.xlsx",
    "contract.docx",
    "train.ipynb",
    "Dockerfile",
    "Makefile",
    "main.zig",
    "router.ex",
  ],
  ...[
    "slides.pptx",
    "data.parquet",
    "build.gradle",
    "schema.graphql",
    "main.tf",
    ".gitignore",
    "App.svelte",
  ],
  ...[
    "jane@acme.io",
    "jürgen@müller.example",
    "localhost:5432",
    "10.2.33.4:8080",
    "db.internal:5432",
  ],
  ...[
    "CVE-2024-3094",
    "PROJ-17",
    "#4711",
    "RFC-9110",
    "ghcr.io/acme/app:1.2",
    "docker.io/library/redis:7-alpine",
  ],
  ...[
    "arn:aws:iam::123456789012:role/deploy",
    "https://example.com/a?b=1",
    "s3://bucket/key/part",
    "postgres://db/main",
  ],
  ...[
    "EADDRINUSE",
    "ENOENT",
    "MAX_RETRIES",
    "getUserById",
    "größteZahl",
    "_private_thing",
    "HTTPServer",
    "предел_строк",
  ],
  ...[
    "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "deadbee1",
    "v2.14.0",
    "10.2.33.4",
    "req_8f3kd92k",
    "OWZ4XL",
  ],
  ...["$dir/file.mod", "~/notes/today", "./scripts/run", "../shared/util.ts", "feature/x-1"],
];
/** Their shape alone says little: kept when a person says them. */
const WEAK = [
  ...[
    "claude-opus-4-6",
    "web-7d4b9c6f5-x2x9k",
    "2024-05-17",
    "+49-30-1234567",
    "$1,234.50",
    "€19.99",
  ],
  ...["--max-old-space-size", "gpt-5.1-mini", "eu-central-1"],
];

describe("identifiers", () => {
  it.each(IDENTIFIERS)("%s is one name", (name) => {
    expect(namesIn(`Look at ${name} now.`)).toContainEqual(
      expect.objectContaining({ name, times: 1 }),
    );
  });

  it.each([...IDENTIFIERS, ...WEAK])("%s is kept when a person says it", (name) => {
    expect([...itemsAfter(user(`Look at ${name} now.`)).keys()]).toContain(name);
  });

  it.each(WEAK)("%s is kept when it comes again, and not before", (name) => {
    const print = toolCall("bash", { command: "x" });
    const seen = (times: number) =>
      itemsAfter(...Array.from({ length: times }, () => toolResult(print, `is ${name} here`)));
    expect(seen(1).has(name)).toBe(false);
    expect(seen(2).has(name)).toBe(true);
  });

  it("of a search's lines are its files, with a number and without", () => {
    const names = namesIn("pkg/a/file.go:12:func x\npkg/b/other.go:var y\npkg/c.go-110-code");
    expect(names.map(({ name }) => name)).toEqual(["pkg/a/file.go", "pkg/b/other.go", "pkg/c.go"]);
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
    const { text } = renderLedger(state, { maxTokens: 1_000 });
    const left = known.filter((path) => pathsInLedger(text).includes(path));
    expect(left.length).toBeGreaterThanOrEqual(0.9 * known.length);
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
    expect(short(failing.get("command npm test")!)).toEqual({
      kind: "command",
      state: "failed: 2 tests failed in b.ts",
      stateEntryId: "e1",
    });
    expect(failing.get("error bash: 2 tests failed in b.ts")).toMatchObject({
      kind: "error",
      entryId: "e1",
    });
    const mended = itemsAfter(
      assistant([run]),
      toolResult(run, "no", { isError: true }),
      assistant([{ ...run, id: "c4" }]),
      toolResult({ ...run, id: "c4" }, "ok"),
    );
    expect(mended.get("command npm test")).toMatchObject({ state: "ok", stateEntryId: "e3" });
    const shell = itemsAfter({ role: "bashExecution", command: "make", output: "", exitCode: 2 });
    expect(shell.get("command make")).toMatchObject({ state: "failed: exit code 2" });
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
    expect(pathsInLedger(text).sort()).toEqual(["src/core/a.ts", "src/core/b.ts"]);
    expect(items.every(({ entryId }) => /^e\d$/.test(entryId))).toBe(true);
    expect(renderLedger(state)).toEqual({ text, items });
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
