// Reads the entry points of packages and what the API reports say of each.
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One importable module of a package. */
export interface EntryPoint {
  /** Folder of its package, relative to the root. */
  directory: string;
  /** What a reader writes after `from`. */
  specifier: string;
  /** Its source file, relative to the root. */
  source: string;
  /** Its API report, relative to the root; undefined for modules behind a wildcard. */
  report: string | undefined;
}

/** Every entry point of every published package, wildcards as the modules they stand for. */
export function entryPoints(): EntryPoint[] {
  return readdirSync("packages")
    .map((name) => `packages/${name}`)
    .filter((directory) => existsSync(join(directory, "package.json")))
    .flatMap((directory) => {
      const { name, exports } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
      return Object.entries<string | { "@clew/source": string }>(exports).flatMap(
        ([subpath, target]) =>
          typeof target === "string"
            ? []
            : modules({ directory, name, subpath, source: target["@clew/source"] }),
      );
    });
}

function modules(entry: {
  directory: string;
  name: string;
  subpath: string;
  source: string;
}): EntryPoint[] {
  const { directory, name, subpath, source } = entry;
  if (!subpath.includes("*")) {
    const report = `${directory}/api/${subpath === "." ? "index" : subpath.slice(2)}.api.md`;
    return [{ directory, specifier: join(name, subpath), source: join(directory, source), report }];
  }
  const [before, after] = join(directory, source).split("*") as [string, string];
  return globSync(`${before}*${after}`)
    .filter((path) => !/\.test\.|__fixtures__/.test(path))
    .map((path) => path.split("\\").join("/"))
    .map((path) => ({
      directory,
      specifier: join(name, subpath.replace("*", path.slice(before.length, -after.length))),
      source: path,
      report: undefined,
    }));
}

/** The code of an API report. */
export function reportedCode(report: string): string {
  return /```ts\n([\s\S]*?)```/.exec(readFileSync(report, "utf8"))?.[1] ?? "";
}

/** The functions, constants and classes a report exports. */
export function exportedValues(code: string): string[] {
  const declared = code.matchAll(
    /^export (?:declare )?(?:abstract )?(?:const|let|function|class) (\w+)/gm,
  );
  return [...declared].map((match) => match[1]!);
}

/** The names a report exports. */
export function exportedNames(code: string): string[] {
  const declared = code.matchAll(
    /^export (?:declare )?(?:abstract )?(?:const|let|function|class|interface|type|enum) (\w+)/gm,
  );
  return [...declared].map((match) => match[1]!);
}

/** An example in a doc comment. */
export interface Example {
  /** The source file it stands in, relative to the root. */
  path: string;
  code: string;
  /** What it prints, as the text block after it says; undefined = it does not say. */
  output: string | undefined;
  /** What it imports of ours. */
  specifiers: string[];
}

/** Pure. Every `@example` of a source text. */
export function examplesIn(path: string, text: string): Example[] {
  const comments = text.match(/\/\*\*[\s\S]*?\*\//g) ?? [];
  return comments.flatMap((comment) => {
    const plain = comment.replace(/^[ \t]*\*(?: |$)/gm, "");
    return [
      ...plain.matchAll(/@example\s*```ts\n([\s\S]*?)```(?:\s*```text\n([\s\S]*?)```)?/g),
    ].map((found) => ({
      path,
      code: found[1]!,
      output: found[2],
      specifiers: [...found[1]!.matchAll(/from "(@clew\/[^"]+)"/g)].map((match) => match[1]!),
    }));
  });
}

/**
 * Pure. The optional members of types in `text` whose comment does not say
 * what their absence means.
 */
export function unexplainedOptionals(text: string): string[] {
  const members =
    /\/\*[\s\S]*?\*\/|\/\/.*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|[(){}]|(?:\breadonly\s+)?\b(\w+)\?(?=[:(<])/g;
  const open: string[] = [];
  const unexplained: string[] = [];
  let comment: { end: number; text: string } | undefined;
  for (const found of text.matchAll(members)) {
    const [token, name] = found;
    const end = found.index + token.length;
    if (token.startsWith("/*")) comment = { end, text: token };
    else if (token === "(" || token === "{") open.push(token);
    else if (token === ")" || token === "}") open.pop();
    else if (name !== undefined && open.at(-1) === "{") {
      const own = comment !== undefined && text.slice(comment.end, found.index).trim() === "";
      if (!own || !/\b(absent|default)\b/i.test(comment!.text)) unexplained.push(name);
    }
  }
  return unexplained;
}

/** Pure. The text of an exported interface or type; undefined when `text` does not declare it. */
export function declarationOf(text: string, name: string): string | undefined {
  const declared = new RegExp(`^export (?:interface|type) ${name}\\b[\\s\\S]*?(?:^\\}|;$)`, "m");
  return declared.exec(text)?.[0];
}
