// Invents a coding session of requests, searches, reads, edits, tests and floods of output.
import type { ReplaySource } from "../script.ts";
import { createSessionBuilder, type SessionBuilder, type ToolUse } from "./build.ts";
import { type Chance, createChance } from "./chance.ts";
import type { Language } from "./languages.ts";
import { inventProject, type Project, type ProjectFile } from "./project.ts";

export interface CodingRequest {
  name: string;
  seed: number;
  language: Language;
  /** Estimated tokens of the whole session, at least. */
  tokens: number;
}

const FILES = 80;
const LONGEST_SEARCH = 40;
/** Share of steps that go back to something of an earlier task. */
const GOES_BACK = 0.15;
/** Share of requests about a file that nobody has looked at yet, as a rule. */
const NEW_SUBJECT = 0.5;
const FLOODS = 0.04;

/**
 * Somebody works through requests. What is looked at next was found by a search, belongs to the
 * request, or goes back to earlier work, as often to yesterday's as to the last hour's.
 */
export function generateCoding({ name, seed, language, tokens }: CodingRequest): ReplaySource {
  const chance = createChance(seed);
  const session = createSessionBuilder(name);
  const work: Work = {
    ...{ chance, language, session },
    project: inventProject(chance, language, FILES),
    seen: [],
    commits: [],
  };
  const rules = [...language.constraints];
  while (session.tokens() < tokens) {
    // The rules come with the first requests and then every now and then.
    const rule = chance.next() < (rules.length > 3 ? 0.8 : 0.15) ? rules.shift() : undefined;
    doTask(work, rule);
  }
  return session.finish();
}

interface Work {
  chance: Chance;
  language: Language;
  session: SessionBuilder;
  project: Project;
  /** Files that were read, the newest last. */
  seen: ProjectFile[];
  commits: string[];
}

function doTask(work: Work, rule: string | undefined): void {
  const { chance, language, session, project, seen } = work;
  const isNew = seen.length === 0 || chance.next() < NEW_SUBJECT;
  const subject = isNew ? chance.pick(project.files) : chance.pickRecent(seen);
  const symbol = chance.pickFirst(subject.symbols);
  const fill = (text: string, file: ProjectFile) =>
    text.replaceAll("%s", symbol).replaceAll("%f", file.path);
  const request = fill(chance.pick(language.requests), subject);
  if (rule === undefined) session.user(request);
  else session.userWithConstraint(`${request}\n${rule}`, rule);

  const found = search(work, symbol);
  const say = (file: ProjectFile) => fill(chance.pick(language.says), file);
  const steps = 4 + chance.below(14);
  for (let step = 0; step < steps; step++) {
    const file = nextFile(work, found, subject);
    if (chance.next() < FLOODS) session.calls(say(file), [flood(chance, project)]);
    else if (chance.next() < 0.1) session.calls(say(file), [inspectCommit(work)]);
    else if (chance.next() < 0.35) session.calls(say(file), [edit(chance, file)]);
    else if (chance.next() < 0.3) found.push(...search(work, chance.pickFirst(file.symbols)));
    else session.calls(say(file), [read(work, file)]);
  }
  session.calls(say(subject), [runTests(chance, subject), commit(work, subject)]);
  session.reply(fill(chance.pick(language.replies), subject));
}

function nextFile({ chance, seen }: Work, found: readonly ProjectFile[], subject: ProjectFile) {
  if (seen.length > 0 && chance.next() < GOES_BACK) return chance.pickRecent(seen);
  return found.length > 0 && chance.next() < 0.7 ? chance.pick(found) : subject;
}

/** Tells which files it found. */
function search({ chance, session, project, language }: Work, symbol: string): ProjectFile[] {
  const lines = project.find(symbol).slice(0, LONGEST_SEARCH);
  const output = lines.map(({ line }) => line).join("\n");
  const said = chance.pick(language.says).replaceAll("%f", symbol);
  session.calls(said, [{ name: "grep", args: { pattern: symbol, path: "." }, output }]);
  return [...new Set(lines.map(({ file }) => file))];
}

function read({ seen }: Work, file: ProjectFile): ToolUse {
  const at = seen.indexOf(file);
  if (at >= 0) seen.splice(at, 1);
  seen.push(file);
  const output = file.text
    .split("\n")
    .map((line, index) => `${String(index + 1).padStart(4)}  ${line}`)
    .join("\n");
  return { name: "read", args: { path: file.path }, output };
}

function edit(chance: Chance, { path, symbols }: ProjectFile): ToolUse {
  const symbol = chance.pickFirst(symbols);
  const oldText = `export function ${symbol}(input`;
  const newText = `export function ${symbol}(input = null`;
  const fails = chance.next() < 0.08;
  return {
    name: "edit",
    args: { path, oldText, newText },
    output: fails ? `No text in ${path} matches oldText.` : `Edited ${path}: 1 replacement.`,
    isError: fails,
  };
}

function runTests(chance: Chance, { path, symbols }: ProjectFile): ToolUse {
  const fails = chance.next() < 0.25;
  const lines = symbols.map((symbol) => ` ✓ ${path} > ${symbol} (${chance.below(90)} ms)`);
  if (fails)
    lines.push(` ✗ ${path} > ${chance.pick(symbols)}`, "AssertionError: expected 2 to be 1");
  lines.push(`Tests  ${fails ? 1 : 0} failed | ${symbols.length} passed`);
  return {
    name: "bash",
    args: { command: `pnpm vitest run ${path}` },
    output: lines.join("\n"),
    isError: fails,
  };
}

function commit({ chance, commits }: Work, { path, symbols }: ProjectFile): ToolUse {
  const id = chance.hex(10);
  commits.push(id);
  const message = `${symbols[0]} returns early`;
  return {
    name: "bash",
    args: { command: `git commit -m "${message}" ${path}` },
    output: `[main ${id}] ${message}\n 1 file changed, 2 insertions(+)`,
  };
}

/** Of an earlier commit, or what there is when there was none. */
function inspectCommit({ chance, commits, project }: Work): ToolUse {
  if (commits.length === 0)
    return {
      name: "bash",
      args: { command: "git status --short" },
      output: ` M ${chance.pick(project.files).path}`,
    };
  const id = chance.pickRecent(commits);
  const { path, text } = chance.pick(project.files);
  const diff = text
    .split("\n")
    .slice(0, 30)
    .map((line) => `+${line}`);
  return {
    name: "bash",
    args: { command: `git show ${id}` },
    output: [`commit ${id}`, `diff --git a/${path} b/${path}`, ...diff].join("\n"),
  };
}

/** Much text, of which nearly nothing is ever needed. */
function flood(chance: Chance, { files }: Project): ToolUse {
  const many = (count: number, line: () => string) =>
    Array.from({ length: count }, line).join("\n");
  switch (chance.below(4)) {
    case 0:
      return {
        name: "bash",
        args: { command: "cat assets/logo.b64" },
        output: many(120, () =>
          Array.from({ length: 76 }, () => BASE64[chance.below(BASE64.length)]).join(""),
        ),
      };
    case 1:
      return {
        name: "bash",
        args: { command: "git log --oneline -200" },
        output: many(200, () => `${chance.hex(8)} ${chance.pick(chance.pick(files).symbols)}`),
      };
    case 2:
      return {
        name: "bash",
        args: { command: "cat pnpm-lock.yaml" },
        output: many(
          150,
          () =>
            `  pkg-${chance.hex(4)}@${chance.below(9)}.${chance.below(30)}.0:\n    resolution: {integrity: sha512-${chance.hex(60)}==}`,
        ),
      };
    default:
      return {
        name: "bash",
        args: { command: "ls -R node_modules" },
        output: many(300, () => `node_modules/pkg-${chance.hex(4)}/lib/${chance.hex(6)}.js`),
      };
  }
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
