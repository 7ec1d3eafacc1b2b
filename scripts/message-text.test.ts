import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { comparedText } from "./compared-text.ts";
import { languageOf } from "./syntax.ts";
import { trackedFiles } from "./tracked-files.ts";

/** Where others speak in words only, and what they say has to be understood. */
const FOREIGN_WORDS: Record<string, string> = {
  "apps/gateway/src/config/load.ts": "JSON5 says only in words that a quote is missing",
  "apps/gateway/src/door/serve/door.ts": "the platform says in words only that its stack is full",
  "apps/gateway/src/cli/usage-error.ts":
    "commander names in words only which flag or value is wrong",
  "packages/engine-core/src/engine/rejected-keys.ts":
    "older engines reject parameters they do not know in words",
  "packages/plugin-sdk/src/testing/check/load-engines.ts":
    "Node names in words what a module could not import",
  "packages/engine-core/src/engine/frozen-write.ts": "the platform tells a frozen object in words",
  "packages/engine-core/src/engine/transient.ts":
    "what wraps SQLite's errors often keeps nothing but the words",
  "packages/providers/src/offline/summary.ts": "the offline model reads its prompt as a model does",
  "packages/legacy-engine/src/compaction/prune-step.ts":
    "the reason of a stored prune record is one word, not a sentence",
};

const sources = trackedFiles().filter(
  (path) =>
    /^(?:packages|apps|scripts)\/.*\.(?:tsx?|mjs)$/.test(path) &&
    !/\.test\.ts$|fixtures|\/dist\//.test(path),
);

describe("the text of a message", () => {
  const found = sources.flatMap((path) =>
    comparedText(readFileSync(path, "utf8"), languageOf(path)).map(({ code }) => ({ path, code })),
  );

  it("is compared nowhere: what happened is told by a code beside it", () => {
    const ours = found.filter(({ path }) => !(path in FOREIGN_WORDS));
    expect(ours.map(({ path, code }) => `${path}: ${code}`)).toEqual([]);
  });

  it("is understood where it is foreign, and the list of those places is true", () => {
    const comparing = new Set(found.map(({ path }) => path));
    expect(Object.keys(FOREIGN_WORDS).filter((path) => !comparing.has(path))).toEqual([]);
  });

  it.each([
    'report.reason === "dry run"',
    "result.reason !== NO_CONVERSATION",
    'finding.text === "all is well"',
    'error.message.startsWith("There is")',
    'reason?.includes("locked")',
    "warning.startsWith(path)",
    "/too long/.test(error.message)",
    'switch (outcome) { case "not applicable": }',
    'e.message\n    .includes("locked")',
    "last.text === problem.message",
    'e.message.toLowerCase().includes("locked")',
    'String(e).includes("locked")',
    'error.toString().includes("locked")',
    'e.message === "locked"',
    'r.reason === "locked"',
    '["dry run"].includes(e.message)',
    "SENTENCES.has(e.message)",
    'switch (e.message) { case "locked": }',
    "e.message === LOCKED",
    "e.message === locked",
    "LOCKED === e.message",
    '"it is locked" === e.message',
    'e.message.slice(0, 6) === "locked"',
    'e.message.split(" ")[0] === "locked"',
    "LOCKED.test(e.message)",
    "/locked/.test((e as Error).message)",
    `/locked/.test(\`\${e}\`)`,
    "CODES[e.message]",
    "e.message in CODES",
    "CODES.get(e.message)",
    'e.message.localeCompare("it is locked") === 0',
    'Object.is(e.message, "it is locked")',
    "e.message.length > 40",
    "e.message == LOCKED",
    'text.startsWith("all is")',
    "a.message === b.message",
    'e.message\n    .trim()\n    .startsWith("Engine")',
    'e.message.replace("locked", "") !== e.message',
    '(e.message ?? "").endsWith("locked")',
    "(isOurs ? e.message : e.cause.message).match(/locked/)",
    "BUSY.test(message.slice(0, 100))",
    'e!.message! === ("locked" as string)',
    '(e.code + e.message).indexOf("locked") > 0',
  ])("is recognised as compared in %j", (source) => {
    expect(comparedText(source)).toHaveLength(1);
  });

  it.each([
    'report.code === "dry-run"',
    "if (reason !== undefined) lines.push(reason);",
    'if (error.message !== "" && error.message != null) show(error.message);',
    'typeof error.message === "string"',
    'message.role === "user"',
    'entry.message.role === "user"',
    "output.line(report.reason);",
    "message === event.message ? event : other",
    "returned[index] === given[index]?.message",
    "current === signal.reason",
    "known.get(message)",
    'error.message.includes("\\n")',
    `\`\${error.message}; try again.\``,
    'error.message.replace(/^JSON5: /, "")',
    '// a comment on reason === "dry run"',
  ])("is not seen where it is only shown, in %j", (source) => {
    expect(comparedText(source)).toEqual([]);
  });
});
