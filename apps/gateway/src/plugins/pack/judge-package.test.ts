import { describe, expect, it } from "vitest";
import { judgePackage, type OutsideImport } from "./judge-package.ts";

const GOOD = { name: "x", version: "1.0.0", openclaw: { extensions: ["./dist/x.js"] } };
const MANIFEST = '{ "id": "x", "configSchema": {} }';

/** What is said of a package that differs in this from a sound one. */
function judged(
  change: object,
  {
    manifest = MANIFEST,
    files = ["dist/x.js"],
    outside = [],
  }: { manifest?: string | null; files?: string[]; outside?: OutsideImport[] } = {},
): string[] {
  const contents: [string, string][] = [
    ["package.json", JSON.stringify({ ...GOOD, ...change })],
    ...(manifest === null ? [] : [["openclaw.plugin.json", manifest] as [string, string]]),
    ...files.map((name): [string, string] => [name, ""]),
  ];
  const packed = new Map(contents.map(([name, text]) => [name, Buffer.from(text)]));
  return judgePackage(packed, outside).map(
    ({ level, hosts, text }) => `${level} ${hosts.join("+")}: ${text}`,
  );
}

const imports = (specifier: string, isLate = false): OutsideImport => ({
  ...{ from: "dist/x.js", specifier, isLate },
});

describe("a package", () => {
  it("that is sound has nothing said of it", () => {
    expect(judged({})).toEqual([]);
  });

  it.each([
    ["no manifest", judged({}, { manifest: null }), "failure clew+openclaw: It has no openclaw.pl"],
    [
      "a manifest without a schema",
      judged({}, { manifest: '{ "id": "x" }' }),
      "failure clew+openclaw: openclaw.plugin.json is invalid: configSchema",
    ],
    [
      "a manifest that nobody can read",
      judged({}, { manifest: "{" }),
      "failure clew+openclaw: openclaw.plugin.json cannot be read",
    ],
    ...[
      '{ "scope": "agent", "relativePath": "diary" }',
      '{ "disposition": "retain", "scope": "agent", "relativePath": "diary" }',
      '{ "disposition": "include", "scope": "agent", "relativePath": "diary", "why": "" }',
    ].map((item): [string, string[], string] => [
      `what it keeps in a form that OpenClaw does not take, ${item}`,
      judged({}, { manifest: `{ "id": "x", "configSchema": {}, "backupResources": [${item}] }` }),
      'failure openclaw: openclaw.plugin.json: backupResources.0 is not of the form { "disposition": "include", "scope": "agent", "relativePath": "…" }',
    ]),
    [
      "a version that is none",
      judged({ version: "x" }),
      'failure clew+openclaw: package.json has the version "x", which is none that npm takes; write one like "1.0.0".',
    ],
    [
      "no openclaw.extensions",
      judged({ openclaw: {} }, { files: ["index.js"] }),
      "failure openclaw: package.json names no openclaw.extensions",
    ],
    [
      "neither those nor an index.js",
      judged({ openclaw: {} }),
      "failure clew: It has neither openclaw.extensions nor an index.js",
    ],
    [
      "an entry that was not built",
      judged({}, { files: [] }),
      "failure clew+openclaw: Its entry ./dist/x.js is not in the package",
    ],
    [
      "an entry outside",
      judged({ openclaw: { extensions: ["../x.js"] } }),
      "failure clew+openclaw: Its entry ../x.js is outside the package",
    ],
    [
      "an entry in TypeScript",
      judged({ openclaw: { extensions: ["./x.ts"] } }, { files: ["x.ts"] }),
      "failure openclaw: Its entry ./x.ts is TypeScript",
    ],
    [
      "a dependency of this machine",
      judged({ dependencies: { "@clew/plugin-sdk": "workspace:^" } }),
      'failure clew+openclaw: It depends on @clew/plugin-sdk as "workspace:^"',
    ],
    [
      "a dependency in another folder",
      judged({ dependencies: { y: "../y" } }),
      'failure clew+openclaw: It depends on y as "../y"',
    ],
    [
      "a dependency of a registry",
      judged({ dependencies: { zod: "^4" } }),
      "note clew+openclaw: An install fetches zod too",
    ],
    [
      "the host as a dependency",
      judged({ dependencies: { openclaw: "*" } }),
      "note clew+openclaw: It depends on openclaw itself",
    ],
    [
      "an import of nothing that it brings",
      judged({}, { outside: [imports("@scope/left/pad")] }),
      'failure clew+openclaw: dist/x.js imports "@scope/left/pad", which is not in the package',
    ],
    [
      "an import that may never be made",
      judged({}, { outside: [imports("left-pad", true)] }),
      'note clew+openclaw: dist/x.js imports "left-pad", which is not in the package; where it comes',
    ],
    [
      "a script that nobody runs",
      judged({ scripts: { postinstall: "node build.js" } }),
      "failure clew+openclaw: It relies on the script postinstall",
    ],
    [
      "no version",
      judged({ version: undefined }),
      "failure clew+openclaw: package.json has no name or no version",
    ],
    [
      "the mark private",
      judged({ private: true }),
      "note clew+openclaw: package.json says private",
    ],
  ])("with %s has that said of it", (_, said, sentence) => {
    expect(said).toContainEqual(expect.stringContaining(sentence));
  });

  it("may import what hosts and Node have, and what it names itself", () => {
    const outside = [
      ...[imports("node:fs"), imports("fs"), imports("openclaw/plugin-sdk/core")],
      ...[imports("zod/v4"), imports("tiktoken", true)],
    ];
    expect(judged({ peerDependencies: { zod: "^4" } }, { outside })).toEqual([]);
  });
});
